"""Items made from one sentence are not independent: which there are, and intervals that know it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from cimento.cloze.judging.candidates import Candidate
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval


@dataclass(frozen=True, slots=True)
class Clustering:
    """How the items of a group share their sentences.

    Attributes:
        items: how many there are.
        clusters: how many sentences they come from.
        largest: the sentence that most of them come from; empty where there are no items.
        in_largest: how many come from it.
    """

    items: int
    clusters: int
    largest: str
    in_largest: int

    @property
    def independent(self) -> bool:
        """Whether each item has a sentence of its own."""
        return self.items == self.clusters


def clustering(clusters: Iterable[str]) -> Clustering:
    """How the items of a group share their sentences.

    Args:
        clusters: of each item, what it belongs to.
    """
    counts = Counter(clusters)
    largest, most = counts.most_common(1)[0] if counts else ("", 0)
    return Clustering(counts.total(), len(counts), largest, most)


def precision_interval(
    candidates: Iterable[Candidate], cluster_of: Callable[[Candidate], Hashable]
) -> Interval:
    """The interval of the share of judged candidates that fit.

    All candidates of one cluster belong together, and so do those of one item; the method is
    that of `cimento.statistics.intervals.share_interval`.

    Args:
        candidates: judged or not.
        cluster_of: what a candidate belongs to: its item, or what its item was made from.
    """
    judged = [(each.fits, cluster_of(each)) for each in candidates if each.fits is not None]
    clusters = tuple(cluster for _, cluster in judged)
    return share_interval([fits for fits, _ in judged], Design(clusters, clusters))

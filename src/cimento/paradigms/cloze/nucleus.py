"""Top-p of blanks: is the target among the candidates that together reach a probability p?

The nucleus of Holtzman et al. 2020 (arXiv:1904.09751, section 3.1): the fewest candidates, the most
probable first, whose probabilities sum to p or more.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.paradigms.cloze.answers import Candidate, by_item
from cimento.paradigms.cloze.shares import Share, hit_ranks
from cimento.paradigms.cloze.suite import ClozeItem
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Nucleus:
    """Targets in the nucleus, and its size.

    Attributes:
        p: probability that the nucleus reaches.
        hits: items whose target is in it, of those that can be decided.
        interval: of that share, 95 %, over clusters.
        undecided: items whose candidates reach less than p and hold no target, or have no
            probabilities; more candidates would decide them.
        reached: items whose candidates reach p.
        median: size of the nucleus of these, in candidates; None where there are none.
    """

    p: float
    hits: Share
    interval: Interval
    undecided: int
    reached: int
    median: float | None


def nucleus_size(candidates: Sequence[Candidate], p: float) -> int | None:
    """The number of candidates whose probabilities together reach p; None where they do not.

    Args:
        candidates: of one item, the most probable first.
        p: from 0 to 1.
    """
    total = 0.0
    for number, candidate in enumerate(candidates, start=1):
        if candidate.probability is None:
            return None
        total += candidate.probability
        if total >= p:
            return number
    return None


def nucleus(
    items: Sequence[ClozeItem],
    candidates: Iterable[Candidate],
    p: float,
    *,
    cluster: Mapping[str, str],
) -> Nucleus:
    """The top-p of a model's candidates.

    A target at a rank before p is reached is in the nucleus, even if the candidates at hand do not
    reach p.

    Args:
        items: with targets.
        candidates: of these items.
        p: from 0 to 1.
        cluster: id of an item to what it was made of.
    """
    candidates = list(candidates)
    groups, ranks = by_item(candidates), hit_ranks(items, candidates)
    sizes = {item.id: nucleus_size(groups.get(item.id, ()), p) for item in items}
    held: dict[str, bool] = {}
    for item in items:
        size, rank = sizes[item.id], ranks[item.id]
        has_all = all(c.probability is not None for c in groups.get(item.id, ()))
        if size is not None:
            held[item.id] = rank is not None and rank <= size
        elif rank is not None and has_all:
            held[item.id] = True
    known = [size for size in sizes.values() if size is not None]
    return Nucleus(
        p=p,
        hits=Share(sum(held.values()), len(held)),
        interval=share_interval(list(held.values()), Design.of(held, cluster)),
        undecided=len(items) - len(held),
        reached=len(known),
        median=statistics.median(known) if known else None,
    )

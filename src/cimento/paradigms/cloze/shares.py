"""Shares over many blanks, always with counts: hit@k, P@1 and P@k, top-p, confidence, clusters.

hit@k is the proportion of items whose target is among the first k candidates. P@k is the proportion
of candidates that fit among all those at ranks 1 to k, not the proportion of items with one that
fits. **micro** pools the candidates of all items; **macro** is the unweighted mean of the micro
values of groups (templates, say). Candidates that nobody has judged count in neither part of the
share (Wilkens, Zilio and Villavicencio 2023, doi:10.1007/s10579-023-09664-1, whose tables use
both).

Items made from one sentence are not independent, and intervals say so.

**Top-p** is the proportion of items whose target is in the nucleus of Holtzman et al. 2020
(arXiv:1904.09751, section 3.1): the fewest candidates, the most probable first, whose probabilities
sum to p or more.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from cimento.errors import UsageError
from cimento.paradigms.cloze.requests import Candidate, by_item
from cimento.statistics.design import Design, Statistic
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.cloze import ClozeItem
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    from cimento.statistics.calibration import Calibration


Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a number.

    Attributes:
        correct: number of correct ones.
        n: number of all.
    """

    correct: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None where there is nothing to divide by."""
        return self.correct / self.n if self.n else None

    @property
    def percent(self) -> float | None:
        """In percent with two decimals, rounded half up; None as for `value`."""
        return exact_percent(Fraction(self.correct, self.n)) if self.n else None


@dataclass(frozen=True, slots=True)
class ExactMean:
    """An unweighted mean of the proportions of groups.

    Attributes:
        groups: number of groups.
        exact: the mean; None where no group has a share.
    """

    groups: int
    exact: Fraction | None

    @property
    def value(self) -> float | None:
        """The mean; None where no group has a share."""
        return None if self.exact is None else float(self.exact)

    @property
    def percent(self) -> float | None:
        """In percent with two decimals, rounded half up; None as for `value`."""
        return None if self.exact is None else exact_percent(self.exact)


def exact_percent(share: Fraction) -> float:
    """A share in percent, rounded half up to two decimals as in print, without float error."""
    return math.floor(share * 10_000 + Fraction(1, 2)) / 100


def among_top(candidates: Iterable[Candidate], k: int) -> list[Candidate]:
    """The candidates at ranks 1 to k."""
    return [candidate for candidate in candidates if candidate.rank <= k]


def micro(candidates: Iterable[Candidate]) -> Share:
    """The proportion of candidates that fit, all pooled."""
    judged = [candidate.fits for candidate in candidates if candidate.fits is not None]
    return Share(sum(judged), len(judged))


def macro(groups: Iterable[Share]) -> ExactMean:
    """The unweighted mean of shares; groups in which nothing was judged do not count."""
    shares = [Fraction(group.correct, group.n) for group in groups if group.n]
    if not shares:
        return ExactMean(0, None)
    return ExactMean(len(shares), sum(shares, Fraction(0)) / len(shares))


@dataclass(frozen=True, slots=True)
class UnexpectedFits:
    """Candidates that fit and are not what the item asks for.

    Attributes:
        of_judged: their proportion of all that were judged.
        of_fitting: their proportion of those that fit.
        above: number of them that are more probable than a threshold.
        threshold: that probability.
    """

    of_judged: Share
    of_fitting: Share
    above: int
    threshold: float


def not_expected(
    candidates: Iterable[Candidate], *, remarks: Collection[str], threshold: float = 0.5
) -> UnexpectedFits:
    """The number of candidates that fit without being what was asked for, as remarks say.

    Args:
        candidates: judged.
        remarks: those that say so (``not a verb``); one of them is enough.
        threshold: probability above which such candidates are counted apart.
    """
    judged = [c for c in candidates if c.fits is not None]
    marked = [c for c in judged if c.fits and set(c.remarks) & set(remarks)]
    above = sum(c.probability is not None and c.probability > threshold for c in marked)
    n, fitting = len(marked), micro(judged).correct
    return UnexpectedFits(Share(n, len(judged)), Share(n, fitting), above, threshold)


Ranks = Mapping[str, int | None]
"""Id of an item to the rank at which its target was hit; None where it was not."""


def as_hit(text: str) -> str:
    """A candidate or a target as the two are compared: capitals aside, in one spelling."""
    return one_spelling(text).lower()


def hit_ranks(items: Iterable[ClozeItem], candidates: Iterable[Candidate]) -> dict[str, int | None]:
    """The rank of the first candidate that is a target, for each item; see `as_hit`.

    Args:
        items: with targets.
        candidates: of these items; an item without any is not hit.

    Raises:
        UsageError: an item has no target.
    """
    groups = by_item(candidates)
    rank_of: dict[str, int | None] = {}
    for item in items:
        targets = {as_hit(target) for target in item.targets}
        if not targets:
            raise UsageError(
                where=f"item {item.id!r}",
                seen="it has no target to be hit",
                todo="Judge its candidates by people or by rules instead.",
            )
        ranks = (
            candidate.rank
            for candidate in groups.get(item.id, [])
            if as_hit(candidate.text) in targets
        )
        rank_of[item.id] = next(ranks, None)
    return rank_of


def accuracy_at(ranks: Ranks, k: int) -> Share:
    """hit@k: the proportion of items whose target is among the first k candidates."""
    return Share(sum(is_hit(rank, k) for rank in ranks.values()), len(ranks))


def curve(ranks: Ranks, k: int) -> tuple[Share, ...]:
    """hit@1 to hit@k."""
    return tuple(accuracy_at(ranks, depth) for depth in range(1, k + 1))


def is_hit(rank: int | None, k: int) -> bool:
    """Whether a rank is among the first k."""
    return rank is not None and rank <= k


def ranks_by_key(ranks: Ranks, key: Mapping[str, Key]) -> dict[Key, dict[str, int | None]]:
    """The ranks of each group of items, groups in order of first appearance.

    Args:
        ranks: of items.
        key: id of an item to its group; items without one are left out.
    """
    by_group: dict[Key, dict[str, int | None]] = {}
    for item, rank in ranks.items():
        if item in key:
            by_group.setdefault(key[item], {})[item] = rank
    return by_group


def hit_by_only(first: Ranks, second: Ranks, k: int) -> tuple[str, ...]:
    """The items that the first model hits at k and the second does not."""
    return tuple(
        item for item, rank in first.items() if is_hit(rank, k) and not is_hit(second[item], k)
    )


def groups_better(first: Ranks, second: Ranks, key: Mapping[str, Key], k: int) -> tuple[Key, ...]:
    """The groups (expressions, say) in which the first model has more hits at k than the second."""
    ours, theirs = ranks_by_key(first, key), ranks_by_key(second, key)
    return tuple(
        group
        for group in ours
        if accuracy_at(ours[group], k).correct > accuracy_at(theirs[group], k).correct
    )


def groups_hit_by_none(models: Iterable[Ranks], key: Mapping[str, Key], k: int) -> tuple[Key, ...]:
    """The groups of which no model hits a single item at k."""
    by_model = [ranks_by_key(ranks, key) for ranks in models]
    return tuple(
        group
        for group in (by_model[0] if by_model else {})
        if all(accuracy_at(groups[group], k).correct == 0 for groups in by_model)
    )


NO_PROBABILITY = "no candidate of this kind with a probability"


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probabilities of candidates that were judged.

    Attributes:
        fitting: mean probability of those that fit.
        unfitting: mean probability of those that do not.
        auc: how often one that fits is more probable than one that does not, ties as half.
        wrong_first: items whose first candidate does not fit.
        wrong_above: candidates that do not fit and are more probable than `threshold`.
        threshold: that probability.
        without_probability: judged candidates that a recording gave no probability for.
    """

    fitting: Statistic
    unfitting: Statistic
    auc: Statistic
    wrong_first: int
    wrong_above: int
    threshold: float
    without_probability: int


def confidence(candidates: Iterable[Candidate], *, threshold: float = 0.5) -> Confidence:
    """The probabilities of candidates that fit and of candidates that do not.

    Args:
        candidates: those that nobody has judged count for nothing.
        threshold: probability above which candidates that do not fit are counted.
    """
    from cimento.statistics.classification import auc

    judged = [c for c in candidates if c.fits is not None]
    scored = [(c.probability, c.fits) for c in judged if c.probability is not None]
    probabilities = [probability for probability, _ in scored]
    truth = [bool(fits) for _, fits in scored]
    wrong = [c for c in judged if not c.fits]
    return Confidence(
        fitting=mean_statistic((p for p, fits in scored if fits), NO_PROBABILITY),
        unfitting=mean_statistic((p for p, fits in scored if not fits), NO_PROBABILITY),
        auc=auc(probabilities, truth),
        wrong_first=sum(c.rank == 1 for c in wrong),
        wrong_above=sum((c.probability or 0.0) > threshold for c in wrong),
        threshold=threshold,
        without_probability=len(judged) - len(scored),
    )


def calibration(candidates: Iterable[Candidate], *, bins: int = 10) -> Calibration:
    """The proportion of candidates that fit, by their probability.

    Several candidates may fit in one blank, so that a well calibrated model need not have equal
    shares and probabilities; the curve should rise all the same.

    Args:
        candidates: those that were not judged, or have no probability, count for nothing.
        bins: of equal width.
    """
    from cimento.statistics.calibration import expected_calibration_error

    used = [
        (candidate.probability, candidate.fits)
        for candidate in candidates
        if candidate.probability is not None and candidate.fits is not None
    ]
    return expected_calibration_error(
        [probability for probability, _ in used], [fits for _, fits in used], bins=bins
    )


def mean_statistic(values: Iterable[float], reason: str) -> Statistic:
    """The mean of some values; the reason where there is none."""
    known = list(values)
    return Statistic(math.fsum(known) / len(known)) if known else Statistic(None, reason)


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of the items of a group, which may share sentences.

    Attributes:
        items: number of items.
        clusters: number of sentences that they come from.
        largest: the sentence that most of them come from; empty where there are no items.
        in_largest: number of items that come from it.
    """

    items: int
    clusters: int
    largest: str
    in_largest: int

    @property
    def independent(self) -> bool:
        """Whether each item has a sentence of its own."""
        return self.items == self.clusters


def clustering(clusters: Iterable[Hashable]) -> Clustering:
    """The clusters of the items of a group, which may share sentences.

    Args:
        clusters: of each item, what it belongs to; of crossed ones, the smaller factor counts.
    """
    labels = tuple(clusters)
    design = Design(labels, labels)
    if design.crossed:
        labels = tuple(
            label[1] if isinstance(label, tuple) else label
            for label in min(design.factors(), key=lambda factor: factor.m).clusters
        )
    counts = Counter(map(str, labels))
    largest, most = counts.most_common(1)[0] if counts else ("", 0)
    return Clustering(counts.total(), len(counts), largest, most)


def precision_interval(
    candidates: Iterable[Candidate], cluster_of: Callable[[Candidate], Hashable]
) -> Interval:
    """The interval of the proportion of judged candidates that fit.

    All candidates of one cluster belong together, and so do those of one item; the method is
    that of `cimento.statistics.intervals.share_interval`.

    Args:
        candidates: judged or not.
        cluster_of: what a candidate belongs to: its item, or what its item was made from.
    """
    judged = [
        (candidate.fits, cluster_of(candidate))
        for candidate in candidates
        if candidate.fits is not None
    ]
    clusters = tuple(cluster for _, cluster in judged)
    return share_interval([fits for fits, _ in judged], Design(clusters, clusters))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nucleus:
    """Targets in the nucleus, and its size.

    Attributes:
        p: probability that the nucleus reaches.
        hits: items whose target is surely in it, of all items: the lower bound of the share, and
            the share itself where no item is undecided.
        at_most: items whose target may be in it, of all items: the upper bound.
        interval: of the share, 95%, over clusters; none where some items are undecided.
        undecided: items whose candidates reach less than p and hold no target, or have no
            probabilities; more candidates would decide them.
        reached: items whose candidates reach p.
        median: size of the nucleus of these, in candidates; None where there are none.
    """

    p: float
    hits: Share
    at_most: Share
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
    probabilities: list[float] = []
    for number, candidate in enumerate(candidates, start=1):
        if candidate.probability is None:
            return None
        probabilities.append(candidate.probability)
        # .4 + .3 + .2 reach .9, whatever is lost of their last digits.
        if math.fsum(probabilities) >= p * (1 - _ROUNDING):
            return number
    return None


_ROUNDING = 1e-9


def nucleus(
    items: Sequence[ClozeItem],
    candidates: Iterable[Candidate],
    p: float,
    *,
    cluster: Mapping[str, Hashable],
) -> Nucleus:
    """The top-p of a model's candidates.

    A target at a rank before p is reached is in the nucleus, even if the candidates at hand do not
    reach p. Items that reach less than p without a target are undecided: to leave them out would
    keep the hits among such items and drop the misses, so that the share has bounds instead.

    Args:
        items: with targets.
        candidates: of these items.
        p: from 0 to 1.
        cluster: id of an item to what it was made of.
    """
    candidates = list(candidates)
    groups, ranks = by_item(candidates), hit_ranks(items, candidates)
    sizes = {item.id: nucleus_size(groups.get(item.id, ()), p) for item in items}
    held: dict[str, bool | None] = {}
    for item in items:
        size, rank = sizes[item.id], ranks[item.id]
        has_all = all(c.probability is not None for c in groups.get(item.id, ()))
        held[item.id] = None
        if size is not None:
            held[item.id] = rank is not None and rank <= size
        elif rank is not None and has_all:
            held[item.id] = True
    known = [size for size in sizes.values() if size is not None]
    undecided = sum(one is None for one in held.values())
    surely = [one is True for one in held.values()]
    interval = share_interval(surely, Design.of(held, cluster))
    if undecided:
        why = f"{undecided} of {len(held)} items are undecided"
        interval = Interval(None, None, interval.method, why)
    return Nucleus(
        p=p,
        hits=Share(sum(surely), len(held)),
        at_most=Share(sum(surely) + undecided, len(held)),
        interval=interval,
        undecided=undecided,
        reached=len(known),
        median=statistics.median(known) if known else None,
    )

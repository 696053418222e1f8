"""A gate: whether a second model is surely worse, on one of several suites or on their mean.

A change has an interval per suite, and so has the mean change over suites, for other items of these
suites: a gate asks about them, not about other phenomena. All are widened so that they hold
simultaneously (Bonferroni). Something is worse where such an interval lies wholly below minus the
margin. Starter suites and generated drafts have means of their own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.statistics.differences import Difference, share_difference
from cimento.statistics.suite_means import SuiteValue, mean_for_items

if TYPE_CHECKING:
    from cimento.compare.over_suites import SuiteFacts
    from cimento.paired.pairwise import PairwiseComparison

MEAN = "mean over suites"
"""What the mean over suites is called beside the names of suites."""
_FEWEST = 2
_STEPS = 1000
"""Drops are tried in thousandths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedChange:
    """A change as the gate sees it.

    Attributes:
        suite: its name; empty for a mean over suites.
        part: of cimento's own suites that a mean is of; empty for others.
        n_suites: number of suites in a mean; those made of the same items count as one.
        model: label of the first model; empty for a mean.
        question: what counts as right; empty for the mean.
        n: items.
        first: proportion of them that the first gets right; None of a mean.
        second: the same of the second.
        change: second minus first, with the widened interval.
        worse: whether the interval lies wholly below minus the margin.
        lost: the items that only the first has right; none of the mean.
        detectable: the smallest drop that would have failed, if the second gained the items that it
            gains and lost just enough others, evenly over the suite (of the mean: over every
            suite); None if none would.
    """

    suite: str
    part: str = ""
    n_suites: int = 1
    model: str = ""
    question: str
    n: int
    first: float | None = None
    second: float | None = None
    change: Difference
    worse: bool
    lost: tuple[str, ...] = ()
    detectable: float | None

    @property
    def name(self) -> str:
        """The suite's, or what the mean is called."""
        return self.suite or (MEAN.replace("suites", f"{self.part} suites") if self.part else MEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What the gate compared.

    Attributes:
        margin: a fall that does not matter.
        changes: of each suite and question.
        means: over suites, starter and generated ones apart; none where there are fewer than two,
            or several models each.
    """

    margin: float
    changes: tuple[GatedChange, ...]
    means: tuple[GatedChange, ...]

    @property
    def every(self) -> tuple[GatedChange, ...]:
        """All changes, those of means last."""
        return (*self.changes, *self.means)

    @property
    def worse(self) -> tuple[GatedChange, ...]:
        """Those that are surely worse."""
        return tuple(one for one in self.every if one.worse)


def gate(
    rates: Sequence[PairwiseComparison],
    main: Sequence[PairwiseComparison],
    facts: Mapping[str, SuiteFacts],
    *,
    margin: float,
) -> Gate:
    """Look for what is worse, chance left aside.

    Args:
        rates: made together; each is looked at.
        main: those by the main question of a suite; the mean of each part of them is looked at too,
            without factorial designs.
        facts: of the suites.
        margin: a difference of shares that does not matter; 0 for none.
    """
    pooled = grouped((about.part, one) for one in main if not (about := facts[one.suite]).is_design)
    units = {part: len({facts[one.suite].unit for one in some}) for part, some in pooled.items()}
    averaged = {
        part: some
        for part, some in sorted(pooled.items())
        if units[part] >= _FEWEST and len({one.suite for one in some}) == len(some)
    }
    level = 1 - 0.05 / max(1, len(rates) + len(averaged))

    changes = [
        replace(
            _gated([rate], partial(_change, rate, level=level), margin=margin),
            suite=rate.suite,
            model=rate.first,
            question=rate.question,
            first=rate.first_share,
            second=rate.second_share,
            lost=tuple(map(str, rate.lost)),
        )
        for rate in rates
    ]
    means = [
        replace(
            _gated(some, partial(_mean, some, facts, level=level), margin=margin),
            part=part,
            n_suites=units[part],
        )
        for part, some in averaged.items()
    ]
    return Gate(margin=margin, changes=tuple(changes), means=tuple(means))


def _gated(
    some: Sequence[PairwiseComparison],
    at: Callable[[float | None], Difference],
    *,
    margin: float,
) -> GatedChange:
    """A change as the gate sees it, from the change that there would be after each drop.

    It is that of a mean, until the suite and its verdicts are added.
    """
    return GatedChange(
        suite="",
        question="",
        n=sum(one.n for one in some),
        change=(change := at(None)),
        worse=_is_below(change, margin),
        detectable=_smallest(at, margin),
    )


def _is_below(change: Difference, margin: float) -> bool:
    return change.high is not None and change.high < -margin


def _smallest(at: Callable[[float | None], Difference], margin: float) -> float | None:
    """The smallest drop at which the interval lies wholly below minus the margin."""
    step = bisect_left(range(_STEPS + 1), x=True, key=lambda k: _is_below(at(k / _STEPS), margin))
    if step > _STEPS:
        return None
    estimate = at(step / _STEPS).estimate
    return None if estimate is None else -estimate


def _change(rate: PairwiseComparison, drop: float | None, *, level: float) -> Difference:
    """The change of a rate, or the one that it would be after a drop."""
    units, gained = rate.design.units, set(rate.gained)
    lost: set[Hashable] = set(rate.lost)
    if drop is not None:
        others = [item for item in units if item not in gained]
        right = round((rate.first_share or 0.0) * rate.n)
        most = min(len(gained) + math.ceil(drop * rate.n - 1e-9), right)
        lost = {others[k * len(others) // most] for k in range(most)}
    return share_difference(
        [item in gained for item in units],
        [item in lost for item in units],
        rate.design,
        level=level,
    )


def _mean(
    rates: Sequence[PairwiseComparison],
    facts: Mapping[str, SuiteFacts],
    drop: float | None,
    *,
    level: float,
) -> Difference:
    """The mean change over suites, for other items of them; those of the same items count once."""
    values = []
    for rate in rates:
        about, change = facts[rate.suite], _change(rate, drop, level=level)
        if change.estimate is not None:
            values.append(
                SuiteValue(
                    rate.suite, about.unit, about.phenomena,
                    change.estimate, change.low, change.high,
                )
            )  # fmt: skip
    return mean_change(values)


def mean_change(values: Sequence[SuiteValue]) -> Difference:
    """The unweighted mean change over suites, with its interval for other items of them.

    Args:
        values: the changes; those of suites made of the same items count once.
    """
    units = grouped((one.unit, one.value) for one in values).values()
    means = [math.fsum(unit) / len(unit) for unit in units]
    found = mean_for_items(values)
    return Difference(
        math.fsum(means) / len(means) if means else None,
        found.low,
        found.high,
        found.method or "",
        found.reason,
    )

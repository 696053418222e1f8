"""Means over suites, for other phenomena and for other items of these suites.

Suites of one phenomenon resemble each other, so a mean over suites that is to hold for other
phenomena is clustered by phenomenon (`means.mean_of`: CR2 and the studentized bootstrap). Where
all suites are of one phenomenon, the interval is for other suites of it. The interval for other
items of the same suites is conditional on the suites, and far narrower: it is recovered from the
intervals of the suites (Zou and Donner 2008, doi:10.1002/sim.3095; "MOVER").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cimento.errors import counted
from cimento.io.values import grouped
from cimento.statistics.design import FEWEST_CLUSTERS, Design
from cimento.statistics.intervals import Interval
from cimento.statistics.means import ALL_ALIKE, Mean, mean_of

Target: TypeAlias = Literal["phenomena", "suites"]
"""What a mean over suites is generalized to: other phenomena, or other suites of one."""

RECOVERED = "from the intervals of the suites (Zou and Donner)"
NO_SUITES = "no suite has a value"


@dataclass(frozen=True, slots=True)
class SuiteValue:
    """The value of one suite, such as its accuracy, or the difference of two models on it.

    Attributes:
        suite: its name.
        unit: what it is one of; suites made of the same items share one, and count once.
        phenomena: what it tests.
        value: the value.
        low: lower end of its interval for other items; None where there is none.
        high: upper end.
    """

    suite: str
    unit: str
    phenomena: frozenset[str]
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitesMean:
    """A mean over suites with what its interval is about.

    Attributes:
        mean: with the interval and the test for `target`; its n are the units.
        target: other phenomena, or other suites where all are of one phenomenon.
        phenomena: number of phenomena; suites that share one are of one.
        items: the interval for these suites and other items.
    """

    mean: Mean
    target: Target
    phenomena: int
    items: Interval


def mean_over_suites(values: Sequence[SuiteValue], *, seed: int = 0) -> SuitesMean:
    """Estimate a mean over suites: for other phenomena, and for other items of these suites.

    Args:
        values: one a suite.
        seed: of the bootstrap.

    Returns:
        The unweighted mean over units. Without an interval where phenomena, or the suites of a
        single one, are fewer than five, or all are equal; without one for other items where a
        suite has none.
    """
    units = _units(values)
    labels = _connected(
        [frozenset[str]().union(*(one.phenomena for one in unit)) for unit in units]
    )
    m = len(set(labels))
    target: Target = "phenomena" if m > 1 else "suites"
    names = [unit[0].unit for unit in units]
    # By number, since a label may be that of several phenomena.
    design = Design(tuple(names), tuple(labels if m > 1 else range(len(names))))
    centers = [_mean([one.value for one in unit]) for unit in units]
    mean = mean_of(centers, design, seed=seed)
    if mean.reason:
        mean = replace(mean, reason=_reason(mean, design.m, target))
    return SuitesMean(mean=mean, target=target, phenomena=m, items=mean_for_items(values))


def _reason(mean: Mean, m: int, target: Target) -> str:
    """Why there is no interval, in the words of suites and phenomena."""
    if mean.value is None:
        return NO_SUITES
    if mean.reason == ALL_ALIKE:
        return f"all {target} are equal"
    noun = ("phenomenon", "phenomena") if target == "phenomena" else ("suite", "suites")
    return f"{counted(m, *noun)}: an interval needs {FEWEST_CLUSTERS} or more"


def _units(values: Sequence[SuiteValue]) -> list[list[SuiteValue]]:
    return list(grouped((value.unit, value) for value in values).values())


def mean_for_items(values: Sequence[SuiteValue]) -> Interval:
    """The interval of the mean over units, if other items had been written for these suites.

    Suites of one unit have their items in common, so that their distances add up instead of their
    squares. It has the level of the suites' own intervals.

    Args:
        values: one a suite.

    Returns:
        The ends; a reason where a suite has no interval, or there is none.
    """
    units = _units(values)
    if not values:
        return Interval(None, None, RECOVERED, NO_SUITES)
    without = [value.suite for value in values if value.low is None or value.high is None]
    if without:
        others = f" and {len(without) - 1} more" if len(without) > 1 else ""
        return Interval(None, None, RECOVERED, f"no interval of {without[0]}{others}")
    mean = _mean([_mean([value.value for value in unit]) for unit in units])
    below, above = (
        math.hypot(*(_mean([distance(value) for value in unit]) for unit in units)) / len(units)
        for distance in (_below, _above)
    )
    return Interval(mean - below, mean + above, RECOVERED)


def _below(value: SuiteValue) -> float:
    return value.value - (value.value if value.low is None else value.low)


def _above(value: SuiteValue) -> float:
    return (value.value if value.high is None else value.high) - value.value


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _connected(sets: Sequence[frozenset[str]]) -> list[int]:
    """The number of each set's group: sets that share a label, directly or not, are in one."""
    group: dict[str, int] = {}
    numbers: list[int] = []
    for number, labels in enumerate(sets):
        joined = {group[label] for label in labels if label in group}
        numbers = [number if one in joined else one for one in [*numbers, number]]
        group = {label: number if one in joined else one for label, one in group.items()}
        group |= dict.fromkeys(labels, number)
    return numbers

"""The power of tests over crossed factors, such as templates and verbs, from a pilot.

Drawing levels of a pilot, as `planning` draws clusters, would count what no factor explains up to
three times (Owen 2007, doi:10.1214/07-AOAS122). So the variance of an item is divided into parts,
and that of a mean over other numbers of levels follows from them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from cimento.statistics.design import Design
from cimento.statistics.intervals import Effective

Met: TypeAlias = tuple[int, ...]
"""The factors whose levels meet in a cell, by their numbers, ascending: one, two, or all."""


@dataclass(frozen=True, slots=True)
class CrossedVariances:
    """The parts of the variance of an item that belongs to crossed factors.

    Attributes:
        parts: between the levels of each factor, and between the cells in which several meet,
            beyond what these levels and smaller sets of the factors explain.
        items: within a cell of all factors.
    """

    parts: Mapping[Met, float]
    items: float

    @property
    def total(self) -> float:
        """The variance of an item."""
        return sum(self.parts.values()) + self.items

    @classmethod
    def of(cls, values: Sequence[float], design: Design) -> CrossedVariances:
        """The parts of the variance of values over crossed factors.

        Half the mean squared difference of two items that share no level estimates the whole
        variance; if they share levels of some factors, it lacks what these and their cells explain
        (Koch 1968, Technometrics 10, 551-558). A part estimated below 0 is 0.

        Args:
            values: of the items.
            design: of the factors.
        """
        shared: dict[Met, np.ndarray] = {
            met: _squares(values, part) for met, part in _designs(design)
        }
        shared[()] = _squares(values, Design(design.units, (0,) * design.n))
        none = _mean(_only((), shared), 0.0)
        parts: dict[Met, float] = {}
        for met, _ in _designs(design):
            below = sum(part for fewer, part in parts.items() if {*fewer} < {*met})
            left = _mean(_only(met, shared), none - below)
            parts[met] = max(0.0, none - below - left)
        return cls(parts, max(0.0, none - sum(parts.values())))


def _designs(design: Design) -> Iterator[tuple[Met, Design]]:
    """The cells of each set of factors, of single factors first."""
    factors = range(len(design.factors()))
    sets = (met for size in factors for met in combinations(factors, size + 1))
    for met, (_, part) in zip(sets, design.parts(), strict=True):
        yield met, part


def _only(met: Met, shared: Mapping[Met, np.ndarray]) -> np.ndarray:
    """What `_squares` gives for pairs that share the levels of these factors and of no others."""
    signed = [
        (-1) ** (len(more) - len(met)) * squares
        for more, squares in shared.items()
        if {*met} <= {*more}
    ]
    total: np.ndarray = sum(signed, np.zeros(2))
    return total


def _squares(values: Sequence[float], design: Design) -> np.ndarray:
    """The sum of squared differences of pairs in one cluster, and the number of such pairs."""
    groups, m = design.codes()
    x = np.asarray(values, dtype=np.float64) - np.mean(values)
    n = np.bincount(groups, minlength=m)
    sums, squares = (np.bincount(groups, weights=x**power, minlength=m) for power in (1, 2))
    return np.array([(n * squares - sums**2).sum(), (n * (n - 1) / 2).sum()])


def _mean(squares: np.ndarray, otherwise: float) -> float:
    """Half the mean squared difference of some pairs; another value where there are none."""
    total, pairs = squares.tolist()
    return total / pairs / 2 if pairs > 0 else otherwise


@dataclass(frozen=True, slots=True)
class CrossedPlan:
    """What a pilot over crossed factors tells of suites with more or fewer levels of each.

    Attributes:
        design: of the pilot.
        variances: of its items.
    """

    design: Design
    variances: CrossedVariances

    def items(self, levels: int) -> int:
        """The number of items with some levels of the smallest factor, and as many of the others.

        As many in proportion: factors keep their proportion, and cells their number of items.
        """
        return round(self.design.n * (levels / self.design.m) ** len(self.design.factors()))

    def error(self, levels: int, variance: float) -> float:
        """The standard error of a mean.

        Args:
            levels: of the smallest factor.
            variance: of an item; its parts are in the proportion of the pilot's.
        """
        times, known = levels / self.design.m, self.variances
        square = sum(
            known.parts[met] * _weight(part) / times ** len(met)
            for met, part in _designs(self.design)
        )
        square += known.items / self.design.n / times ** len(self.design.factors())
        return math.sqrt(square * variance / known.total)

    def told(self, levels: int, variance: float) -> Effective:
        """How much the items of a suite tell, as the tests of proportions take it."""
        n = self.items(levels)
        effect = max(1.0, self.error(levels, variance) ** 2 / (variance / n))
        freedom = (self.design.freedom() + 1) * levels / self.design.m - 1
        return Effective(n / effect, 1 - 1 / effect, freedom)


def _weight(design: Design) -> float:
    """The sum of squared proportions of items in each cluster: 1/m of equal ones."""
    return sum(size**2 for size in Counter(design.clusters).values()) / design.n**2


def power_of_t(distance: float, told: Effective, *, alpha: float, times: float = 1.0) -> float:
    """The chance that a statistic in standard errors exceeds its limit, on either side.

    Noncentral t, with the degrees of freedom whose quantile is the limit (`Effective.quantile`).

    Args:
        distance: of what is true from what is tested, in true standard errors.
        told: how much the items tell.
        alpha: level of the two-sided test.
        times: standard error that the test uses, in true ones.
    """
    from scipy import optimize, special, stats

    limit = told.quantile(1 - alpha)

    def above(log_freedom: float) -> float:
        return float(special.stdtrit(math.exp(log_freedom), 1 - alpha / 2)) - limit

    low, high = math.log(max(told.freedom, 1.0)), math.log(_AS_NORMAL)
    if not math.isfinite(told.freedom) or above(high) >= 0:
        tails = stats.norm.cdf([distance - limit * times, -distance - limit * times])
        return float(tails.sum())
    freedom = math.exp(low if above(low) <= 0 else optimize.brentq(above, low, high))
    ends = stats.nct.sf(limit * times, freedom, [abs(distance), -abs(distance)])
    return float(np.nan_to_num(ends).sum())


_AS_NORMAL = 1e6
"""Degrees of freedom of a t that is as good as normal."""

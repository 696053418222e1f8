"""The power of tests over two crossed factors, such as templates and verbs, from a pilot.

Drawing levels of a pilot, as `planning` draws clusters, would count what no factor explains up to
three times (Owen 2007, doi:10.1214/07-AOAS122). So the variance of an item is divided into parts,
and that of a mean over other numbers of levels follows from them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Design
from cimento.statistics.intervals import Effective


@dataclass(frozen=True, slots=True)
class CrossedVariances:
    """The parts of the variance of an item that belongs to two crossed factors.

    Attributes:
        factors: between the levels of each factor.
        cells: between the cells in which they meet, beyond both.
        items: within a cell.
    """

    factors: tuple[float, float]
    cells: float
    items: float

    @property
    def total(self) -> float:
        """The variance of an item."""
        return sum(self.factors) + self.cells + self.items

    @classmethod
    def of(cls, values: Sequence[float], design: Design) -> CrossedVariances:
        """The parts of the variance of values over two crossed factors.

        Half the mean squared difference of two items that share no level estimates the whole
        variance; if they share a level of one factor, or both, it lacks what these explain (Koch
        1968, Technometrics 10, 551-558). A part estimated below 0 is 0.

        Args:
            values: of the items.
            design: of two factors.
        """
        first, second = (_squares(values, factor) for factor in design.factors())
        both = _squares(values, design.parts()[-1][1])
        whole = _squares(values, Design(design.units, (0,) * design.n))
        none = _mean(whole - first - second + both, 0.0)
        factors = tuple(max(0.0, none - _mean(one - both, none)) for one in (first, second))
        within = _mean(both, none - sum(factors))
        cells = max(0.0, none - sum(factors) - within)
        return cls((factors[0], factors[1]), cells, max(0.0, none - sum(factors) - cells))


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
    """What a pilot over two crossed factors tells of suites with more or fewer levels of both.

    Attributes:
        design: of the pilot.
        variances: of its items.
    """

    design: Design
    variances: CrossedVariances

    def items(self, levels: int) -> int:
        """The number of items with some levels of the smaller factor, and as many of the other.

        As many in proportion: factors keep their proportion, and cells their number of items.
        """
        return round(self.design.n * (levels / self.design.m) ** 2)

    def error(self, levels: int, variance: float) -> float:
        """The standard error of a mean.

        Args:
            levels: of the smaller factor.
            variance: of an item; its parts are in the proportion of the pilot's.
        """
        times = levels / self.design.m
        *factors, (_, cells) = self.design.parts()
        weights = [_weight(part) / times for _, part in factors]
        parts = self.variances
        square = sum(weight * part for weight, part in zip(weights, parts.factors, strict=True))
        square += (_weight(cells) * parts.cells + parts.items / self.design.n) / times**2
        return math.sqrt(square * variance / parts.total)

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

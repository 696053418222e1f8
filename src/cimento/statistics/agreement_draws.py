"""Coefficients of agreement of many bootstrap draws at once, from how often each item was drawn.

A draw is a row of weights, as in `correlation_draws`; the sample itself is a draw of ones. Where
all ratings of a draw are equal its coefficient is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.statistics.correlation_draws import Weighted
    from cimento.statistics.values import Floats, Integers

# Differences below this share of what they are taken from are rounding.
_ROUNDING = 1e-12


def nominal_alpha(table: Floats) -> Weighted:
    """Krippendorff's alpha of categories.

    Args:
        table: how often each item (a row) got each value (a column).
    """
    sizes = table.sum(axis=1)
    differing = (sizes**2 - (table**2).sum(axis=1)) / (sizes - 1)

    def statistic(weights: Floats) -> Floats:
        totals = weights @ table
        n = totals.sum(axis=1)
        return _alpha(weights @ differing, n**2 - (totals**2).sum(axis=1), n)

    return statistic


def ordinal_alpha(table: Floats) -> Weighted:
    """Krippendorff's alpha of values in an order.

    The distance of two values is how many ratings of the draw lie between them, half of their own
    too: the difference of their ranks. Its square is summed by ``Σ (a - b)² = 2 m Σ a² - 2 (Σ a)²``
    over the ordered pairs of m ratings.

    Args:
        table: how often each item (a row) got each value (a column, ascending).
    """
    sizes = table.sum(axis=1)
    shared = table * (sizes / (sizes - 1))[:, None]

    def statistic(weights: Floats) -> Floats:
        totals = weights @ table
        n = totals.sum(axis=1)
        ranks = totals.cumsum(axis=1) - totals / 2
        sums = (ranks @ table.T) ** 2
        within = ((weights @ shared) * ranks**2).sum(axis=1)
        whole = n * (totals * ranks**2).sum(axis=1)
        observed = _less(within, (weights / (sizes - 1) * sums).sum(axis=1))
        return _alpha(observed, _less(whole, (totals * ranks).sum(axis=1) ** 2), n)

    return statistic


def interval_alpha(moments: Floats) -> Weighted:
    """Krippendorff's alpha of numbers: n Σx² - (Σx)² is the sum over unordered pairs.

    Args:
        moments: of each item the number of ratings, their sum and their sum of squares.
    """
    sizes, sums, squares = moments.T
    differing = (sizes * squares - sums**2) / (sizes - 1)

    def statistic(weights: Floats) -> Floats:
        n = weights @ sizes
        return _alpha(weights @ differing, _less(n * (weights @ squares), (weights @ sums) ** 2), n)

    return statistic


def fleiss(table: Floats) -> Weighted:
    """Fleiss's kappa.

    Args:
        table: how often each item (a row) got each value (a column); all items equally often.
    """
    import numpy as np

    sizes = table.sum(axis=1)
    agreeing = ((table**2).sum(axis=1) - sizes) / (sizes * (sizes - 1))

    def statistic(weights: Floats) -> Floats:
        totals = weights @ table
        shares = totals / totals.sum(axis=1, keepdims=True)
        expected = (shares**2).sum(axis=1)
        varied = (totals > 0).sum(axis=1) > 1
        found = weights @ agreeing / weights.sum(axis=1) - expected
        return np.where(varied, found / np.where(varied, 1 - expected, 1), np.nan)

    return statistic


def cohen(first: Integers, second: Integers, *, categories: int, power: int) -> Weighted:
    """Cohen's kappa.

    Args:
        first: number of the first rater's category of each item.
        second: of the second rater's.
        categories: how many there are.
        power: of the steps between two categories; 0 for equal or not.
    """
    import numpy as np

    steps = np.abs(np.arange(categories)[:, None] - np.arange(categories)[None, :])
    distance = (steps > 0).astype(np.float64) if power == 0 else steps.astype(np.float64) ** power
    apart = distance[first, second]
    one, other = np.eye(categories)[first], np.eye(categories)[second]

    def statistic(weights: Floats) -> Floats:
        expected = (weights @ one @ distance * (weights @ other)).sum(axis=1) / weights.sum(axis=1)
        defined = expected > 0
        return np.where(defined, 1 - weights @ apart / np.where(defined, expected, 1), np.nan)

    return statistic


def _less(whole: Floats, part: Floats) -> Floats:
    """A difference, exactly zero where no more than rounding is left."""
    import numpy as np

    found = whole - part
    return np.where(found <= _ROUNDING * whole, 0.0, found)


def _alpha(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """``1 - D_o / D_e``; NaN where nothing can differ."""
    import numpy as np

    defined = expected > 0
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1), np.nan)

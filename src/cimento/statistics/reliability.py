"""How reliable mean ratings are, where only means and standard errors were published."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cimento.statistics.values import ALL_EQUAL, TOO_FEW, Estimate, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def reliability_of_means(means: ArrayLike, standard_errors: ArrayLike) -> Estimate:
    """The share of the variance of means that is not error of measurement.

    ``1 - mean(se²) / var(means)``, the variance with n - 1: true over observed variance as in
    classical test theory (Lord and Novick 1968, Statistical Theories of Mental Test Scores,
    chapter 3). Its root is the correlation that a noise-free score could reach.

    Args:
        means: the mean rating of each item.
        standard_errors: of each mean.

    Returns:
        Undefined for fewer than two items or equal means; below zero where errors exceed what
        the means differ by.

    Raises:
        UsageError: columns of different lengths.
    """
    observed = floats(means, name="means")
    errors = floats(standard_errors, name="standard errors")
    n = same_length(means=observed, errors=errors)
    if n < 2:  # noqa: PLR2004  # one mean does not vary
        return Estimate(None, TOO_FEW)
    if (observed == observed[0]).all():
        return Estimate(None, ALL_EQUAL)
    return Estimate(float(1 - (errors**2).mean() / observed.var(ddof=1)))


def ceiling_of_means(means: ArrayLike, standard_errors: ArrayLike) -> Estimate:
    """The root of `reliability_of_means`; undefined where that is not above zero.

    Args:
        means: the mean rating of each item.
        standard_errors: of each mean.

    Raises:
        UsageError: columns of different lengths.
    """
    found = reliability_of_means(means, standard_errors)
    if found.value is None:
        return found
    if found.value <= 0:
        return Estimate(None, "the reliability is not above zero")
    return Estimate(math.sqrt(found.value))

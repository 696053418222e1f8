"""The jackknife on Fisher's scale: intervals of coefficients that lie between -1 and 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, t_quantile
from cimento.statistics.values import draws_at_once

if TYPE_CHECKING:
    from cimento.statistics.correlation_draws import Weighted
    from cimento.statistics.values import Floats, Integers

JACKKNIFE = "jackknife on Fisher's z"
JACKKNIFE_CLUSTERED = "jackknife over clusters on Fisher's z"
_CHUNK = 250


def jackknife(
    statistic: Weighted,
    estimate: float,
    design: Design,
    *,
    level: float = 0.95,
    ratings: float = 2.0,
) -> Interval:
    """The interval of a coefficient, leaving out one cluster at a time (docs/statistics.md).

    ``z ± t[m-1] sqrt((m - 1)/m Σ (z_j - z̄)²)`` for m clusters, z_j of the coefficient without
    cluster j (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11), taken back
    from Fisher's scale ``z = log((1 + (k - 1) r) / (1 - r)) / 2`` of k ratings an item (Fisher
    1925, Statistical Methods for Research Workers, section 39); of two this is atanh. More than
    1,000 clusters are put into 200 groups, and m counts groups (`_left_out_together`).

    Args:
        statistic: from weights, one row a draw and one column an observation, to coefficients.
        estimate: the coefficient of all observations.
        design: of the observations.
        level: confidence level.
        ratings: of each item; on average, where items differ.

    Returns:
        A reason in place of ends where there are fewer than five clusters, or the coefficient is
        1, -1 or undefined, wholly or without one of them.
    """
    import numpy as np

    method = JACKKNIFE_CLUSTERED if design.clustered else JACKKNIFE
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    groups, m = _left_out_together(*design.codes())
    without = _without_each(statistic, groups, m)
    if np.isnan(without).any():
        return Interval(None, None, method, "undefined without one of the items or clusters")
    if max(abs(estimate), float(np.abs(without).max())) >= 1:
        return Interval(None, None, method, "perfect, wholly or without one item or cluster")
    if min(estimate, float(without.min())) * (ratings - 1) <= -1:
        return Interval(None, None, method, "too far below agreement by chance")
    z = _scaled(without, ratings)
    error = float(np.sqrt((m - 1) / m * ((z - z.mean()) ** 2).sum()))
    if error == 0:
        return Interval(None, None, method, "no item or cluster matters to the coefficient")
    centre, reach = float(_scaled(estimate, ratings)), t_quantile(m - 1, level=level) * error
    low, high = (_unscaled(end, ratings) for end in (centre - reach, centre + reach))
    return Interval(low, high, method)


def jackknife_error(statistic: Weighted, design: Design) -> tuple[float, int]:
    """The standard error of a statistic on its own scale, leaving out one cluster at a time.

    ``sqrt((m - 1)/m Σ (d_j - d̄)²)`` for m clusters, d_j of the statistic without cluster j
    (Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 11.2; for functions of
    correlations Arvesen 1969, doi:10.1214/aoms/1177697287).

    Args:
        statistic: from weights, one row a draw and one column an observation, to its values.
        design: of the observations, with five clusters or more.

    Returns:
        The error, NaN where the statistic is undefined without one of the clusters; and m.
    """
    import numpy as np

    groups, m = _left_out_together(*design.codes())
    without = _without_each(statistic, groups, m)
    return float(np.sqrt((m - 1) / m * ((without - without.mean()) ** 2).sum())), m


def _without_each(statistic: Weighted, groups: Integers, m: int) -> Floats:
    """The coefficient without each of m groups of observations, some of them at a time."""
    import numpy as np

    step = draws_at_once(groups.size, most=_CHUNK)
    parts: list[Floats] = []
    for start in range(0, m, step):
        left_out = np.arange(start, min(start + step, m))
        parts.append(statistic((groups[None, :] != left_out[:, None]).astype(np.float64)))
    return np.concatenate(parts)


def _scaled(r: Floats | float, ratings: float) -> Floats:
    import numpy as np

    scaled: Floats = np.log((1 + (ratings - 1) * np.asarray(r)) / (1 - np.asarray(r))) / 2
    return scaled


def _unscaled(z: float, ratings: float) -> float:
    # (e²ᶻ - 1) / (e²ᶻ + k - 1), from e⁻²ᶻ where e²ᶻ would be too large for a float.
    if z > 0:
        return -math.expm1(-2 * z) / (1 + (ratings - 1) * math.exp(-2 * z))
    return math.expm1(2 * z) / (math.exp(2 * z) + ratings - 1)


def _left_out_together(clusters: Integers, m: int) -> tuple[Integers, int]:
    """What each observation is left out with, and how many such groups there are.

    More than 1,000 clusters are put at random into 200 groups of nearly one size (the
    delete-a-group jackknife: Kott 2001, Journal of Official Statistics 17, 521-526).
    """
    import numpy as np

    if m <= _MOST_CLUSTERS:
        return clusters, m
    shuffled = np.random.default_rng(_SEED).permutation(m)
    return (shuffled % _GROUPS)[clusters], _GROUPS


_MOST_CLUSTERS, _GROUPS, _SEED = 1000, 200, 0

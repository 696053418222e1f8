"""The jackknife on Fisher's scale: intervals of coefficients that lie between -1 and 1."""

from __future__ import annotations

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
    statistic: Weighted, estimate: float, design: Design, *, level: float = 0.95
) -> Interval:
    """The interval of a coefficient, leaving out one cluster at a time.

    ``tanh(atanh(r) ± t[m-1] sqrt((m - 1)/m Σ (z_j - z̄)²))`` for m clusters, z_j the atanh of the
    coefficient without cluster j (Efron and Tibshirani 1993, An Introduction to the Bootstrap,
    chapter 11; the scale is Fisher's 1915, doi:10.2307/2331838). More than 1,000 clusters are put
    at random into 200 groups of nearly one size, and m counts groups (the delete-a-group jackknife:
    Kott 2001, Journal of Official Statistics 17, 521-526). docs/statistics.md has what it covers.

    Args:
        statistic: from weights, one row a draw and one column an observation, to coefficients.
        estimate: the coefficient of all observations.
        design: of the observations.
        level: confidence level.

    Returns:
        A reason in place of ends where there are fewer than five clusters, or the coefficient is
        1, -1 or undefined, wholly or without one of them.
    """
    import numpy as np

    method = JACKKNIFE_CLUSTERED if design.clustered else JACKKNIFE
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    groups, m = _left_out_together(*design.codes())
    step = draws_at_once(design.n, most=_CHUNK)
    parts: list[Floats] = []
    for start in range(0, m, step):
        left_out = np.arange(start, min(start + step, m))
        parts.append(statistic((groups[None, :] != left_out[:, None]).astype(np.float64)))
    without = np.concatenate(parts)
    if np.isnan(without).any():
        return Interval(None, None, method, "undefined without one of the items or clusters")
    if max(abs(estimate), float(np.abs(without).max())) >= 1:
        return Interval(None, None, method, "perfect, wholly or without one item or cluster")
    z = np.arctanh(without)
    error = float(np.sqrt((m - 1) / m * ((z - z.mean()) ** 2).sum()))
    if error == 0:
        return Interval(None, None, method, "no item or cluster matters to the coefficient")
    reach = t_quantile(m - 1, level=level) * error
    centre = float(np.arctanh(estimate))
    return Interval(float(np.tanh(centre - reach)), float(np.tanh(centre + reach)), method)


def _left_out_together(clusters: Integers, m: int) -> tuple[Integers, int]:
    """What is left out together of each observation, and how many such groups there are."""
    import numpy as np

    if m <= _MOST_CLUSTERS:
        return clusters, m
    shuffled = np.random.default_rng(_SEED).permutation(m)
    return (shuffled % _GROUPS)[clusters], _GROUPS


_MOST_CLUSTERS, _GROUPS, _SEED = 1000, 200, 0

"""Means of values that lie between 0 and 1, such as probability ratios or shares of templates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, z_quantile
from cimento.statistics.values import draws_at_once, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

BOUNDED = "Bayesian bootstrap, half an observation at 0 and at 1"
BOUNDED_CLUSTERED = "Bayesian bootstrap over clusters, half a cluster at 0 and at 1"
DRAWS = 9_999
_HALF = 0.5
_CHUNK = 1000


def bounded_mean(
    values: ArrayLike, design: Design, *, seed: int, level: float = 0.95, draws: int = DRAWS
) -> Interval:
    """The interval of the mean of values between 0 and 1.

    Where most values are near a bound, the mean depends on the few that are not, of which a small
    sample may have none; so one half of an observation is added at either bound. Each draw gives
    the m clusters and these two random weights, Dirichlet(1, ..., 1, 1/2, 1/2), and the ends are
    quantiles of the weighted means (the Bayesian bootstrap: Rubin 1981,
    doi:10.1214/aos/1176345338). Of verdicts, which are 0 or 1, this is the interval of Jeffreys
    (Brown, Cai and DasGupta 2001, doi:10.1214/ss/1009213286, section 3.1.2). docs/statistics.md
    has what it covers. It always holds the mean and never leaves [0, 1].

    Args:
        values: one an observation.
        design: of the observations.
        seed: of the draws.
        level: confidence level.
        draws: how many.

    Returns:
        Without ends where there are fewer than five clusters.

    Raises:
        UsageError: a value is not between 0 and 1, a level that is none, no draws, or not one
            value an observation.
    """
    import numpy as np

    z_quantile(level)  # refuses a level that is none
    array = floats(values, name="values")
    same_length(values=array, units=design.units)
    if draws < 1:
        raise UsageError(where="interval", seen=f"{draws} draws", todo="Ask for 999 or more.")
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise UsageError(where="interval of a mean", seen="a value is not between 0 and 1")
    method = BOUNDED_CLUSTERED if design.clustered else BOUNDED
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    groups, m = design.codes()
    sums = np.bincount(groups, weights=array, minlength=m).astype(np.float64)
    sizes = np.bincount(groups, minlength=m).astype(np.float64)
    drawn = _drawn(sums, sizes, draws=draws, seed=seed)
    mean = math.fsum(array) / array.size
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(min(float(low), mean), max(float(high), mean), method)


def _drawn(sums: Floats, sizes: Floats, *, draws: int, seed: int) -> Floats:
    """Weighted means of the clusters and of two that are added, one at each bound."""
    import numpy as np

    generator, m = np.random.default_rng(seed), sums.size
    usual = sizes.mean()
    numerators = np.concatenate([sums, [0.0, usual]])
    denominators = np.concatenate([sizes, [usual, usual]])
    shapes = np.concatenate([np.ones(m), [_HALF, _HALF]])
    found, step = [], draws_at_once(m, most=_CHUNK)
    for start in range(0, draws, step):
        # Gamma variables over their sum are Dirichlet's; the sum falls out of the quotient.
        weights = generator.standard_gamma(shapes, (min(step, draws - start), m + 2))
        found.append((weights @ numerators) / (weights @ denominators))
    return np.concatenate(found)

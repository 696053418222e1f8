"""Means of items or of clusters: one interval and one test that agree with each other.

The standard error is CR2's (Bell and McCaffrey 2002, Survey Methodology 28, 169-181): for clusters
of n_g among n observations with sums S_g, ``sqrt(Σ (S_g - m n_g)² / (1 - n_g/n)) / n``; where each
observation stands alone this is ``sd / sqrt(n)``. Its multiple comes from the symmetric studentized
bootstrap: clusters are drawn again, the interval reaches as far as 95 % of the drawn
``|m* - m| / se*`` (Hall 1988, Journal of the Royal Statistical Society B 50, 35-45), and the
p-value is ``(1 + draws at least as far) / (1 + draws)``. Fewer than 8 clusters draw too few
samples, and more than 200 need none: there it is Student's t with Satterthwaite's degrees of
freedom (`design.mean_freedom`), as also where more than one draw of a hundred has no spread, or
where the draws are too few for the level. docs/statistics.md has what both cover.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.statistics.design import Design
from cimento.statistics.intervals import t_quantile, z_quantile
from cimento.statistics.paired import CLUSTERED_T, t_two_sided
from cimento.statistics.values import Significance, draws_at_once, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats, Integers

STUDENT = "Student's t"
STUDENTIZED = "studentized bootstrap"
STUDENTIZED_CLUSTERED = "studentized bootstrap over clusters (CR2)"
ALL_EQUAL = "all values or clusters are equal"
DRAWS = 9_999
_FEWEST_DRAWN, _MOST_DRAWN = 8, 200
_MOST_UNDEFINED = 0.01
_ROUNDING = 1e-12
_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its confidence interval and the test that belongs to it.

    Attributes:
        value: the mean over observations; None where there are none.
        low: lower end of the interval; None where there is none.
        high: upper end.
        statistic: t, the distance of the mean from the null hypothesis in standard errors.
        p: two-sided, of the mean being that of the null hypothesis; 0.05 or less exactly where
            the 95 % interval leaves that out.
        method: of interval and test.
        n: observations.
        m: independent units: clusters, or observations that stand alone.
        reason: why there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    statistic: float | None
    p: float | None
    method: str
    n: int
    m: int
    reason: str | None = None


def mean_of(
    values: ArrayLike,
    design: Design,
    *,
    seed: int,
    null: float = 0.0,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Mean:
    """The mean of values that may come in clusters, with an interval and a test.

    Args:
        values: one an observation, such as margins, differences or DD scores; for shares use
            `intervals.share_interval`.
        design: of the observations.
        seed: of the draws.
        null: the mean under the null hypothesis.
        level: confidence level.
        draws: of the bootstrap; 0 for Student's t alone.

    Returns:
        Without interval and p where there are fewer than five clusters, or their means are equal.

    Raises:
        UsageError: a level that is none, or not one value an observation.
    """
    z_quantile(level)  # refuses a level that is none
    array = floats(values, name="values")
    n, m = same_length(values=array, units=design.units), design.m
    nothing = Mean(None, None, None, None, None, CLUSTERED_T if m < n else STUDENT, n, m)
    if n == 0 or design.shortage:
        value = math.fsum(array) / n if n else None
        return replace(nothing, value=value, reason=design.shortage)
    sample = _Sample.of(array, design)
    if sample.error <= _ROUNDING * sample.unit:
        return replace(nothing, value=sample.mean, reason=ALL_EQUAL)
    t, freedom = (sample.mean - null) / sample.error, design.freedom()
    method, reach, p = nothing.method, t_quantile(freedom, level=level), t_two_sided(t, freedom)
    # The draws that may lie farther than the interval reaches.
    if int((1 - level) * draws) and _FEWEST_DRAWN <= m <= _MOST_DRAWN:
        drawn = _drawn(sample, draws=draws, seed=seed)
        if drawn.size >= (1 - _MOST_UNDEFINED) * draws:
            method = STUDENTIZED_CLUSTERED if m < n else STUDENTIZED
            reach, p = _reach_and_p(drawn, abs(t), level=level)
    half = reach * sample.error
    return Mean(sample.mean, sample.mean - half, sample.mean + half, t, p, method, n, m)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Clusters with their sums, measured from the first value in units of the farthest from it.

    So equal values leave exactly nothing, and no square is too large or too small for a float.

    Attributes:
        sums: of each cluster, so measured.
        sizes: of each cluster.
        centre: the mean, so measured.
        mean: the mean.
        error: its CR2 standard error.
        unit: the largest distance of a value from the first; 1 where all are equal.
    """

    sums: Floats
    sizes: Floats
    centre: float
    mean: float
    error: float
    unit: float

    @classmethod
    def of(cls, values: Floats, design: Design) -> _Sample:
        import numpy as np

        groups, m = design.codes()
        origin = float(values[0])
        unit = float(np.abs(values - origin).max()) or 1.0
        gaps = (values - origin) / unit
        sums = np.bincount(groups, weights=gaps, minlength=m).astype(np.float64)
        sizes = np.bincount(groups, minlength=m).astype(np.float64)
        centre, error = map(float, _mean_and_error(sums, sizes))
        return cls(sums, sizes, centre, origin + unit * centre, unit * error, unit)


def _reach_and_p(drawn: Floats, t: float, *, level: float) -> tuple[float, float]:
    """How many standard errors the interval reaches, and p: at most 1 - level just outside it."""
    import numpy as np

    outside = max(1, int((1 - level) * (drawn.size + 1) + _ROUNDING))
    # Draws as far as t, but for rounding, are as far.
    beyond = drawn.size - int(np.searchsorted(drawn, t * (1 - _ROUNDING)))
    return float(drawn[drawn.size - outside]) / (1 - _ROUNDING), (1 + beyond) / (1 + drawn.size)


def t_test(values: ArrayLike, design: Design) -> Significance:
    """The t test of a mean being zero, with CR2's standard error, without a bootstrap.

    Args:
        values: one an observation.
        design: of the observations.

    Returns:
        Without p where there are fewer than five clusters, or their means are equal.

    Raises:
        UsageError: not one value an observation.
    """
    mean = mean_of(values, design, seed=0, draws=0)
    freedom = None if mean.p is None else design.freedom()
    return Significance(mean.statistic, mean.p, mean.method, freedom, mean.reason)


def _mean_and_error(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Mean and CR2 standard error of clusters along the last axis."""
    import numpy as np

    n = sizes.sum(axis=-1)
    mean = sums.sum(axis=-1) / n
    gaps = sums - mean[..., None] * sizes
    # Drawn with replacement, one cluster may be nearly the whole sample.
    spare = np.maximum(1 - sizes / n[..., None], _ROUNDING)
    error: Floats = np.sqrt((gaps**2 / spare).sum(axis=-1)) / n
    return mean, error


def _drawn(sample: _Sample, *, draws: int, seed: int) -> Floats:
    """Absolute t of each draw of clusters around the mean of the sample, ascending.

    Draws without spread have no t and are left out.
    """
    import numpy as np

    generator, m = np.random.default_rng(seed), sample.sums.size
    step = draws_at_once(m, most=_CHUNK)
    found = []
    for start in range(0, draws, step):
        picked: Integers = generator.integers(0, m, (min(step, draws - start), m))
        means, errors = _mean_and_error(sample.sums[picked], sample.sizes[picked])
        known = errors > _ROUNDING
        found.append(np.abs(means[known] - sample.centre) / errors[known])
    return np.sort(np.concatenate(found))

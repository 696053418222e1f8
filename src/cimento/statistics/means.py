"""Means of items or of clusters: one interval and one test that agree with each other.

The standard error is CR2's (Bell and McCaffrey 2002, Survey Methodology 28, 169-181): for clusters
of n_g among n observations with sums S_g, ``sqrt(Σ (S_g - m n_g)² / (1 - n_g/n)) / n``; where each
observation stands alone this is ``sd / sqrt(n)``. Its multiple comes from the symmetric studentized
bootstrap: clusters are drawn again, the interval reaches as far as 95% of the drawn
``|m* - m| / se*`` (Hall 1988, Journal of the Royal Statistical Society B 50, 35-45), and the
p-value is ``(1 + draws at least as far) / (1 + draws)``. Fewer than 8 clusters draw too few
samples, and more than 200 need none: there it is Student's t with Satterthwaite's degrees of
freedom (`design.mean_freedom`), as also where more than one draw of a hundred has hardly any
spread, or where the draws are too few for the level. docs/statistics.md has what both cover.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.statistics.design import (
    TOO_FEW,
    ArrayLike,
    Design,
    Floats,
    Integers,
    Significance,
    crossed_variance,
    draws_at_once,
    floats,
    same_length,
)
from cimento.statistics.intervals import Interval, t_quantile, t_two_sided, z_quantile

STUDENT = "Student's t"
CLUSTERED_T = "t over clusters (CR2, Satterthwaite)"
CROSSED_T = "t over crossed clusters (CR2, degrees of freedom of the smaller factor)"
STUDENTIZED = "studentized bootstrap"
STUDENTIZED_CLUSTERED = "studentized bootstrap over clusters (CR2)"
ALL_ALIKE = "all values or clusters are equal"
STUDENTIZED_DRAWS = 9_999
FEWEST_DRAWN, _MOST_DRAWN = 8, 200
_MOST_UNDEFINED = 0.01
ROUNDING = 1e-12
"""Proportion of the values below which a difference is due to floating-point arithmetic."""
_LEAST_SPREAD = 0.05
"""The proportion of the sample's standard error below which a draw has hardly any spread.

If one value makes all the spread, a third of all draws lack it. What is left there, such as the
rounding of a model's scores, would set the reach: thousands of standard errors.
"""
_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its confidence interval and the test that belongs to it.

    Attributes:
        value: the mean over observations; None where there are none.
        low: lower end of the interval; None where there is none.
        high: upper end of the interval.
        statistic: t, the distance of the mean from the null hypothesis in standard errors.
        p: two-sided, of the mean being that of the null hypothesis; 0.05 or less exactly where
            the 95% interval leaves that out.
        method: method of interval and test.
        n: number of observations.
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
    draws: int = STUDENTIZED_DRAWS,
) -> Mean:
    """Estimate the mean of values that may come in clusters, with an interval and a test.

    By CR2 and the studentized bootstrap (Bell and McCaffrey 2002; Hall 1988) or Student's t.

    Args:
        values: one per observation, such as margins or DD scores (proportions: `share_interval`).
        design: which of the observations belong together.
        seed: seed of the draws.
        null: the mean under the null hypothesis.
        level: confidence level.
        draws: number of draws of the bootstrap; 0 for Student's t alone.

    Returns:
        Mean and interval in the unit of the values, t and p; no interval below five clusters.

    Raises:
        UsageError: an invalid level, or not one value an observation.

    Example:
        >>> made = mean_of([1, 2, 3, 4, 5], Design.independent(5), seed=1)
        >>> made.value, round(made.low, 3), round(made.high, 3)
        (3.0, 1.037, 4.963)
    """
    z_quantile(level)  # refuses an invalid level
    array, m = floats(values, name="values"), design.m
    n = same_length(values=array, units=design.units)
    nothing = Mean(None, None, None, None, None, _t_method(design), n, m)
    if n == 0 or design.shortage:
        return replace(nothing, value=math.fsum(array) / n if n else None, reason=design.shortage)
    sample = _Sample.of(array, design)
    if sample.error <= ROUNDING * sample.unit:
        return replace(nothing, value=sample.mean, reason=ALL_ALIKE)
    t, freedom, method = (sample.mean - null) / sample.error, design.freedom(), nothing.method
    reach, p = t_quantile(freedom, level=level), t_two_sided(t, freedom)
    is_drawn = int((1 - level) * draws) and FEWEST_DRAWN <= m <= _MOST_DRAWN
    drawn = _drawn(sample, draws=draws, seed=seed) if is_drawn and not design.crossed else None
    if drawn is not None and drawn.size >= (1 - _MOST_UNDEFINED) * draws:
        method = STUDENTIZED_CLUSTERED if m < n else STUDENTIZED
        reach, p = _reach_and_p(drawn, abs(t), level=level)
    low, high = (sample.mean + side * reach * sample.error for side in (-1, 1))
    return Mean(sample.mean, low, high, t, p, method, n, m)


def _t_method(design: Design) -> str:
    """The name of the t interval over a design."""
    if design.crossed:
        return CROSSED_T
    return CLUSTERED_T if design.clustered else STUDENT


@dataclass(frozen=True, slots=True)
class _Sample:
    """Clusters with their sums, measured from the first value in units of the farthest from it.

    So equal values leave exactly nothing, and no square is too large or too small for a float.

    Attributes:
        sums: of each cluster, so measured; of each cell, if clusters are crossed.
        sizes: of each cluster.
        center: the mean, so measured.
        mean: the mean.
        error: its CR2 standard error.
        unit: the largest distance of a value from the first; 1 where all are equal.
    """

    sums: Floats
    sizes: Floats
    center: float
    mean: float
    error: float
    unit: float

    @classmethod
    def of(cls, values: Floats, design: Design) -> _Sample:
        origin = float(values[0])
        unit = float(np.abs(values - origin).max()) or 1.0
        gaps = (values - origin) / unit
        variances = []
        for sign, part in design.parts():
            groups, m = part.codes()
            sums = np.bincount(groups, weights=gaps, minlength=m).astype(np.float64)
            sizes = np.bincount(groups, minlength=m).astype(np.float64)
            center, error = map(float, _mean_and_error(sums, sizes))
            variances.append((sign, error**2))
        whole = error if len(variances) == 1 else math.sqrt(crossed_variance(variances))
        return cls(sums, sizes, center, origin + unit * center, unit * whole, unit)


def _reach_and_p(drawn: Floats, t: float, *, level: float) -> tuple[float, float]:
    """The reach of the interval in standard errors, and p: at most 1 - level just outside it."""
    outside = max(1, int((1 - level) * (drawn.size + 1) + ROUNDING))
    # Draws as far as t, but for rounding, are as far.
    beyond = drawn.size - int(np.searchsorted(drawn, t * (1 - ROUNDING)))
    return float(drawn[drawn.size - outside]) / (1 - ROUNDING), (1 + beyond) / (1 + drawn.size)


def t_test(values: ArrayLike, design: Design) -> Significance:
    """The t test of a mean being zero, with CR2's standard error, without a bootstrap.

    Args:
        values: one an observation.
        design: of the observations.

    Returns:
        The test; without p where there are fewer than five clusters, or their means are equal.

    Raises:
        UsageError: not one value an observation.
    """
    mean = mean_of(values, design, seed=0, draws=0)
    freedom = None if mean.p is None else design.freedom()
    return Significance(mean.statistic, mean.p, mean.method, freedom, mean.reason)


def _mean_and_error(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Mean and CR2 standard error of clusters along the last axis."""
    n = sizes.sum(axis=-1)
    mean = sums.sum(axis=-1) / n
    gaps = sums - mean[..., None] * sizes
    # Drawn with replacement, one cluster may be nearly the whole sample.
    spare = np.maximum(1 - sizes / n[..., None], ROUNDING)
    error: Floats = np.sqrt((gaps**2 / spare).sum(axis=-1)) / n
    return mean, error


def _drawn(sample: _Sample, *, draws: int, seed: int) -> Floats:
    """Absolute t of each draw of clusters around the mean of the sample, ascending.

    Draws with hardly any spread have no t and are left out.
    """
    least = _LEAST_SPREAD * sample.error / sample.unit
    generator, m = np.random.default_rng(seed), sample.sums.size
    step = draws_at_once(m, most=_CHUNK)
    distances = []
    for start in range(0, draws, step):
        picked: Integers = generator.integers(0, m, (min(step, draws - start), m))
        means, errors = _mean_and_error(sample.sums[picked], sample.sizes[picked])
        known = errors > least
        distances.append(np.abs(means[known] - sample.center) / errors[known])
    return np.sort(np.concatenate(distances))


BOUNDED = "Bayesian bootstrap, half an observation at 0 and at 1"
BOUNDED_CLUSTERED = "Bayesian bootstrap over clusters, half a cluster at 0 and at 1"
BOUNDED_DRAWS = 9_999


def bounded_mean(
    values: ArrayLike, design: Design, *, seed: int, level: float = 0.95, draws: int = BOUNDED_DRAWS
) -> Interval:
    """Compute the interval of the mean of values between 0 and 1.

    Where most values are near a bound, the mean depends on the few that are not, of which a small
    sample may have none; so one half of an observation is added at either bound, of clusters one
    half of a cluster, as large as that of a usual item (Σ n_g² / n). Each draw gives
    the m clusters and these two random weights, Dirichlet(1, ..., 1, 1/2, 1/2), and the ends are
    quantiles of the weighted means (the Bayesian bootstrap: Rubin 1981,
    doi:10.1214/aos/1176345338). For verdicts, which are 0 or 1, this is Jeffreys's interval
    (Brown, Cai and DasGupta 2001, doi:10.1214/ss/1009213286, section 3.1.2). The documentation page
    "Statistics" gives its coverage. It always contains the mean and never leaves [0, 1].

    Args:
        values: one an observation.
        design: which of the observations belong together.
        seed: seed of the draws.
        level: confidence level.
        draws: number of draws.

    Returns:
        Two ends between 0 and 1; a reason in their place where there are fewer than five clusters.

    Raises:
        UsageError: a value is not between 0 and 1, an invalid level, no draws, or not one
            value an observation.

    Example:
        >>> interval = bounded_mean([0.0, 0.1, 0.9, 1.0, 1.0], Design.independent(5), seed=1)
        >>> round(interval.low, 1), round(interval.high, 1)
        (0.2, 0.9)
    """
    z_quantile(level)  # refuses an invalid level
    array = floats(values, name="values")
    same_length(values=array, units=design.units)
    if draws < 1:
        raise UsageError(where="interval", seen=f"{draws} draws", todo="Ask for 999 or more.")
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise UsageError(where="interval of a mean", seen="a value is not between 0 and 1")
    method = BOUNDED_CLUSTERED if design.clustered else BOUNDED
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    drawn = _bounded_draws(array, design, draws=draws, seed=seed)
    mean = math.fsum(array) / array.size
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(min(float(low), mean), max(float(high), mean), method)


def _bounded_draws(values: Floats, design: Design, *, draws: int, seed: int) -> Floats:
    """Weighted means of the clusters and of two that are added, one at each bound.

    In a crossed design the weight of a cell is the product of those of its clusters.
    """
    generator = np.random.default_rng(seed)
    groups, n_cells = design.parts()[-1][1].codes()
    sums = np.bincount(groups, weights=values, minlength=n_cells).astype(np.float64)
    sizes = np.bincount(groups, minlength=n_cells).astype(np.float64)
    usual = max(
        sum(size**2 for size in Counter(factor.clusters).values()) / design.n
        for factor in design.factors()
    )
    numerators = np.concatenate([sums, [0.0, usual]])
    denominators = np.concatenate([sizes, [usual, usual]])
    first = np.unique(groups, return_index=True)[1]
    *others, (labels, m) = (factor.codes() for factor in design.factors())
    shapes = np.concatenate([np.ones(m), [0.5, 0.5]])
    means, step = [], draws_at_once(n_cells, most=_CHUNK)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        # Gamma variables over their sum are Dirichlet's; the sum falls out of the quotient.
        drawn = generator.standard_gamma(shapes, (size, m + 2))
        weights = np.concatenate([drawn[:, labels[first]], drawn[:, m:]], axis=1)
        for other, n_labels in others:
            weights[:, :n_cells] *= generator.standard_gamma(1.0, (size, n_labels))[:, other[first]]
        means.append((weights @ numerators) / (weights @ denominators))
    return np.concatenate(means)


WITHIN_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "means-removed": "Masson-Loftus as Wilcox et al. use it (item means removed)",
        "cousineau-morey": "Cousineau-Morey",
        "loftus-masson": "Loftus-Masson",
    }
)


@dataclass(frozen=True, slots=True)
class WithinIntervals:
    """Condition means with standard errors and half-widths, one a condition.

    Attributes:
        means: means of the conditions.
        se: standard errors without what differs between units; None where there is none.
        half_widths: half the widths of the intervals; the interval is the mean plus and minus it.
        method: name of the method, one of the three.
        n: units, such as items or participants.
        reason: why there are no intervals.
    """

    means: tuple[float, ...]
    se: tuple[float, ...] | None
    half_widths: tuple[float, ...] | None
    method: str
    n: int
    reason: str | None = None


def within_intervals(
    table: ArrayLike, *, method: str = "cousineau-morey", level: float = 0.95
) -> WithinIntervals:
    """Compute intervals for conditions that were all seen within each item (or participant).

    Each value has its unit's mean subtracted and the grand mean added; sd divides by n - 1.

    - ``means-removed``: sd / sqrt(n) times the normal quantile, as Wilcox, Futrell and Levy (2023,
      doi:10.1162/ling_a_00491) draw them, citing Masson and Loftus (2003, doi:10.1037/h0087426).
      Too narrow: the means taken off were estimated from the same values.
    - ``cousineau-morey``: the same sd times sqrt(J / (J - 1)) for J conditions, and Student's
      quantile with n - 1 degrees of freedom (Cousineau 2005, doi:10.20982/tqmp.01.1.p042; Morey
      2008, doi:10.20982/tqmp.04.2.p061). Each condition has a width of its own.
    - ``loftus-masson``: one width for all, ``sqrt(MS / n)`` times Student's quantile with
      (n - 1)(J - 1) degrees of freedom, MS the mean square of unit by condition (Loftus and Masson
      1994, doi:10.3758/BF03210951).

    Two conditions differ where the interval of their difference excludes zero, not where these
    intervals do not overlap.

    Args:
        table: one row per unit, one column per condition, no missing values.
        method: one of the three.
        level: confidence level.

    Returns:
        Means, standard errors and half-widths in the unit of the values, one per condition; a
        reason in place of the last two if there are fewer than two units or conditions differ
        equally in all.

    Raises:
        UsageError: an unknown method, an invalid level, or fewer than two conditions.

    Example:
        >>> [round(x, 3) for x in within_intervals([[1, 2], [2, 4], [3, 4], [5, 6]]).half_widths]
        [0.563, 0.563]
    """
    array = floats(table, name="table")
    _check(array, method, level)
    n = len(array)
    means = tuple(map(float, array.mean(axis=0))) if n else ()
    if n < 2:  # noqa: PLR2004  # a spread needs two units
        return WithinIntervals(means, None, None, WITHIN_METHODS[method], n, TOO_FEW)
    left = array - array.mean(axis=1, keepdims=True)
    if abs(left - left.mean(axis=0)).max() <= ROUNDING * (abs(array).max() or 1):
        reason = "conditions differ equally in all units"
        return WithinIntervals(means, None, None, WITHIN_METHODS[method], n, reason)
    errors, quantile = _errors(left, method, (1 + level) / 2)
    widths = tuple(error * quantile for error in errors)
    return WithinIntervals(means, errors, widths, WITHIN_METHODS[method], n)


def _check(array: Floats, method: str, level: float) -> None:
    need_known(
        method,
        WITHIN_METHODS,
        where="within-item intervals",
        seen=f"no method is called {method!r}",
    )
    if array.ndim != 2 or array.shape[1] < 2 or not 0 < level < 1:  # noqa: PLR2004  # two conditions
        raise UsageError(
            where="within-item intervals",
            seen=f"a table of shape {array.shape} at level {level}",
            todo="Give one row per item and one column for each of two or more conditions.",
        )


def _errors(left: Floats, method: str, tail: float) -> tuple[tuple[float, ...], float]:
    """The standard errors of the conditions, and the quantile that they are multiplied by."""
    from scipy import special

    n, conditions = left.shape
    if method == "loftus-masson":
        freedom = (n - 1) * (conditions - 1)
        square = float(((left - left.mean(axis=0)) ** 2).sum()) / freedom
        return (math.sqrt(square / n),) * conditions, float(special.stdtrit(freedom, tail))
    errors = tuple(map(float, left.std(axis=0, ddof=1) / math.sqrt(n)))
    if method == "means-removed":
        return errors, float(special.ndtri(tail))
    factor = math.sqrt(conditions / (conditions - 1))
    return tuple(error * factor for error in errors), float(special.stdtrit(n - 1, tail))


def mean_if_all(values: Sequence[float | None]) -> float | None:
    """The mean of some values; None if there are none or one of them is None."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def without_noise(differences: Sequence[float], *, scale: float) -> list[float]:
    """Differences of scores, with those that differ only by rounding made equal, or 0.

    A test of differences that are equal except for the last bit of a float would give an
    arbitrarily small p-value.

    Args:
        differences: differences of scores.
        scale: the largest absolute score.
    """
    if not differences:
        return []
    noise = ROUNDING * scale
    settled = [0.0 if abs(difference) <= noise else difference for difference in differences]
    if max(settled) - min(settled) <= noise:
        return [settled[0]] * len(settled)
    return settled

"""The difference of two correlations with one reference over the same observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cimento.statistics.correlation import coefficient, weighted_coefficient
from cimento.statistics.design import Design
from cimento.statistics.intervals import t_quantile
from cimento.statistics.jackknife import jackknife_error
from cimento.statistics.paired import t_two_sided
from cimento.statistics.values import floats, same_length

JACKKNIFE_T = "jackknife, t"
JACKKNIFE_T_CLUSTERED = "jackknife over clusters, t"


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """What a second correlation has more than a first, with an interval and a test that agree.

    Attributes:
        first: the first coefficient; None where it is undefined.
        second: the second one.
        estimate: second minus first; None where one of them is undefined.
        low: lower end of the interval.
        high: upper end.
        p: two-sided, of equal coefficients; 0.05 or less exactly where the 95 % interval leaves
            out 0.
        method: of interval and test.
        n: observations.
        m: independent units.
        reason: why there is no interval and no p.
    """

    first: float | None
    second: float | None
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    method: str
    n: int
    m: int
    reason: str | None = None


def correlation_difference(
    first: Sequence[float],
    second: Sequence[float],
    reference: Sequence[float],
    *,
    design: Design,
    kind: str = "spearman",
    level: float = 0.95,
) -> CorrelationDifference:
    """The difference of two correlations that share a column, over observations in clusters.

    ``d ± t[m-1] se`` with ``d = r(second, reference) - r(first, reference)`` and the standard error
    of d by the jackknife over clusters (`jackknife.jackknife_error`), so that what the two
    coefficients have in common is allowed for, and so are observations that belong together.

    Args:
        first: one value an observation, such as one model's score of a sentence.
        second: of the same observations, another model's.
        reference: what both stand beside, such as ratings.
        design: of the observations.
        kind: ``pearson``, ``spearman`` or ``kendall``.
        level: confidence level.

    Returns:
        A reason in place of interval and p where a coefficient is undefined, wholly or without one
        of the clusters, where there are fewer than five clusters, or where none matters.

    Raises:
        UsageError: an unknown kind, or columns of different lengths.
    """
    n = same_length(first=first, second=second, reference=reference, units=design.units)
    method = JACKKNIFE_T_CLUSTERED if design.clustered else JACKKNIFE_T
    one, other = (coefficient(column, reference, kind=kind) for column in (first, second))
    plain = CorrelationDifference(
        one.r, other.r, None, None, None, None, method, n, design.m, one.reason or other.reason
    )
    if one.r is None or other.r is None:
        return plain
    plain = replace(plain, estimate=other.r - one.r)
    if design.shortage:
        return replace(plain, reason=design.shortage)
    beside = floats(reference, name="reference")
    a, b = (
        weighted_coefficient(floats(column, name="scores"), beside, kind=kind)
        for column in (first, second)
    )
    error, m = jackknife_error(lambda weights: b(weights) - a(weights), design)
    return _tested(plain, other.r - one.r, error, m, level=level)


def _tested(
    plain: CorrelationDifference, estimate: float, error: float, m: int, *, level: float
) -> CorrelationDifference:
    """A difference with its interval and p, or why there are none."""
    if math.isnan(error):
        return replace(plain, reason="undefined without one of the items or clusters")
    if error <= _ROUNDING:
        return replace(plain, reason="the two agree, whichever item or cluster is left out")
    reach = t_quantile(m - 1, level=level) * error
    return replace(
        plain,
        low=max(-2.0, estimate - reach),
        high=min(2.0, estimate + reach),
        p=t_two_sided(estimate / error, m - 1),
    )


_ROUNDING = 1e-12

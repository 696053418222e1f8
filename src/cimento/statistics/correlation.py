"""Correlations of two columns, partial ones, and the difference of two with one reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.statistics.classification import mid_ranks
from cimento.statistics.design import ArrayLike, Design, Floats, floats, same_length
from cimento.statistics.draws import (
    KENDALL_ROWS,
    Jackknife,
    TwoSpreads,
    Weighted,
    jackknife,
    jackknife_two,
    kendall_draws,
    partial_draws,
    pearson_draws,
    spearman_draws,
)
from cimento.statistics.intervals import t_quantile, t_two_sided

TOO_FEW_PAIRS = "fewer than three pairs of values"
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its tests and its interval.

    Attributes:
        kind: ``pearson``, ``spearman`` or ``kendall`` (tau-b).
        r: the coefficient; None where it is undefined.
        n: pairs of values.
        p_asymptotic: two-sided, from Student's t (from the normal distribution for Kendall); None
            where rows come in clusters.
        p: two-sided, by the test that belongs to the interval; None where there is none.
        low: lower end of the interval; None where there is none.
        high: upper end of the interval.
        method: method of the interval.
        reason: why `r`, or where there is an `r` why the interval, is missing.
    """

    kind: str
    r: float | None
    n: int
    p_asymptotic: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None

    @property
    def p_method(self) -> str | None:
        """The test that belongs to the interval; None where there is none."""
        return None if self.p is None else f"t of the {self.method}"


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    *,
    kind: str = "spearman",
    design: Design,
    level: float = 0.95,
) -> Correlation:
    """Correlate two columns, with an interval and a test over items or clusters.

    Pearson's product-moment coefficient, Spearman's (the same of mid-ranks) or Kendall's tau-b
    (Kendall 1945, doi:10.1093/biomet/33.3.239). Interval and p are the jackknife's on Fisher's z,
    leaving out one item or cluster at a time, so that p is 0.05 or less exactly where the 95%
    interval leaves out 0.

    Args:
        x: shape (n,), one value per row.
        y: shape (n,), one value per row.
        kind: ``pearson``, ``spearman`` or ``kendall``.
        design: which of the rows belong together, such as sentences that come in pairs.
        level: confidence level.

    Returns:
        The coefficient, from -1 to 1, with its interval and p. Undefined where there are fewer than
        three rows or a column is constant; without interval and p where there are fewer than five
        independent rows.

    Raises:
        UsageError: an unknown kind, or columns of different lengths.

    Example:
        >>> x, y = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3, 7, 8, 6, 5]
        >>> round(correlate(x, y, design=Design.independent(8)).r, 3)
        0.738
    """
    plain = coefficient(x, y, kind=kind)
    a, b = floats(x, name="x"), floats(y, name="y")
    same_length(x=a, units=design.units)
    if plain.r is None:
        return plain
    weighted = weighted_coefficient(a, b, kind=kind)
    return _tested_by(plain, jackknife(weighted, plain.r, design, level=level), design)


def weighted_coefficient(x: Floats, y: Floats, *, kind: str) -> Weighted:
    """A coefficient as a function of how often each row counts."""
    if kind == "kendall" and x.size > KENDALL_ROWS:
        one = statistic_of(kind)
        return lambda weights: np.array([one(x[row > 0], y[row > 0]) for row in weights])
    makers = {"pearson": pearson_draws, "spearman": spearman_draws, "kendall": kendall_draws}
    return makers[kind](x, y)


def _tested_by(plain: Correlation, jackknifed: Jackknife, design: Design) -> Correlation:
    """The correlation with its interval and test, without a p that the design does not allow."""
    interval = jackknifed.interval
    return replace(
        plain,
        p_asymptotic=None if design.clustered or design.shortage else plain.p_asymptotic,
        p=jackknifed.p,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        reason=interval.reason,
    )


def coefficient(x: ArrayLike, y: ArrayLike, *, kind: str = "spearman") -> Correlation:
    """The coefficient and its asymptotic p alone, as published tables mostly give them.

    Args:
        x: one value a row.
        y: one value a row.
        kind: ``pearson``, ``spearman`` or ``kendall``.

    Raises:
        UsageError: an unknown kind, or columns of different lengths.
    """
    statistic = statistic_of(kind)
    a, b = floats(x, name="x"), floats(y, name="y")
    n = same_length(x=a, y=b)
    if n < _FEWEST:
        return Correlation(kind, None, n, reason=TOO_FEW_PAIRS)
    for name, column in (("x", a), ("y", b)):
        if (column == column[0]).all():
            return Correlation(kind, None, n, reason=f"all values of {name} are equal")
    r = statistic(a, b)
    p = _kendall(a, b)[1] if kind == "kendall" else asymptotic_p(r, n)
    return Correlation(kind, r, n, p)


def asymptotic_p(r: float, n: int, *, covariates: int = 0) -> float:
    """The two-sided p of a Pearson or Spearman correlation from Student's t.

    ``t = r sqrt(f / (1 - r²))`` with ``f = n - 2 - covariates`` degrees of freedom (Pearson: exact
    for normal columns; Spearman: Kendall and Stuart 1973, section 31.18).

    Args:
        r: the coefficient.
        n: pairs of values.
        covariates: number of covariates partialed out.

    Raises:
        UsageError: a coefficient beyond 1, or too few rows.
    """
    freedom = n - 2 - covariates
    if abs(r) > 1 or freedom < 1:
        raise UsageError(
            where="p of a correlation",
            seen=f"r = {r} of {n} rows and {covariates} covariates",
            todo="r lies between -1 and 1; give three rows or more, and one for each covariate.",
        )
    if abs(r) == 1:
        return 0.0
    return t_two_sided(r * math.sqrt(freedom / (1 - r * r)), freedom)


def partial_correlation(
    x: ArrayLike,
    y: ArrayLike,
    covariates: ArrayLike,
    *,
    design: Design,
    kind: str = "spearman",
    level: float = 0.95,
) -> Correlation:
    """Correlate the parts of x and y that the covariates do not explain.

    Pearson's coefficient of the residuals of two least-squares fits on the covariates; for
    ``spearman`` of mid-ranks on mid-ranks. p has one degree of freedom less for each covariate
    (Fisher 1924, Metron 3, 329-332), and there is none where rows come in clusters; the interval
    and the test that belongs to it are the jackknife's on Fisher's z.

    Args:
        x: shape (n,), one value per row.
        y: shape (n,), one value per row.
        covariates: shape (n, covariates), such as length and frequency.
        design: which of the rows belong together.
        kind: ``pearson`` or ``spearman``.
        level: confidence level.

    Returns:
        The coefficient, from -1 to 1, with its interval and p; a reason in place of what is
        undefined.

    Raises:
        UsageError: another kind, or columns of different lengths.

    Example:
        >>> x, y, length = [1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6], [4, 4, 5, 5, 4, 6]
        >>> items = Design.independent(6)
        >>> round(partial_correlation(x, y, length, design=items, kind="pearson").r, 3)
        0.8
    """
    rows = _table(x, y, covariates, kind)
    n, more = len(rows), rows.shape[1] - 2
    if n < _FEWEST + more:
        return Correlation(kind, None, n, reason="fewer rows than covariates and three more")

    r = _partial(rows, ranked=kind == "spearman")
    if r != r:  # noqa: PLR0124  # NaN only
        return Correlation(kind, None, n, reason="the covariates leave nothing of x or of y")
    plain = Correlation(kind, r, n, asymptotic_p(r, n, covariates=more))
    same_length(x=rows, units=design.units)
    weighted = partial_draws(rows, ranked=kind == "spearman")
    return _tested_by(plain, jackknife(weighted, r, design, level=level), design)


def _table(x: ArrayLike, y: ArrayLike, covariates: ArrayLike, kind: str) -> Floats:
    """x, y and the covariates as the columns of one array."""
    if kind not in {"pearson", "spearman"}:
        raise UsageError(
            where="partial correlation",
            seen=f"kind {kind!r}",
            todo="Ask for 'pearson' or 'spearman'.",
        )
    a, b = floats(x, name="x"), floats(y, name="y")
    c = floats(covariates, name="covariates")
    c = c.reshape(-1, 1) if c.ndim == 1 else c
    same_length(x=a, y=b, covariates=c)
    return np.column_stack([a, b, c])


def _partial(rows: Floats, *, ranked: bool) -> float:
    table = np.column_stack([mid_ranks(column) for column in rows.T]) if ranked else rows
    table = table - table.mean(axis=0)
    scale = np.abs(table[:, :2]).max(axis=0)
    fitted = table[:, 2:] @ np.linalg.lstsq(table[:, 2:], table[:, :2], rcond=None)[0]
    left = table[:, :2] - fitted
    # What least squares leaves of a column that it explains wholly is rounding, not signal.
    if (np.abs(left).max(axis=0) <= _EXPLAINED * scale).any():
        return math.nan
    return _pearson(left[:, 0], left[:, 1])


_EXPLAINED = 1e-10


def _pearson(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    below = float(np.sqrt((a @ a) * (b @ b)))
    if below == 0 or (x == x[0]).all() or (y == y[0]).all():
        return math.nan
    return max(-1.0, min(1.0, float(a @ b) / below))


def _spearman(x: Floats, y: Floats) -> float:
    return _pearson(mid_ranks(x), mid_ranks(y))


def _kendall(x: Floats, y: Floats) -> tuple[float, float]:
    """Kendall's tau-b and its p from the normal distribution."""
    from scipy import stats

    if (x == x[0]).all() or (y == y[0]).all():
        return math.nan, math.nan
    tau = stats.kendalltau(x, y, method="asymptotic")
    return float(tau.statistic), float(tau.pvalue)


_STATISTICS: Mapping[str, Callable[[Floats, Floats], float]] = MappingProxyType(
    {"pearson": _pearson, "spearman": _spearman, "kendall": lambda x, y: _kendall(x, y)[0]}
)


def statistic_of(kind: str) -> Callable[[Floats, Floats], float]:
    """The coefficient alone, as a function of two arrays; NaN where it is undefined.

    Args:
        kind: ``pearson``, ``spearman`` or ``kendall``.

    Raises:
        UsageError: another kind.
    """
    need_known(kind, _STATISTICS, where="correlation", seen=f"no kind is called {kind!r}")
    return _STATISTICS[kind]


JACKKNIFE_T = "jackknife of both on Fisher's z, t"
JACKKNIFE_T_CLUSTERED = "jackknife of both over clusters on Fisher's z, t"
JACKKNIFE_T_CROSSED = "jackknife of both over crossed clusters on Fisher's z, t"


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """The difference of two correlations, with an interval and a test that agree.

    Attributes:
        first: the first coefficient; None where it is undefined.
        second: second coefficient.
        estimate: second minus first; None where one of them is undefined.
        low: lower end of the interval.
        high: upper end of the interval.
        p: two-sided, of equal coefficients; 0.05 or less exactly where the 95% interval leaves
            out 0.
        method: method of interval and test.
        n: number of observations.
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
    """Compute the difference of two correlations that share a column.

    The test is of the difference of both on Fisher's scale, ``z2 - z1`` over its standard error by
    the jackknife of both at once (Arvesen 1969, doi:10.1214/aoms/1177697287), by Student's t
    with m - 1 degrees of freedom. The interval has all values that ``tanh z2 - tanh z1`` takes
    where ``(z - ẑ)' V⁻¹ (z - ẑ) <= t²``, V the jackknife's covariance matrix: a profile interval
    (Venzon and Moolgavkar 1988, doi:10.2307/2347496), which leaves out 0 where the test rejects.

    Args:
        first: one value an observation, such as one model's score of a sentence.
        second: values of another model for the same observations.
        reference: what both are compared with, such as ratings.
        design: which of the observations belong together.
        kind: ``pearson``, ``spearman`` or ``kendall``.
        level: confidence level.

    Returns:
        Both coefficients and their difference, second minus first, with its interval and p; a
        reason if a coefficient is undefined or perfect, there are fewer than five clusters, or
        leaving out a cluster changes nothing.

    Raises:
        UsageError: an unknown kind, or columns of different lengths.

    Example:
        >>> first, second, ratings = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5], [1, 2, 3, 4, 6, 5]
        >>> d = correlation_difference(first, second, ratings, design=Design.independent(6))
        >>> round(d.first, 3), round(d.second, 3), round(d.estimate, 3)
        (0.943, 0.886, -0.057)
    """
    n = same_length(first=first, second=second, reference=reference, units=design.units)
    method = JACKKNIFE_T_CLUSTERED if design.clustered else JACKKNIFE_T
    method = JACKKNIFE_T_CROSSED if design.crossed else method
    one, other = (coefficient(column, reference, kind=kind) for column in (first, second))
    why = one.reason or other.reason
    plain = CorrelationDifference(one.r, other.r, None, None, None, None, method, n, design.m, why)
    if one.r is None or other.r is None:
        return plain
    plain = replace(plain, estimate=other.r - one.r)
    columns = [floats(column, name="values") for column in (first, second, reference)]
    return _tested(plain, columns, (one.r, other.r), design, kind=kind, level=level)


def _tested(
    plain: CorrelationDifference,
    columns: Sequence[Floats],
    r: tuple[float, float],
    design: Design,
    *,
    kind: str,
    level: float,
) -> CorrelationDifference:
    """A difference with its interval and p, or the reason why there are none."""
    if design.shortage:
        return replace(plain, reason=design.shortage)
    *scores, beside = columns
    a, b = (weighted_coefficient(column, beside, kind=kind) for column in scores)
    spreads = jackknife_two((a, b), r, design)
    if isinstance(spreads, str):
        return replace(plain, reason=spreads)
    if spreads.difference <= ROUNDING:
        return replace(plain, reason="the two agree, whichever item or cluster is left out")
    z, other_z = map(math.atanh, r)
    low, high = _profile(other_z - z, z + other_z, spreads, level=level)
    p = t_two_sided((other_z - z) / spreads.difference, spreads.freedom)
    return replace(plain, low=low, high=high, p=p)


def _profile(gap: float, total: float, spreads: TwoSpreads, *, level: float) -> tuple[float, float]:
    """The least and the most that a difference of two coefficients is, near their z's.

    Args:
        gap: difference of the two on Fisher's scale.
        total: their sum.
        spreads: how far both vary.
        level: confidence level.
    """
    from scipy import optimize

    reach = t_quantile(spreads.freedom, level=level)
    shared = spreads.together / spreads.difference
    rest = math.sqrt(max(0.0, spreads.total**2 - shared**2))

    def difference(angle: float) -> float:
        along, across = reach * math.cos(angle), reach * math.sin(angle)
        d, s = gap + along * spreads.difference, total + along * shared + across * rest
        return math.tanh((s + d) / 2) - math.tanh((s - d) / 2)

    step = math.pi / _STEPS
    angles = [place * step for place in range(2 * _STEPS)]
    least = min(angles, key=difference)
    most = max(angles, key=difference)
    found = optimize.minimize_scalar(
        difference, bounds=(least - step, least + step), method="bounded", options=_PRECISE
    )
    beyond = optimize.minimize_scalar(
        lambda angle: -difference(angle),
        bounds=(most - step, most + step),
        method="bounded",
        options=_PRECISE,
    )
    return min(float(found.fun), difference(least)), max(-float(beyond.fun), difference(most))


_PRECISE = {"xatol": 1e-9}
_STEPS = 90
ROUNDING = 1e-12

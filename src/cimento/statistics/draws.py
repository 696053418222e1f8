"""Coefficients of many bootstrap draws at once, and the jackknife of coefficients.

A draw is a row of weights: how often it holds each row of the sample. All coefficients can be
computed from weights, which makes ten thousand draws about as cheap as a few hundred one by one;
the sample itself is a draw of ones. Where all values of a draw are equal, its coefficient is NaN.
The jackknife leaves out one cluster after the other, on Fisher's scale, for coefficients between
-1 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cimento.statistics.design import (
    Design,
    Floats,
    Integers,
    crossed_variance,
    draws_at_once,
)
from cimento.statistics.intervals import Interval, t_quantile, t_two_sided

Weighted: TypeAlias = "Callable[[Floats], Floats]"
"""From weights, one row a draw and one column an observation, to the coefficient of each draw."""

# Variances below this proportion of the sample's are rounding: the draw is constant.
_CONSTANT = 1e-12
# Three n x n tables of signs, exact in float32 up to this many rows.
KENDALL_ROWS = 2000


def pearson_draws(x: Floats, y: Floats) -> Weighted:
    """From weights, one row a draw, to Pearson's coefficient of each draw; NaN where undefined."""
    columns = np.stack([_standard(x), _standard(y)], axis=1)

    def statistic(weights: Floats) -> Floats:
        return _correlations(weights, np.broadcast_to(columns, (*weights.shape, 2)))

    return statistic


def spearman_draws(x: Floats, y: Floats) -> Weighted:
    """From weights to Spearman's coefficient of each draw, ranked again; NaN where undefined."""
    ranks = [_ranker(column) for column in (x, y)]

    def statistic(weights: Floats) -> Floats:
        ranked = np.stack([rank(weights) for rank in ranks], axis=2)
        return _correlations(weights, ranked / weights.shape[1])

    return statistic


def kendall_draws(x: Floats, y: Floats) -> Weighted:
    """From weights to Kendall's tau-b of each draw; for up to `KENDALL_ROWS` rows.

    ``Σ w_i w_j s_ij t_ij / sqrt(Σ w_i w_j s_ij² Σ w_i w_j t_ij²)`` with the signs s and t of the
    differences of x and of y.
    """
    s = np.sign(x[:, None] - x[None, :]).astype(np.float32)
    t = np.sign(y[:, None] - y[None, :]).astype(np.float32)
    tables = (s * t, np.abs(s), np.abs(t))

    def statistic(weights: Floats) -> Floats:
        w = weights.astype(np.float32)
        above, left, right = (
            np.einsum("ij,ij->i", w @ table, w, dtype=np.float64) for table in tables
        )
        with np.errstate(invalid="ignore"):
            return np.where(left * right > 0, above / np.sqrt(left * right), np.nan)

    return statistic


def partial_draws(table: Floats, *, ranked: bool) -> Weighted:
    """From weights to the partial correlation of the first two columns, given the others.

    Args:
        table: one row an observation: x, y and the covariates.
        ranked: by mid-ranks, computed for each draw.
    """
    standard = np.stack([_standard(column) for column in table.T], axis=1)
    ranks = [_ranker(column) for column in table.T]

    def statistic(weights: Floats) -> Floats:
        if ranked:
            columns = np.stack([rank(weights) for rank in ranks], axis=2) / weights.shape[1]
        else:
            columns = np.broadcast_to(standard, (*weights.shape, table.shape[1]))
        spread = _covariances(weights, columns)
        across = spread[:, :2, 2:]
        explained = across @ np.linalg.pinv(spread[:, 2:, 2:], hermitian=True, rcond=1e-10)
        left = spread[:, :2, :2] - explained @ across.swapaxes(1, 2)
        return _ratio(left, np.diagonal(spread, axis1=1, axis2=2)[:, :2])

    return statistic


def _standard(values: Floats) -> Floats:
    """The values in standard deviations from their mean."""
    from_mean: Floats = values - values.mean()
    sd = float(from_mean.std())
    return from_mean / sd if sd else from_mean * 0


def _ranker(values: Floats) -> Weighted:
    """From weights to the mid-rank that each row has in each draw."""
    _, groups = np.unique(values, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    last = np.cumsum(np.bincount(groups)) - 1

    def rank(weights: Floats) -> Floats:
        upto = np.cumsum(weights[:, order], axis=1)[:, last]
        before = np.concatenate([np.zeros((len(weights), 1)), upto[:, :-1]], axis=1)
        middle: Floats = ((before + upto + 1) / 2)[:, groups]
        return middle

    return rank


def _covariances(weights: Floats, columns: Floats) -> Floats:
    """The covariance matrix of the columns in each draw."""
    totals = weights.sum(axis=1)
    means = np.einsum("bn,bni->bi", weights, columns) / totals[:, None]
    centered = columns - means[:, None, :]
    weighted = centered * weights[:, :, None]
    covariances: Floats = weighted.swapaxes(1, 2) @ centered / totals[:, None, None]
    return covariances


def _correlations(weights: Floats, columns: Floats) -> Floats:
    return _ratio(_covariances(weights, columns), np.full((len(weights), 2), 1.0))


def _ratio(spread: Floats, whole: Floats) -> Floats:
    """The correlation of a 2 x 2 matrix, NaN where a variance is nothing beside the whole one."""
    variances = np.diagonal(spread, axis1=1, axis2=2)
    defined = (variances > _CONSTANT * np.maximum(whole, _CONSTANT)).all(axis=1)
    below = np.sqrt(np.where(defined, variances[:, 0] * variances[:, 1], 1))
    ratios = np.where(defined, spread[:, 0, 1] / below, np.nan)
    # Perfect correlations are perfect in every draw, not nearly so.
    return np.where(np.abs(ratios) > 1 - _CONSTANT, np.sign(ratios), ratios)


# Differences below this proportion of what they are taken from are rounding.
_ROUNDING = 1e-12


def nominal_alpha(table: Floats) -> Weighted:
    """Krippendorff's alpha of categories.

    Args:
        table: count of each value (a column) for each item (a row).
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
        table: count of each value (a column, ascending) for each item (a row).
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
        table: count of each value (a column) for each item (a row); all items equally often.
    """
    sizes = table.sum(axis=1)
    agreeing = ((table**2).sum(axis=1) - sizes) / (sizes * (sizes - 1))

    def statistic(weights: Floats) -> Floats:
        totals = weights @ table
        shares = totals / totals.sum(axis=1, keepdims=True)
        expected = (shares**2).sum(axis=1)
        varied = (totals > 0).sum(axis=1) > 1
        beyond_chance = weights @ agreeing / weights.sum(axis=1) - expected
        return np.where(varied, beyond_chance / np.where(varied, 1 - expected, 1), np.nan)

    return statistic


def cohen(first: Integers, second: Integers, *, categories: int, power: int) -> Weighted:
    """Cohen's kappa.

    Args:
        first: number of the first rater's category of each item.
        second: of the second rater's.
        categories: number of categories.
        power: of the steps between two categories; 0 for equal or not.
    """
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
    difference = whole - part
    return np.where(difference <= _ROUNDING * whole, 0.0, difference)


def _alpha(observed: Floats, expected: Floats, n: Floats) -> Floats:
    """``1 - D_o / D_e``; NaN where nothing can differ."""
    defined = expected > 0
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1), np.nan)


JACKKNIFE = "jackknife on Fisher's z"
JACKKNIFE_CLUSTERED = "jackknife over clusters on Fisher's z"
JACKKNIFE_CROSSED = "jackknife over crossed clusters on Fisher's z"
_CHUNK = 250
_UNMOVED = 1e-9
"""An error on Fisher's scale that is not told from that of adding: no data have one so small."""
_MOST_CLUSTERS, _GROUPS, _SEED = 1000, 200, 0


@dataclass(frozen=True, slots=True)
class Jackknife:
    """The interval of a coefficient and the test that belongs to it.

    Attributes:
        interval: its interval.
        p: two-sided, of a coefficient of 0; 0.05 or less exactly where the 95% interval leaves
            out 0; None where there is no interval.
    """

    interval: Interval
    p: float | None = None


def jackknife(
    statistic: Weighted,
    estimate: float,
    design: Design,
    *,
    level: float = 0.95,
    ratings: float = 2.0,
    curved: bool = False,
) -> Jackknife:
    """The interval of a coefficient, leaving out one cluster at a time (docs/statistics.md).

    ``z ± t[m-1] sqrt((m - 1)/m Σ (z_j - z̄)²)`` for m clusters, z_j of the coefficient without
    cluster j (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11), taken back
    from Fisher's scale ``z = log((1 + (k - 1) r) / (1 - r)) / 2`` of k ratings an item (Fisher
    1925, Statistical Methods for Research Workers, section 39); of two this is atanh. More than
    1,000 clusters are put into 200 groups, and m counts groups (`_left_out_together`). p is that of
    z over the same error, by Student's t with m - 1 degrees of freedom. Crossed clusters have the
    variance of `design.crossed_variance`, and m of the smaller factor.

    Args:
        statistic: from weights, one row a draw and one column an observation, to coefficients.
        estimate: the coefficient of all observations.
        design: of the observations.
        level: confidence level.
        ratings: of each item; on average, where items differ.
        curved: whether ``2 b²`` is added to the variance, b the jackknife's estimate of bias
            ``(m - 1) (z̄ - z)``. Where the coefficient is near its highest, as alpha is where half
            of the items are good, no single one moves it, and it varies as a sum of chi-squares of
            mean b and variance up to 2 b² (Serfling 1980, doi:10.1002/9780470316481, 5.5.2).

    Returns:
        A reason in place of ends where there are fewer than five clusters, or the coefficient is
        1, -1 or undefined, wholly or without one of them.
    """
    method = _method(design)

    def none(reason: str) -> Jackknife:
        return Jackknife(Interval(None, None, method, reason))

    if design.shortage:
        return none(design.shortage)
    variances = _variances(statistic, estimate, design, ratings, curved=curved)
    if isinstance(variances, str):
        return none(variances)
    if (error := math.sqrt(crossed_variance(variances))) < _UNMOVED:
        return none("no item or cluster matters to the coefficient")
    freedom, center = _freedom(design), float(_scaled(estimate, ratings))
    reach = t_quantile(freedom, level=level) * error
    low, high = (_unscaled(center + side * reach, ratings) for side in (-1, 1))
    return Jackknife(Interval(low, high, method), t_two_sided(center / error, freedom))


def _variances(
    statistic: Weighted, estimate: float, design: Design, ratings: float, *, curved: bool
) -> list[tuple[int, float]] | str:
    """The signed variance of each part of a design, as `jackknife` has it; or why there is none."""
    variances = []
    for sign, part in design.parts():
        groups, m = _left_out_together(*part.codes())
        without = _without_each(statistic, groups, m)
        if reason := _not_on_fishers_scale(without, estimate, ratings):
            return reason
        z = _scaled(without, ratings)
        bias = (m - 1) * float(z.mean() - _scaled(estimate, ratings)) if curved else 0.0
        variances.append((sign, (m - 1) / m * float(((z - z.mean()) ** 2).sum()) + 2 * bias**2))
    return variances


def _method(design: Design) -> str:
    if design.crossed:
        return JACKKNIFE_CROSSED
    return JACKKNIFE_CLUSTERED if design.clustered else JACKKNIFE


def _not_on_fishers_scale(without: Floats, estimate: float, ratings: float) -> str:
    """The reason why a coefficient has no interval; empty if it has one."""
    if np.isnan(without).any():
        return "undefined without one of the items or clusters"
    if max(abs(estimate), float(np.abs(without).max())) >= 1:
        return "it is 1 or -1, or is so without one item or cluster"
    if min(estimate, float(without.min())) * (ratings - 1) <= -1:
        return "too far below agreement by chance"
    return ""


@dataclass(frozen=True, slots=True)
class TwoSpreads:
    """How far two coefficients vary on Fisher's scale, leaving out one cluster at a time.

    Attributes:
        difference: standard error of second minus first, both on Fisher's scale.
        total: of their sum.
        together: covariance of the two.
        freedom: degrees of freedom.
    """

    difference: float
    total: float
    together: float
    freedom: int


def jackknife_two(
    statistics: tuple[Weighted, Weighted], estimates: tuple[float, float], design: Design
) -> TwoSpreads | str:
    """The spread of two coefficients of the same observations, over a design.

    ``(m - 1)/m Σ (z_j - z̄)²`` for m clusters, and its like for two of them, with z_j without
    cluster j (Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 11.2; for
    functions of correlations Arvesen 1969, doi:10.1214/aoms/1177697287).

    Args:
        statistics: from weights, one row a draw and one column an observation, to coefficients.
        estimates: the coefficients of all observations.
        design: of the observations, with five clusters or more.

    Returns:
        The spread; the reason where a coefficient is 1, -1 or undefined, wholly or without one.
    """
    spreads = []
    for sign, part in design.parts():
        groups, m = _left_out_together(*part.codes())
        scaled = []
        for statistic, estimate in zip(statistics, estimates, strict=True):
            without = _without_each(statistic, groups, m)
            if reason := _not_on_fishers_scale(without, estimate, 2.0):
                return reason
            scaled.append(_scaled(without, 2.0))
        pairs = np.stack([scaled[1] - scaled[0], scaled[1] + scaled[0]])
        pairs -= pairs.mean(axis=1, keepdims=True)
        spreads.append((sign, (m - 1) / m * pairs @ pairs.T))
    difference, total = (
        math.sqrt(crossed_variance([(sign, float(spread[k, k])) for sign, spread in spreads]))
        for k in (0, 1)
    )
    together = sum(sign * float(spread[0, 1]) for sign, spread in spreads)
    most = difference * total
    return TwoSpreads(difference, total, min(most, max(-most, together)), _freedom(design))


def _freedom(design: Design) -> int:
    """One less than the number of groups that are left out; of crossed factors, the fewest."""
    return min(_left_out_together(*factor.codes())[1] for factor in design.factors()) - 1


def _without_each(statistic: Weighted, groups: Integers, m: int) -> Floats:
    """The coefficient without each of m groups of observations, some of them at a time."""
    step = draws_at_once(groups.size, most=_CHUNK)
    parts: list[Floats] = []
    for start in range(0, m, step):
        left_out = np.arange(start, min(start + step, m))
        parts.append(statistic((groups[None, :] != left_out[:, None]).astype(np.float64)))
    return np.concatenate(parts)


def _scaled(r: Floats | float, ratings: float) -> Floats:
    scaled: Floats = np.log((1 + (ratings - 1) * np.asarray(r)) / (1 - np.asarray(r))) / 2
    return scaled


def _unscaled(z: float, ratings: float) -> float:
    # (e²ᶻ - 1) / (e²ᶻ + k - 1), from e⁻²ᶻ where e²ᶻ would be too large for a float.
    if z > 0:
        return -math.expm1(-2 * z) / (1 + (ratings - 1) * math.exp(-2 * z))
    return math.expm1(2 * z) / (math.exp(2 * z) + ratings - 1)


def _left_out_together(clusters: Integers, m: int) -> tuple[Integers, int]:
    """The group with which each observation is left out, and the number of groups.

    More than 1,000 clusters are put at random into 200 groups of nearly one size (the
    delete-a-group jackknife: Kott 2001, Journal of Official Statistics 17, 521-526).
    """
    if m <= _MOST_CLUSTERS:
        return clusters, m
    shuffled = np.random.default_rng(_SEED).permutation(m)
    return (shuffled % _GROUPS)[clusters], _GROUPS

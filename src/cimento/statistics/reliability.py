"""Reliability: of the items of a suite, of the mean ratings of people, of a crossed table.

Split halves give the ceiling for anything that is compared with people; where only means and
standard errors were published, they give it too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.classification import mid_ranks
from cimento.statistics.design import (
    ALL_EQUAL,
    FEWEST_CLUSTERS,
    TOO_FEW,
    ArrayLike,
    Design,
    Floats,
    Statistic,
    floats,
    same_length,
    sum_in_order,
)
from cimento.statistics.intervals import Interval
from cimento.statistics.raters import FOR_OTHERS, PeoplesRatings, alpha_of_ratings

if TYPE_CHECKING:
    from cimento.io.values import Integers

REST = "rest"


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """The proportions of a table's variance that go with its factors.

    Attributes:
        shares: factor to its part of the total sum of squares, and ``rest`` for interactions and
            noise, which one observation a cell cannot tell apart; they sum to 1. None where there
            is not a variance.
        reason: why there are none.
    """

    shares: dict[str, float] | None
    reason: str | None = None


def variance_shares(table: ArrayLike, factors: Sequence[str]) -> VarianceShares:
    """The part of each factor's main effect in the total sum of squares (eta squared).

    ``SS_factor = cells per level * Σ (level mean - grand mean)²``, over ``Σ (value - mean)²``
    (Fisher 1925, Statistical Methods for Research Workers, chapter 7); the design is balanced, so
    that the parts are independent of the order of the factors.

    Args:
        table: one axis a factor, one observation a cell.
        factors: the name of each axis.

    Raises:
        UsageError: axes and names do not agree, or an axis has no levels.
    """
    values = floats(table, name="table")
    if values.ndim != len(factors) or 0 in values.shape or len(set(factors)) != len(factors):
        raise UsageError(
            where="table",
            seen=f"it has the shape {values.shape}, and the factors are {', '.join(factors)}",
            todo="Give each axis one name and at least one level.",
        )
    # Measured from one of the values, so that equal values give exactly zero.
    values = values - values.flat[0]
    mean = float(values.mean())
    total = float(((values - mean) ** 2).sum())
    if total == 0:
        return VarianceShares(None, ALL_EQUAL)
    shares = {}
    for axis, name in enumerate(factors):
        others = tuple(other for other in range(values.ndim) if other != axis)
        levels = values.mean(axis=others)
        per_level = values.size / values.shape[axis]
        shares[name] = float(per_level * ((levels - mean) ** 2).sum()) / total
    shares[REST] = max(0.0, 1 - sum_in_order(shares.values()))
    return VarianceShares(shares)


_FEWEST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Split-half reliability of the mean ratings of items.

    Attributes:
        half: mean correlation of two equal halves over the draws; None where undefined.
        reliability: reliability of the means of all ratings, by Spearman and Brown's formula.
        ceiling: the correlation with these means that a noise-free score could reach, the root of
            the reliability.
        low: reliability at the 2.5% quantile of the correlations: the spread of the halving alone;
            None where that correlation is too far below zero for the formula.
        high: reliability at the 97.5% quantile.
        items: number of items with two ratings or more, which are used.
        draws: random halvings.
        reason: why there is none.
    """

    half: float | None
    reliability: float | None
    ceiling: float | None
    low: float | None
    high: float | None
    items: int
    draws: int
    reason: str | None = None


def spearman_brown(reliability: float, *, factor: float = 2.0) -> float:
    """The reliability of `factor` times as many ratings, ``f r / (1 + (f - 1) r)``.

    Spearman (1910, doi:10.1111/j.2044-8295.1910.tb00206.x) and Brown (1910, the paper after it).

    Args:
        reliability: of the ratings there are; above ``-1 / (factor - 1)``.
        factor: 2 from one half to the whole.
    """
    return factor * reliability / (1 + (factor - 1) * reliability)


def split_half(
    ratings: Sequence[Sequence[float]], *, seed: int, draws: int = 1000, kind: str = "pearson"
) -> SplitHalf:
    """Estimate the split-half noise ceiling of items with several ratings each.

    In each draw the ratings of each item are halved at random (of an odd number one is left out)
    and the half means correlated over items. The mean correlation over the draws is the
    reliability of a half; that of all ratings follows by the formula of Spearman (1910,
    doi:10.1111/j.2044-8295.1910.tb00206.x) and Brown (1910). Its factor is 2 for even numbers,
    n / ((n - 1) / 2) for odd ones, and for different numbers the mean of 1 / half over the mean of
    1 / n: the variances of errors that the means have.

    Args:
        ratings: one list of ratings per item; items with fewer than two are left out.
        seed: seed of the halvings.
        draws: number of draws.
        kind: ``pearson`` or ``spearman``.

    Returns:
        The reliability and its root, the ceiling, at most 1; or the reason why there are none.

    Raises:
        UsageError: another kind, no draws, or ratings that are not numbers.

    Example:
        >>> halves = split_half([[1, 1], [2, 3], [5, 5], [7, 6]], seed=1)
        >>> 0.9 < halves.half < halves.reliability < halves.ceiling < 1
        True
    """
    if kind not in {"pearson", "spearman"} or draws < 1:
        raise UsageError(
            where="split half",
            seen=f"kind {kind!r}, {draws} draws",
            todo="Ask for 'pearson' or 'spearman', and for 100 draws or more.",
        )
    used = [floats(rating, name="ratings") for rating in ratings if len(rating) > 1]
    if len(used) < _FEWEST_ITEMS:
        return _nothing(len(used), draws, "fewer than three items with two ratings or more")
    sizes = np.array([rating.size for rating in used])
    table = np.zeros((len(used), int(sizes.max())))
    for row, rating in zip(table, used, strict=True):
        row[: rating.size] = rating
    few = table.size * draws <= _VALUES_KEPT
    orders = (_kept_orders if few else _orders)(tuple(sizes.tolist()), seed, draws)
    parts = [_correlations_of_halves(table, sizes, order, kind) for order in orders]
    halves = np.concatenate(parts)
    if undefined := int(np.isnan(halves).sum()):
        return _nothing(len(used), draws, f"undefined in {undefined} of {draws} halvings")
    factor = float((1 / (sizes // 2)).mean() / (1 / sizes).mean())
    return _of_halves(halves, items=len(used), factor=factor)


def ceiling_for_others(
    ratings: Sequence[Sequence[float]],
    people: Sequence[Sequence[Hashable | None]],
    halves: SplitHalf,
    *,
    design: Design,
    level: float = 0.95,
) -> Interval:
    """Compute the interval of a noise ceiling for other people and other items like these.

    The reliability R of the means of k ratings has ``z = -log(1 - R) / 2``, which is Fisher's of
    the reliability of one rating (1925, Statistical Methods for Research Workers, section 39).
    That is what ordinal alpha measures too, so that the error of z is that of alpha's
    (`alpha_for_others`), as one of halves would be the noise of the halving. The ends are taken
    back to R and its root; an R below 0 has the ceiling 0.

    Args:
        ratings: ratings of each item, in any order; those of items with fewer than two do not
            count.
        people: who gave each rating, in the same form; None for somebody unknown.
        halves: the ceiling of these ratings.
        design: which of the items belong together.
        level: confidence level.

    Returns:
        The interval, both ends at most 1, or the reason why there is none: no ceiling, people who
        are not known, or fewer than five people or items.

    Example:
        >>> ratings = [[1, 2, 1, 2, 1], [3, 3, 2, 4, 2], [2, 3, 4, 3, 5], [5, 4, 5, 4, 3],
        ...            [1, 1, 2, 3, 2], [4, 5, 4, 3, 5]]
        >>> people, items = [list("uvwxy")] * 6, Design.independent(6)
        >>> halves = split_half(ratings, seed=1, kind="spearman")
        >>> one = ceiling_for_others(ratings, people, halves, design=items)
        >>> round(one.low, 1), round(halves.ceiling, 1), round(one.high, 1)
        (0.7, 1.0, 1.0)
    """
    if halves.reliability is None or halves.ceiling is None:
        return Interval(None, None, FOR_OTHERS, halves.reason)
    each = PeoplesRatings.of(ratings, people, design, fewest=2)
    k = each.of_each
    one = halves.reliability / (k - (k - 1) * halves.reliability)
    ends = each.interval(alpha_of_ratings(each, scale="ordinal"), one, level=level, ratings=k)
    if ends.low is None or ends.high is None:
        return ends
    low, high = (spearman_brown(end, factor=k) for end in (ends.low, ends.high))
    return replace(ends, low=math.sqrt(max(low, 0.0)), high=math.sqrt(high))


_VALUES_AT_ONCE = 200_000
_VALUES_KEPT = 1_000_000
"""Largest number of places that are kept for the next table of the same shape."""


def _orders(sizes: tuple[int, ...], seed: int, draws: int) -> Iterator[Integers]:
    """Random orders of the ratings of each item, some draws at a time: draws by items by places.

    Args:
        sizes: the number of ratings of each item.
        seed: of the orders.
        draws: number of draws.
    """
    shape = len(sizes), max(sizes)
    columns, ends = np.arange(shape[1]), np.array(sizes)[:, None]
    generator = np.random.default_rng(seed)
    at_once = max(1, _VALUES_AT_ONCE // (shape[0] * shape[1]))
    for first in range(0, draws, at_once):
        keys = generator.random((min(at_once, draws - first), *shape))
        yield np.argsort(np.where(columns < ends, keys, np.inf), axis=-1)


@lru_cache(maxsize=1)
def _kept_orders(sizes: tuple[int, ...], seed: int, draws: int) -> tuple[Integers, ...]:
    """The same, kept for other tables: of many suites each has as many models and items."""
    return tuple(_orders(sizes, seed, draws))


def _of_halves(halves: Floats, *, items: int, factor: float) -> SplitHalf:
    """The reliability of the whole from the correlations of its halves, one a draw."""
    half, draws = float(halves.mean()), halves.size
    if 1 + (factor - 1) * half <= 0:
        return _nothing(items, draws, "the halves contradict each other")
    reliability = spearman_brown(half, factor=factor)
    low, high = (float(end) for end in np.quantile(halves, (0.025, 0.975)))
    ceiling = math.sqrt(reliability) if reliability > 0 else None
    return SplitHalf(
        half=half,
        reliability=reliability,
        ceiling=ceiling,
        low=spearman_brown(low, factor=factor) if 1 + (factor - 1) * low > 0 else None,
        high=spearman_brown(high, factor=factor),
        items=items,
        draws=draws,
        reason=None if ceiling is not None else "the reliability is not above zero",
    )


def _nothing(items: int, draws: int, reason: str) -> SplitHalf:
    return SplitHalf(None, None, None, None, None, items, draws, reason)


def _correlations_of_halves(table: Floats, sizes: Integers, order: Integers, kind: str) -> Floats:
    """The correlation of half means in each draw, NaN where it is undefined.

    Args:
        table: ratings, items by places.
        sizes: the number of ratings of each item.
        order: random places of the ratings of each item, draws by items by places.
        kind: as for `split_half`.
    """
    columns, half = np.arange(table.shape[1]), (sizes // 2)[:, None]
    mixed = np.take_along_axis(table[None], order, axis=-1)
    one = (mixed * (columns < half)).sum(axis=-1) / (sizes // 2)
    other = (mixed * ((columns >= half) & (columns < 2 * half))).sum(axis=-1) / (sizes // 2)
    if kind == "spearman":
        one, other = (np.array(list(map(mid_ranks, means))) for means in (one, other))
    constant = (np.ptp(one, axis=-1) == 0) | (np.ptp(other, axis=-1) == 0)
    one, other = (means - means.mean(axis=-1, keepdims=True) for means in (one, other))
    scale = np.sqrt((one * one).sum(axis=-1) * (other * other).sum(axis=-1))
    products = (one * other).sum(axis=-1)
    return np.where(constant, np.nan, np.clip(products / np.where(constant, 1, scale), -1, 1))


FEW_MODELS = f"fewer than {FEWEST_CLUSTERS} models"
ALIKE = "all models have the same total"


@dataclass(frozen=True, slots=True)
class ItemAnalysis:
    """The reliability of a suite's items as a test of several models.

    Attributes:
        models: number of models.
        items: number of items that all were scored on.
        all_pass: places of the items that every model gets right.
        none_pass: places of the items that no model gets right.
        kr20: Kuder and Richardson's formula 20, the internal consistency of the total.
        halves: split-half reliability of the total, items halved at random.
        item_total: of each item, its correlation with the total of the other items; None where
            it or the rest does not vary.
        reason: why the three above are missing.
    """

    models: int
    items: int
    all_pass: tuple[int, ...]
    none_pass: tuple[int, ...]
    kr20: Statistic
    halves: SplitHalf
    item_total: tuple[float | None, ...]
    reason: str | None = None

    @property
    def against(self) -> tuple[int, ...]:
        """Places of the items that better models get wrong more often than worse ones do."""
        return tuple(k for k, r in enumerate(self.item_total) if r is not None and r < 0)


def item_analysis(right: Sequence[Sequence[bool]], *, seed: int) -> ItemAnalysis:
    """The item analysis of a table of right and wrong, items by models.

    ``KR-20 = k/(k - 1) (1 - Σ p_i (1 - p_i) / s²)`` for k items that shares p_i of the models get
    right, and s² the variance of the models' totals (Kuder and Richardson 1937,
    doi:10.1007/BF02288391); the correlation of an item with the rest is that of Henrysson (1963,
    doi:10.1007/BF02289618), without the item itself. Both, and the halves, compare models, so
    that fewer than five give none.

    Args:
        right: one row per item, one truth value a model.
        seed: of the halvings.

    Raises:
        UsageError: rows of different lengths.
    """
    table: Floats = np.asarray(right, dtype=np.float64).reshape(
        len(right), len(right[0]) if right else 0
    )
    items, models = table.shape
    passing = table.sum(axis=1)
    few = FEW_MODELS if models < FEWEST_CLUSTERS else None
    return ItemAnalysis(
        models=models,
        items=items,
        all_pass=tuple(np.flatnonzero(passing == models).tolist()),
        none_pass=tuple(np.flatnonzero(passing == 0).tolist()),
        kr20=Statistic(None, few) if few else _kr20(table),
        halves=_nothing(models, 0, few) if few else split_half(table.T.tolist(), seed=seed),
        item_total=() if few else _item_total(table),
        reason=few,
    )


def _kr20(table: Floats) -> Statistic:
    items = table.shape[0]
    totals = table.sum(axis=0)
    spread = float(totals.var())
    if items < 2:  # noqa: PLR2004  # one item has no consistency with others
        return Statistic(None, "one item")
    if spread == 0:
        return Statistic(None, ALIKE)
    shares = table.mean(axis=1)
    return Statistic(items / (items - 1) * (1 - float((shares * (1 - shares)).sum()) / spread))


def _item_total(table: Floats) -> tuple[float | None, ...]:
    rest = table.sum(axis=0) - table
    a = table - table.mean(axis=1, keepdims=True)
    b = rest - rest.mean(axis=1, keepdims=True)
    below = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    above = (a * b).sum(axis=1)
    return tuple(
        float(x / y) if y > 0 else None for x, y in zip(above.tolist(), below.tolist(), strict=True)
    )


def reliability_of_means(means: ArrayLike, standard_errors: ArrayLike) -> Statistic:
    """The proportion of the variance of means that is not error of measurement.

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
        return Statistic(None, TOO_FEW)
    if (observed == observed[0]).all():
        return Statistic(None, ALL_EQUAL)
    return Statistic(float(1 - (errors**2).mean() / observed.var(ddof=1)))


def ceiling_of_means(means: ArrayLike, standard_errors: ArrayLike) -> Statistic:
    """The root of `reliability_of_means`; undefined where that is not above zero.

    Args:
        means: the mean rating of each item.
        standard_errors: of each mean.

    Raises:
        UsageError: columns of different lengths.
    """
    reliability = reliability_of_means(means, standard_errors)
    if reliability.value is None:
        return reliability
    if reliability.value <= 0:
        return Statistic(None, "the reliability is not above zero")
    return Statistic(math.sqrt(reliability.value))

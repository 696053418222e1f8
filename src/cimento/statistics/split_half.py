"""How far people agree with themselves: the ceiling for anything that is compared with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.classification import mid_ranks
from cimento.statistics.values import floats

if TYPE_CHECKING:
    from cimento.statistics.values import Floats

_FEWEST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Split-half reliability of the mean ratings of items.

    Attributes:
        half: mean correlation of two equal halves over the draws; None where undefined.
        reliability: of the means of all ratings, by Spearman and Brown's formula.
        ceiling: the correlation with these means that a noise-free score could reach, the root of
            the reliability.
        low: reliability at the 2.5 % quantile of the correlations: the spread of the halving alone;
            None where that correlation is too far below zero for the formula.
        high: the same at the 97.5 % quantile.
        items: with two ratings or more, which are used.
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
    """The split-half noise ceiling of items with several ratings each.

    In each draw the ratings of each item are halved at random (of an odd number one is left out)
    and the half means correlated over items. The mean correlation over the draws is the
    reliability of a half; that of all ratings follows by Spearman and Brown's formula. Its factor
    is 2 for even numbers, n / ((n - 1) / 2) for odd ones, and where items have different numbers
    the mean of 1 / half over the mean of 1 / n: the variances of errors that the means have.

    Args:
        ratings: one list of ratings an item; items with fewer than two are left out.
        seed: of the halvings.
        draws: how many.
        kind: ``pearson`` or ``spearman``.

    Raises:
        UsageError: another kind, no draws, or ratings that are no numbers.
    """
    import numpy as np

    if kind not in {"pearson", "spearman"} or draws < 1:
        raise UsageError(
            where="split half",
            seen=f"kind {kind!r}, {draws} draws",
            todo="Ask for 'pearson' or 'spearman', and for 100 draws or more.",
        )
    used = [floats(each, name="ratings") for each in ratings if len(each) > 1]
    if len(used) < _FEWEST_ITEMS:
        return _nothing(len(used), draws, "fewer than three items with two ratings or more")
    sizes = np.array([each.size for each in used])
    table = np.zeros((len(used), int(sizes.max())))
    for row, each in zip(table, used, strict=True):
        row[: each.size] = each
    generator = np.random.default_rng(seed)
    halves = [
        _correlation_of_halves(table, sizes, generator.random(table.shape), kind)
        for _ in range(draws)
    ]
    undefined = sum(map(math.isnan, halves))
    if undefined:
        return _nothing(len(used), draws, f"undefined in {undefined} of {draws} halvings")
    factor = float((1 / (sizes // 2)).mean() / (1 / sizes).mean())
    return _of_halves(halves, items=len(used), factor=factor)


def _of_halves(halves: Sequence[float], *, items: int, factor: float) -> SplitHalf:
    """The reliability of the whole from the correlations of its halves, one a draw."""
    import numpy as np

    half, draws = float(np.mean(halves)), len(halves)
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


def _correlation_of_halves(table: Floats, sizes: Floats, keys: Floats, kind: str) -> float:
    """The correlation of half means where each row's ratings are ordered by random keys."""
    import numpy as np

    columns, half = np.arange(table.shape[1]), (sizes // 2)[:, None]
    order = np.argsort(np.where(columns < sizes[:, None], keys, np.inf), axis=1)
    mixed = np.take_along_axis(table, order, axis=1)
    one = (mixed * (columns < half)).sum(axis=1) / (sizes // 2)
    other = (mixed * ((columns >= half) & (columns < 2 * half))).sum(axis=1) / (sizes // 2)
    if kind == "spearman":
        one, other = mid_ranks(one), mid_ranks(other)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])

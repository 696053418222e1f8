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
        half: mean correlation of the two half means over the draws; None where undefined.
        reliability: of the means of all ratings, by Spearman and Brown's formula.
        ceiling: the correlation with these means that a noise-free score could reach, the root of
            the reliability.
        low: 2.5 % quantile of `reliability` over the draws: the spread of the halving alone.
        high: 97.5 % quantile.
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


def spearman_brown(half: float) -> float:
    """The reliability of the whole from that of its half, ``2 r / (1 + r)``.

    Spearman (1910, doi:10.1111/j.2044-8295.1910.tb00206.x) and Brown (1910, the paper after it).
    """
    return 2 * half / (1 + half)


def split_half(
    ratings: Sequence[Sequence[float]], *, seed: int, draws: int = 1000, kind: str = "pearson"
) -> SplitHalf:
    """The split-half noise ceiling of items with several ratings each.

    In each draw the ratings of each item are halved at random (of an odd number the second half
    has one more), the half means correlated over items, and Spearman and Brown's formula applied;
    means over the draws are given.

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
    found = [half for half in halves if not math.isnan(half) and half > -1]
    if len(found) < draws:
        return _nothing(len(used), draws, f"undefined in {draws - len(found)} of {draws} halvings")
    whole = np.array([spearman_brown(half) for half in found])
    reliability = float(whole.mean())
    low, high = (float(each) for each in np.quantile(whole, (0.025, 0.975)))
    ceiling = math.sqrt(reliability) if reliability > 0 else None
    reason = None if ceiling is not None else "the reliability is not above zero"
    return SplitHalf(
        float(np.mean(found)), reliability, ceiling, low, high, len(used), draws, reason
    )


def _nothing(items: int, draws: int, reason: str) -> SplitHalf:
    return SplitHalf(None, None, None, None, None, items, draws, reason)


def _correlation_of_halves(table: Floats, sizes: Floats, keys: Floats, kind: str) -> float:
    """The correlation of half means where each row's ratings are ordered by random keys."""
    import numpy as np

    columns = np.arange(table.shape[1])
    present = columns < sizes[:, None]
    order = np.argsort(np.where(present, keys, np.inf), axis=1)
    mixed = np.take_along_axis(table, order, axis=1)
    first = columns < (sizes // 2)[:, None]
    one = (mixed * first).sum(axis=1) / (sizes // 2)
    other = (mixed * (present & ~first)).sum(axis=1) / (sizes - sizes // 2)
    if kind == "spearman":
        one, other = mid_ranks(one), mid_ranks(other)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])

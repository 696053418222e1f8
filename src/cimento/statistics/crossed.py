"""Where the variance of a fully crossed table comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.values import ALL_EQUAL, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

REST = "rest"


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """How much of the variance of a table goes with each of its factors.

    Attributes:
        shares: factor to its part of the total sum of squares, and ``rest`` for interactions and
            noise, which one observation a cell cannot tell apart; they sum to 1. None where there
            is no variance.
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
        others = tuple(each for each in range(values.ndim) if each != axis)
        levels = values.mean(axis=others)
        per_level = values.size / values.shape[axis]
        shares[name] = float(per_level * ((levels - mean) ** 2).sum()) / total
    shares[REST] = max(0.0, 1 - sum(shares.values()))
    return VarianceShares(shares)

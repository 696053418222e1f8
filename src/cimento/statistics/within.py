"""Intervals of condition means that leave out the differences between items, named by method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.values import TOO_FEW, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

METHODS: Mapping[str, str] = MappingProxyType(
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
        means: of the conditions.
        se: standard errors without what differs between units; None where there is none.
        half_widths: of the intervals; the interval is the mean plus and minus it.
        method: which of the three.
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
    """Intervals for conditions that were all seen within each item (or participant).

    Every value has its unit's mean taken off and the grand mean put back; sd has n - 1 below.

    - ``means-removed``: sd / sqrt(n) times the normal quantile, as Wilcox, Futrell and Levy (2023,
      doi:10.1162/ling_a_00491) draw them, citing Masson and Loftus (2003, doi:10.1037/h0087426).
      Too narrow: the means taken off were estimated from the same values.
    - ``cousineau-morey``: the same sd times sqrt(J / (J - 1)) for J conditions, and Student's
      quantile with n - 1 degrees of freedom (Cousineau 2005, doi:10.20982/tqmp.01.1.p042; Morey
      2008, doi:10.20982/tqmp.04.2.p061). Each condition has a width of its own.
    - ``loftus-masson``: one width for all, ``sqrt(MS / n)`` times Student's quantile with
      (n - 1)(J - 1) degrees of freedom, MS the mean square of unit by condition (Loftus and Masson
      1994, doi:10.3758/BF03210951).

    Two conditions differ where the interval of their difference leaves out zero, not where these
    intervals do not overlap.

    Args:
        table: one row a unit, one column a condition, no value missing.
        method: one of the three.
        level: confidence level.

    Raises:
        UsageError: an unknown method, a level that is none, or fewer than two conditions.
    """
    array = floats(table, name="table")
    _check(array, method, level)
    n = len(array)
    means = tuple(float(each) for each in array.mean(axis=0)) if n else ()
    if n < 2:  # noqa: PLR2004  # a spread needs two units
        return WithinIntervals(means, None, None, METHODS[method], n, TOO_FEW)
    left = array - array.mean(axis=1, keepdims=True)
    if abs(left - left.mean(axis=0)).max() <= _ROUNDING * (abs(array).max() or 1):
        reason = "conditions differ equally in all units"
        return WithinIntervals(means, None, None, METHODS[method], n, reason)
    errors, quantile = _errors(left, method, (1 + level) / 2)
    widths = tuple(each * quantile for each in errors)
    return WithinIntervals(means, errors, widths, METHODS[method], n)


_ROUNDING = 1e-12


def _check(array: Floats, method: str, level: float) -> None:
    if method not in METHODS:
        raise UsageError(
            where="within-item intervals",
            seen=f"no method is called {method!r}",
            todo=did_you_mean(method, METHODS),
        )
    if array.ndim != 2 or array.shape[1] < 2 or not 0 < level < 1:  # noqa: PLR2004  # two conditions
        raise UsageError(
            where="within-item intervals",
            seen=f"a table of shape {array.shape} at level {level}",
            todo="Give one row an item and one column for each of two or more conditions.",
        )


def _errors(left: Floats, method: str, tail: float) -> tuple[tuple[float, ...], float]:
    """Standard errors of the conditions, and what to multiply them by."""
    from scipy import special

    n, conditions = left.shape
    if method == "loftus-masson":
        freedom = (n - 1) * (conditions - 1)
        square = float(((left - left.mean(axis=0)) ** 2).sum()) / freedom
        return (math.sqrt(square / n),) * conditions, float(special.stdtrit(freedom, tail))
    plain = [float(each) for each in left.std(axis=0, ddof=1) / math.sqrt(n)]
    if method == "means-removed":
        return tuple(plain), float(special.ndtri(tail))
    factor = math.sqrt(conditions / (conditions - 1))
    return tuple(each * factor for each in plain), float(special.stdtrit(n - 1, tail))

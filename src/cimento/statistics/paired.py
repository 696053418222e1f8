"""Tests on paired observations: the same items seen by two models or more, or in two conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.values import ALL_EQUAL, TOO_FEW, Significance, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MCNEMAR: Mapping[str, str] = MappingProxyType(
    {
        "exact": "McNemar, exact binomial",
        "mid-p": "McNemar, mid-p",
        "chi-square": "McNemar, chi-square",
        "chi-square-corrected": "McNemar, chi-square with continuity correction",
    }
)
COCHRAN = "Cochran's Q"
PAIRED_T = "paired t"
ONE_SAMPLE_T = "one-sample t"
NO_DISCORDANT = "no item on which the two differ"


def discordant(first: Sequence[bool], second: Sequence[bool]) -> tuple[int, int]:
    """How many items only the first gets right, and how many only the second.

    Raises:
        UsageError: the two are not equally long.
    """
    same_length(first=first, second=second)
    pairs = list(zip(first, second, strict=True))
    return sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)


def mcnemar(b: int, c: int, *, variant: str = "exact") -> Significance:
    """McNemar's test of two shares on the same items (McNemar 1947, doi:10.1007/BF02295996).

    With n = b + c discordant items: ``exact`` is the two-sided binomial test of b in n at 1/2,
    ``mid-p`` takes from it the probability of b itself (Fagerland, Lydersen and Laake 2013,
    doi:10.1186/1471-2288-13-91), ``chi-square`` is ``(b - c)² / n``, and ``chi-square-corrected``
    ``max(0, |b - c| - 1)² / n`` (Edwards 1948, doi:10.1007/BF02289261), both with one degree of
    freedom.

    Args:
        b: items that only the first gets right.
        c: items that only the second gets right.
        variant: ``exact``, ``mid-p``, ``chi-square`` or ``chi-square-corrected``.

    Returns:
        The smaller count or the chi-square, and p. Without discordant items p is 1 in the two
        binomial variants and undefined in the others.

    Raises:
        UsageError: an unknown variant or a negative count.
    """
    if variant not in MCNEMAR:
        raise UsageError(
            where="McNemar's test",
            seen=f"no variant is called {variant!r}",
            todo=did_you_mean(variant, MCNEMAR),
        )
    if min(b, c) < 0:
        raise UsageError(where="McNemar's test", seen=f"a negative count: {min(b, c)}")
    if variant in {"exact", "mid-p"}:
        return _binomial(b, c, variant)
    if b + c == 0:
        return Significance(None, None, MCNEMAR[variant], 1, NO_DISCORDANT)
    gap = abs(b - c) if variant == "chi-square" else max(0, abs(b - c) - 1)
    square = gap**2 / (b + c)
    # The upper tail of chi-square with one degree of freedom is that of a squared normal.
    return Significance(square, math.erfc(math.sqrt(square / 2)), MCNEMAR[variant], 1)


def _binomial(b: int, c: int, variant: str) -> Significance:
    from scipy import special

    least, n = min(b, c), b + c
    tail = float(special.bdtr(least, n, 0.5))
    if variant == "exact":
        p = min(1.0, 2 * tail)
    else:
        p = tail + (float(special.bdtr(least - 1, n, 0.5)) if least else 0.0)
    return Significance(float(least), p, MCNEMAR[variant])


def cochran_q(table: Sequence[Sequence[bool]]) -> Significance:
    """Cochran's Q: whether k models get equal shares of the same items right.

    ``Q = (k - 1) (k Σ C_j² - N²) / (k N - Σ R_i²)`` with column sums C, row sums R and total N,
    against chi-square with k - 1 degrees of freedom (Cochran 1950, doi:10.1093/biomet/37.3-4.256).

    Args:
        table: one row an item, one truth value a model.

    Raises:
        UsageError: rows of different lengths, or fewer than two models.
    """
    from scipy import special

    widths = {len(row) for row in table}
    if len(widths) > 1 or widths in ({0}, {1}):
        raise UsageError(
            where=COCHRAN,
            seen=f"rows of {', '.join(map(str, sorted(widths)))} values",
            todo="Give each item one value for each of two or more models.",
        )
    if not table:
        return Significance(None, None, COCHRAN, reason="no items")
    k = widths.pop()
    rows = [sum(map(bool, row)) for row in table]
    columns = [sum(map(bool, column)) for column in zip(*table, strict=True)]
    total = sum(rows)
    below = k * total - sum(row**2 for row in rows)
    if below == 0:
        return Significance(None, None, COCHRAN, k - 1, "no item on which the models differ")
    q = (k - 1) * (k * sum(column**2 for column in columns) - total**2) / below
    return Significance(q, float(special.chdtrc(k - 1, q)), COCHRAN, k - 1)


def one_sample_t(values: ArrayLike, *, mean: float = 0.0) -> Significance:
    """Student's t test of whether values come from a population with this mean.

    ``t = (m - mean) / (sd / sqrt(n))``, n - 1 degrees of freedom, sd with n - 1 below (Student
    1908, doi:10.1093/biomet/6.1.1).

    Args:
        values: one an item, such as differences or difference-in-differences scores.
        mean: under the null hypothesis.
    """
    return _t_test(values, mean, ONE_SAMPLE_T)


def paired_t(first: ArrayLike, second: ArrayLike) -> Significance:
    """Student's t test of the mean difference, first minus second, of paired values.

    Raises:
        UsageError: the two are not equally long.
    """
    a, b = floats(first, name="first values"), floats(second, name="second values")
    same_length(first=a, second=b)
    return _t_test(a - b, 0.0, PAIRED_T)


def _t_test(values: ArrayLike, mean: float, method: str) -> Significance:
    array = floats(values, name="values")
    n = array.size
    if n < 2:  # noqa: PLR2004  # a standard deviation needs two values
        return Significance(None, None, method, reason=TOO_FEW)
    spread = float(array.std(ddof=1))
    if (array == array[0]).all() or spread == 0:
        return Significance(None, None, method, n - 1, ALL_EQUAL)
    t = (float(array.mean()) - mean) / (spread / math.sqrt(n))
    return Significance(t, t_two_sided(t, n - 1), method, n - 1)


def t_two_sided(t: float, freedom: float) -> float:
    """The probability that Student's t is at least as far from zero as this one."""
    from scipy import special

    return float(2 * special.stdtr(freedom, -abs(t)))

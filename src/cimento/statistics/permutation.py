"""Permutation tests: p-values from the data's own symmetries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean
from cimento.statistics.design import Design
from cimento.statistics.values import (
    TOO_FEW,
    Significance,
    draws_at_once,
    floats,
    same_length,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

EXACT = "sign flips, exact"
MONTE_CARLO = "sign flips, Monte Carlo"
PERMUTED = "permutation, Monte Carlo"
ALTERNATIVES = ("two-sided", "greater", "less")
DRAWS = 10_000

# 2**20 sums in each of two halves: a second of work.
_EXACT_UP_TO = 40
# Sums that differ by less than this share of the whole are the same sum, added in another order.
_ROUNDING = 1e-12
_CHUNK = 1000


def sign_flip(
    values: ArrayLike,
    design: Design,
    *,
    seed: int,
    alternative: str = "two-sided",
    draws: int = DRAWS,
    exact_up_to: int = _EXACT_UP_TO,
) -> Significance:
    """Whether the mean differs from zero, by flipping the signs of the values.

    Under the null hypothesis each value (or each cluster as a whole) is as likely to have the
    opposite sign (Fisher 1935, The Design of Experiments, section 21). Up to `exact_up_to` values
    that are not zero, all sign patterns are counted; above, p is ``(1 + extreme draws) /
    (1 + draws)``, never zero (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).

    Args:
        values: one an item, such as margins, differences or DD scores.
        design: of the values; a cluster flips as a whole.
        seed: of the draws.
        alternative: ``two-sided``, ``greater`` (than zero) or ``less``.
        draws: how many sign patterns to draw where they are too many to count.
        exact_up_to: most values (or clusters) to count all patterns for; 40 or less.

    Returns:
        The mean and p; p is undefined where all values are zero, or fewer than two may flip.

    Raises:
        UsageError: an unknown alternative, no draws, or columns of different lengths.
    """
    import numpy as np

    array = floats(values, name="values")
    _check_alternative(alternative)
    _check_draws(draws)
    groups, m = design.codes()
    same_length(values=array, units=design.units)
    reason = _says_nothing(array, m)
    if reason:
        return Significance(None, None, EXACT, reason=reason)
    way = -1 if alternative == "less" else 1
    sums = way * np.bincount(groups, weights=array, minlength=m).astype(np.float64)
    mean, two_sided = float(array.mean()), alternative == "two-sided"
    slack = _ROUNDING * float(abs(array).sum())
    limit = (abs(sums.sum()) if two_sided else sums.sum()) - slack
    flipped = sums[abs(sums) > slack]
    if flipped.size > min(exact_up_to, _EXACT_UP_TO):
        p = _drawn(flipped, limit, two_sided=two_sided, draws=draws, seed=seed)
        return Significance(mean, p, MONTE_CARLO)
    return Significance(mean, _counted(flipped, limit, two_sided=two_sided), EXACT)


def _check_alternative(alternative: str) -> None:
    if alternative not in ALTERNATIVES:
        raise UsageError(
            where="sign flips",
            seen=f"no alternative is called {alternative!r}",
            todo=did_you_mean(alternative, ALTERNATIVES),
        )


def _says_nothing(array: Floats, n_clusters: int) -> str:
    """Why flipping signs tells nothing about some values; empty where it does."""
    if not array.any():
        return "all values are zero" if array.size else "no values"
    # A sign alone has no pattern to be compared with.
    return TOO_FEW if n_clusters < 2 else ""  # noqa: PLR2004


def _counted(sums: Floats, limit: float, *, two_sided: bool) -> float:
    """The share of sign patterns whose sum reaches the limit.

    The patterns of one half of the values are sorted, so that those of the other half find by
    bisection how many complete them.
    """
    import numpy as np

    half = sums.size // 2
    one, other = _patterns(sums[:half]), np.sort(_patterns(sums[half:]))
    reached = int((other.size - np.searchsorted(other, limit - one, side="left")).sum())
    if two_sided:
        # A limit at or below zero is reached by every sum, from one side or the other.
        if limit <= 0:
            return 1.0
        reached += int(np.searchsorted(other, -limit - one, side="right").sum())
    return reached / (one.size * other.size)


def _patterns(sums: Floats) -> Floats:
    """The sum under each of the 2**n sign patterns."""
    import numpy as np

    found = np.zeros(1)
    for each in sums:
        found = np.concatenate([found + each, found - each])
    return found


def _drawn(sums: Floats, limit: float, *, two_sided: bool, draws: int, seed: int) -> float:
    import numpy as np

    generator, step = np.random.default_rng(seed), draws_at_once(sums.size, most=_CHUNK)
    extreme = 0
    for start in range(0, draws, step):
        size = (min(step, draws - start), sums.size)
        found = (generator.integers(0, 2, size) * 2 - 1) @ sums
        extreme += int(((np.abs(found) if two_sided else found) >= limit).sum())
    return (1 + extreme) / (1 + draws)


def permute_pairs(
    x: ArrayLike,
    y: ArrayLike,
    statistic: Callable[[Floats, Floats], float],
    *,
    seed: int,
    draws: int = DRAWS,
) -> Significance:
    """Whether x and y are associated, by pairing them anew at random; two-sided.

    ``p = (1 + draws at least as far from zero) / (1 + draws)``. The rows must be exchangeable: of
    rows that come in clusters this p is too small; use `clustered.permute_clusters` there.

    Args:
        x: one value a row.
        y: one value a row.
        statistic: of association, zero where there is none.
        seed: of the draws.
        draws: how many.

    Raises:
        UsageError: no draws, or columns of different lengths.
    """
    import numpy as np

    a, b = floats(x, name="x"), floats(y, name="y")
    same_length(x=a, y=b)
    _check_draws(draws)
    observed = statistic(a, b)
    if observed != observed:  # noqa: PLR0124  # NaN only
        return Significance(None, None, PERMUTED, reason="undefined in the sample")
    generator = np.random.default_rng(seed)
    limit = abs(observed) * (1 - _ROUNDING)
    extreme = sum(abs(statistic(a, generator.permutation(b))) >= limit for _ in range(draws))
    return Significance(float(observed), (1 + extreme) / (1 + draws), PERMUTED)


def permute_products(x: ArrayLike, y: ArrayLike, *, seed: int, draws: int = DRAWS) -> Significance:
    """`permute_pairs` of Pearson's coefficient (of ranks: Spearman's), many draws at once.

    Args:
        x: one value a row.
        y: one value a row.
        seed: of the draws.
        draws: how many.

    Raises:
        UsageError: no draws, or columns of different lengths.
    """
    import numpy as np

    a, b = floats(x, name="x"), floats(y, name="y")
    n = same_length(x=a, y=b)
    _check_draws(draws)
    if n == 0 or (a == a[0]).all() or (b == b[0]).all():
        return Significance(None, None, PERMUTED, reason="undefined in the sample")
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    observed = float(a @ b) / scale
    # What remains of a sum is taken as the same sum, added in another order.
    limit = abs(observed) * (1 - _ROUNDING) - _ROUNDING
    generator, step = np.random.default_rng(seed), draws_at_once(n, most=_CHUNK)
    extreme = 0
    for start in range(0, draws, step):
        rows = np.broadcast_to(b, (min(step, draws - start), n))
        found = generator.permuted(rows, axis=1) @ a / scale
        extreme += int((abs(found) >= limit).sum())
    return Significance(observed, (1 + extreme) / (1 + draws), PERMUTED)


def _check_draws(draws: int) -> None:
    if draws < 1:
        raise UsageError(
            where="permutation test", seen=f"{draws} draws", todo="Ask for 1,000 draws or more."
        )

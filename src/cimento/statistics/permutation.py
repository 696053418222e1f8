"""Permutation tests: p-values from the data's own symmetries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.values import Significance, draws_at_once, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

PERMUTED = "permutation, Monte Carlo"
DRAWS = 10_000

# Sums that differ by less than this share of the whole are the same sum, added in another order.
_ROUNDING = 1e-12
_CHUNK = 1000


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

"""A permutation test of rows that come in clusters, such as pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.design import Design
from cimento.statistics.permutation import DRAWS
from cimento.statistics.values import Significance, floats, same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats, Integers

PERMUTED_CLUSTERS = "permutation of clusters and within clusters, Monte Carlo"
_ROUNDING = 1e-12


def permute_clusters(
    x: ArrayLike,
    y: ArrayLike,
    statistic: Callable[[Floats, Floats], float],
    design: Design,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Significance:
    """Whether x and y are associated, where rows of one cluster depend on each other; two-sided.

    Under the null hypothesis the y of a cluster say nothing about its x, neither as a whole nor in
    their order: whole clusters of one size change places, and rows change places within a
    cluster, so that what is dependent stays together (exchangeable blocks: Winkler et al. 2015,
    doi:10.1016/j.neuroimage.2015.05.092). ``p = (1 + draws at least as far from zero) /
    (1 + draws)``.

    Args:
        x: one value a row.
        y: one value a row.
        statistic: of association, zero where there is none.
        design: of the rows.
        seed: of the draws.
        draws: how many.

    Returns:
        Without p where there are fewer than five clusters or the statistic is undefined.

    Raises:
        UsageError: no draws, or columns of different lengths.
    """
    import numpy as np

    a, b = floats(x, name="x"), floats(y, name="y")
    same_length(x=a, y=b, units=design.units)
    if draws < 1:
        raise UsageError(
            where="permutation test", seen=f"{draws} draws", todo="Ask for 1,000 draws or more."
        )
    groups, m = design.codes()
    if design.shortage:
        return Significance(None, None, PERMUTED_CLUSTERS, reason=design.shortage)
    observed = statistic(a, b)
    if observed != observed:  # noqa: PLR0124  # NaN only
        return Significance(None, None, PERMUTED_CLUSTERS, reason="undefined in the sample")
    blocks = _blocks(groups, m)
    generator = np.random.default_rng(seed)
    limit = abs(observed) * (1 - _ROUNDING)
    extreme = sum(abs(statistic(a, _mixed(b, blocks, generator))) >= limit for _ in range(draws))
    return Significance(float(observed), (1 + extreme) / (1 + draws), PERMUTED_CLUSTERS)


def _blocks(groups: Integers, m: int) -> list[Integers]:
    """For each size of cluster a table: one line a cluster, in it the numbers of its rows."""
    import numpy as np

    members = [np.flatnonzero(groups == each) for each in range(m)]
    sizes = sorted({rows.size for rows in members})
    return [np.stack([rows for rows in members if rows.size == size]) for size in sizes]


def _mixed(values: Floats, blocks: Sequence[Integers], generator: np.random.Generator) -> Floats:
    """The values with clusters of one size in each other's place, and rows within them."""
    mixed = values.copy()
    for rows in blocks:
        moved = generator.permutation(rows, axis=0)
        mixed[rows] = values[generator.permuted(moved, axis=1)]
    return mixed

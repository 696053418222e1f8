"""The profiled deviance of a linear mixed model, with its gradient.

Bates, Maechler, Bolker and Walker (2015, doi:10.18637/jss.v067.i01), section 3: the response is
``X beta + Z Lambda u + e`` with u of variance sigma² and Lambda made from the parameters theta.
Everything depends on the data through cross-products, which are made once. The largest grouping
factor's part of the equations is block-diagonal and is eliminated first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Floats, Integers


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """All random effects of one grouping column: their design and the level of each row.

    Attributes:
        rows: one row an observation, one column an effect.
        level: of each observation, from 0.
        levels: number of levels.
        terms: how many effects, side by side, each random term has: those of one term may be
            correlated, those of two are not. Empty where all are one term.
    """

    rows: Floats
    level: Integers
    levels: int
    terms: tuple[int, ...] = ()

    @property
    def effects(self) -> int:
        """The number of effects that vary between the levels."""
        return int(self.rows.shape[1])

    @property
    def size(self) -> int:
        """The number of random effects in all."""
        return self.levels * self.effects

    @property
    def free(self) -> tuple[Integers, Integers]:
        """Rows and columns of the elements of the factor that theta holds, in its order."""
        return _free(self.terms or (self.effects,))


# The search for an optimum asks hundreds of times.
@functools.cache
def _free(sizes: tuple[int, ...]) -> tuple[Integers, Integers]:
    rows, columns = np.tril_indices(sum(sizes))
    term = np.repeat(np.arange(len(sizes)), sizes)
    one = term[rows] == term[columns]
    return rows[one], columns[one]


@dataclass(frozen=True, slots=True)
class CrossProducts:
    """The cross-products of the designs; block 0 has the most random effects.

    Attributes:
        blocks: the random terms.
        n: observations.
        fixed: fixed effects.
        first: of block 0 with itself, the matrix of each level.
        across: of block 0 with the other blocks, X and y, one row a random effect.
        rest: of the other blocks, X and y among themselves.
    """

    blocks: tuple[GroupBlock, ...]
    n: int
    fixed: int
    first: Floats
    across: Floats
    rest: Floats

    @property
    def others(self) -> int:
        """The number of random effects in the other blocks."""
        return sum(block.size for block in self.blocks[1:])


def cross_products(blocks: Sequence[GroupBlock], x: Floats, y: Floats) -> CrossProducts:
    """Multiply out the designs.

    Args:
        blocks: the random terms, that with the most random effects first.
        x: the fixed effects, one column each.
        y: the response.
    """
    from scipy import sparse

    designs = [_sparse(block) for block in blocks]
    dense = sparse.hstack([*designs[1:], sparse.csr_array(np.column_stack([x, y]))]).tocsr()
    first = blocks[0]
    products = np.zeros((first.levels, first.effects, first.effects))
    np.add.at(products, first.level, first.rows[:, :, None] * first.rows[:, None, :])
    return CrossProducts(
        blocks=tuple(blocks),
        n=y.size,
        fixed=x.shape[1],
        first=products,
        across=(designs[0].T @ dense).toarray(),
        rest=(dense.T @ dense).toarray(),
    )


def _sparse(block: GroupBlock):  # type: ignore[no-untyped-def]  # noqa: ANN202  # scipy names no types
    from scipy import sparse

    n, effects = block.rows.shape
    columns = block.level[:, None] * effects + np.arange(effects)
    starts = np.arange(0, n * effects + 1, effects)
    return sparse.csr_array((block.rows.ravel(), columns.ravel(), starts), (n, block.size))


@dataclass(frozen=True, slots=True)
class ProfiledDeviance:
    """The deviance at one theta, with its gradient and estimates.

    Attributes:
        deviance: minus twice the log-likelihood (restricted where REML), beta and sigma at their
            best.
        log_gradient: the gradient, by theta, of the part that sigma does not touch.
        residual_gradient: the gradient of `residual` by theta.
        residual: the penalized residual sum of squares, r².
        beta: fixed effects.
        unscaled: the covariance of beta over sigma².
        freedom: n, or for REML n less the fixed effects.
    """

    deviance: float
    log_gradient: Floats
    residual_gradient: Floats
    residual: float
    beta: Floats
    unscaled: Floats
    freedom: int

    @property
    def gradient(self) -> Floats:
        """The gradient of the deviance by theta."""
        return self.log_gradient + self.freedom / self.residual * self.residual_gradient


def spans(sizes: Iterable[int]) -> Iterator[slice]:
    """The places of parts that lie one after the other."""
    start = 0
    for size in sizes:
        yield slice(start, start + size)
        start += size


def triangles(theta: Floats, blocks: Sequence[GroupBlock]) -> list[Floats]:
    """The lower triangular factor of each block, filled from theta."""
    factors = [np.zeros((block.effects, block.effects)) for block in blocks]
    sizes = [block.free[0].size for block in blocks]
    for block, factor, span in zip(blocks, factors, spans(sizes), strict=True):
        factor[block.free] = theta[span]
    return factors


def profiled_deviance(theta: Floats, data: CrossProducts, *, reml: bool) -> ProfiledDeviance | None:
    """The profiled deviance and its gradient at theta (equations 34 and 41 of the paper).

    With ``P`` the matrix that takes everything fitted from y, the derivative along a change of the
    variance V is ``tr(P dV) - freedom / r² y'P dV P y``, in the trace without the fixed effects
    unless REML (Harville 1977, doi:10.1080/01621459.1977.10480998).

    Returns:
        None where the equations cannot be solved at this theta.
    """
    parts = triangles(theta, data.blocks)
    q, p = data.others, data.fixed
    scaled = _ScaledProducts.of(data, parts)
    try:
        inverse: Floats = np.linalg.inv(scaled.first).astype(np.float64)
        eliminated = _batched(inverse, scaled.across, data.blocks[0])
        factor = np.linalg.cholesky(scaled.rest - scaled.across.T @ eliminated)
    except np.linalg.LinAlgError:
        return None
    lower: Floats = factor.astype(np.float64)
    diagonal = np.log(np.diagonal(lower))
    residual = float(lower[-1, -1] ** 2)
    counted = q + p if reml else q
    log_determinant = float(np.linalg.slogdet(scaled.first)[1].sum() + 2 * diagonal[:counted].sum())
    freedom = data.n - p if reml else data.n
    left = np.linalg.inv(lower[: q + p, : q + p])
    square: Floats = (left.T @ left).astype(np.float64)
    solved = left.T @ lower[-1, : q + p]
    within = square if reml else _inverse_square(lower[:q, :q])
    traces = _traces(scaled, inverse, eliminated[:, :counted], within, data)
    squares = _squares(scaled, eliminated, solved, data, parts)
    return ProfiledDeviance(
        deviance=log_determinant + freedom * (1 + math.log(2 * math.pi * residual / freedom)),
        log_gradient=_by_theta(traces, data.blocks),
        residual_gradient=-_by_theta(squares, data.blocks),
        residual=residual,
        beta=solved[q:],
        unscaled=square[q:, q:],
        freedom=freedom,
    )


def _by_theta(sums: Sequence[Floats], blocks: Sequence[GroupBlock]) -> Floats:
    """Twice the elements of the blocks' matrices that theta holds, in its order."""
    pairs = zip(sums, blocks, strict=True)
    return np.concatenate([2 * matrix[block.free] for matrix, block in pairs])


def _inverse_square(lower: Floats) -> Floats:
    left = np.linalg.inv(lower)
    square: Floats = (left.T @ left).astype(np.float64)
    return square


@dataclass(frozen=True, slots=True)
class _ScaledProducts:
    """The cross-products with Lambda multiplied in where an identity is below.

    Attributes:
        first: of block 0 with itself, Lambda on both sides, and the identity added.
        first_right: of block 0 with itself, Lambda on the right only.
        across: Lambda on both sides.
        across_right: Lambda of the other blocks only, on the right.
        across_left: Lambda of block 0 only, on the left.
        rest: Lambda on both sides, and the identity added to the random effects.
        rest_right: Lambda on the right only.
    """

    first: Floats
    first_right: Floats
    across: Floats
    across_right: Floats
    across_left: Floats
    rest: Floats
    rest_right: Floats

    @classmethod
    def of(cls, data: CrossProducts, parts: Sequence[Floats]) -> _ScaledProducts:
        factor, q = parts[0], data.others
        first_right = data.first @ factor
        across_right = _right(data.across, data.blocks[1:], parts[1:])
        rest_right = _right(data.rest, data.blocks[1:], parts[1:])
        rest = _right(rest_right.T, data.blocks[1:], parts[1:]).T
        rest[np.arange(q), np.arange(q)] += 1
        return cls(
            first=factor.T @ first_right + np.eye(len(factor)),
            first_right=first_right,
            across=_batched(factor.T, across_right, data.blocks[0]),
            across_right=across_right,
            across_left=_batched(factor.T, data.across, data.blocks[0]),
            rest=rest,
            rest_right=rest_right,
        )


def _right(matrix: Floats, blocks: Sequence[GroupBlock], parts: Sequence[Floats]) -> Floats:
    """Multiply the columns of the blocks, which come first, by their factors."""
    product = matrix.copy()
    places = spans(block.size for block in blocks)
    for block, part, columns in zip(blocks, parts, places, strict=True):
        shape = (len(matrix), block.levels, block.effects)
        product[:, columns] = (matrix[:, columns].reshape(shape) @ part).reshape(len(matrix), -1)
    return product


def _batched(left: Floats, matrix: Floats, block: GroupBlock) -> Floats:
    """Multiply the rows of each level by the level's matrix, or by the one for all."""
    product: Floats = left @ matrix.reshape(block.levels, block.effects, -1)
    return product.reshape(matrix.shape)


def _traces(
    scaled: _ScaledProducts,
    inverse: Floats,
    eliminated: Floats,
    within: Floats,
    data: CrossProducts,
) -> list[Floats]:
    """The sum over levels of Z'P Z Lambda, for each block.

    ``P Z Lambda`` is W C⁻¹ in the columns of Z, where W holds all designs and C is the matrix of
    the mixed model equations; C⁻¹ comes from the inverse of what was left after elimination.
    """
    counted, first = within.shape[0], data.blocks[0]
    joined = eliminated @ within
    levels = (first.levels, first.effects, -1)
    if counted:
        corner = inverse + joined.reshape(levels) @ eliminated.reshape(levels).swapaxes(1, 2)
        raw = scaled.across_right[:, :counted].reshape(levels)
        first_block = scaled.first_right @ corner - raw @ joined.reshape(levels).swapaxes(1, 2)
    else:
        first_block = scaled.first_right @ inverse
    traces = [first_block.sum(axis=0)]
    q = data.others
    rows = scaled.rest_right[:q, :counted] - scaled.across_left[:, :q].T @ eliminated
    others = data.blocks[1:]
    for block, span in zip(others, spans(block.size for block in others), strict=True):
        shape = (block.levels, block.effects, -1)
        left = rows[span].reshape(shape)
        right = within[:, span].T.reshape(shape)
        traces.append(np.matmul(left, right.swapaxes(1, 2)).sum(axis=0))
    return traces


def _squares(
    scaled: _ScaledProducts,
    eliminated: Floats,
    solved: Floats,
    data: CrossProducts,
    parts: Sequence[Floats],
) -> list[Floats]:
    """The sum over levels of g g' times the block's factor, with g = Z'P y, for each block."""
    q, counted = data.others, solved.size
    first = eliminated[:, -1] - eliminated[:, :counted] @ solved
    fitted = (scaled.first_right @ first.reshape(*scaled.first.shape[:2], 1)).ravel()
    first_block = data.across[:, -1] - fitted - scaled.across_right[:, :counted] @ solved
    rest = data.rest[:q, -1] - scaled.across_left[:, :q].T @ first
    rest = rest - scaled.rest_right[:q, :counted] @ solved
    squares = []
    every = np.concatenate([first_block, rest])
    places = spans(block.size for block in data.blocks)
    for block, part, span in zip(data.blocks, parts, places, strict=True):
        g = every[span].reshape(block.levels, block.effects)
        squares.append(g.T @ g @ part)
    return squares

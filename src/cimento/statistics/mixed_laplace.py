"""The Laplace approximation of the deviance of a mixed model of ordered answers, with its gradient.

An answer is one of K categories in order; with ``F`` the logistic function, thresholds and fixed
effects phi, and random effects ``z = Z Lambda u``, ``P(category or below) = F(a)`` where ``a`` is
linear in phi and z (McCullagh 1980, doi:10.1111/j.2517-6161.1980.tb01109.x). An answer of right or
wrong is the case K = 2. The integral over u is approximated at its mode:
``deviance = 2 h + log|H|``, h being minus the joint log-density and H its second derivative by u
(Bates et al. 2015, doi:10.18637/jss.v067.i01, section 2; Pinheiro and Chao 2006,
doi:10.1198/106186006X96962).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cimento.statistics.design import Booleans, Floats, Integers
from cimento.statistics.mixed_deviance import GroupBlock, spans, triangles

_STEPS, _HALVINGS = 200, 30
_SMALL_STEP = 1e-11


@dataclass(frozen=True, slots=True)
class OrderedAnswers:
    """The answers: ``log(F(a) - F(b))`` each, with ``a = upper phi - z`` and ``b = lower phi - z``.

    Attributes:
        upper: shape (n, fixed).
        lower: shape (n, fixed).
        has_upper: False for the highest category, whose a is infinite.
        has_lower: False for the lowest category, whose b is minus infinity.
    """

    upper: Floats
    lower: Floats
    has_upper: Booleans
    has_lower: Booleans


@dataclass(frozen=True, slots=True)
class _Point:
    """The log-likelihoods of answers at one place, and what the deviance needs of them.

    ``log(F(a) - F(b)) = log F(a) + log(1 - F(b)) + log(1 - exp(b - a))``, and the last part does
    not depend on z.

    Attributes:
        loglik: their sum; minus infinity where thresholds are not in order.
        by_a: derivative of each answer by a.
        by_b: by b.
        slope: by z.
        p_a: minus the second derivative by z that comes from a; `p_b` that from b.
        q_a: the derivative of `p_a` by a; `q_b` that of `p_b` by b.
    """

    loglik: float
    by_a: Floats
    by_b: Floats
    slope: Floats
    p_a: Floats
    p_b: Floats
    q_a: Floats
    q_b: Floats


def _point(answers: OrderedAnswers, fixed: tuple[Floats, Floats], z: Floats) -> _Point | None:
    """The answers at fixed parts of a and b and at z; None where thresholds are not in order."""
    a = np.where(answers.has_upper, fixed[0] - z, np.inf)
    b = np.where(answers.has_lower, fixed[1] - z, -np.inf)
    both = answers.has_upper & answers.has_lower
    gap = np.where(both, fixed[0] - fixed[1], 1.0)
    if (gap <= 0).any():
        return None
    between = np.where(both, np.log(-np.expm1(-gap)), 0.0)
    closing = np.where(both, 1 / np.expm1(gap), 0.0)
    below_a, above_a = _logistic(a), _logistic(-a)
    below_b, above_b = _logistic(b), _logistic(-b)
    p_a, p_b = below_a * above_a, below_b * above_b
    loglik = between - np.logaddexp(0, -a) - np.logaddexp(0, b)
    return _Point(
        loglik=float(loglik.sum()),
        by_a=above_a + closing,
        by_b=-below_b - closing,
        slope=below_b - above_a,
        p_a=p_a,
        p_b=p_b,
        q_a=p_a * (above_a - below_a),
        q_b=p_b * (above_b - below_b),
    )


def _logistic(x: Floats) -> Floats:
    from scipy import special

    values: Floats = special.expit(x)
    return values


@dataclass(slots=True)
class LaplaceData:
    """The data of a fit; block 0 has the most random effects, and its equations are eliminated.

    Attributes:
        answers: what was answered.
        blocks: the random effects, one block a grouping column.
        mode: the random effects at which the last search ended, from where the next one starts.
    """

    answers: OrderedAnswers
    blocks: tuple[GroupBlock, ...]
    mode: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def n(self) -> int:
        """The number of answers."""
        return int(self.answers.has_upper.size)

    @property
    def size(self) -> int:
        """The number of random effects."""
        return sum(block.size for block in self.blocks)


@dataclass(frozen=True, slots=True)
class LaplaceDeviance:
    """The deviance at one theta and phi.

    Attributes:
        deviance: minus twice the approximate log-likelihood.
        by_theta: its gradient by the relative covariance factors.
        by_phi: its gradient by thresholds and fixed effects.
    """

    deviance: float
    by_theta: Floats
    by_phi: Floats


class _Equations:
    """The random effects' design at one theta: products with it, and its normal equations."""

    def __init__(self, data: LaplaceData, theta: Floats) -> None:
        self.data = data
        factors = triangles(theta, data.blocks)
        self.rows = [block.rows @ part for block, part in zip(data.blocks, factors, strict=True)]
        self.places = [*spans(block.size for block in data.blocks)]

    def times(self, u: Floats) -> Floats:
        """Z Lambda u."""
        z = np.zeros(self.data.n)
        for rows, levels in zip(self.rows, self.by_level(u), strict=True):
            z += np.einsum("ij,ij->i", rows, levels)
        return z

    def by_level(self, u: Floats) -> Iterator[Floats]:
        """Of each block, the random effects of each row's level."""
        for block, place in zip(self.data.blocks, self.places, strict=True):
            yield u[place].reshape(block.levels, block.effects)[block.level]

    def back(self, values: Floats) -> Floats:
        """(Z Lambda)' values."""
        return np.concatenate(
            [
                _summed(rows * values[:, None], block).ravel()
                for rows, block in zip(self.rows, self.data.blocks, strict=True)
            ]
        )

    def solver(self, weights: Floats) -> _Solver | None:
        """The factors of ``I + (Z Lambda)' W Z Lambda``; None where rounding forbids them."""
        first, rows = self.data.blocks[0], self.rows[0]
        squares = rows[:, :, None] * rows[:, None, :] * weights[:, None, None]
        top = _summed(squares.reshape(len(rows), -1), first).reshape(
            first.levels, first.effects, first.effects
        ) + np.eye(first.effects)
        rest = self.rest
        across = (_sparse(rows * weights[:, None], first.level, first.size).T @ rest).toarray()
        corner = (rest.T @ (rest * weights[:, None])).toarray()
        corner[np.diag_indices(len(corner))] += 1
        try:
            inverse: Floats = np.linalg.inv(top).astype(np.float64)
            solved = _each(inverse, across, first)
            lower = np.linalg.cholesky(corner - across.T @ solved)
        except np.linalg.LinAlgError:
            return None
        log_determinant = np.linalg.slogdet(top)[1].sum() + 2 * np.log(np.diagonal(lower)).sum()
        left = np.linalg.inv(lower)
        rest_inverse: Floats = (left.T @ left).astype(np.float64)
        return _Solver(first, inverse, solved, rest_inverse, float(log_determinant))

    @functools.cached_property
    def rest(self) -> Any:  # noqa: ANN401  # scipy names no types of sparse arrays
        """The sparse design of all blocks but the first."""
        from scipy import sparse

        blocks = self.data.blocks[1:]
        if not blocks:
            return sparse.csr_array((self.data.n, 0))
        designs = [
            _sparse(rows, block.level, block.size)
            for rows, block in zip(self.rows[1:], blocks, strict=True)
        ]
        return sparse.hstack(designs).tocsr()


@dataclass(frozen=True, slots=True)
class _Solver:
    """The inverse of H in parts, and its log-determinant.

    Attributes:
        first: block 0.
        inverse: of each level of block 0 alone.
        solved: `inverse` times the part of H between block 0 and the rest.
        corner: the inverse of what is left of the rest.
        log_determinant: of H.
    """

    first: GroupBlock
    inverse: Floats
    solved: Floats
    corner: Floats
    log_determinant: float

    def solve(self, right: Floats) -> Floats:
        """H⁻¹ right."""
        top, rest = right[: self.first.size], right[self.first.size :]
        below = self.corner @ (rest - self.solved.T @ top)
        above = _each(self.inverse, top[:, None], self.first)[:, 0] - self.solved @ below
        return np.concatenate([above, below])

    def of_rows(self, at: _Equations) -> list[Floats]:
        """Of each block, the part of ``H⁻¹ s`` at each row's own level, s its row of Z Lambda."""
        first, rows = self.first, at.rows[0]
        by_level = self.solved.reshape(first.levels, first.effects, -1)[first.level]
        # What is left of the rest's design without what block 0 accounts for.
        left = at.rest.toarray() - np.einsum("ij,ijk->ik", rows, by_level)
        below = left @ self.corner
        parts = [
            np.einsum("ijk,ik->ij", self.inverse[first.level], rows)
            - np.einsum("ijk,ik->ij", by_level, below)
        ]
        blocks = at.data.blocks[1:]
        for block, place in zip(blocks, spans(block.size for block in blocks), strict=True):
            columns = place.start + block.level[:, None] * block.effects + np.arange(block.effects)
            parts.append(np.take_along_axis(below, columns, axis=1))
        return parts


def _summed(values: Floats, block: GroupBlock) -> Floats:
    """The sums of rows by level: one row per level."""
    sums = [np.bincount(block.level, column, block.levels) for column in values.T]
    return np.stack(sums, axis=1)


def _each(left: Floats, matrix: Floats, block: GroupBlock) -> Floats:
    """Multiply the rows of each level by the level's matrix."""
    product: Floats = left @ matrix.reshape(block.levels, block.effects, -1)
    return product.reshape(matrix.shape)


def _sparse(rows: Floats, level: Integers, size: int) -> Any:  # noqa: ANN401  # as above
    from scipy import sparse

    n, effects = rows.shape
    columns = level[:, None] * effects + np.arange(effects)
    starts = np.arange(0, n * effects + 1, effects)
    return sparse.csr_array((rows.ravel(), columns.ravel(), starts), (n, size))


def laplace_deviance(theta: Floats, phi: Floats, data: LaplaceData) -> LaplaceDeviance | None:
    """The deviance and its gradient.

    The mode depends on the parameters too, which the gradient takes into account: with leverages
    ``s' H⁻¹ s`` of rows s of Z Lambda, ``c`` these times the change of the weights by z, and
    ``v = H⁻¹ (Z Lambda)' c``, every derivative is a sum over answers.

    Returns:
        None where thresholds are not in order, or no mode is found.
    """
    answers, at = data.answers, _Equations(data, theta)
    fixed = (answers.upper @ phi, answers.lower @ phi)
    found = _mode(at, fixed)
    if found is None:
        return None
    u, point, solver = found
    data.mode = u
    weights = point.p_a + point.p_b
    parts = solver.of_rows(at)
    leverage = sum(
        (np.einsum("ij,ij->i", rows, part) for rows, part in zip(at.rows, parts, strict=True)),
        start=np.zeros(data.n),
    )
    c = -leverage * (point.q_a + point.q_b)
    v = solver.solve(at.back(c))
    moved = at.times(v)
    by_a = -2 * point.by_a + leverage * point.q_a + moved * point.p_a
    by_b = -2 * point.by_b + leverage * point.q_b + moved * point.p_b
    by_phi = np.where(answers.has_upper, by_a, 0.0) @ answers.upper
    by_phi += np.where(answers.has_lower, by_b, 0.0) @ answers.lower
    by_z = -2 * point.slope + c - weights * moved
    gradients = []
    quadruple = (data.blocks, at.by_level(u), at.by_level(v), parts)
    for block, of_u, of_v, part in zip(*quadruple, strict=True):
        of_row = by_z[:, None] * of_u + point.slope[:, None] * of_v + 2 * weights[:, None] * part
        gradients.append((block.rows.T @ of_row)[block.free])
    deviance = -2 * point.loglik + float(u @ u) + solver.log_determinant
    return LaplaceDeviance(deviance, np.concatenate(gradients), by_phi)


def _mode(at: _Equations, fixed: tuple[Floats, Floats]) -> tuple[Floats, _Point, _Solver] | None:
    """The random effects at which their joint density with the answers is largest, by Newton."""
    data = at.data
    u = data.mode if data.mode.size == data.size else np.zeros(data.size)
    point = _point(data.answers, fixed, at.times(u))
    if point is None:
        return None
    height = _height(point, u)
    for _ in range(_STEPS):
        solver = at.solver(point.p_a + point.p_b)
        if solver is None:
            return None
        step = solver.solve(at.back(point.slope) - u)
        size = 1.0
        for _ in range(_HALVINGS):
            ahead = _point(data.answers, fixed, at.times(u + size * step))
            if ahead is not None and _height(ahead, u + size * step) <= height + _SMALL_STEP:
                break
            size /= 2
        else:
            return u, point, solver
        u, point = u + size * step, ahead
        height = _height(point, u)
        if float(np.abs(step).max()) * size < _SMALL_STEP**0.5:
            solver = at.solver(point.p_a + point.p_b)
            return None if solver is None else (u, point, solver)
    return None


def _height(point: _Point, u: Floats) -> float:
    return -point.loglik + float(u @ u) / 2


def separated(answers: OrderedAnswers) -> bool:
    """Whether some change of phi makes some answers ever more probable, and none less.

    Estimates then have no limit (Albert and Anderson 1984, doi:10.1093/biomet/71.1.1; found by
    linear programming, as in Konis 2007, Linear programming algorithms for detecting separated
    data in binary logistic regression models, thesis, University of Oxford).
    """
    from scipy import optimize

    rows = np.concatenate([answers.upper[answers.has_upper], -answers.lower[answers.has_lower]])
    best = optimize.linprog(
        -rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs"
    )
    return bool(best.status == 0 and -best.fun > _CERTAIN)


_CERTAIN = 1e-7

"""The optimum of a mixed model's deviance, and the degrees of freedom of its fixed effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Booleans, Floats, Integers
from cimento.statistics.mixed_deviance import (
    CrossProducts,
    GroupBlock,
    ProfiledDeviance,
    profiled_deviance,
    triangles,
)

# Relative standard deviations of the random effects to start from, without correlations.
_STARTS = (1.0, 0.2, 4.0)
# lme4's tolerances: a factor below the first is zero, a gradient above the second no optimum.
_SINGULAR = 1e-4
_GRADIENT = 2e-3
# Where to look for less than at a zero: relative standard deviations from 0.004 to 0.972.
_AWAY = tuple(0.004 * 3**power for power in range(6))
_LOWER = 1e-9
_LIMITS = {"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "gtol": 1e-7}
_STEP = 1e-3
_SMALLEST_SCALE = 1e-2


@dataclass(frozen=True, slots=True)
class Optimum:
    """The minimum of the deviance.

    Attributes:
        theta: relative covariance factors, block by block.
        profile: the deviance there.
        starts: the deviance reached from each start.
        singular: a diagonal element of a factor is zero.
        converged: no step inside the bounds would lower the deviance noticeably.
    """

    theta: Floats
    profile: ProfiledDeviance
    starts: tuple[float, ...]
    singular: bool
    converged: bool


def optimum(
    data: CrossProducts, *, reml: bool, starts: Sequence[float] = _STARTS, precision: float = 1e-14
) -> Optimum | None:
    """Minimize the profiled deviance over theta, diagonal elements being 0 or more.

    L-BFGS-B (Byrd et al. 1995, doi:10.1137/0916069) with the exact gradient from several starts,
    relative standard deviations, down to a relative precision of the deviance; the lowest wins.
    None where the deviance can be evaluated from no start.
    """
    from scipy import optimize

    diagonal = _diagonal(data.blocks)

    def value(theta: Floats) -> tuple[float, Floats]:
        profile = profiled_deviance(theta, data, reml=reml)
        # Where there is no residual left the search must turn back.
        return (math.inf, theta * 0) if profile is None else (profile.deviance, profile.gradient)

    def descend(start: Floats) -> Floats:
        """Add where this start leads to, and give the lowest place so far."""
        descent = optimize.minimize(
            value,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0 if on_diagonal else None, None) for on_diagonal in diagonal],
            options=_LIMITS | {"ftol": precision},
        )
        reached.append((float(descent.fun), descent.x))
        return min(reached, key=lambda on_diagonal: on_diagonal[0])[1]

    reached: list[tuple[float, Floats]] = []
    ones: Floats = diagonal.astype(np.float64)
    for size in starts:
        theta = descend(ones * size)
    # At a zero the slope is 0 whether the deviance curves up or down: a descent that lands there,
    # as L-BFGS-B's first step of length 1 often does, stays there.
    while (away := _below_zeros(theta, data, reml=reml)) is not None:
        theta = descend(away)
    best = profiled_deviance(theta, data, reml=reml)
    if best is None:
        return None
    inside = ~(diagonal & (theta <= _SINGULAR) & (best.gradient >= 0))
    return Optimum(
        theta=theta,
        profile=best,
        starts=tuple(on_diagonal for on_diagonal, _ in reached if math.isfinite(on_diagonal)),
        singular=bool((theta[diagonal] < _SINGULAR).any()),
        converged=bool((abs(best.gradient[inside]) < _GRADIENT).all()),
    )


def _below_zeros(theta: Floats, data: CrossProducts, *, reml: bool) -> Floats | None:
    """A place with a lower deviance, where factors that are zero at `theta` are not.

    Each zero is tried alone, and all of them together. The sign of a column below a zero on the
    diagonal is free, so both signs are tried.

    Returns:
        The lowest place; None where all are higher, or nothing is zero.
    """
    diagonal, columns = _diagonal(data.blocks), _columns(data.blocks)
    zeros = np.flatnonzero(diagonal & (theta < _SINGULAR))
    here = profiled_deviance(theta, data, reml=reml)
    if here is None or not zeros.size:
        return None
    tried = [(theta, zeros)] if zeros.size > 1 else []
    for place in zeros:
        below = (columns == columns[place]) & ~diagonal
        alone = zeros[zeros == place]
        tried.append((theta, alone))
        if theta[below].any():
            tried.append((np.where(below, -theta, theta), alone))
    lowest, lowest_place = here.deviance - _LOWER, None
    for start, places in tried:
        for size in _AWAY:
            away = start.copy()
            away[places] = size
            there = profiled_deviance(away, data, reml=reml)
            if there is not None and there.deviance < lowest:
                lowest, lowest_place = there.deviance, away
    return lowest_place


def _columns(blocks: Sequence[GroupBlock]) -> Integers:
    """The column of each element of theta in its factor, numbered over all blocks."""
    columns, before = [], 0
    for block in blocks:
        columns.append(before + block.free[1])
        before += block.effects
    return np.concatenate(columns)


def _diagonal(blocks: Sequence[GroupBlock]) -> Booleans:
    """The mask of the elements of theta on the diagonal of a factor."""
    return np.concatenate([np.equal(*block.free) for block in blocks])


def freedoms(best: Optimum, data: CrossProducts, *, reml: bool) -> list[float | None]:
    """Satterthwaite's degrees of freedom of each fixed effect.

    ``2 v² / (g' A g)``: v is the variance of the estimate as a function of theta and sigma, g its
    gradient, and A twice the inverse of the Hessian of the deviance in theta and sigma, without
    directions in which the deviance does not curve upwards (as lmerTest does it: Kuznetsova,
    Brockhoff and Christensen 2017, doi:10.18637/jss.v082.i13).

    Returns:
        None where the deviance cannot be evaluated around the optimum.
    """
    sigma = math.sqrt(best.profile.residual / best.profile.freedom)
    size = best.theta.size
    # Derivatives by log sigma and by theta over its own scale: in units of the data they differ by
    # many orders where the residual is small beside the random effects.
    scales = _scales(best.theta, data.blocks)
    hessian = np.zeros((size + 1, size + 1))
    slopes = np.zeros((best.profile.beta.size, size + 1))
    nothing: list[float | None] = [None] * best.profile.beta.size
    for place in range(size):
        step = np.zeros(size)
        step[place] = _STEP * scales[place]
        sides = [profiled_deviance(best.theta + way * step, data, reml=reml) for way in (1, -1)]
        if sides[0] is None or sides[1] is None:
            return nothing
        ahead, behind = (_slopes(side, sigma, scales) for side in (sides[0], sides[1]))
        hessian[place] = (ahead - behind) / (2 * _STEP)
        gap = np.diagonal(sides[0].unscaled) - np.diagonal(sides[1].unscaled)
        slopes[:, place] = sigma**2 * gap / (2 * _STEP)
    variances = sigma**2 * np.diagonal(best.profile.unscaled)
    slopes[:, size] = 2 * variances
    # By log sigma alone the deviance is 2 freedom log sigma + r² / sigma², r² = freedom sigma².
    hessian[size, :size] = hessian[:size, size]
    hessian[size, size] = 4 * best.profile.freedom
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    upwards = values > _UPWARDS
    covariance = 2 * (vectors[:, upwards] / values[upwards]) @ vectors[:, upwards].T
    spread = np.einsum("ij,jk,ik->i", slopes, covariance, slopes)
    return [
        float(2 * v**2 / uncertainty) if uncertainty > 0 else None
        for v, uncertainty in zip(variances, spread, strict=True)
    ]


def _scales(theta: Floats, blocks: Sequence[GroupBlock]) -> Floats:
    """The relative standard deviation behind each element of theta, never quite zero."""
    sds = [
        np.linalg.norm(part, axis=1)[block.free[0]]
        for part, block in zip(triangles(theta, blocks), blocks, strict=True)
    ]
    scales: Floats = np.maximum(np.concatenate(sds), _SMALLEST_SCALE)
    return scales


_UPWARDS = 1e-8


def _slopes(at: ProfiledDeviance, sigma: float, scales: Floats) -> Floats:
    """The gradient of ``log|C| + 2 freedom log(sigma) + r² / sigma²``.

    By theta over its scale, and by the logarithm of sigma.
    """
    by_sigma = 2 * at.freedom - 2 * at.residual / sigma**2
    by_theta = at.log_gradient + at.residual_gradient / sigma**2
    return np.concatenate([scales * by_theta, [by_sigma]])

"""Log-likelihood of new subjects and new items, by a linear mixed model of the others.

The model is ``y = X beta + subject + item + noise``, all three normal. It is fitted by restricted
likelihood to all observations but those of a fold of subjects, or of items, whose observations it
then predicts: the effect of an item that it knows is its conditional mean, and that of a new
subject is integrated out, as its observations are predicted one after the other, each from those
before it. Their sum is the log-density of all observations of the subject together. That surprisals
add to a baseline is measured by the gain in log-likelihood per observation (Goodkind and Bicknell
2018, doi:10.18653/v1/W18-0102; Wilcox et al. 2020, arXiv:2006.01912), here of folds in which no
subject, or no item, is both fitted and predicted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import Booleans, Floats, Integers, codes
from cimento.statistics.mixed_deviance import CrossProducts, GroupBlock, cross_products
from cimento.statistics.mixed_optimum import optimum

FEWEST_LEVELS = 2
"""The fewest levels of a factor that can be divided into folds, or be fitted to."""
NO_FIT = "the model cannot be fitted to all folds"


@dataclass(frozen=True, slots=True)
class Intercepts:
    """A fitted model with random intercepts.

    Attributes:
        beta: fixed effects, the intercept first.
        effects: of each factor, the conditional mean of each level; 0 for a level without data.
        variances: of each factor.
        residual: variance of the noise.
    """

    beta: Floats
    effects: tuple[Floats, ...]
    variances: tuple[float, ...]
    residual: float


def fold_numbers(labels: Sequence[Hashable], *, folds: int, seed: int) -> Integers:
    """Deal the levels of a factor into folds, as many in each as can be.

    Args:
        labels: of each observation, its level.
        folds: number of folds; fewer if there are fewer levels.
        seed: of the order in which levels are dealt.

    Returns:
        The fold of each observation.

    Raises:
        UsageError: there are fewer than two folds, or two levels.
    """
    level, n = codes(labels)
    if folds < FEWEST_LEVELS or n < FEWEST_LEVELS:
        raise UsageError(
            where="folds",
            seen=f"{folds} folds are asked for, of {n} levels",
            todo="There must be two of both, or more.",
        )
    fold = np.empty(n, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % min(folds, n)
    return fold[level]


def held_out_logliks(
    x: Floats, y: Floats, factors: Sequence[Sequence[Hashable]], *, of: int, fold: Integers
) -> Floats | None:
    """Predict the observations of each fold by the model of the others.

    Args:
        x: one row an observation, one column a predictor; the intercept is added.
        y: the response.
        factors: the level of each observation in each factor, one factor or two.
        of: the factor whose levels are new where they are predicted: its place in `factors`.
        fold: the fold of each observation, in which whole levels of that factor are.

    Returns:
        The natural log-density of each observation, given those before it of its level; None
        where a fold cannot be fitted.
    """
    coded = [codes(labels) for labels in factors]
    logliks = np.empty(y.size)
    for number in np.unique(fold):
        new = fold == number
        seen = [(level[~new], n) for level, n in coded]
        # Of one level nothing is known of how levels differ.
        few = np.unique(seen[of][0]).size < FEWEST_LEVELS
        fit = None if few else _fit(x[~new], y[~new], seen)
        if fit is None:
            return None
        logliks[new] = _predicted(fit, x[new], y[new], coded, of=of, new=new)
    return logliks


def _fit(x: Floats, y: Floats, factors: Sequence[tuple[Integers, int]]) -> Intercepts | None:
    """Fit the model; None where predictors are not independent, or nothing is left to chance."""
    center, scale = x.mean(axis=0), x.std(axis=0)
    if (scale <= 1e-12 * (1 + abs(center))).any():  # rounding of equal values
        return None
    design = np.column_stack([np.ones(y.size), (x - center) / scale])
    if np.linalg.matrix_rank(design) < design.shape[1] or y.size <= design.shape[1]:
        return None
    order = sorted(range(len(factors)), key=lambda place: -factors[place][1])
    blocks = [GroupBlock(np.ones((y.size, 1)), *factors[place]) for place in order]
    data = cross_products(blocks, design, y)
    # With intercepts alone the deviance has one valley, and predictions need few digits of theta.
    best = optimum(data, reml=True, starts=(0.5,), precision=1e-10)
    if best is None or best.profile.residual <= 0:
        return None
    beta, effects = _solved(data, best.theta)
    residual = best.profile.residual / best.profile.freedom
    slopes = beta[1:] / scale
    by_place = dict(zip(order, zip(effects, best.theta.tolist(), strict=True), strict=True))
    return Intercepts(
        beta=np.concatenate([[beta[0] - slopes @ center], slopes]),
        effects=tuple(by_place[place][0] for place in range(len(factors))),
        variances=tuple(residual * by_place[place][1] ** 2 for place in range(len(factors))),
        residual=residual,
    )


def _solved(data: CrossProducts, theta: Floats) -> tuple[Floats, list[Floats]]:
    """Fixed effects, and conditional means of the random intercepts of each block, at theta.

    Henderson's equations with the intercepts divided by theta, whose first block is diagonal
    (Bates et al. 2015, doi:10.18637/jss.v067.i01, equation 17).
    """
    q = data.others
    scales = np.concatenate([np.full(q, theta[-1]), np.ones(data.rest.shape[0] - q)])
    diagonal = theta[0] ** 2 * data.first[:, 0, 0] + 1
    across = theta[0] * data.across * scales
    rest = data.rest * np.outer(scales, scales)
    rest[np.arange(q), np.arange(q)] += 1
    left = rest - across.T @ (across / diagonal[:, None])
    solved = np.linalg.solve(left[:-1, :-1], left[:-1, -1])
    first = (across[:, -1] - across[:, :-1] @ solved) / diagonal
    others = [theta[1] * solved[:q]] if q else []
    return solved[q:], [theta[0] * first, *others]


def _predicted(
    fit: Intercepts,
    x: Floats,
    y: Floats,
    factors: Sequence[tuple[Integers, int]],
    *,
    of: int,
    new: Booleans,
) -> Floats:
    """The log-density of new observations, each given those before it of its level."""
    gaps = y - fit.beta[0] - x @ fit.beta[1:]
    variance = np.full(y.size, fit.residual)
    for place, (level, n) in enumerate(factors):
        if place != of:
            gaps = gaps - fit.effects[place][level[new]]
            # A level that the others lack is as uncertain as any: two at once are taken apart.
            known = np.bincount(level[~new], minlength=n) > 0
            variance = variance + np.where(known[level[new]], 0.0, fit.variances[place])
    return sequential_logliks(gaps, variance, factors[of][0][new], fit.variances[of])


def sequential_logliks(gaps: Floats, variance: Floats, level: Integers, between: float) -> Floats:
    """The normal log-density of each value, given those before it of its level.

    The values of a level share an unknown effect: their sum is the log-density of a normal vector
    with covariance ``diag(variance) + between * 11'``.

    Args:
        gaps: each value less its mean.
        variance: of each value, beside the effect.
        level: of each value.
        between: variance of the effects of levels.
    """
    order = np.argsort(level, kind="stable")
    weights, sorted_level = 1 / variance[order], level[order]
    sums = gaps[order] * weights
    before = np.column_stack([weights, sums]).cumsum(axis=0) - np.column_stack([weights, sums])
    starts = np.flatnonzero(np.diff(sorted_level, prepend=-1))
    sizes = np.diff(np.append(starts, level.size))
    precision, total = (before - np.repeat(before[starts], sizes, axis=0)).T
    left = between / (1 + between * precision)
    spread = variance[order] + left
    logliks = np.empty(gaps.size)
    logliks[order] = -0.5 * (
        np.log(2 * math.pi * spread) + (gaps[order] - left * total) ** 2 / spread
    )
    return logliks

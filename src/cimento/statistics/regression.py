"""Regressions: least squares with cluster-robust errors, and logistic with a ridge penalty."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import (
    ArrayLike,
    Design,
    Floats,
    Integers,
    crossed_variance,
    floats,
    kept_together,
    same_length,
)
from cimento.statistics.intervals import t_quantile, t_two_sided

CONSTANT_TERM = "(intercept)"
CLUSTERED = "least squares, cluster-robust (CR2, Satterthwaite)"
FEW_CLUSTERS = "fewer clusters than coefficients and one more"
NOTHING_LEFT = "the predictors leave nothing in which clusters or observations differ"
ONE_CLUSTER = "a coefficient rests on one cluster or observation alone"
COLLINEAR = "a predictor is constant, or a sum of others"
PENALTY = 1.0
_MATRIX_AXES = _N_CLASSES = _FEWEST_FOLDS = 2


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient of a regression.

    Attributes:
        name: of its predictor; ``(intercept)`` for the value where all predictors are 0.
        value: in the unit of the outcome per unit of the predictor.
        error: its standard error.
        low: lower end of the confidence interval.
        high: upper end.
        p: two-sided, of the coefficient being 0.
    """

    name: str
    value: float
    error: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Regression:
    """A linear regression.

    Attributes:
        coefficients: the intercept first; empty where the regression is undefined.
        n: number of observations.
        n_clusters: number of clusters.
        method: how it was made.
        reason: why there are no coefficients.
    """

    coefficients: tuple[Coefficient, ...]
    n: int
    n_clusters: int
    method: str = CLUSTERED
    reason: str | None = None


def regress(
    outcome: ArrayLike, predictors: Mapping[str, ArrayLike], design: Design, *, level: float = 0.95
) -> Regression:
    """Fit a least-squares regression of an outcome on an intercept and predictors.

    Standard errors are CR2's, the residuals of each cluster adjusted by ``(I - H_gg)^(-1/2)``, and
    t has Satterthwaite's degrees of freedom for each coefficient (Bell and McCaffrey 2002, Survey
    Methodology 28, 169-181; Pustejovsky and Tipton 2018, doi:10.1080/07350015.2016.1247004). Over
    crossed clusters: the variances of both factors less that of their combinations (Cameron,
    Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136), and the degrees of freedom of the smaller
    factor.

    Args:
        outcome: outcome of each observation, of shape (n,).
        predictors: name to values, each of shape (n,).
        design: which of the observations belong together and may depend on each other.
        level: level of the confidence intervals.

    Returns:
        The intercept and a slope per predictor, each with interval and p, or a reason for none.

    Raises:
        UsageError: lengths differ, or a value is not finite.

    Example:
        >>> fit = regress([1.0, 3.0, 2.0, 5.0, 4.0, 6.0], {"x": range(6)}, Design.independent(6))
        >>> [(one.name, round(one.value, 3)) for one in fit.coefficients]
        [('(intercept)', 1.286), ('x', 0.886)]
    """
    y = floats(outcome, name="outcome")
    columns = {name: floats(values, name=name) for name, values in predictors.items()}
    if CONSTANT_TERM in columns:
        raise UsageError(where=CONSTANT_TERM, seen="a predictor has the name of the intercept")
    n, m = same_length(outcome=y, units=design.units, **columns), design.m
    table = np.column_stack([np.ones(n), *columns.values()])
    width = table.shape[1]
    if few := FEW_CLUSTERS if m <= width else design.shortage:
        return Regression((), n, m, reason=few)
    if np.linalg.matrix_rank(table) < width:
        return Regression((), n, m, reason=COLLINEAR)
    values = np.linalg.lstsq(table, y, rcond=None)[0]
    uncertainty = _over_design(table, y - table @ values, design)
    if uncertainty is None:
        return Regression((), n, m, reason=ONE_CLUSTER)
    errors, freedoms = uncertainty
    if (errors <= _NOISE * float(np.abs(y).max()) / np.abs(table).max(axis=0)).any():
        return Regression((), n, m, reason=NOTHING_LEFT)
    names = (CONSTANT_TERM, *columns)
    rows = zip(names, values.tolist(), errors.tolist(), freedoms.tolist(), strict=True)
    return Regression(tuple(_coefficient(*row, level) for row in rows), n, m)


def _over_design(table: Floats, residuals: Floats, design: Design) -> tuple[Floats, Floats] | None:
    """Standard errors and degrees of freedom; of crossed factors, the fewest for a coefficient."""
    variances, freedoms = [], []
    for sign, part in design.parts():
        of_part = _errors(table, residuals, part.codes()[0])
        if of_part is None:
            return None
        variances.append((sign, of_part[0] ** 2))
        freedoms.append(of_part[1])
    if len(variances) == 1:
        return of_part
    # Factors come first among the parts.
    fewest: Floats = np.min(freedoms[: len(design.factors())], axis=0)
    return np.sqrt(crossed_variance(variances)), fewest


def _errors(table: Floats, residuals: Floats, group: Integers) -> tuple[Floats, Floats] | None:
    """CR2 standard errors of the coefficients and their degrees of freedom.

    None where a cluster alone determines a coefficient: its residuals are zero, and say nothing.
    """
    values, vectors = np.linalg.eigh(table.T @ table)
    root = (vectors / np.sqrt(values)) @ vectors.T
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    # Of each cluster g: A_g X_g M, its weight in each coefficient, and what the fit takes from it.
    scores, lengths, taken = [], [], []
    for rows in parts:
        adjusted = _adjusted(table[rows] @ root)
        if adjusted is None:
            return None
        weights = adjusted @ root
        scores.append(residuals[rows] @ weights)
        lengths.append((weights**2).sum(axis=0))
        taken.append(root @ table[rows].T @ weights)
    squares, steps = np.array(lengths), np.array(taken)
    errors: Floats = np.sqrt((np.array(scores) ** 2).sum(axis=0))
    # Of the form diag(lengths) - T T' for each coefficient the trace, and the sum of its squares.
    diagonal = (steps**2).sum(axis=1)
    inner = np.einsum("gik,gjk->kij", steps, steps)
    whole = (squares * (squares - 2 * diagonal)).sum(axis=0) + (inner**2).sum(axis=(1, 2))
    return errors, (squares - diagonal).sum(axis=0) ** 2 / whole


def _adjusted(part: Floats) -> Floats | None:
    """``(I - Q Q')^(-1/2) Q`` of a cluster's rows Q; None where it alone determines a direction."""
    left, lengths, right = np.linalg.svd(part, full_matrices=False)
    spare = 1 - lengths**2
    if (spare <= _ROUNDING).any():
        return None
    adjusted: Floats = (left * (lengths / np.sqrt(spare))) @ right
    return adjusted


_ROUNDING, _NOISE = 1e-10, 1e-13


def _coefficient(
    name: str, value: float, error: float, freedom: float, level: float
) -> Coefficient:
    reach = t_quantile(freedom, level=level)
    p = t_two_sided(value / error, freedom)
    return Coefficient(name, value, error, value - reach * error, value + reach * error, p)


def logistic_weights(
    features: ArrayLike, truth: Sequence[bool], *, penalty: float = PENALTY
) -> Floats:
    """The intercept and the weight of each feature.

    They minimize ``sum log(1 + exp(-s (b + x w))) + penalty |w|^2 / 2`` with s 1 for true and -1
    for false (le Cessie and van Houwelingen 1992, doi:10.2307/2347628). The intercept is free.

    Args:
        features: observations by features.
        truth: the class of each observation.
        penalty: weight of the penalty; above 0.

    Raises:
        UsageError: columns of different lengths, one class only, or a penalty that is not above 0.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    x = np.asarray(features, dtype=np.float64)
    signs = np.where(np.asarray(truth, dtype=bool), 1.0, -1.0)
    if (
        x.ndim != _MATRIX_AXES
        or len(x) != len(signs)
        or penalty <= 0
        or len(set(signs)) < _N_CLASSES
    ):
        raise UsageError(
            where="logistic regression",
            seen=f"features of shape {x.shape}, {len(signs)} classes, penalty {penalty}",
            todo="Give a row for each class, two classes, and a penalty above 0.",
        )

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = signs * (weights[0] + x @ weights[1:])
        pull = -signs * expit(-margins)
        gradient = np.concatenate([[pull.sum()], x.T @ pull + penalty * weights[1:]])
        value = np.logaddexp(0.0, -margins).sum() + penalty * weights[1:] @ weights[1:] / 2
        return float(value), gradient

    start = np.zeros(x.shape[1] + 1)
    options = {"maxiter": 5000, "ftol": 1e-13, "gtol": 1e-9}
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    return floats(optimum.x, name="weights")


def out_of_fold(
    features: ArrayLike,
    truth: Sequence[bool],
    groups: Sequence[Hashable],
    *,
    folds: int,
    seed: int,
    penalty: float = PENALTY,
) -> Floats:
    """The log-odds of each observation by a regression that saw none of its group.

    Features are standardized by the observations that the regression is fitted to.

    Args:
        features: observations by features.
        truth: the class of each observation.
        groups: of each observation, what must stay in one fold, such as its item; of crossed
            clusters the first factor.
        folds: number of parts, each predicted from the others.
        seed: of the order in which groups are dealt into folds.
        penalty: see `logistic_weights`.

    Raises:
        UsageError: there are fewer groups than folds, or a fold leaves one class only.
    """
    x = np.asarray(features, dtype=np.float64)
    together = kept_together(groups)
    names = list(dict.fromkeys(together))
    if not _FEWEST_FOLDS <= folds <= len(names):
        raise UsageError(
            where=f"folds={folds}",
            seen=f"there are {len(names)} groups of sentences",
            todo=f"Give a number from 2 to {max(len(names), _FEWEST_FOLDS)}.",
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % folds for number, place in enumerate(order)}
    fold = np.array([fold_of[group] for group in together])
    true = np.asarray(truth, dtype=bool)
    odds = np.empty(len(true))
    for number in range(folds):
        seen, new = fold != number, fold == number
        mean, sd = x[seen].mean(axis=0), x[seen].std(axis=0)
        sd = np.where(sd > 0, sd, 1.0)
        weights = logistic_weights((x[seen] - mean) / sd, true[seen].tolist(), penalty=penalty)
        odds[new] = weights[0] + (x[new] - mean) / sd @ weights[1:]
    return floats(odds, name="log-odds")

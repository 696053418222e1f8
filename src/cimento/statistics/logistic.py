"""Logistic regression with a ridge penalty, and its predictions for what it was not fitted to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.values import Floats, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PENALTY = 1.0


def logistic_weights(
    features: ArrayLike, truth: Sequence[bool], *, penalty: float = PENALTY
) -> Floats:
    """The intercept and the weight of each feature.

    They minimise ``sum log(1 + exp(-s (b + x w))) + penalty |w|^2 / 2`` with s 1 for true and -1
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
    if x.ndim != _TWO or len(x) != len(signs) or penalty <= 0 or len(set(signs)) < _TWO:
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


_TWO = 2


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
        groups: of each observation, what must stay in one fold, such as its item.
        folds: number of parts, each predicted from the others.
        seed: of the order in which groups are dealt into folds.
        penalty: see `logistic_weights`.

    Raises:
        UsageError: there are fewer groups than folds, or a fold leaves one class only.
    """
    x = np.asarray(features, dtype=np.float64)
    names = list(dict.fromkeys(groups))
    if not _TWO <= folds <= len(names):
        raise UsageError(
            where=f"folds={folds}",
            seen=f"there are {len(names)} groups of sentences",
            todo=f"Give a number from 2 to {max(len(names), _TWO)}.",
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % folds for number, place in enumerate(order)}
    fold = np.array([fold_of[group] for group in groups])
    true = np.asarray(truth, dtype=bool)
    odds = np.empty(len(true))
    for number in range(folds):
        seen, new = fold != number, fold == number
        mean, sd = x[seen].mean(axis=0), x[seen].std(axis=0)
        sd = np.where(sd > 0, sd, 1.0)
        weights = logistic_weights((x[seen] - mean) / sd, true[seen].tolist(), penalty=penalty)
        odds[new] = weights[0] + (x[new] - mean) / sd @ weights[1:]
    return floats(odds, name="log-odds")

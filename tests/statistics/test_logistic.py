"""Penalised logistic regression, and its predictions for groups that it did not see."""

from __future__ import annotations

import numpy as np
import pytest

from cimento import UsageError
from cimento.statistics.regression import logistic_weights, out_of_fold

X = np.array(
    [[0.5, 1.0], [-1.2, 0.2], [0.3, -0.6], [2.1, 0.4], [-0.7, -1.1],
     [1.4, 0.8], [-0.2, 1.3], [0.9, -0.9], [-1.5, 0.5], [0.1, -0.3]]
)  # fmt: skip
Y = [bool(value) for value in (1, 0, 0, 1, 0, 1, 1, 0, 0, 1)]


def test_the_weights_are_those_of_another_minimiser():
    # R 4.2.2: nll <- function(b) { e <- b[1] + b[2]*x1 + b[3]*x2
    #   sum(log1p(exp(-(2*y-1)*e))) + (b[2]^2 + b[3]^2) / 2 }
    # optim(c(0,0,0), nll, method="BFGS", control=list(reltol=1e-15, maxit=10000))$par
    found = logistic_weights(X, Y, penalty=1.0)
    assert found == pytest.approx([-0.25102254, 0.87545654, 1.06547439], abs=1e-5)


def test_a_group_is_predicted_by_others_only():
    # The feature is the label in all groups but one, where it is the opposite.
    truth = [True, False] * 20
    groups = [number // 2 for number in range(40)]
    features = np.array([[1.0 if judged else -1.0] for judged in truth])
    features[:2] *= -1
    odds = out_of_fold(features, truth, groups, folds=5, seed=1)
    assert [value > 0 for value in odds[2:]] == truth[2:]
    assert [value > 0 for value in odds[:2]] == [False, True]
    assert (odds == out_of_fold(features, truth, groups, folds=5, seed=1)).all()


def test_noise_is_at_chance():
    rng = np.random.default_rng(4)
    truth = [True, False] * 200
    odds = out_of_fold(
        rng.normal(size=(400, 30)), truth, [k // 2 for k in range(400)], folds=5, seed=0
    )
    right = np.mean([(value > 0) == judged for value, judged in zip(odds, truth, strict=True)])
    assert 0.4 < right < 0.6


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(UsageError, match="logistic regression"):
        logistic_weights(X, [True] * 10)
    with pytest.raises(UsageError, match="there are 2 groups"):
        out_of_fold(X, Y, [k % 2 for k in range(10)], folds=5, seed=0)

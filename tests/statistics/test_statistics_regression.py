"""Least squares with clusters, beside statsmodels and matrices; logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.regression import (
    COLLINEAR,
    CONSTANT_TERM,
    FEW_CLUSTERS,
    NOTHING_LEFT,
    ONE_CLUSTER,
    logistic_weights,
    out_of_fold,
    regress,
)

OUTCOME = [1.2, 0.4, 2.5, 3.1, -0.3, 0.8, 1.9, 2.2, 0.1, 1.4, 2.8, 0.6]
TOKENS = [0, 1, 0, -1, 1, 1, 0, 0, 2, 0, -1, 1]
ZIPF = [0.5, -0.2, 0.1, 0.9, -1.1, 0.0, 0.7, 0.3, -0.6, 0.2, 1.0, -0.4]
ITEMS = Design(tuple(range(12)), (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6))
X = np.array(
    [[0.5, 1.0], [-1.2, 0.2], [0.3, -0.6], [2.1, 0.4], [-0.7, -1.1],
     [1.4, 0.8], [-0.2, 1.3], [0.9, -0.9], [-1.5, 0.5], [0.1, -0.3]]
)  # fmt: skip
Y = [bool(value) for value in (1, 0, 0, 1, 0, 1, 1, 0, 0, 1)]


def by_matrices(y, columns, design):
    """CR2 errors and Satterthwaite's freedoms from n x n matrices (Bell and McCaffrey 2002)."""
    table = np.column_stack([np.ones(len(y)), *columns])
    n, width = table.shape
    labels = np.array(design.clusters)
    bread = np.linalg.inv(table.T @ table)
    away = np.eye(n) - table @ bread @ table.T
    residuals = away @ y
    errors, freedoms = [], []
    for place in range(width):
        total, vectors = 0.0, []
        for label in dict.fromkeys(design.clusters):
            rows = np.flatnonzero(labels == label)
            values, axes = np.linalg.eigh(away[np.ix_(rows, rows)])
            adjustment = axes @ np.diag(values**-0.5) @ axes.T
            weights = (adjustment @ table[rows] @ bread)[:, place]
            total += float(weights @ residuals[rows]) ** 2
            vectors.append(away[:, rows] @ weights)
        form = np.array(vectors) @ np.array(vectors).T
        errors.append(total**0.5)
        freedoms.append(np.trace(form) ** 2 / np.trace(form @ form))
    return errors, freedoms


def test_coefficients_are_statsmodels() -> None:
    # statsmodels 0.15.0: sm.OLS(OUTCOME, sm.add_constant(np.column_stack([TOKENS, ZIPF]))).fit()
    # .params
    regression = regress(OUTCOME, {"tokens": TOKENS, "zipf": ZIPF}, ITEMS)
    assert [coefficient.name for coefficient in regression.coefficients] == [
        CONSTANT_TERM,
        "tokens",
        "zipf",
    ]
    assert [coefficient.value for coefficient in regression.coefficients] == pytest.approx(
        [1.541157894736843, -0.6964210526315788, 0.7084210526315798]
    )
    assert (regression.n, regression.n_clusters, regression.reason) == (12, 6, None)


@given(st.lists(st.integers(1, 6), min_size=7, max_size=14), st.integers(0, 1000), st.booleans())
@settings(deadline=None)
def test_errors_and_freedoms_are_those_of_the_matrices(sizes, seed, of_clusters) -> None:
    generator = np.random.default_rng(seed)
    # The order of rows is not that of clusters.
    labels = generator.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = labels.size
    x = generator.normal(size=len(sizes))[labels] if of_clusters else generator.normal(size=n)
    z = generator.normal(size=n)
    y = x + generator.normal(size=len(sizes))[labels] + generator.normal(size=n)
    design = Design(tuple(range(n)), tuple(labels.tolist()))
    regression = regress(y, {"x": x, "z": z}, design, level=0.9)
    errors, freedoms = by_matrices(y, [x, z], design)
    assert [coefficient.error for coefficient in regression.coefficients] == pytest.approx(errors)
    reach = [stats.t.ppf(0.95, f) * error for f, error in zip(freedoms, errors, strict=True)]
    assert [
        (coefficient.high - coefficient.low) / 2 for coefficient in regression.coefficients
    ] == pytest.approx(reach)
    p = [
        2 * stats.t.sf(abs(coefficient.value / error), f)
        for coefficient, error, f in zip(regression.coefficients, errors, freedoms, strict=True)
    ]
    assert [coefficient.p for coefficient in regression.coefficients] == pytest.approx(p)


def test_the_intercept_alone_is_the_mean() -> None:
    # Clusters of one size have the same degrees of freedom under any working correlation.
    intercept = regress(OUTCOME, {}, ITEMS).coefficients[0]
    mean = mean_of(OUTCOME, ITEMS, seed=1, draws=0)
    assert (intercept.value, intercept.low, intercept.high, intercept.p) == pytest.approx(
        (mean.value, mean.low, mean.high, mean.p)
    )


def test_a_slope_over_single_rows_has_the_error_hc2() -> None:
    # MacKinnon and White (1985): squared residuals over 1 - leverage.
    x, y = np.array(ZIPF), np.array(OUTCOME)
    table = np.column_stack([np.ones(12), x])
    bread = np.linalg.inv(table.T @ table)
    leverage = np.einsum("ij,jk,ik->i", table, bread, table)
    residuals = y - table @ bread @ table.T @ y
    middle = table.T @ np.diag(residuals**2 / (1 - leverage)) @ table
    regression = regress(y, {"zipf": x}, Design.independent(12))
    expected = np.sqrt(np.diag(bread @ middle @ bread))
    assert [coefficient.error for coefficient in regression.coefficients] == pytest.approx(expected)


def test_a_constant_predictor_is_undefined() -> None:
    regression = regress(OUTCOME, {"tokens": [2] * 12}, ITEMS)
    assert (regression.coefficients, regression.reason) == ((), COLLINEAR)


def test_few_clusters_are_undefined() -> None:
    regression = regress(OUTCOME, {"tokens": TOKENS}, Design(tuple(range(12)), (1,) * 6 + (2,) * 6))
    assert (regression.coefficients, regression.reason) == ((), FEW_CLUSTERS)
    regression = regress(OUTCOME, {"tokens": TOKENS}, Design(tuple(range(12)), (1, 2, 3, 4) * 3))
    assert regression.reason == "4 clusters: an interval needs 5 or more"


def test_a_property_of_one_cluster_alone_has_no_test() -> None:
    # Its residuals sum to zero whatever it is like: nothing says how much such clusters differ.
    regression = regress(OUTCOME, {"sixth": [0] * 10 + [1] * 2}, ITEMS)
    assert (regression.coefficients, regression.reason) == ((), ONE_CLUSTER)
    two = regress(OUTCOME, {"last": [0] * 8 + [1] * 4}, ITEMS)
    assert len(two.coefficients) == 2


def test_an_outcome_without_residual_has_no_test() -> None:
    for outcome in ([3 * x - 2 for x in ZIPF], [1.5] * 12):
        regression = regress(outcome, {"zipf": ZIPF}, ITEMS)
        assert (regression.coefficients, regression.reason) == ((), NOTHING_LEFT)
    # Clusters whose means are equal do not differ either.
    assert regress([1, -1] * 6, {}, ITEMS).reason == NOTHING_LEFT


def test_ten_thousand_rows_fit_into_memory() -> None:
    # One table of rows by rows would take 800 MB.
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(2, 10_000))
    slope = regress(y, {"x": x}, Design.independent(10_000)).coefficients[1]
    assert slope.error == pytest.approx(0.01, rel=0.1)


def test_lengths_must_be_equal() -> None:
    with pytest.raises(UsageError, match="tokens has 2"):
        regress(OUTCOME, {"tokens": [1, 2]}, ITEMS)


def test_the_weights_are_those_of_another_minimizer():
    # R 4.2.2: nll <- function(b) { e <- b[1] + b[2]*x1 + b[3]*x2
    #   sum(log1p(exp(-(2*y-1)*e))) + (b[2]^2 + b[3]^2) / 2 }
    # optim(c(0,0,0), nll, method="BFGS", control=list(reltol=1e-15, maxit=10000))$par
    weights = logistic_weights(X, Y, penalty=1.0)
    assert weights == pytest.approx([-0.25102254, 0.87545654, 1.06547439], abs=1e-5)


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

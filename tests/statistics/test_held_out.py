"""Log-likelihoods of new subjects and items, beside dense matrices and a closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from cimento import UsageError
from cimento.statistics.held_out import fold_numbers, held_out_logliks, sequential_logliks


def drawn(*, subjects=5, items=5, each=2, seed=4):
    """Rows of crossed subjects and items with two predictors, some of them missing."""
    generator = np.random.default_rng(seed)
    rows = [(s, i) for s in range(subjects) for i in range(items) for _ in range(each)]
    rows = [row for row in rows if generator.random() > 0.15]
    subject, item = map(np.array, zip(*rows, strict=True))
    x = generator.normal(size=(len(rows), 2)) * (1, 40) + (0, 300)
    y = 5 + 0.4 * x[:, 0] + 0.01 * x[:, 1] + generator.normal(0, 0.7, len(rows))
    y += generator.normal(0, 0.8, subjects)[subject] + generator.normal(0, 0.5, items)[item]
    return x, y, subject, item


def dense(x, y, factors):
    """Restricted likelihood by matrices of the size of the data: beta, variances, V, Zs."""
    full = np.column_stack([np.ones(len(y)), (x - x.mean(0)) / x.std(0)])
    designs = [(labels[:, None] == np.arange(labels.max() + 1)).astype(float) for labels in factors]

    def covariance(logs):
        spread = np.exp(logs[-1]) * np.eye(len(y))
        return spread + sum(np.exp(v) * z @ z.T for v, z in zip(logs, designs, strict=False))

    def deviance(logs):
        inverse = np.linalg.inv(covariance(logs))
        inner = full.T @ inverse @ full
        gaps = y - full @ np.linalg.solve(inner, full.T @ inverse @ y)
        log_v = np.linalg.slogdet(covariance(logs))[1]
        return log_v + np.linalg.slogdet(inner)[1] + gaps @ inverse @ gaps

    start = np.zeros(len(factors) + 1)
    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000, "maxfev": 4000}
    best = optimize.minimize(deviance, start, method="Nelder-Mead", options=options).x
    inverse = np.linalg.inv(covariance(best))
    beta = np.linalg.solve(full.T @ inverse @ full, full.T @ inverse @ y)
    gaps = inverse @ (y - full @ beta)
    effects = [np.exp(v) * z.T @ gaps for v, z in zip(best, designs, strict=False)]
    return beta, effects, np.exp(best)


@pytest.mark.parametrize("of", [0, 1])
def test_new_levels_are_predicted_as_by_dense_matrices(of):
    x, y, *factors = drawn()
    fold = np.isin(factors[of], (2, 3)).astype(int)
    made = held_out_logliks(x, y, factors, of=of, fold=fold)
    new = fold == 1
    old_x = x[~new]
    beta, effects, variances = dense(old_x, y[~new], [labels[~new] for labels in factors])
    design = np.column_stack([np.ones(new.sum()), (x[new] - old_x.mean(0)) / old_x.std(0)])
    mean = design @ beta + effects[1 - of][factors[1 - of][new]]
    shared = factors[of][new][:, None] == factors[of][new]
    covariance = variances[-1] * np.eye(new.sum()) + variances[of] * shared
    joint = stats.multivariate_normal(mean, covariance).logpdf(y[new])
    assert made[new].sum() == pytest.approx(joint, rel=1e-5)


def test_values_of_a_level_are_those_of_a_normal_vector():
    generator = np.random.default_rng(1)
    gaps, variance = generator.normal(size=9), generator.uniform(0.5, 2, 9)
    level = np.array([0, 1, 0, 2, 1, 0, 0, 2, 1])
    made = sequential_logliks(gaps, variance, level, 0.7)
    for number in range(3):
        own = level == number
        covariance = np.diag(variance[own]) + 0.7
        joint = stats.multivariate_normal(np.zeros(own.sum()), covariance).logpdf(gaps[own])
        assert made[own].sum() == pytest.approx(joint)
    # The first value of each level knows nothing of the level's effect.
    assert made[3] == pytest.approx(stats.norm(0, math.sqrt(variance[3] + 0.7)).logpdf(gaps[3]))


def test_balanced_levels_have_the_variances_of_analysis_of_variance():
    """Of three old subjects with two times each: REML's variances are those of mean squares."""
    y = np.array([1.0, 2.0, 5.0, 6.0, 9.0, 9.5, 4.0, 7.0, 3.0, 3.2])
    x = np.array([[0.0], [1.0]] * 5)
    subject = np.repeat(np.arange(5), 2)
    made = held_out_logliks(x, y, [subject], of=0, fold=(subject > 2).astype(int))
    # Within subjects the mean slope is (1 + 1 + .5) / 3, residual sum (1/36 + 1/36 + 1/9) / 2
    # over 3 - 1 degrees of freedom; mean squares between: 2 * variance of 1.5, 5.5, 9.25.
    slope, within = 2.5 / 3, (1 / 36 + 1 / 36 + 1 / 9) / 2 / 2
    means = np.array([1.5, 5.5, 9.25])
    between = (2 * means.var(ddof=1) - within) / 2
    mean = means.mean() + slope * np.array([-0.5, 0.5])
    covariance = within * np.eye(2) + between
    joint = stats.multivariate_normal(mean, covariance).logpdf([4.0, 7.0])
    assert made[6:8].sum() == pytest.approx(joint, rel=1e-5)


def test_a_level_that_the_rest_lacks_is_as_uncertain_as_any():
    """An item that only the new subject has read adds the variance of items."""
    x, y, subject, item = drawn(seed=6)
    item = np.where(subject == 2, item + 5, item)
    new = np.isin(subject, (2, 3))
    made = held_out_logliks(x, y, [subject, item], of=0, fold=new.astype(int))
    old = [labels[~new] for labels in (subject, item)]
    beta, _, variances = dense(x[~new], y[~new], old)
    first = np.flatnonzero(subject == 2)[0]
    design = np.concatenate([[1], (x[first] - x[~new].mean(0)) / x[~new].std(0)])
    norm = stats.norm(design @ beta, math.sqrt(variances.sum()))
    assert made[first] == pytest.approx(norm.logpdf(y[first]), rel=1e-4)


def test_folds_have_whole_levels_and_are_even():
    labels = [f"s{number % 7}" for number in range(40)]
    fold = fold_numbers(labels, folds=3, seed=1)
    of_level = {label: set(fold[[one == label for one in labels]]) for label in labels}
    assert {len(folds) for folds in of_level.values()} == {1}
    assert sorted(sum(folds == {k} for folds in of_level.values()) for k in range(3)) == [2, 2, 3]
    assert max(fold_numbers(["a", "b"], folds=10, seed=0)) == 1
    with pytest.raises(UsageError, match="two"):
        fold_numbers(["a", "a"], folds=2, seed=0)


def test_predictors_that_say_the_same_have_no_fit():
    x, y, subject, item = drawn()
    twice = np.column_stack([x, 2 * x[:, 0]])
    assert held_out_logliks(twice, y, [subject, item], of=0, fold=subject % 2) is None


def test_one_level_says_nothing_of_how_levels_differ():
    x, y, subject, item = drawn(subjects=2)
    assert held_out_logliks(x, y, [subject, item], of=0, fold=subject) is None
    assert held_out_logliks(x, y, [subject, item], of=1, fold=item % 2) is not None

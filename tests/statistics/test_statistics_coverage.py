"""Nominal 95% intervals hold the truth about as often as they say; tests hold their level.

Few trials each, so that bounds are four standard errors wide; docs/statistics.md has the tables of
benchmarks/coverage.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cimento.statistics.agreement import cohen_kappa
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.differences import cochran_q, share_difference, share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import mean_of
from cimento.statistics.regression import regress

TRUTHS = np.arange(0.5, 0.991, 0.01)
UNEQUAL = (3, 1, 8, 5, 2, 6, 1, 7, 4, 2)


def design_of(sizes):
    labels = tuple(np.repeat(np.arange(len(sizes)), sizes).tolist())
    return Design(tuple(range(len(labels))), labels)


def about(hits, trials, expected=0.95):
    """Whether a share is within four standard errors of what is expected."""
    return abs(hits / trials - expected) <= 4 * math.sqrt(expected * (1 - expected) / trials)


@pytest.mark.parametrize("n", [20, 24, 40, 120])
def test_shares_of_independent_items(n):
    design = Design.independent(n)
    intervals = [share_interval([True] * k + [False] * (n - k), design) for k in range(n + 1)]
    covered = [
        sum(
            stats.binom.pmf(k, n, truth)
            for k, interval in enumerate(intervals)
            if interval.low <= truth <= interval.high
        )
        for truth in TRUTHS
    ]
    assert 0.93 <= np.mean(covered) <= 0.97
    assert min(covered) > 0.9
    assert all(interval.low < interval.high for interval in intervals)


@pytest.mark.parametrize("truth", [0.8, 0.97])
def test_shares_of_templates_of_unequal_size(truth):
    generator = np.random.default_rng(7)
    sizes = np.array([8, 20, 13, 6, 16, 10, 24, 13, 9, 17] * 3)
    design = design_of(sizes)
    trials, shape = 300, 1 / 0.6 - 1
    held = 0
    for _ in range(trials):
        shares = generator.beta(truth * shape, (1 - truth) * shape, 30)
        counts = generator.binomial(sizes, shares)
        passed = [
            right
            for k, n in zip(counts, sizes, strict=True)
            for right in [True] * k + [False] * (n - k)
        ]
        interval = share_interval(passed, design)
        held += interval.low <= truth <= interval.high
    # The standard error is 0.013; without the rule for few telling clusters it is 0.83 at 0.97.
    assert held / trials > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1,) * 8, (1,) * 24, (4,) * 6, UNEQUAL])
def test_means_of_normal_values(sizes):
    generator = np.random.default_rng(8)
    design, trials = design_of(sizes), 400
    labels = np.array(design.clusters)
    held = 0
    for seed in range(trials):
        common = generator.normal(0, 0.5, len(sizes))[labels]
        values = common + generator.normal(size=labels.size)
        mean = mean_of(values, design, seed=seed, draws=499)
        held += mean.low <= 0 <= mean.high
    assert about(held, trials)


def test_differences_of_shares_and_their_test():
    generator = np.random.default_rng(8)
    design, trials = design_of((5,) * 18), 400
    labels = np.array(design.clusters)
    held = rejected = 0
    for _ in range(trials):
        hard = generator.beta(4, 1, 18)[labels]
        first, second = (generator.random((2, 90)) < hard).tolist()
        difference = share_difference(first, second, design)
        held += difference.low <= 0 <= difference.high
        rejected += share_test(first, second, design).p <= 0.05
    assert held / trials > 0.92
    assert about(rejected, trials, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pearson", "spearman"])
@pytest.mark.parametrize("sizes", [(1,) * 12, UNEQUAL])
def test_correlations(kind, sizes):
    generator = np.random.default_rng(3)
    design, trials, held = design_of(sizes), 300, 0
    labels = np.array(design.clusters)
    truth = 0.5 if kind == "pearson" else 6 / math.pi * math.asin(0.25)
    covariance = [[1, 0.5], [0.5, 1]]
    for _ in range(trials):
        common = generator.multivariate_normal([0, 0], covariance, len(sizes))[labels]
        individual = generator.multivariate_normal([0, 0], covariance, labels.size)
        correlation = correlate(*(common + individual).T, kind=kind, design=design)
        held += correlation.low <= truth <= correlation.high
    assert about(held, trials, 0.96)


def test_kappa_of_two_models():
    generator = np.random.default_rng(5)
    design, trials, held, defined = Design.independent(40), 300, 0, 0
    for _ in range(trials):
        hard = generator.random(40) < 0.5
        first, second = hard ^ (generator.random((2, 40)) < 0.15)
        kappa = cohen_kappa(first.tolist(), second.tolist(), design=design)
        if kappa.low is not None:
            defined += 1
            # Both are right about the same half in .85² + .15² of all items, half by chance.
            held += kappa.low <= 0.49 <= kappa.high
    assert defined > 290
    assert about(held, defined)


@pytest.mark.slow
@pytest.mark.parametrize("with_property", [3, 12])
def test_slopes_on_a_property_of_clusters(with_property):
    # With CR1 errors and m - 1 degrees of freedom the level is 17% where three clusters have it.
    generator = np.random.default_rng(6)
    design, trials, held = design_of((UNEQUAL * 3)[:24]), 300, 0
    labels = np.array(design.clusters)
    for _ in range(trials):
        x = generator.permutation(24)[labels] < with_property
        y = generator.normal(0, 0.7, 24)[labels] + generator.normal(size=labels.size)
        slope = regress(y, {"x": x}, design).coefficients[1]
        held += slope.low <= 0 <= slope.high
    assert about(held, trials, 0.96)


@pytest.mark.slow
def test_cochrans_q_of_clusters():
    generator = np.random.default_rng(9)
    design, trials = design_of(UNEQUAL), 300
    labels = np.array(design.clusters)
    rejected = 0
    for seed in range(trials):
        right = generator.random((labels.size, 3)) < generator.beta(2, 1, (10, 3))[labels]
        rejected += cochran_q(right.tolist(), design, seed=seed, draws=199).p <= 0.05
    assert about(rejected, trials, 0.05)

"""Nominal 95 % intervals hold the truth about as often as they say; tests hold their level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cimento.statistics.differences import share_difference
from cimento.statistics.intervals import mean_interval, share_interval
from cimento.statistics.permutation import sign_flip
from cimento.statistics.resampling import bootstrap_mean

TRUTHS = np.arange(0.5, 0.991, 0.01)


@pytest.mark.parametrize("n", [20, 24, 40, 120])
def test_shares_of_independent_items(n):
    intervals = [share_interval([True] * k + [False] * (n - k), range(n)) for k in range(n + 1)]
    covered = [
        sum(
            stats.binom.pmf(k, n, truth)
            for k, each in enumerate(intervals)
            if each.low <= truth <= each.high
        )
        for truth in TRUTHS
    ]
    assert 0.93 <= np.mean(covered) <= 0.97
    assert min(covered) > 0.9
    assert all(each.low < each.high for each in intervals)


def test_the_bootstrap_is_not_for_shares_of_few_items():
    # The coverage of BCa for 20 items at 0.95, which is why shares are Wilson's.
    covered = 0.0
    for k in range(21):
        found = bootstrap_mean([True] * k + [False] * (20 - k), seed=1, draws=4000)
        if found.low is not None and found.low <= 0.95 <= found.high:
            covered += float(stats.binom.pmf(k, 20, 0.95))
    assert covered == pytest.approx(0.64, abs=0.01)


@pytest.mark.parametrize("truth", [0.8, 0.97])
def test_shares_of_templates_of_unequal_size(truth):
    generator = np.random.default_rng(7)
    sizes = np.array([8, 20, 13, 6, 16, 10, 24, 13, 9, 17] * 3)
    labels = np.repeat(np.arange(30), sizes).tolist()
    trials, shape = 300, 1 / 0.6 - 1
    held = 0
    for _ in range(trials):
        shares = generator.beta(truth * shape, (1 - truth) * shape, 30)
        counts = generator.binomial(sizes, shares)
        passed = [
            each
            for k, n in zip(counts, sizes, strict=True)
            for each in [True] * k + [False] * (n - k)
        ]
        interval = share_interval(passed, labels)
        held += interval.low <= truth <= interval.high
    # The standard error is 0.013; without the rule for few telling clusters it is 0.83 at 0.97.
    assert held / trials > 0.9


def test_means_of_clusters_and_differences_of_shares():
    generator = np.random.default_rng(8)
    labels = np.repeat(np.arange(18), 5).tolist()
    means = gaps = 0
    trials = 300
    for _ in range(trials):
        common = np.repeat(generator.normal(0, 0.5, 18), 5)
        found = mean_interval((common + generator.normal(size=90)).tolist(), labels)
        means += found.low <= 0 <= found.high
        hard = np.repeat(generator.beta(4, 1, 18), 5)
        first, second = generator.random(90) < hard, generator.random(90) < hard * 0.9
        difference = share_difference(first.tolist(), second.tolist(), labels)
        gaps += difference.low <= 0.08 <= difference.high
    assert 0.91 < means / trials < 0.985
    assert 0.91 < gaps / trials <= 1


def test_sign_flips_hold_their_level():
    generator = np.random.default_rng(9)
    found = [sign_flip(generator.standard_t(3, 12), seed=0).p for _ in range(600)]
    assert 0.03 < np.mean(np.array(found) <= 0.05) < 0.075

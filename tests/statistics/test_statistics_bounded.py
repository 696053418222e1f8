"""Means of values between 0 and 1: the interval is Jeffreys' of verdicts, and covers ratios."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.means import bounded_mean


@pytest.mark.parametrize(("passed", "n"), [(1, 8), (5, 12), (20, 24), (39, 40)])
def test_of_verdicts_it_is_the_interval_of_jeffreys(passed, n):
    values = [1.0] * passed + [0.0] * (n - passed)
    interval = bounded_mean(values, Design.independent(n), seed=0, draws=200_000)
    exact = stats.beta(passed + 0.5, n - passed + 0.5).ppf([0.025, 0.975])
    assert (interval.low, interval.high) == pytest.approx(exact, abs=0.004)


def test_values_that_are_all_one_have_an_interval_that_ends_there():
    interval = bounded_mean([1.0] * 8, Design.independent(8), seed=0)
    assert interval.high == 1.0
    assert 0.6 < interval.low < 0.85


def test_fewer_than_five_units_have_none():
    interval = bounded_mean([0.9, 0.8, 0.7, 0.95], Design.independent(4), seed=0)
    assert (interval.low, interval.high) == (None, None)
    assert "4 values" in interval.reason
    design = Design(tuple(range(12)), tuple(n // 3 for n in range(12)))
    assert "4 clusters" in bounded_mean([0.5] * 12, design, seed=0).reason
    assert bounded_mean([], Design.independent(0), seed=0).reason == "nothing was scored"


def test_clusters_of_equal_values_count_as_one_each():
    values = [0.9, 0.2, 0.7, 0.95, 0.6, 0.99]
    alone = bounded_mean(values, Design.independent(6), seed=3)
    clusters = Design(tuple(range(24)), tuple(n // 4 for n in range(24)))
    together = bounded_mean(np.repeat(values, 4), clusters, seed=3)
    assert (alone.low, alone.high) == pytest.approx((together.low, together.high))
    assert alone.method != together.method


@pytest.mark.parametrize("values", [[0.5, 1.5] * 3, [-0.1] * 6])
def test_other_values_are_refused(values):
    with pytest.raises(UsageError, match="between 0 and 1"):
        bounded_mean(values, Design.independent(6), seed=0)


def test_a_seed_gives_one_interval():
    values = [0.9, 0.2, 0.7, 0.95, 0.6]
    one, same, other = (
        bounded_mean(values, Design.independent(5), seed=seed) for seed in (1, 1, 2)
    )
    assert (one.low, one.high) == (same.low, same.high) != (other.low, other.high)


def ratios(margins):
    return 1 / (1 + 2.0**-margins)


@pytest.mark.parametrize("truth", [0.65, 0.915])
@pytest.mark.parametrize("n", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("spread", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_it_covers_the_mean_ratio(truth, n, spread):
    """BCa covered 83 to 91% at .915 (200 trials: a standard error of 1.5 points)."""
    generator = np.random.default_rng(17)
    normal = generator.standard_normal(100_000)
    center = optimize.brentq(lambda mu: ratios(mu + spread * normal).mean() - truth, -60, 60)
    trials, covered = 300, 0
    for trial in range(trials):
        sample = ratios(center + spread * generator.standard_normal(n))
        interval = bounded_mean(sample, Design.independent(n), seed=trial, draws=999)
        covered += interval.low <= truth <= interval.high
    assert 0.92 <= covered / trials <= 0.99

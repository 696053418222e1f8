"""Differences of correlations that share a column; oracles: leaving out by hand, Williams' test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics.correlation import correlation_difference
from cimento.statistics.design import Design


def columns(n: int, *, seed: int, first: float = 0.5, second: float = 0.5):
    """Two columns that go with a reference as strongly as said, and with each other."""
    draw = np.random.default_rng(seed)
    reference, shared = draw.normal(size=(2, n))
    made = [
        r * reference + math.sqrt(1 - r * r) * (0.7 * shared + 0.714 * draw.normal(size=n))
        for r in (first, second)
    ]
    return made[0], made[1], reference


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_error_and_p_are_those_of_leaving_out_by_hand(kind):
    one, other, reference = columns(12, seed=1)
    oracle = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

    def both(rows):
        return [np.arctanh(oracle[kind](x[rows], reference[rows])[0]) for x in (one, other)]

    every = np.arange(12)
    spread = 121 / 12 * np.cov(np.array([both(every != k) for k in every]).T)
    z = both(every >= 0)
    gap = correlation_difference(one, other, reference, kind=kind, design=Design.independent(12))

    assert gap.estimate == pytest.approx(np.tanh(z[1]) - np.tanh(z[0]))
    error = math.sqrt(np.array([-1, 1]) @ spread @ [-1, 1])
    assert gap.p == pytest.approx(2 * stats.t.sf(abs(z[1] - z[0]) / error, 11), rel=1e-6)
    # All differences on the ellipse around both z, by brute force.
    angles = np.linspace(0, 2 * np.pi, 200_001)
    circle = np.array([np.cos(angles), np.sin(angles)])
    around = np.array(z)[:, None] + stats.t.ppf(0.975, 11) * np.linalg.cholesky(spread) @ circle
    differences = np.tanh(around[1]) - np.tanh(around[0])
    assert (gap.low, gap.high) == pytest.approx((differences.min(), differences.max()), abs=1e-6)


def test_clusters_are_left_out_whole():
    one, other, reference = columns(12, seed=2)
    labels = np.arange(12) // 2
    design = Design(tuple(range(12)), tuple(labels.tolist()))
    gap = correlation_difference(one, other, reference, kind="pearson", design=design)
    left_out = np.array([
        np.arctanh(stats.pearsonr(other[labels != k], reference[labels != k])[0])
        - np.arctanh(stats.pearsonr(one[labels != k], reference[labels != k])[0])
        for k in range(6)
    ])  # fmt: skip
    error = math.sqrt(5 / 6 * ((left_out - left_out.mean()) ** 2).sum())

    assert (gap.n, gap.m) == (12, 6)
    assert "clusters" in gap.method
    z = np.arctanh(gap.second) - np.arctanh(gap.first)
    assert gap.p == pytest.approx(2 * stats.t.sf(abs(z) / error, 5), rel=1e-6)


def test_of_many_normal_rows_it_agrees_with_williams():
    """Williams 1959, as Steiger 1980 (doi:10.1037/0033-2909.87.2.245) gives it, formula 7."""
    n = 800
    one, other, reference = columns(n, seed=3, first=0.45, second=0.55)
    a, b, c = (
        stats.pearsonr(*pair)[0] for pair in ((one, reference), (other, reference), (one, other))
    )
    determinant = 1 - a * a - b * b - c * c + 2 * a * b * c
    mean = (a + b) / 2
    t = (b - a) * math.sqrt(
        (n - 1) * (1 + c) / (2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - c) ** 3)
    )
    gap = correlation_difference(
        one, other, reference, kind="pearson", design=Design.independent(n)
    )

    assert stats.t.isf(gap.p / 2, n - 1) == pytest.approx(abs(t), rel=0.1)


@pytest.mark.slow
def test_equal_correlations_are_seldom_found_different():
    rejected = sum(
        correlation_difference(
            *columns(40, seed=seed), kind="spearman", design=Design.independent(40)
        ).p
        <= 0.05
        for seed in range(400)
    )

    # 5% of 400 are 20; a binomial count stays between 8 and 36 in 999 of 1,000 cases
    assert 8 <= rejected <= 36


def test_what_has_no_interval_says_why():
    one, other, reference = columns(8, seed=4)
    few = correlation_difference(one[:4], other[:4], reference[:4], design=Design.independent(4))
    assert few.estimate is not None
    assert (few.low, few.p) == (None, None)
    assert "4 values" in few.reason
    flat = correlation_difference(one, [1.0] * 8, reference, design=Design.independent(8))
    assert (flat.estimate, flat.second) == (None, None)
    assert "equal" in flat.reason
    same = correlation_difference(one, one, reference, design=Design.independent(8))
    assert (same.estimate, same.low, same.p) == (0.0, None, None)
    assert "agree" in same.reason
    with pytest.raises(UsageError):
        correlation_difference(one, other, reference[:4], design=Design.independent(8))

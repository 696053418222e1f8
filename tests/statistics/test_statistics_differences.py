"""Differences of shares with their intervals, and effect sizes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.differences import (
    BONETT_PRICE,
    BONETT_PRICE_CLUSTERED,
    FEW_OBSERVATIONS,
    cohen_dz,
    cohen_h,
    discordant_odds,
    hedges_correction,
    share_difference,
    unpaired_share_difference,
)
from cimento.statistics.intervals import clopper_pearson

LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
PAIRS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), min_size=5, max_size=40
)


@given(st.integers(1, 300), st.data(), LEVELS)
@settings(deadline=None)
def test_clopper_pearson_is_scipys(n, data, level):
    passed = data.draw(st.integers(0, n))
    oracle = stats.binomtest(passed, n).proportion_ci(level, method="exact")
    assert clopper_pearson(passed, n, level=level) == pytest.approx(
        (oracle.low, oracle.high), abs=1e-9
    )


def test_clopper_pearson_refuses_impossible_counts():
    # R 4.2.2: binom.test(19, 24)$conf.int
    assert clopper_pearson(19, 24) == pytest.approx((0.578487156363, 0.928681382802))
    with pytest.raises(UsageError, match="5 of 4"):
        clopper_pearson(5, 4)
    with pytest.raises(UsageError, match="between 0 and 1"):
        clopper_pearson(1, 4, level=95)


@given(PAIRS, LEVELS)
@settings(deadline=None)
def test_a_difference_of_shares_lies_in_its_interval_of_some_width(rows, level):
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    units = tuple(range(len(rows)))
    for clusters in (tuple(row[2] for row in rows), units):
        design = Design(units, clusters)
        difference = share_difference(first, second, design, level=level)
        if design.m < 5:
            assert (difference.low, difference.reason) == (None, design.shortage)
            continue
        assert -1 <= difference.low <= difference.estimate <= difference.high <= 1
        assert difference.low < difference.high
        mirrored = share_difference(second, first, design, level=level)
        assert (-mirrored.high, -mirrored.low) == pytest.approx((difference.low, difference.high))


def test_a_difference_of_shares_by_hand():
    # 20 items, 6 only the first, 2 only the second: p = 7/22, q = 3/22.
    first = [True] * 6 + [False] * 2 + [True] * 12
    second = [False] * 6 + [True] * 2 + [True] * 12
    difference = share_difference(first, second, Design.independent(20))
    half = 1.959963984540054 * math.sqrt((10 / 22 - (4 / 22) ** 2) / 22)
    assert (difference.low, difference.high) == pytest.approx((4 / 22 - half, 4 / 22 + half))
    assert (difference.estimate, difference.method) == (0.2, BONETT_PRICE)
    assert share_difference([], [], Design.independent(0)).reason == "nothing was scored"


def test_clusters_leave_the_effective_number_of_items():
    first = [True] * 6 + [False] * 2 + [True] * 12
    second = [False] * 6 + [True] * 2 + [True] * 12
    design = Design(tuple(range(20)), tuple(place // 2 for place in range(20)))
    difference = share_difference(first, second, design)
    # Ten pairs whose items agree with each other: 3 differences of 1, 1 of -1, 6 of 0, mean 0.2.
    # CR2: Σ (S - 0.4)² = 3 * 1.6² + 2.4² + 6 * 0.4² = 14.4, / (1 - 1/10) / 20² = 0.04; of single
    # items Σ (x - 0.2)² / 20 / 19 = 7.2 / 380. scipy 1.17.1: t.ppf(.975, 9) = 2.2621571627409915
    ratio = 0.04 / (7.2 / 380)
    n, w = 20 / ratio, 1 - 1 / ratio
    p, q = (0.3 * n + 1) / (n + 2), (0.1 * n + 1) / (n + 2)
    reach = 1 / math.sqrt(w / 2.2621571627409915**2 + (1 - w) / 1.959963984540054**2)
    half = reach * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    assert (difference.low, difference.high) == pytest.approx((p - q - half, p - q + half))
    assert difference.method == BONETT_PRICE_CLUSTERED


def test_the_difference_of_shares_of_different_items_is_newcombes():
    # Newcombe (1998), table II, example (a): 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    # statsmodels 0.15.0: confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    difference = unpaired_share_difference(56 / 70, 70, 48 / 80, 80)
    assert (difference.low, difference.high) == pytest.approx((0.05243147, 0.33387265))
    assert unpaired_share_difference(0.5, 0, 0.5, 3).estimate is None
    few = unpaired_share_difference(0.5, 4, 0.75, 40)
    assert (few.estimate, few.low, few.reason) == (-0.25, None, FEW_OBSERVATIONS)


def test_effect_sizes_by_hand():
    assert cohen_dz([1.0, 2.0, 3.0]).value == pytest.approx(2)
    assert cohen_dz([1.0]).value is None
    assert cohen_dz([1.0, 1.0]).reason == "all values are equal"
    assert cohen_h(1, 0) == pytest.approx(math.pi)
    assert cohen_h(0.5, 0.25) == pytest.approx(math.pi / 6)
    assert discordant_odds(6, 2).value == 3
    assert discordant_odds(6, 0).value is None
    # gamma(5) = 24 and gamma(4.5) = 6.5625 sqrt(pi); for large samples nearly 1 - 3 / (4f - 1).
    assert hedges_correction(10) == pytest.approx(24 / (6.5625 * math.sqrt(5 * math.pi)))
    assert hedges_correction(1000) == pytest.approx(1 - 3 / 3999, abs=1e-6)

"""Intervals of means and differences, effect sizes, equivalence and power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento.errors import UsageError
from cimento.statistics.differences import (
    cohen_dz,
    cohen_h,
    discordant_odds,
    hedges_correction,
    share_difference,
    unpaired_share_difference,
)
from cimento.statistics.intervals import clopper_pearson, mean_interval
from cimento.statistics.paired import mcnemar, one_sample_t
from cimento.statistics.power import (
    detectable_difference,
    detectable_mean,
    mcnemar_power,
    simulated_power,
    tost,
    tost_shares,
)

LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
PAIRS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.integers(0, 6)), min_size=1, max_size=40
)
# An example of ten differences, for R and for us.
SMALL = [0.4, -0.1, 0.3, 0.2, -0.2, 0.1, 0.05, -0.15, 0.25, 0.1]


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


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30), LEVELS)
@settings(deadline=None)
def test_the_interval_of_a_mean_is_scipys(values, level):
    found = mean_interval(values, range(len(values)), level=level)
    if len(set(values)) == 1:
        assert found.low is None
        assert found.reason == "all values or clusters are equal"
        return
    oracle = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), rel=1e-6)


def test_clusters_of_equal_size_count_by_their_means():
    generator = np.random.default_rng(4)
    means = generator.normal(size=9)
    values = (means[:, None] + generator.normal(size=(9, 4))).ravel()
    clusters = np.repeat(np.arange(9), 4).tolist()
    found = mean_interval(values.tolist(), clusters)
    by_means = mean_interval(values.reshape(9, 4).mean(axis=1).tolist(), range(9))
    assert (found.low, found.high) == pytest.approx((by_means.low, by_means.high))
    assert found.method == "Student's t over clusters"
    assert mean_interval([1.0, 2.0], ["a", "a"]).reason == "fewer than two values or clusters"
    assert mean_interval([], []).low is None


@given(PAIRS, LEVELS)
@settings(deadline=None)
def test_a_difference_of_shares_lies_in_its_interval_of_some_width(rows, level):
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    for clusters in ([row[2] for row in rows], list(range(len(rows)))):
        found = share_difference(first, second, clusters, level=level)
        assert -1 <= found.low <= found.estimate <= found.high <= 1
        assert found.low < found.high
        mirrored = share_difference(second, first, clusters, level=level)
        assert (-mirrored.high, -mirrored.low) == pytest.approx((found.low, found.high))


def test_a_difference_of_shares_by_hand():
    # 20 items, 6 only the first, 2 only the second: p = 7/22, q = 3/22.
    first = [True] * 6 + [False] * 2 + [True] * 12
    second = [False] * 6 + [True] * 2 + [True] * 12
    found = share_difference(first, second, range(20))
    half = 1.959963984540054 * math.sqrt((10 / 22 - (4 / 22) ** 2) / 22)
    assert (found.low, found.high) == pytest.approx((4 / 22 - half, 4 / 22 + half))
    assert found.estimate == 0.2
    assert share_difference([], [], []).reason == "nothing was scored"


def test_the_difference_of_shares_of_different_items_is_newcombes():
    # Newcombe (1998), table II, example (a): 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    # statsmodels 0.15.0: confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    found = unpaired_share_difference(56 / 70, 70, 48 / 80, 80)
    assert (found.low, found.high) == pytest.approx((0.05243147, 0.33387265))
    assert unpaired_share_difference(0.5, 0, 0.5, 3).estimate is None


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


def test_equivalence_of_means_is_rs():
    # R 4.2.2: the larger of t.test(x, mu = -0.3, alternative = "greater")$p.value and
    # t.test(x, mu = 0.3, alternative = "less")$p.value; t.test(x, conf.level = 0.9)$conf.int
    found = tost(SMALL, margin=0.3)
    assert found.p == pytest.approx(0.00496849987332)
    assert (found.low, found.high) == pytest.approx((-0.0204925805832, 0.2104925805832))
    assert found.equivalent


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=15),
    st.floats(0.01, 1),
    st.sampled_from([0.01, 0.05, 0.1]),
)
@settings(deadline=None)
def test_equivalence_agrees_with_its_interval(values, margin, alpha):
    found = tost(values, margin=margin, alpha=alpha)
    if found.p is not None and abs(found.p - alpha) > 1e-9:
        assert found.equivalent == (-margin < found.low and found.high < margin)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200), st.floats(0.01, 0.5))
@settings(deadline=None)
def test_equivalence_of_shares_agrees_with_the_interval_of_the_difference(b, c, rest, margin):
    found = tost_shares(b, c, b + c + rest, margin=margin)
    if b + c + rest == 0:
        assert found.reason == "no observations"
        return
    first = [True] * b + [False] * c + [True] * rest
    second = [False] * b + [True] * c + [True] * rest
    interval = share_difference(first, second, range(len(first)), level=0.9)
    if found.low > -1 and found.high < 1 and found.low < found.estimate < found.high:
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    if abs(found.p - 0.05) > 1e-9:
        assert found.equivalent == (-margin < found.low and found.high < margin)


def test_equivalence_refuses_nonsense():
    for margin, alpha in ((0, 0.05), (-1, 0.05), (0.1, 0.5), (0.1, 0)):
        with pytest.raises(UsageError, match="margin is above 0"):
            tost(SMALL, margin=margin, alpha=alpha)
    with pytest.raises(UsageError, match="3 and 3 discordant items of 5"):
        tost_shares(3, 3, 5, margin=0.1)
    assert tost([1.0], margin=0.1).reason == "fewer than two observations"
    assert tost([0.0, 0.0], margin=0.1).equivalent is None


def test_the_smallest_detectable_mean_is_rs():
    # R 4.2.2: power.t.test(n = 40, sd = 1, power = 0.8, type = "paired", tol = 1e-12)$delta
    assert detectable_mean(40, sd=1) == pytest.approx(0.454257487255, rel=1e-9)
    # and with n = 12, sd = 2.5, power = 0.9, sig.level = 0.01
    assert detectable_mean(12, sd=2.5, power=0.9, alpha=0.01) == pytest.approx(3.29986314596)


def test_the_smallest_detectable_difference_of_shares_has_its_power():
    for n, discordant in ((100, 0.2), (400, 0.1), (60, 0.5)):
        d = detectable_difference(n, discordant=discordant)
        power = mcnemar_power(
            n,
            only_first=(discordant + d) / 2,
            only_second=(discordant - d) / 2,
            variant="chi-square",
        )
        assert power == pytest.approx(0.8, abs=0.04)
    assert detectable_difference(20, discordant=0.1) is None
    with pytest.raises(UsageError, match="discordant items of 0"):
        detectable_difference(20, discordant=0)
    with pytest.raises(UsageError, match="Power lies between"):
        detectable_difference(20, discordant=0.1, power=1)


def test_the_power_of_mcnemars_test_adds_up_all_outcomes():
    p, q, n = 0.3, 0.1, 12
    for variant in ("exact", "mid-p", "chi-square", "chi-square-corrected"):
        by_hand = 0.0
        for b in range(n + 1):
            for c in range(n + 1 - b):
                chance = stats.multinomial.pmf([b, c, n - b - c], n, [p, q, 1 - p - q])
                test = mcnemar(b, c, variant=variant).p
                by_hand += chance * (test is not None and test <= 0.05)
        found = mcnemar_power(n, only_first=p, only_second=q, variant=variant)
        assert found == pytest.approx(by_hand, abs=1e-9)


def test_the_exact_test_holds_its_level():
    for n in (10, 25, 60):
        for share in (0.05, 0.2, 0.5):
            level = mcnemar_power(n, only_first=share / 2, only_second=share / 2)
            assert level <= 0.05


def test_simulated_power_is_that_of_the_t_test():
    found = simulated_power(
        lambda generator: generator.normal(0.5, 1, 25),
        lambda values: one_sample_t(values).p,
        seed=5,
        trials=600,
    )
    # The noncentral t distribution of scipy, both tails.
    limit, centre = stats.t.ppf(0.975, 24), 0.5 * 5
    exact = stats.nct.sf(limit, 24, centre) + stats.nct.cdf(-limit, 24, centre)
    assert found.low < exact < found.high
    never = simulated_power(lambda _: 0, lambda _: None, seed=1, trials=10)
    assert (never.power, never.undefined) == (0, 10)
    with pytest.raises(UsageError, match="0 trials"):
        simulated_power(lambda _: 0, lambda _: 1.0, seed=1, trials=0)

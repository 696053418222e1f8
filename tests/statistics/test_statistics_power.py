"""Equivalence and power."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design
from cimento.statistics.differences import mcnemar, share_difference
from cimento.statistics.means import t_test
from cimento.statistics.power import (
    detectable_difference,
    detectable_mean,
    mcnemar_power,
    simulated_power,
    tost,
    tost_shares,
)

# An example of ten differences, for R and for us.
SMALL = [0.4, -0.1, 0.3, 0.2, -0.2, 0.1, 0.05, -0.15, 0.25, 0.1]


def test_equivalence_of_means_is_rs():
    # R 4.2.2: the larger of t.test(x, mu = -0.3, alternative = "greater")$p.value and
    # t.test(x, mu = 0.3, alternative = "less")$p.value; t.test(x, conf.level = 0.9)$conf.int
    test = tost(SMALL, Design.independent(10), margin=0.3)
    assert test.p == pytest.approx(0.00496849987332)
    assert (test.low, test.high) == pytest.approx((-0.0204925805832, 0.2104925805832))
    assert test.equivalent


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 8)), min_size=3, max_size=15),
    st.booleans(),
    st.floats(0.01, 1),
    st.sampled_from([0.01, 0.05, 0.1]),
)
@settings(deadline=None)
def test_equivalence_agrees_with_its_interval(rows, clustered, margin, alpha):
    clusters = tuple(cluster if clustered else place for place, (_, cluster) in enumerate(rows))
    design = Design(tuple(range(len(rows))), clusters)
    test = tost([value for value, _ in rows], design, margin=margin, alpha=alpha)
    assert (test.p is None) == (test.reason is not None)
    if test.p is not None and abs(test.p - alpha) > 1e-9:
        assert test.equivalent == (-margin < test.low and test.high < margin)


def columns(b: int, c: int, n: int) -> tuple[list[bool], list[bool]]:
    """Two models on n items, b that only the first gets right and c that only the second does."""
    rest = n - b - c
    return [True] * b + [False] * c + [True] * rest, [False] * b + [True] * c + [True] * rest


@given(st.integers(0, 30), st.integers(0, 30), st.integers(5, 200), st.floats(0.01, 0.5))
@settings(deadline=None)
def test_equivalence_of_shares_agrees_with_the_interval_of_the_difference(b, c, rest, margin):
    first, second = columns(b, c, b + c + rest)
    for clusters in (range(len(first)), [place % 9 for place in range(len(first))]):
        design = Design(tuple(range(len(first))), tuple(clusters))
        test = tost_shares(first, second, design, margin=margin)
        interval = share_difference(first, second, design, level=0.9)
        if test.low > -1 and test.high < 1 and test.low < test.estimate < test.high:
            # An interval of single items holds 0 too where McNemar's test does not reject it.
            assert interval.low == 0 or interval.low == pytest.approx(test.low)
            assert interval.high == 0 or interval.high == pytest.approx(test.high)
        if abs(test.p - 0.05) > 1e-9:
            assert test.equivalent == (-margin < test.low and test.high < margin)


def test_items_that_repeat_each_other_do_not_make_models_equivalent():
    # One in ten is discordant either way; 100 items, or 20 clusters whose five items are alike.
    first, second = columns(10, 10, 100)
    alone = tost_shares(first, second, Design.independent(100), margin=0.1)
    together = Design(tuple(range(100)), tuple(place // 5 for place in range(100)))
    clustered = tost_shares(first, second, together, margin=0.1)
    assert alone.equivalent
    assert not clustered.equivalent
    assert clustered.high > 1.5 * alone.high
    assert clustered.method == "two one-sided tests, Bonett-Price at the effective number of items"
    gaps = [float(one) - float(other) for one, other in zip(first, second, strict=True)]
    assert (
        tost(gaps, together, margin=0.1).p > 2 * tost(gaps, Design.independent(100), margin=0.1).p
    )


def test_clusters_of_one_size_are_equivalent_as_their_means_are():
    values = [place // 3 * 0.1 + place % 3 * 0.3 - 0.5 for place in range(24)]
    design = Design(tuple(range(24)), tuple(place // 3 for place in range(24)))
    means = [sum(values[place : place + 3]) / 3 for place in range(0, 24, 3)]
    test = tost(values, design, margin=0.4)
    alone = tost(means, Design.independent(8), margin=0.4)
    assert test.p == pytest.approx(alone.p)
    assert (test.low, test.high) == pytest.approx((alone.low, alone.high))


def test_equivalence_refuses_nonsense():
    for margin, alpha in ((0, 0.05), (-1, 0.05), (0.1, 0.5), (0.1, 0)):
        with pytest.raises(UsageError, match="margin is above 0"):
            tost(SMALL, Design.independent(10), margin=margin, alpha=alpha)
        with pytest.raises(UsageError, match="margin is above 0"):
            tost_shares(*columns(1, 1, 9), Design.independent(9), margin=margin, alpha=alpha)
    four = Design.independent(4)
    few = "4 values: an interval needs 5 or more"
    assert tost([1.0, 2, 3, 4], four, margin=0.1).reason == few
    assert tost_shares(*columns(1, 1, 4), four, margin=0.1).reason == few
    assert tost_shares([], [], Design.independent(0), margin=0.1).reason == "nothing was scored"
    pairs = Design(tuple(range(8)), (0, 0, 1, 1, 2, 2, 3, 3))
    assert tost_shares(*columns(1, 1, 8), pairs, margin=0.1).p is None
    assert tost([0.0] * 5, Design.independent(5), margin=0.1).equivalent is None


def test_the_smallest_detectable_mean_is_rs():
    # R 4.2.2: power.t.test(n = 40, sd = 1, power = 0.8, type = "paired", tol = 1e-12)$delta
    assert detectable_mean(40, sd=1) == pytest.approx(0.454257487255, rel=1e-9)
    # and with n = 12, sd = 2.5, power = 0.9, sig.level = 0.01
    assert detectable_mean(12, sd=2.5, power=0.9, alpha=0.01) == pytest.approx(3.29986314596)


def test_the_smallest_detectable_mean_may_be_very_large():
    # Two items: with Z and |chi| of one degree of freedom, T > limit where |chi| < ncp / limit.
    limit = stats.t.ppf(1 - 0.001 / 2, 1)
    d = detectable_mean(2, sd=1, alpha=0.001)
    assert d * math.sqrt(2) / limit == pytest.approx(stats.chi.ppf(0.8, 1), rel=1e-3)


def test_the_smallest_detectable_difference_of_shares_has_its_power():
    # At the difference for McNemar's chi-square test the exact one has a power of .75 to .785.
    cases = ((24, 0.5), (60, 0.5), (100, 0.2), (180, 0.3), (400, 0.1), (90, 1), (21, 8 / 21))
    for n, discordant in cases:
        d = detectable_difference(n, discordant=discordant)
        one, other = (discordant + d) / 2, (discordant - d) / 2
        power = mcnemar_power(n, only_first=one, only_second=other)
        assert power == pytest.approx(0.8, abs=1e-6)
    assert detectable_difference(100.9, discordant=0.2) == detectable_difference(
        100, discordant=0.2
    )
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
        power = mcnemar_power(n, only_first=p, only_second=q, variant=variant)
        assert power == pytest.approx(by_hand, abs=1e-9)


def test_the_exact_test_holds_its_level():
    for n in (10, 25, 60):
        for share in (0.05, 0.2, 0.5):
            level = mcnemar_power(n, only_first=share / 2, only_second=share / 2)
            assert level <= 0.05


def test_simulated_power_is_that_of_the_t_test():
    power = simulated_power(
        lambda generator: generator.normal(0.5, 1, 25),
        lambda values: t_test(values, Design.independent(25)).p,
        seed=5,
        trials=600,
    )
    # The noncentral t distribution of scipy, both tails.
    limit, center = stats.t.ppf(0.975, 24), 0.5 * 5
    exact = stats.nct.sf(limit, 24, center) + stats.nct.cdf(-limit, 24, center)
    assert power.low < exact < power.high
    never = simulated_power(lambda _: 0, lambda _: None, seed=1, trials=10)
    assert (never.power, never.undefined) == (0, 10)
    with pytest.raises(UsageError, match="0 trials"):
        simulated_power(lambda _: 0, lambda _: 1.0, seed=1, trials=0)

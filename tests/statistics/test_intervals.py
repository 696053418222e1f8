"""Intervals of shares: Wilson's, what clusters do to them, and those that hold while one asks."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import Design, mean_freedom
from cimento.statistics.intervals import (
    NOTHING_SCORED,
    WILSON,
    WILSON_CLUSTERED,
    Interval,
    effective_number,
    items_for_width,
    share_interval,
    t_quantile,
    wilson,
    z_quantile,
)
from cimento.statistics.means import mean_of
from cimento.statistics.sequential import ShareSequence

CLUSTERED = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=40)


def clustered(labels):
    """Verdicts that belong to these clusters."""
    return Design(tuple(range(len(labels))), tuple(labels))


LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


@given(st.integers(1, 300), st.data(), LEVELS)
@settings(deadline=None)
def test_wilson_is_scipys(n, data, level):
    passed = data.draw(st.integers(0, n))
    oracle = stats.binomtest(passed, n).proportion_ci(level, method="wilson")
    low, high = wilson(passed / n, n, level=level)
    assert (low, high) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_wilson_of_known_counts():
    # scipy 1.17.1: binomtest(19, 24).proportion_ci(method="wilson")
    assert wilson(19 / 24, 24) == pytest.approx((0.5952954674681135, 0.9075517464714815))


@given(st.integers(1, 500), st.data(), LEVELS)
@settings(deadline=None)
def test_wilson_holds_the_share_is_symmetric_and_has_a_width(n, data, level):
    passed = data.draw(st.integers(0, n))
    low, high = wilson(passed / n, n, level=level)
    assert 0 <= low <= passed / n <= high <= 1
    assert low < high
    mirrored = wilson((n - passed) / n, n, level=level)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(UsageError, match=r"0\.95"):
        wilson(0.5, 10, level=level)


@given(st.integers(1, 3000), st.floats(0.01, 0.999))
@settings(deadline=None)
def test_students_quantile_is_scipys(freedom, level):
    oracle = stats.t.ppf((1 + level) / 2, freedom)
    assert t_quantile(freedom, level=level) == pytest.approx(oracle, rel=1e-7)


def test_nothing_scored_has_no_interval_but_a_reason():
    nothing = share_interval([], Design.independent(0))
    assert nothing == Interval(None, None, None, NOTHING_SCORED)


@given(st.lists(st.booleans(), min_size=5, max_size=50), LEVELS)
@settings(deadline=None)
def test_clusters_of_one_change_nothing(passed, level):
    interval = share_interval(passed, Design.independent(len(passed)), level=level)
    n = len(passed)
    assert interval == Interval(*wilson(sum(passed) / n, n, level=level), WILSON)


def test_the_effective_number_by_hand():
    # Ten verdicts in five clusters, passes 2 2 1 0 0 of 2: p = 0.5, sum of (k - 1)² = 4,
    # variance 4/100 / (1 - 2/10) = 0.05 over 0.25/9: design effect 1.8, of which the part
    # 1 - 1/1.8 was estimated from clusters.
    passed = [True, True, True, True, True, False, False, False, False, False]
    design = clustered([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    # scipy 1.17.1: (norm.ppf(.975) / t.ppf(.975, 4)) ** 2
    few = 0.49833110924787444
    expected = 10 / 1.8 * (few * 0.8 / 1.8 + 1 / 1.8)
    assert effective_number(passed, design) == pytest.approx(expected)
    interval = share_interval(passed, design)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.5, expected))
    assert interval.method == WILSON_CLUSTERED


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 7)), min_size=12, max_size=60), LEVELS)
@settings(deadline=None)
def test_the_effective_number_rests_on_cr2_of_the_share(rows, level):
    passed, clusters = [passes for passes, _ in rows], [cluster for _, cluster in rows]
    design, n = clustered(clusters), len(rows)
    mean = mean_of([float(passes) for passes in passed], design, seed=0, draws=0)
    assume(mean.statistic is not None)
    sizes = Counter(clusters)
    usual = sum(size**2 for size in sizes.values()) / n
    holds = [{c for p, c in rows if p == kind} for kind in (True, False)]
    assume(min(sum(min(1, sizes[c] / usual) for c in held) for held in holds) >= 3)
    error = mean.value / mean.statistic
    effect = max(1.0, error**2 / (mean.value * (1 - mean.value) / (n - 1)))
    freedom = mean_freedom(Counter(sizes.values()))
    few = (z_quantile(level) / t_quantile(freedom, level=level)) ** 2
    estimated = 1 - 1 / effect
    if freedom < (design.m - 1) / 3:
        estimated = max(estimated, 1 - 1 / (1 + 0.3 * (usual - 1)))
    expected = n / effect * (few * estimated + 1 - estimated)
    assume(design.m < n)
    assert effective_number(passed, design, level=level) == pytest.approx(max(1.0, expected))


def test_clusters_that_agree_with_themselves_count_about_once_each():
    verdicts = [cluster % 3 == 0 for cluster in range(30) for _ in range(4)]
    design = clustered([cluster for cluster in range(30) for _ in range(4)])
    assert effective_number(verdicts, design) == pytest.approx(30, rel=0.1)


def test_failures_in_one_or_two_clusters_tell_too_little_to_count_items():
    clusters = clustered([0] * 8 + [1] * 20 + [2] * 13 + [3] * 9)
    one = [False] + [True] * 49
    assert effective_number(one, clusters) <= 4
    assert effective_number([not right for right in one], clusters) <= 4
    three = [False] + [True] * 7 + ([False] + [True] * 19) + ([False] + [True] * 12) + [True] * 9
    # Of a usual item's cluster, (8² + 20² + 13² + 9²) / 50 = 14.28, these weigh 0.56, 1 and 0.91.
    assert effective_number(three, clusters) == pytest.approx(50 / 14.28)
    alike = clustered([number // 8 for number in range(48)])
    assert effective_number([place % 8 > 0 or place > 16 for place in range(48)], alike) > 6


def test_where_few_clusters_have_most_items_an_interval_is_as_wide_as_clusters_usually_need():
    # Three clusters of ten, half right each, so that their spread says nothing of how unlike such
    # clusters may be, and seven single items. A usual item's cluster has 307 / 37 = 8.3 items: at a
    # correlation of 0.3 a design effect of 3.19, of which 0.686 is estimated from clusters.
    design = clustered([0] * 10 + [1] * 10 + [2] * 10 + list(range(3, 10)))
    passed = [place % 2 == 0 for place in range(37)]
    few = (z_quantile(0.95) / t_quantile(design.freedom())) ** 2
    assert effective_number(passed, design) == pytest.approx(37 * (0.686 * few + 0.314), rel=0.01)


@pytest.mark.parametrize("passed", [True, False])
def test_where_all_verdicts_are_equal_each_cluster_counts_once(passed):
    interval = share_interval([passed] * 18, clustered([k for k in range(6) for _ in range(3)]))
    assert (interval.low, interval.high) == wilson(float(passed), 6)
    assert interval.method == WILSON_CLUSTERED


def test_one_cluster_tells_no_more_than_one_verdict():
    assert effective_number([True, False, True, True], clustered(["a"] * 4)) == 1
    interval = share_interval([True, False, True, True], clustered(["a"] * 4))
    assert (interval.low, interval.reason) == (None, "1 cluster: an interval needs 5 or more")


def test_verdicts_and_units_are_as_many():
    with pytest.raises(UsageError, match="passed has 1 values, units has 2"):
        share_interval([True], Design.independent(2))


@given(CLUSTERED, LEVELS)
@settings(deadline=None)
def test_an_interval_holds_the_share_and_is_never_narrower_than_wilsons(pairs, level):
    passed, clusters = [right for right, _ in pairs], [cluster for _, cluster in pairs]
    n, share = len(passed), sum(passed) / len(passed)
    interval = share_interval(passed, clustered(clusters), level=level)
    if len(set(clusters)) < 5:
        assert interval.low is None
        return
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= share <= interval.high <= 1
    assert interval.low < interval.high
    plain = wilson(share, n, level=level)
    assert interval.low <= plain[0] + 1e-12
    assert interval.high >= plain[1] - 1e-12
    flipped = share_interval([not right for right in passed], clustered(clusters), level=level)
    assert flipped.low is not None
    assert flipped.high is not None
    assert (1 - flipped.high, 1 - flipped.low) == pytest.approx((interval.low, interval.high))


def test_intervals_of_clustered_verdicts_hold_the_truth_as_often_as_they_say():
    # Beta-binomial verdicts: 10 templates of 5 items, intraclass correlation 0.5, truth 0.7.
    generator = np.random.default_rng(20261121)
    truth, correlation, trials = 0.7, 0.5, 600
    shape = 1 / correlation - 1
    held = naive = 0
    for _ in range(trials):
        passed, clusters = [], []
        for cluster in range(10):
            share = generator.beta(truth * shape, (1 - truth) * shape)
            passed += (generator.random(5) < share).tolist()
            clusters += [cluster] * 5
        interval = share_interval(passed, clustered(clusters))
        held += interval.low <= truth <= interval.high
        low, high = wilson(sum(passed) / 50, 50)
        naive += low <= truth <= high
    # The standard error of a coverage of 0.95 is 0.009 here.
    assert held / trials > 0.92
    assert naive / trials < 0.85


@given(st.floats(0.01, 0.4), st.floats(0, 1))
def test_one_item_fewer_would_make_the_interval_too_wide(half_width, share):
    n = items_for_width(half_width, share=share)
    widths = [high - low for low, high in (wilson(share, k) for k in (n, max(n - 1, 1)))]
    assert widths[0] / 2 <= half_width
    assert n == 1 or widths[1] / 2 > half_width


def test_items_for_a_width_are_those_of_the_closed_form():
    # Half of Wilson's interval is z / (1 + z2/n) * sqrt(p q / n + z2 / 4n2) with z2 = z * z. Solved
    # at p = 0.5, where it is z / (2 sqrt(n + z2)): n = z2 / 4h2 - z2, in Python:
    #   math.ceil(1.959963984540054**2 * (1 / (4 * 0.05**2) - 1))  ->  381
    assert items_for_width(0.05) == 381
    assert items_for_width(0.1) == 93


@pytest.mark.parametrize(("half_width", "share"), [(0, 0.5), (0.5, 0.5), (0.1, 1.2), (-1, 0.5)])
def test_no_number_of_items_makes_an_interval_that_is_none(half_width, share):
    with pytest.raises(UsageError, match="half width"):
        items_for_width(half_width, share=share)


def asked(answers, *, precision=0.1, level=0.95, items=None):
    sequence = ShareSequence(items or len(answers), precision=precision, level=level)
    sequence.add(answers)
    return sequence


@pytest.mark.parametrize("right", range(8))
def test_over_all_orders_of_seven_items_the_share_is_ever_left_out_as_rarely_as_is_said(right):
    """Every order of the answers is enumerated, and each is looked at after every item."""
    level, missed, orders = 0.6, 0, 0
    for places in itertools.combinations(range(7), right):
        orders += 1
        sequence = ShareSequence(7, precision=0.2, level=level)
        for number in range(7):
            sequence.add([number in places])
            low, high = sequence.interval
            if not low <= right / 7 <= high:
                missed += 1
                break
    assert missed / orders <= 1 - level


def test_the_first_bets_are_those_of_the_formula():
    """Two correct answers of a million items, by hand; a proportion of such a suite hardly moves.

    The stake is 0.4 / 0.25 = 1.6 at first. Then the mean is 1.5 / 2, the variance is
    (0.25 + 0.25^2) / 2 = 0.15625, and the stake 2.56, which is more than the 0.9 / m that it may
    be for m > 0.352; the gambler below has 0.1 of what he had each time. With q = 1 - m the bar,
    1 / (1 - 0.6), is reached where (1 + 1.6 q) (1 + 0.9 q / (1 - q)) + 0.01 = 5, that is
    0.16 q^2 - 6.49 q + 3.99 = 0.
    """
    low, high = asked([True, True], items=10**6, precision=0.4, level=0.6).interval
    q = (6.49 - math.sqrt(6.49**2 - 4 * 0.16 * 3.99)) / 0.32
    assert low == pytest.approx(1 - q, abs=0.001)
    assert high == 1.0


def test_what_is_left_can_only_move_the_share_so_far():
    """After 8 of 10 items, 6 of them right, the share is between 6/10 and 8/10 whatever follows."""
    low, high = asked([True] * 6 + [False] * 2, items=10).interval
    assert low >= 0.599
    assert high <= 0.801


def test_all_items_leave_one_share():
    sequence = asked([True, False, True, True] * 10)
    assert sequence.interval == pytest.approx((0.75, 0.75), abs=0.002)
    assert sequence.more() == 0


def test_items_that_count_neither_way_leave_the_share_among_the_others():
    rng = np.random.default_rng(5)
    answers = [None if n % 3 == 0 else bool(n % 2) for n in range(300)]
    sequence = asked([answers[k] for k in rng.permutation(300)[:200]], items=300)
    known = [one for one in answers if one is not None]
    low, high = sequence.interval
    assert low <= sum(known) / len(known) <= high
    only = asked([None] * 20, items=40).interval
    assert only == (0.0, 1.0)


def test_looking_again_and_again_costs_about_twice_the_items_of_a_fixed_number():
    """At a proportion of 0.7 of 1,000 items a fixed number needs 75 for ±0.1 (normal, finite)."""
    fixed = 1.96**2 * 0.21 / 0.01
    fixed /= 1 + fixed / 1000
    answers = np.arange(1000) < 700
    needed = []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(answers).tolist()
        sequence = ShareSequence(1000, precision=0.1)
        while size := sequence.more():
            sequence.add(order[sequence.asked : sequence.asked + size])
        needed.append(sequence.asked)
    assert math.ceil(fixed) == 75
    assert 1.5 < np.mean(needed) / fixed < 2.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "share", "neither", "precision"),
    [(100, 0.5, 0.0, 0.1), (332, 0.7, 0.0, 0.1), (332, 0.95, 0.0, 0.1), (332, 0.6, 0.2, 0.1),
     (150, 0.8, 0.0, 0.05), (40, 0.3, 0.0, 0.2)],
)  # fmt: skip
def test_intervals_at_which_asking_stops_hold_the_share(items, share, neither, precision):
    """Four hundred runs, each looked at after every item and stopped at once."""
    rng = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        right = (np.arange(items) < round(share * items)).tolist()
        gone = rng.random(items) < neither
        answers = [None if without else one for one, without in zip(right, gone, strict=True)]
        known = [one for one in answers if one is not None]
        sequence = ShareSequence(items, precision=precision)
        for place in rng.permutation(items):
            sequence.add([answers[place]])
            if sequence.is_reached:
                break
        low, high = sequence.interval
        assert (high - low) / 2 <= precision + 1e-9
        missed += not low <= sum(known) / len(known) <= high
    assert missed <= 20 + 2 * math.sqrt(400 * 0.05 * 0.95)


def test_impossible_sequences_are_refused():
    with pytest.raises(UsageError, match="0 items"):
        ShareSequence(0, precision=0.1)
    with pytest.raises(UsageError, match=r"precision 1\.5"):
        ShareSequence(5, precision=1.5)
    with pytest.raises(UsageError, match="more answers than the 1 items"):
        asked([True, False], items=1)

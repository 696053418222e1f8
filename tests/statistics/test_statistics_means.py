"""Means over a design: CR2, Satterthwaite's degrees of freedom and the studentized bootstrap."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.design import FEWEST_CLUSTERS, WORKING_CORRELATION, Design, mean_freedom
from cimento.statistics.means import (
    ALL_ALIKE,
    CLUSTERED_T,
    STUDENT,
    STUDENTIZED,
    STUDENTIZED_CLUSTERED,
    mean_of,
    t_test,
)

SIZES = st.lists(st.integers(1, 8), min_size=5, max_size=12)
LEVELS = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def clusters_of(sizes):
    """Units in clusters of these sizes."""
    labels = tuple(np.repeat(np.arange(len(sizes)), sizes).tolist())
    return Design(tuple(range(len(labels))), labels)


def cr2_by_matrices(values, design, *, correlation=WORKING_CORRELATION):
    """Mean, CR2 standard error and Satterthwaite's freedom from n x n matrices."""
    y, labels = np.asarray(values, dtype=float), np.asarray(design.clusters)
    n = y.size
    hat = np.full((n, n), 1 / n)
    residuals = y - y.mean()
    together = labels[:, None] == labels[None, :]
    working = np.where(together, correlation, 0.0) + np.eye(n) * (1 - correlation)
    variance, vectors = 0.0, []
    for label in np.unique(labels):
        rows = labels == label
        values_, axes = np.linalg.eigh(np.eye(rows.sum()) - hat[np.ix_(rows, rows)])
        adjustment = axes @ np.diag(values_**-0.5) @ axes.T
        weights = np.zeros(n)
        weights[rows] = adjustment @ np.full(rows.sum(), 1 / n)
        variance += float(weights @ residuals) ** 2
        vectors.append((np.eye(n) - hat).T @ weights)
    table = np.array(vectors)
    form = table @ working @ table.T
    return y.mean(), math.sqrt(variance), np.trace(form) ** 2 / (form**2).sum()


@given(SIZES, st.integers(0, 1000))
@settings(deadline=None)
def test_the_standard_error_and_freedom_are_those_of_the_matrices(sizes, seed):
    design = clusters_of(sizes)
    values = np.random.default_rng(seed).normal(size=design.n)
    mean, error, freedom = cr2_by_matrices(values, design)
    computed = mean_of(values, design, seed=1, draws=0)
    assert computed.value == pytest.approx(mean)
    assert computed.statistic == pytest.approx(mean / error)
    assert mean_freedom(Counter(sizes)) == pytest.approx(freedom)
    assert computed.p == pytest.approx(2 * stats.t.sf(abs(mean / error), freedom))
    reach = stats.t.ppf(0.975, freedom) * error
    assert (computed.low, computed.high) == pytest.approx((mean - reach, mean + reach))


def test_cr2_by_hand():
    # Sums 4, 0, 2, 2, 2 of clusters of 2, 1, 1, 1, 1; n = 6, m = 10/6. Gaps 4 - 20/6 = 2/3,
    # -10/6 and three times 2/6; (4/9) / (2/3) + (100/36 + 3 * 4/36) / (5/6) = 2/3 + 56/15 = 4.4.
    mean = mean_of([2, 2, 0, 2, 2, 2], clusters_of([2, 1, 1, 1, 1]), seed=1)
    assert mean.statistic == pytest.approx((10 / 6) / (math.sqrt(4.4) / 6))
    assert (mean.method, mean.n, mean.m) == (CLUSTERED_T, 6, 5)


@pytest.mark.parametrize(("n", "draws"), [(5, 9999), (7, 9999), (24, 0), (201, 9999)])
def test_students_t_of_single_values_is_scipys(n, draws):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    for level in (0.5, 0.9, 0.95, 0.99):
        oracle = stats.ttest_1samp(values, 0.1)
        ends = oracle.confidence_interval(level)
        mean = mean_of(values, Design.independent(n), seed=1, null=0.1, level=level, draws=draws)
        assert (mean.low, mean.high) == pytest.approx((ends.low, ends.high))
        assert (mean.statistic, mean.p) == pytest.approx((oracle.statistic, oracle.pvalue))
        assert mean.method == STUDENT
    tested = t_test(values, Design.independent(n))
    oracle = stats.ttest_1samp(values, 0)
    assert (tested.statistic, tested.p, tested.freedom) == pytest.approx(
        (oracle.statistic, oracle.pvalue, n - 1)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [[1] * 12, pytest.param([3] * 9, marks=pytest.mark.slow), [1, 8, 2, 5, 3, 1, 4, 2, 7, 1]],
)
def test_the_bootstrap_is_that_of_a_plain_loop(sizes):
    design = clusters_of(sizes)
    values = np.random.default_rng(3).exponential(size=design.n) - 0.6
    labels = np.array(design.clusters)
    mean, error, _ = cr2_by_matrices(values, design)
    # The same clusters are drawn: one call of the generator for up to a thousand draws.
    picks = np.random.default_rng(5).integers(0, len(sizes), (999, len(sizes)))
    far = []
    for picked in picks:
        rows = [np.flatnonzero(labels == number) for number in picked]
        names = np.repeat(np.arange(len(rows)), [part.size for part in rows])
        again = Design(tuple(names), tuple(names))
        drawn, own_error, _ = cr2_by_matrices(values[np.concatenate(rows)], again)
        far.append(abs(drawn - mean) / own_error)
    reach = sorted(far)[-50] * error
    computed = mean_of(values, design, seed=5, draws=999)
    assert (computed.low, computed.high) == pytest.approx((mean - reach, mean + reach))
    assert computed.p == pytest.approx((1 + sum(t >= abs(mean) / error for t in far)) / 1000)
    assert computed.method == (STUDENTIZED if design.m == design.n else STUDENTIZED_CLUSTERED)


@given(
    st.lists(st.tuples(st.integers(-4, 5), st.integers(0, 12)), min_size=5, max_size=40),
    st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]),
    LEVELS,
    st.sampled_from([0, 199, 999]),
)
@settings(deadline=None)
def test_p_is_small_exactly_where_the_interval_leaves_the_null_out(rows, null, level, draws):
    values, clusters = zip(*rows, strict=True)
    design = Design(tuple(range(len(rows))), clusters)
    mean = mean_of(values, design, seed=2, null=null, level=level, draws=draws)
    assume(mean.p is not None)
    assert mean.low < mean.value < mean.high
    assert (mean.p <= 1 - level + 1e-12) == (not mean.low <= null <= mean.high)
    assert mean.statistic * (mean.value - null) >= 0


def test_a_change_and_its_test_have_one_sign():
    # 40 items at -1 in one cluster, 9 single ones at +1: the mean over items is -31/49.
    values = [-1.0] * 40 + [1.0] * 9
    design = clusters_of([40] + [1] * 9)
    for draws in (0, 9999):
        mean = mean_of(values, design, seed=1, draws=draws)
        assert mean.value == pytest.approx(-31 / 49)
        assert mean.statistic < 0
        # One cluster decides the sign: nothing is shown.
        assert mean.p > 0.2
        assert mean.low < 0 < mean.high
    tested = t_test(values, design)
    assert tested.statistic < 0
    assert tested.p > 0.2


@given(
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=8, max_size=20),
    st.sampled_from([1e-200, 1e-12, 1e12, 1e200]),
)
@settings(deadline=None)
def test_the_unit_of_the_values_does_not_matter(values, unit):
    values = [round(value, 3) for value in values]
    design = Design.independent(len(values))
    plain = mean_of(values, design, seed=1, draws=199)
    scaled = mean_of([value * unit for value in values], design, seed=1, draws=199)
    assert (plain.p is None) == (scaled.p is None)
    if plain.p is not None:
        assert scaled.p == pytest.approx(plain.p, abs=0.011)
        assert scaled.high / unit == pytest.approx(plain.high, rel=1e-6, abs=1e-9)


def test_values_without_spread_have_a_mean_and_no_interval():
    for value in (0.1, 0.0, -1e300):
        mean = mean_of([value] * 9, Design.independent(9), seed=1)
        assert (mean.value, mean.low, mean.p, mean.reason) == (value, None, None, ALL_ALIKE)
    # Clusters whose means are equal say nothing about how clusters differ.
    mean = mean_of([1, 2] * 6, clusters_of([2] * 6), seed=1)
    assert (mean.value, mean.low, mean.p, mean.reason) == (1.5, None, None, ALL_ALIKE)


def test_where_many_draws_have_no_spread_it_is_students_t():
    # Of nine values eight are equal: a third of all draws holds these alone.
    values = [0.0] * 8 + [1.0]
    mean = mean_of(values, Design.independent(9), seed=1)
    oracle = stats.ttest_1samp(values, 0)
    assert (mean.method, mean.p) == (STUDENT, pytest.approx(oracle.pvalue))


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
def test_one_changed_item_among_rounding_errors_has_students_interval(noise):
    # A suite was corrected: one item of 12 was swapped, and all others differ by rounding.
    values = noise * np.random.default_rng(0).normal(size=12)
    values[4] -= 0.43
    mean = mean_of(values, clusters_of([1] * 12), seed=0)
    oracle = stats.ttest_1samp(values, 0.0)
    interval = oracle.confidence_interval()
    assert mean.method == STUDENT
    assert (mean.low, mean.high) == pytest.approx((interval.low, interval.high))
    assert mean.p == pytest.approx(oracle.pvalue)


def test_a_level_that_the_draws_cannot_reach_is_students_t():
    values = np.random.default_rng(1).normal(size=20)
    design = Design.independent(20)
    for level, draws in ((0.95, 10), (0.9999, 999), (0.999999, 9999)):
        mean = mean_of(values, design, seed=1, level=level, draws=draws)
        ends = stats.ttest_1samp(values, 0).confidence_interval(level)
        assert mean.method == STUDENT
        assert (mean.low, mean.high) == pytest.approx((ends.low, ends.high))


def test_nonsense_is_refused():
    design = Design.independent(6)
    with pytest.raises(UsageError, match=r"0\.95"):
        mean_of(range(6), design, seed=1, level=95)
    with pytest.raises(UsageError, match="values has 5 values, units has 6"):
        mean_of(range(5), design, seed=1)
    with pytest.raises(UsageError, match="1 of 6 values are NaN"):
        mean_of([1, 2, 3, 4, 5, math.nan], design, seed=1)
    with pytest.raises(UsageError, match="not all values are numbers"):
        mean_of(["a"] * 6, design, seed=1)


@given(st.dictionaries(st.integers(1, 9), st.integers(1, 6), min_size=1, max_size=5))
@settings(deadline=None)
def test_degrees_of_freedom_lie_between_one_and_the_clusters_less_one(sizes):
    m = sum(sizes.values())
    assume(m > 1)
    freedom = mean_freedom(sizes)
    assert 1 - 1e-9 <= freedom <= m - 1 + 1e-9
    if len(sizes) == 1:
        assert freedom == m - 1


def test_a_cluster_that_is_nearly_the_whole_leaves_one_degree_of_freedom():
    assert mean_freedom({10_000: 1, 1: 9}) == pytest.approx(1, abs=0.2)
    design = clusters_of([300] + [1] * 9)
    _, _, freedom = cr2_by_matrices(np.arange(309.0), design)
    assert mean_freedom({300: 1, 1: 9}) == pytest.approx(freedom)


def test_a_design_counts_its_units_and_clusters():
    design = Design.of(["a", "b", "c", "d"], {"a": 1, "b": 1, "c": 2, "d": 3})
    assert (design.n, design.m, design.clustered) == (4, 3, True)
    assert design.shortage == f"3 clusters: an interval needs {FEWEST_CLUSTERS} or more"
    assert design.take([0, 2]) == Design(("a", "c"), (1, 2))
    alone = Design.of(["a", "b", "c", "d", "e"])
    assert (alone.n, alone.m, alone.clustered, alone.shortage) == (5, 5, False, None)
    assert Design.independent(0).shortage == "nothing was scored"
    assert Design.independent(1).shortage == "1 value: an interval needs 5 or more"

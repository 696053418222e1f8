"""Scales that scores are put on; oracles: pandas.cut and pandas.qcut, with the commands below."""

from __future__ import annotations

import itertools
import math
import statistics

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.io.values import NoValue
from cimento.measures.normalizing import (
    ALL_EQUAL,
    NO_SPREAD,
    NORMALIZATIONS,
    TIES_IN_QUANTILES,
    TOO_FEW,
    equal_bins,
    normalize,
    quantile_bins,
    standard_scores,
)

finite = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)
pools = st.lists(finite, min_size=2, max_size=40)


def test_equal_bins_are_those_of_pandas_cut():
    # pandas 3.1: pd.cut([1.1,3.3,5.5,7.7,9.9,2.2,4.4,6.6,8.8,10.1], bins=7, labels=range(1, 8))
    values = [1.1, 3.3, 5.5, 7.7, 9.9, 2.2, 4.4, 6.6, 8.8, 10.1]
    assert normalize(values, "likert") == (1, 2, 4, 6, 7, 1, 3, 5, 6, 7)
    bins = equal_bins(values)
    assert not isinstance(bins, NoValue)
    assert bins.edges[0] == pytest.approx(1.091)


def test_a_value_on_an_inner_edge_is_in_the_lower_bin():
    # pandas 3.1: pd.cut(range(8), bins=7, labels=range(1, 8))
    assert normalize([float(k) for k in range(8)], "likert") == (1, 1, 2, 3, 4, 5, 6, 7)


def test_quantile_bins_hold_equal_shares():
    # pandas 3.1: pd.qcut(list(range(1, 15)), 7, labels=range(1, 8)).tolist()
    values = [float(k) for k in range(1, 15)]
    expected = tuple(point for point in range(1, 8) for _ in range(2))
    assert normalize(values, "quantile") == expected
    # pandas 3.1: pd.qcut([0.5, 1, 4, 9, 16, 25, 36, 49], 3, retbins=True)[1]
    bins = quantile_bins([0.5, 1, 4, 9, 16, 25, 36, 49], n=3)
    assert not isinstance(bins, NoValue)
    assert bins.edges == pytest.approx((0.5, 5.666666666666667, 22.0, 49.0))


def test_robust_z_by_hand():
    # median 3, absolute deviations 2 1 0 1 97, their median 1
    expected = [(x - 3) / 1.482602218505602 for x in (1, 2, 3, 4, 100)]
    assert normalize([1.0, 2.0, 3.0, 4.0, 100.0], "robust-z") == pytest.approx(expected)


def test_what_is_missing_stays_so_and_counts_in_nothing():
    gap = NoValue("a token has no score")
    assert normalize([1.0, gap, 3.0], "z") == (-1.0, gap, 1.0)


@pytest.mark.parametrize(
    "kind", [normalization for normalization in NORMALIZATIONS if normalization != "raw"]
)
def test_no_scale_without_two_different_scores(kind):
    assert normalize([4.0], kind) == (NoValue(TOO_FEW),)
    assert normalize([4.0, 4.0, 4.0], kind) == (NoValue(ALL_EQUAL),) * 3
    assert normalize([], kind) == ()


def test_scales_that_ties_make_undefined():
    values = [1.0, 1.0, 1.0, 1.0, 2.0]
    assert normalize(values, "quantile-z") == (NoValue(TIES_IN_QUANTILES),) * 5
    assert normalize(values, "robust-z") == (NoValue(NO_SPREAD),) * 5
    assert normalize(values, "likert") == (1, 1, 1, 1, 7)


def test_an_unknown_scale():
    with pytest.raises(UsageError, match="likert"):
        normalize([1.0, 2.0], "likrt")


@settings(deadline=None)
@given(pools)
@example([0.0, 2.150595886636714e-160])
@example([0.0, 5e-324])
def test_z_is_that_of_the_standard_library(values):
    scores = standard_scores(values)
    if min(values) == max(values):
        assert scores == NoValue(ALL_EQUAL)
        return
    mean, sd = statistics.fmean(values), statistics.pstdev(values)
    assert not isinstance(scores, NoValue)
    if sd:  # else it is smaller than any float
        assert scores == pytest.approx([(x - mean) / sd for x in values], rel=1e-6, abs=1e-6)


@settings(deadline=None)
@given(pools, st.sampled_from(NORMALIZATIONS))
def test_every_scale_keeps_the_order(values, kind):
    normalized = normalize(values, kind)
    if isinstance(normalized[0], NoValue):
        return
    pairs = sorted(zip(values, normalized, strict=True))
    scaled = [value for _, value in pairs]
    assert all(x <= y or math.isclose(x, y) for x, y in itertools.pairwise(scaled))
    if kind in {"likert", "quantile"}:
        assert set(normalized) <= set(range(1, 8))
        assert 7 in normalized

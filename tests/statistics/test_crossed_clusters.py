"""Crossed clusters: items that share a template or a verb, and every number over such a design."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cimento.errors import UsageError
from cimento.io.clusters import CROSSED, Crossing, cluster_cells, cluster_label, cluster_shown
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design, mean_freedom
from cimento.statistics.differences import cochran_q, share_difference, share_test
from cimento.statistics.intervals import effective_number, share_interval, t_quantile, wilson
from cimento.statistics.means import CROSSED_T, bounded_mean, mean_of
from cimento.statistics.regression import regress
from cimento.statistics.resampling import bootstrap

A, B = 6, 8
FIRST, SECOND = (np.repeat(range(A), B), np.tile(range(B), A))
DRAWN = np.random.default_rng(20261129)
VALUES = DRAWN.normal(size=A)[FIRST] + DRAWN.normal(size=B)[SECOND] + 0.5 * DRAWN.normal(size=A * B)


def crossed(*columns):
    return Design(tuple(range(len(columns[0]))), tuple(Crossing(row) for row in zip(*columns)))  # noqa: B905


def one_way(column):
    return Design(tuple(range(len(column))), tuple(column))


def cr2_of_mean(values, column):
    """CR2's variance of a mean, from its formula: sum (S_g - m n_g)^2 / (1 - n_g/n) / n^2."""
    n, mean = len(values), values.mean()
    return sum(
        ((values[column == g] - mean).sum()) ** 2 / (1 - (column == g).sum() / n)
        for g in set(column.tolist())
    ) / n**2  # fmt: skip


def test_the_variance_of_a_mean_is_that_of_both_factors_less_that_of_the_cells():
    made = mean_of(VALUES, crossed(FIRST, SECOND), seed=0)
    variance = (
        cr2_of_mean(VALUES, FIRST)
        + cr2_of_mean(VALUES, SECOND)
        - VALUES.var(ddof=1) / VALUES.size  # each cell has one item
    )
    reach = t_quantile(A - 1) * math.sqrt(variance)
    assert made.method == CROSSED_T
    assert made.m == A, "the smaller factor"
    assert made.low == pytest.approx(VALUES.mean() - reach, abs=1e-12)
    assert made.high == pytest.approx(VALUES.mean() + reach, abs=1e-12)
    assert made.statistic == pytest.approx(VALUES.mean() / math.sqrt(variance))


def test_the_order_of_the_factors_does_not_matter():
    one, other = crossed(FIRST, SECOND), crossed(SECOND, FIRST)
    assert mean_of(VALUES, one, seed=0).low == pytest.approx(mean_of(VALUES, other, seed=0).low)
    right = (VALUES > 0).tolist()
    assert share_interval(right, one).low == pytest.approx(share_interval(right, other).low)


def test_a_factor_inside_another_adds_nothing():
    pairs_of_levels = FIRST * B + SECOND // 2  # verbs of one template only
    nested = mean_of(VALUES, crossed(FIRST, pairs_of_levels), seed=0, draws=0)
    alone = mean_of(VALUES, one_way(FIRST), seed=0, draws=0)
    assert nested.low == pytest.approx(alone.low)
    assert nested.p == pytest.approx(alone.p)


def test_the_share_is_wilsons_at_the_effective_number_of_verdicts():
    right = (VALUES > 0).astype(float)
    variance = (
        cr2_of_mean(right, FIRST) + cr2_of_mean(right, SECOND) - right.var(ddof=1) / right.size
    )
    n, p = right.size, right.mean()
    effect = variance / (p * (1 - p) / (n - 1))
    few = (1.959963984540054 / t_quantile(A - 1)) ** 2
    weight = 1 - 1 / effect
    effective = n / effect * (weight * few + 1 - weight)
    design = crossed(FIRST, SECOND)
    assert effective_number(right.tolist(), design) == pytest.approx(effective)
    interval = share_interval((right == 1).tolist(), design)
    assert (interval.low, interval.high) == pytest.approx(wilson(p, effective))
    assert interval.high - interval.low > (
        share_interval((right == 1).tolist(), one_way(FIRST)).high
        - share_interval((right == 1).tolist(), one_way(FIRST)).low
    )


def test_if_all_are_right_clusters_of_the_smaller_factor_count():
    interval = share_interval([True] * (A * B), crossed(FIRST, SECOND))
    assert (interval.low, interval.high) == pytest.approx(wilson(1.0, A))


def test_failures_in_few_clusters_count_clusters():
    right = [not (a == 0 and b < 3) for a, b in zip(FIRST, SECOND, strict=True)]
    assert effective_number([float(x) for x in right], crossed(FIRST, SECOND)) <= A


def test_two_models_are_compared_over_both_factors():
    first = (VALUES > 0).tolist()
    second = (VALUES + DRAWN.normal(size=A * B) > 0.4).tolist()
    design = crossed(FIRST, SECOND)
    gaps = np.array(first, float) - np.array(second, float)
    test = share_test(first, second, design)
    variance = max(
        cr2_of_mean(gaps, FIRST) + cr2_of_mean(gaps, SECOND) - gaps.var(ddof=1) / gaps.size,
        gaps.var(ddof=1) / gaps.size,
    )
    # Bonett and Price's adjusted difference where as many items tell as have this variance.
    n = gaps.var() / variance * gaps.size / (gaps.size - 1)
    p, q = ((sum(gaps == sign) / gaps.size * n + 1) / (n + 2) for sign in (1, -1))
    assert test.statistic == pytest.approx((p - q) / math.sqrt((p + q - (p - q) ** 2) / (n + 2)))
    made = share_difference(first, second, design)
    assert made.low < made.estimate < made.high
    assert (made.low <= 0 <= made.high) == (test.p > 0.05)


def test_a_regression_with_an_intercept_alone_is_the_mean():
    fitted = regress(VALUES, {}, crossed(FIRST, SECOND)).coefficients[0]
    mean = mean_of(VALUES, crossed(FIRST, SECOND), seed=0)
    assert (fitted.low, fitted.high, fitted.p) == pytest.approx((mean.low, mean.high, mean.p))


def test_the_jackknife_adds_the_factors_and_takes_the_cells_away():
    x = VALUES + DRAWN.normal(size=VALUES.size)
    made = correlate(VALUES, x, kind="pearson", design=crossed(FIRST, SECOND))

    def variance(column):
        z = np.array(
            [
                math.atanh(np.corrcoef(VALUES[column != g], x[column != g])[0, 1])
                for g in set(column.tolist())
            ]
        )
        return (len(z) - 1) / len(z) * ((z - z.mean()) ** 2).sum()

    cells = np.arange(VALUES.size)
    whole = max(variance(FIRST) + variance(SECOND) - variance(cells), variance(cells))
    center = math.atanh(np.corrcoef(VALUES, x)[0, 1])
    reach = t_quantile(A - 1) * math.sqrt(whole)
    assert (made.low, made.high) == pytest.approx(
        (math.tanh(center - reach), math.tanh(center + reach))
    )


def test_a_mean_of_bounded_values_is_wider_over_two_factors():
    bounded = 1 / (1 + np.exp(-VALUES))
    both = bounded_mean(bounded, crossed(FIRST, SECOND), seed=1)
    for column in (FIRST, SECOND):
        alone = bounded_mean(bounded, one_way(column), seed=1)
        assert both.high - both.low > alone.high - alone.low
    assert both.low <= bounded.mean() <= both.high


def test_what_cannot_be_drawn_or_exchanged_over_two_factors_says_so():
    design = crossed(FIRST, SECOND)
    table = [[value > 0, value > 1] for value in VALUES]
    assert "crossed" in cochran_q(table, design, seed=0).reason
    assert "crossed" in bootstrap(VALUES, np.median, design, seed=0).reason


def test_fewer_than_five_levels_of_a_factor_give_no_interval():
    made = mean_of(VALUES, crossed(FIRST % 4, SECOND), seed=0)
    assert made.low is None
    assert made.reason == "4 clusters: an interval needs 5 or more"


def test_degrees_of_freedom_are_those_of_the_smaller_factor():
    assert crossed(FIRST, SECOND).freedom() == mean_freedom({B: A})


def test_units_of_different_numbers_of_factors_are_refused():
    design = Design((1, 2), (Crossing(("a", "b")), Crossing(("a", "b", "c"))))
    with pytest.raises(UsageError, match="more factors"):
        design.factors()


def test_cells_of_a_table_hold_the_labels_of_all_factors():
    cells = cluster_cells([["t1", "t2", None], ["v1", None, None]], 3)
    assert cells == [f"t1{CROSSED}v1", f"t2{CROSSED}", CROSSED]
    assert cluster_label("7", cells[1]) == Crossing((("cluster", "t2"), ("item", "7")))
    assert cluster_label("7", None) == ("item", "7")
    assert cluster_label("7", "t1") == ("cluster", "t1")
    assert [cluster_shown(cell) for cell in cells] == ["t1 × v1", "t2 × -", "- × -"]
    assert [cluster_shown("t1"), cluster_shown("")] == ["t1", ""]
    assert cluster_cells([["t1", ""]], 2) == ["t1", None]
    assert cluster_cells([], 2) == [None, None]

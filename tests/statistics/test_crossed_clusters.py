"""Crossed clusters: items that share a template or a verb, and every number over such a design."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cimento.errors import UsageError
from cimento.io.clusters import CROSSED, Crossing, cluster_cells, cluster_label, cluster_shown
from cimento.statistics.classification import threshold_mcc
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design, kept_together, mean_freedom
from cimento.statistics.differences import cochran_q, share_difference, share_test
from cimento.statistics.equal_means import TOO_MANY, WALD
from cimento.statistics.intervals import effective_number, share_interval, t_quantile, wilson
from cimento.statistics.means import CROSSED_T, bounded_mean, mean_of
from cimento.statistics.regression import regress
from cimento.statistics.resampling import PIGEONHOLE, bootstrap

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


def rights(seed, models, share=0.6):
    """Right and wrong of some models on 6 x 8 items."""
    drawn = np.random.default_rng(seed)
    latent = drawn.normal(size=(A, models))[FIRST] + drawn.normal(size=(B, models))[SECOND]
    return latent + drawn.normal(size=(A * B, models)) < np.quantile(latent, share)


def cr2_matrix(gaps, column):
    """CR2's covariance of means, as `cr2_of_mean` of columns."""
    n, left = len(gaps), gaps - gaps.mean(axis=0)
    sums = {g: left[column == g].sum(axis=0) for g in set(column.tolist())}
    return sum(
        np.outer(sums[g], sums[g]) / (1 - (column == g).sum() / n) for g in sums
    ) / n**2  # fmt: skip


def test_several_models_are_compared_by_hotellings_f_with_the_covariance_of_both_factors():
    right = rights(3, 3)
    gaps = right[:, 1:].astype(float) - right[:, :1]
    cells = np.arange(A * B)
    finest = cr2_matrix(gaps, cells)
    both = cr2_matrix(gaps, FIRST) + cr2_matrix(gaps, SECOND) - finest
    # In no direction less than over cells: eigenvalues of both in units of the finest.
    root = np.linalg.cholesky(finest)
    scaled = np.linalg.inv(root) @ both @ np.linalg.inv(root).T
    values, axes = np.linalg.eigh(scaled)
    along = axes.T @ np.linalg.inv(root) @ gaps.mean(axis=0)
    square = (along**2 / np.maximum(values, 1)).sum()
    made = cochran_q(right.tolist(), crossed(FIRST, SECOND), seed=0)
    assert made.method == WALD
    assert made.statistic == pytest.approx(square * (A - 1 - 2 + 1) / ((A - 1) * 2))
    assert made.freedom == A - 1 - 2 + 1
    assert made.p == pytest.approx(stats.f.sf(made.statistic, 2, made.freedom))


def test_of_two_models_it_is_the_t_of_their_mean_difference():
    right = rights(5, 2)
    gaps = right[:, 1].astype(float) - right[:, 0]
    t = mean_of(gaps, crossed(FIRST, SECOND), seed=0)
    made = cochran_q(right.tolist(), crossed(FIRST, SECOND), seed=0)
    assert made.statistic == pytest.approx(t.statistic**2)
    assert made.p == pytest.approx(t.p)


def test_several_models_have_no_test_without_differences_or_with_as_many_models_as_clusters():
    same = [[True, True], [False, False]] * (A * B // 2)
    assert "differ" in cochran_q(same, crossed(FIRST, SECOND), seed=0).reason
    assert cochran_q(rights(3, 6).tolist(), crossed(FIRST, SECOND), seed=0).reason == TOO_MANY
    twins = np.repeat(rights(3, 2), 2, axis=1)  # two pairs of equal models: one difference
    made = cochran_q(twins.tolist(), crossed(FIRST, SECOND), seed=0)
    assert made.p == pytest.approx(
        cochran_q(twins[:, [0, 2]].tolist(), crossed(FIRST, SECOND), seed=0).p
    )


def test_the_bootstrap_draws_levels_of_both_factors():
    design = crossed(FIRST, SECOND)
    made = bootstrap(VALUES, np.mean, design, seed=0, draws=4_000)
    assert made.method == PIGEONHOLE
    # Of a balanced table; means of rows and columns hold the rest too, so that it counts thrice.
    table = VALUES.reshape(A, B)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    rest = table - rows[:, None] - columns + table.mean()
    parts = rows.var() / A + columns.var() / B
    assert made.se**2 == pytest.approx(parts + (rest**2).mean() / (A * B), rel=0.1)
    for column in (FIRST, SECOND):
        alone = bootstrap(VALUES, np.mean, one_way(column), seed=0, draws=4_000)
        assert made.se > alone.se
    again = bootstrap(VALUES, np.mean, design, seed=0, draws=500, method="percentile")
    assert again == bootstrap(VALUES, np.mean, design, seed=0, draws=500)
    at_once = bootstrap(
        VALUES, np.mean, design, seed=0, draws=500, several=lambda draws: draws.mean(axis=1)
    )
    assert (at_once.low, at_once.high) == pytest.approx((again.low, again.high))


def test_three_factors_are_added_two_by_two_taken_away_and_all_three_added():
    levels = 5
    first, second, third = (axis.ravel() for axis in np.indices((levels,) * 3))
    drawn = np.random.default_rng(11)
    values = sum(drawn.normal(size=levels)[column] for column in (first, second, third))
    values = values + drawn.normal(size=values.size)
    both = [first * 10 + second, first * 10 + third, second * 10 + third]
    variance = (
        sum(cr2_of_mean(values, column) for column in (first, second, third))
        - sum(cr2_of_mean(values, column) for column in both)
        + cr2_of_mean(values, np.arange(values.size))
    )
    design = crossed(first, second, third)
    assert [sign for sign, _ in design.parts()] == [1, 1, 1, -1, -1, -1, 1]
    made = mean_of(values, design, seed=0)
    reach = t_quantile(levels - 1) * math.sqrt(variance)
    assert made.low == pytest.approx(values.mean() - reach, abs=1e-12)
    assert design.described == "125 items in 5 × 5 × 5 crossed clusters"
    right = (values > 0).tolist()
    assert share_interval(right, design).low < share_interval(right, crossed(first, second)).low
    # A third factor inside another adds nothing.
    inside = mean_of(values, crossed(first, second, first // 2), seed=0, draws=0)
    assert inside.reason == "3 clusters: an interval needs 5 or more"
    assert mean_of(values, crossed(first, second, second), seed=0).low == pytest.approx(
        mean_of(values, crossed(first, second), seed=0).low
    )


def test_what_belongs_to_crossed_clusters_is_held_out_with_its_first_factor():
    labels = crossed(FIRST, SECOND).clusters
    assert kept_together(labels) == tuple(FIRST.tolist())
    assert kept_together(["a", 2]) == ("a", 2)
    scores = VALUES.tolist()
    truth = (VALUES + np.random.default_rng(2).normal(size=VALUES.size) > 0).tolist()
    by_both = threshold_mcc(scores, truth, seed=0, folds=5, clusters=labels)
    assert by_both == threshold_mcc(scores, truth, seed=0, folds=5, clusters=FIRST.tolist())


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

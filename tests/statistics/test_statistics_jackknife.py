"""Intervals of coefficients: leaving out one cluster, or a group of clusters, at a time."""

from __future__ import annotations

import itertools
import math

import krippendorff
import numpy as np
import pytest
from scipy import stats

from cimento.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from cimento.statistics.correlation import correlate, partial_correlation
from cimento.statistics.design import Design
from cimento.statistics.draws import JACKKNIFE, JACKKNIFE_CLUSTERED, jackknife, pearson_draws

FIRST = [1, 2, 3, 3, 2, 1, 4, 4, 2, 3, 1, 2]
SECOND = [1, 2, 2, 3, 3, 1, 4, 3, 2, 4, 2, 2]
PAIRS = Design(tuple(range(12)), tuple(np.repeat(range(6), 2).tolist()))
DESIGNS = [Design.independent(12), PAIRS]


def by_a_loop(statistic, design, level=0.95, ratings=2.0, *, curved=False):
    """The interval of a function of row numbers, from Efron and Tibshirani's formulas.

    That of the variance (11.5), and with `curved` twice the square of that of bias (11.4) beside.
    """

    def scaled(r):
        return math.log((1 + (ratings - 1) * r) / (1 - r)) / 2

    labels = np.array(design.clusters)
    names = np.unique(labels)
    z = [scaled(statistic(np.flatnonzero(labels != name))) for name in names]
    m = len(names)
    center = scaled(statistic(np.arange(labels.size)))
    bias = (m - 1) * (np.mean(z) - center) if curved else 0
    error = math.sqrt((m - 1) / m * sum((value - np.mean(z)) ** 2 for value in z) + 2 * bias**2)
    reach = stats.t.ppf((1 + level) / 2, m - 1) * error
    ends = (math.exp(2 * end) for end in (center - reach, center + reach))
    return tuple((end - 1) / (end + ratings - 1) for end in ends)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_correlations_are_those_of_scipy_without_each_cluster(design, kind):
    oracle = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    x, y = np.array(FIRST) + 0.1 * np.arange(12), np.array(SECOND) * 1.0
    expected = by_a_loop(lambda rows: oracle[kind](x[rows], y[rows]).statistic, design, level=0.9)
    correlation = correlate(x, y, kind=kind, design=design, level=0.9)
    assert (correlation.low, correlation.high) == pytest.approx(expected)
    # From the ends: z is their middle, and the error half their distance over the 90% quantile.
    low, high = np.arctanh(expected)
    error = (high - low) / 2 / stats.t.ppf(0.95, design.m - 1)
    t = (low + high) / 2 / error
    assert correlation.p == pytest.approx(2 * stats.t.sf(abs(t), design.m - 1))
    assert correlation.method == (JACKKNIFE_CLUSTERED if design.clustered else JACKKNIFE)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_partial_correlations_are_computed_anew_without_each_cluster(design, kind):
    table = np.random.default_rng(2).normal(size=(12, 4)) @ [
        [1, 1, 0, 1],
        [0, 1, 1, 0],
        [1, 0, 1, 1],
        [0, 0, 1, -1],
    ]

    def partial(rows):
        kept = Design.independent(rows.size)
        x, y, *covariates = table[rows].T
        return partial_correlation(x, y, np.array(covariates).T, kind=kind, design=kept).r

    correlation = partial_correlation(
        table[:, 0], table[:, 1], table[:, 2:], kind=kind, design=design
    )
    assert (correlation.low, correlation.high) == pytest.approx(by_a_loop(partial, design))
    assert (correlation.p_asymptotic is None) == design.clustered


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alphas_are_the_krippendorff_packages_without_each_cluster(design, level):
    table = np.array([FIRST, SECOND, [1, 2, 3, 3, 3, 1, 4, 4, 1, 3, 2, 2]], dtype=float)
    table[2, ::5] = math.nan
    ratings = [[None if math.isnan(v) else v for v in column] for column in table.T]

    def alpha(rows):
        return krippendorff.alpha(reliability_data=table[:, rows], level_of_measurement=level)

    agreement = krippendorff_alpha(ratings, scale=level, design=design)
    # 33 ratings of twelve items.
    assert (agreement.low, agreement.high) == pytest.approx(
        by_a_loop(alpha, design, ratings=33 / 12, curved=True)
    )


def clear_cut(n, people, rng):
    """Ratings of 1 to 7 of sentences that are good in seven of ten cases, else bad; little noise.

    People use the scale differently, and are the same for all sentences.
    """
    worth = rng.choice([-2.0, 2.0], n, p=(0.7, 0.3)) + rng.normal(0, 0.3, n)
    noise = rng.normal(0, 0.3, (n, people.size))
    return np.clip(np.round(worth[:, None] + people + noise + 4), 1, 7)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(8, 3), (8, 6), (12, 6)])
def test_the_interval_of_alpha_holds_where_sentences_are_either_good_or_bad(n, k):
    # Without the term for curvature: 0.90, 0.80 and 0.91 of 300.
    rng, held, made = np.random.default_rng(n * 100 + k), 0, 0
    for _ in range(200):
        people = rng.normal(0, 0.7, k)
        ratings, many = clear_cut(n, people, rng), clear_cut(2000, people, rng)
        true = krippendorff_alpha(many.tolist(), scale="ordinal").value
        design = Design.independent(n)
        alpha = krippendorff_alpha(ratings.tolist(), scale="ordinal", design=design)
        if alpha.low is not None:
            made += 1
            held += alpha.low <= true <= alpha.high
    assert made > 150
    assert held / made > 0.94


def test_alpha_has_no_narrow_interval_where_no_single_sentence_moves_it():
    # Four good and four bad sentences, of three people who use the scale differently.
    ratings = np.array([[7, 5, 6], [6, 4, 6], [7, 5, 5], [6, 5, 6],
                        [3, 1, 2], [2, 1, 3], [3, 1, 1], [3, 2, 2]])  # fmt: skip
    alpha = krippendorff_alpha(ratings.tolist(), scale="ordinal", design=Design.independent(8))
    rng = np.random.default_rng(1)
    draws = [
        krippendorff.alpha(reliability_data=ratings[rows].T, level_of_measurement="ordinal")
        for rows in rng.integers(0, 8, (1000, 8)) if len(set(ratings[rows].ravel())) > 1
    ]  # fmt: skip
    low, high = np.quantile(draws, [0.025, 0.975])
    assert alpha.high - alpha.low > (high - low) / 2


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappas_are_computed_anew_without_each_cluster(design, weights):
    def kappa(rows):
        return cohen_kappa(
            [FIRST[row] for row in rows],
            [SECOND[row] for row in rows],
            weights=weights,
            categories=(1, 2, 3, 4),
        ).value

    agreement = cohen_kappa(FIRST, SECOND, weights=weights, design=design)
    assert (agreement.low, agreement.high) == pytest.approx(by_a_loop(kappa, design))
    pairs = list(zip(FIRST, SECOND, strict=True))
    fleiss = fleiss_kappa(pairs, design=design)
    expected = by_a_loop(lambda rows: fleiss_kappa([pairs[row] for row in rows]).value, design)
    assert (fleiss.low, fleiss.high) == pytest.approx(expected)


def test_the_interval_is_that_of_items_that_stay_in():
    # Rows without two ratings count for nothing, and neither do their clusters.
    ratings = [[1, 1], [2, None], [2, 2], [1, 2], [3, 3], [3, 2], [None, None], [1, 1], [2, 2]]
    kept = [item for item in ratings if None not in item]
    clusters = (0, 1, 1, 2, 2, 3, 9, 4, 5)
    alpha = krippendorff_alpha(ratings, design=Design(clusters, clusters))
    left = (0, 1, 2, 2, 3, 4, 5)
    assert alpha == krippendorff_alpha(kept, design=Design(left, left))
    assert alpha.low < alpha.value < alpha.high


def test_coefficients_without_an_interval_say_why():
    ten = Design.independent(10)
    perfect = correlate(range(10), range(10), design=ten)
    assert (perfect.r, perfect.low) == (1, None)
    assert perfect.reason == "it is 1 or -1, or is so without one item or cluster"
    lone = correlate([0.0] * 9 + [1.0], range(10), kind="pearson", design=ten)
    assert lone.r is not None
    assert (lone.low, lone.reason) == (None, "undefined without one of the items or clusters")
    equal = cohen_kappa([1, 2] * 5, [1, 1, 2, 2, 1, 1, 2, 2, 1, 2], design=ten)
    assert equal.low is not None
    rare = cohen_kappa([1] * 29 + [2], [1] * 28 + [2, 1], design=Design.independent(30))
    assert rare.value is not None
    assert rare.low is None
    few = "of {} ratings differ from the most frequent one: too few for an interval"
    assert rare.reason == f"only 2 {few.format(60)}"
    of_runs = cohen_kappa(
        [1] * 29 + [2], [1] * 28 + [2, 1], design=Design.independent(30), what="verdicts"
    )
    assert of_runs.reason == f"only 2 {few.format('60').replace('ratings', 'verdicts')}"
    small = cohen_kappa([1, 2, 3, 1], [1, 2, 2, 3], design=Design.independent(4))
    assert (small.low, small.reason) == (None, f"only 5 {few.format(8)}")


def test_more_than_a_thousand_clusters_are_left_out_in_two_hundred_groups():
    generator = np.random.default_rng(4)
    x = generator.normal(size=3000)
    y = 0.6 * x + generator.normal(size=3000)
    asked = []

    def statistic(weights):
        asked.append(weights.shape[0])
        # Every observation is left out once.
        seen.append((weights == 0).sum(axis=0))
        return pearson_draws(x, y)(weights)

    seen = []
    r = float(np.corrcoef(x, y)[0, 1])
    interval = jackknife(statistic, r, Design.independent(3000)).interval
    assert sum(asked) == 200
    assert (np.sum(seen, axis=0) == 1).all()
    # Fisher's interval of as many normal rows.
    fisher = stats.pearsonr(x, y).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((fisher.low, fisher.high), abs=0.006)
    pairs = tuple(np.repeat(range(1500), 2).tolist())
    clustered = jackknife(statistic, r, Design(pairs, pairs)).interval
    assert (clustered.low, clustered.high) == pytest.approx((fisher.low, fisher.high), abs=0.006)
    assert sum(asked) == 400


def test_a_coefficient_that_no_item_moves_has_no_interval_of_width_zero():
    # Two groups without overlap: without any one of the six, the ranks correlate alike.
    # Whether adding leaves an error depends on the order of the rows.
    for good in itertools.combinations(range(6), 3):
        ratings = [5 if row in good else 2 for row in range(6)]
        scores = [10 * rating + row for row, rating in enumerate(ratings)]
        correlation = correlate(scores, ratings, design=Design.independent(6))
        assert (correlation.low, correlation.high) == (None, None)

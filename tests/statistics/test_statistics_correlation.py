"""Correlations: coefficients, p-values, intervals, covariates, and the ceiling of people."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.correlation import (
    asymptotic_p,
    coefficient,
    correlate,
    partial_correlation,
    statistic_of,
)
from cimento.statistics.design import Design
from cimento.statistics.draws import (
    JACKKNIFE,
    JACKKNIFE_CLUSTERED,
    kendall_draws,
    partial_draws,
    pearson_draws,
    spearman_draws,
)
from cimento.statistics.reliability import spearman_brown, split_half

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)
ORACLES = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": lambda x, y: stats.kendalltau(x, y, method="asymptotic"),
}


@given(PAIRS, st.sampled_from(sorted(ORACLES)))
@settings(deadline=None)
def test_coefficients_and_asymptotic_p_are_scipys(pairs, kind):
    x, y = [float(pair[0]) for pair in pairs], [float(pair[1]) for pair in pairs]
    correlation = coefficient(x, y, kind=kind)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert correlation.r is None
        assert correlation.reason.startswith("all values of")
        return
    oracle = ORACLES[kind](x, y)
    assert correlation.r == pytest.approx(oracle.statistic, abs=1e-12)
    if abs(correlation.r) < 1 - 1e-12:
        assert correlation.p_asymptotic == pytest.approx(oracle.pvalue, rel=1e-7, abs=1e-12)


def test_p_from_a_printed_coefficient():
    # The connectives paper prints rho = -0.120 for 518 sentences, significant below 0.01.
    assert asymptotic_p(-0.12, 518) == pytest.approx(0.0062, abs=5e-5)
    assert asymptotic_p(-0.12, 259) == pytest.approx(0.0537, abs=5e-4)
    assert asymptotic_p(1.0, 5) == 0
    with pytest.raises(UsageError, match="between -1 and 1"):
        asymptotic_p(1.2, 30)
    with pytest.raises(UsageError, match="three rows"):
        asymptotic_p(0.5, 2)


def test_the_jackknife_goes_with_the_asymptotics_where_those_hold():
    generator = np.random.default_rng(9)
    x = generator.normal(size=80)
    y = 0.3 * x + generator.normal(size=80)
    for kind in ("pearson", "spearman", "kendall"):
        correlation = correlate(x, y, kind=kind, design=Design.independent(80))
        assert correlation.p == pytest.approx(correlation.p_asymptotic, abs=0.02)
        assert correlation.low < correlation.r < correlation.high
        assert correlation.method == JACKKNIFE
    fisher = stats.pearsonr(x, y).confidence_interval()
    pearson = correlate(x, y, kind="pearson", design=Design.independent(80))
    assert (pearson.low, pearson.high) == pytest.approx((fisher.low, fisher.high), abs=0.05)


def test_clusters_give_a_cluster_interval_and_no_p_of_rows():
    generator = np.random.default_rng(2)
    x = np.repeat(generator.normal(size=20), 2)
    y = np.repeat(generator.normal(size=20), 2)
    labels = tuple(np.repeat(np.arange(20), 2).tolist())
    rows = correlate(x, y, design=Design.independent(40))
    pairs = correlate(x, y, design=Design(labels, labels))
    assert rows.p_asymptotic is not None
    assert pairs.p_asymptotic is None  # it does not know clusters
    assert pairs.method == JACKKNIFE_CLUSTERED
    assert pairs.high - pairs.low > 1.2 * (rows.high - rows.low)


@given(
    st.lists(st.tuples(*[st.floats(-5, 5)] * 2, st.integers(0, 9)), min_size=8, max_size=40),
    st.sampled_from(sorted(ORACLES)),
)
@settings(deadline=None)
def test_p_is_below_five_percent_exactly_where_the_interval_leaves_out_0(rows, kind):
    x, y, clusters = zip(*rows, strict=True)
    correlation = correlate(x, y, kind=kind, design=Design(tuple(range(len(rows))), clusters))
    assert (correlation.p is None) == (correlation.low is None)
    if correlation.p is not None and abs(correlation.p - 0.05) > 1e-9:
        assert (correlation.p <= 0.05) == (correlation.low > 0 or correlation.high < 0)


def clustered_ratings(seed, rho):
    """Ratings of 1 to 7 and values of 75 sentences, driven by their ten templates of 3 to 12."""
    generator, labels = np.random.default_rng(seed), np.repeat(np.arange(10), np.arange(3, 13))
    u, other = generator.normal(size=(2, 10))
    v = rho * u + math.sqrt(1 - rho**2) * other
    one, another = generator.normal(size=(2, 75))
    values = 4 * u[labels] + 0.8 * one
    ratings = np.clip(np.round(4 + 1.6 * v[labels] + 0.4 * another), 1, 7)
    return values, ratings, Design(tuple(range(75)), tuple(labels.tolist()))


def test_clusters_of_different_sizes_are_tested_at_the_level_and_found():
    # No two clusters of these sizes can change places: permuting them finds hardly anything.
    found = {}
    for rho in (0.0, 0.9):
        samples = [clustered_ratings(seed, rho) for seed in range(200)]
        found[rho] = np.mean([correlate(x, y, design=d).p <= 0.05 for x, y, d in samples])
    # python -c "from scipy import stats; print(stats.binom.ppf([.001, .999], 200, .05))": 2, 20
    assert 2 / 200 <= found[0.0] <= 20 / 200
    assert found[0.9] > 0.7


@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=4, max_size=12),
    st.data(),
    st.sampled_from(sorted(ORACLES)),
)
@settings(deadline=None)
def test_draws_by_weights_are_the_coefficients_of_drawn_rows(rows, data, kind):
    table = np.array(rows, dtype=float)
    n = len(table)
    picked = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    weights = np.bincount(picked, minlength=n)[None, :].astype(float)
    again = table[picked]
    makers = {"pearson": pearson_draws, "spearman": spearman_draws, "kendall": kendall_draws}
    r = float(makers[kind](table[:, 0], table[:, 1])(weights)[0])
    expected = statistic_of(kind)(again[:, 0], again[:, 1])
    assert r == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if kind != "kendall":
        partial = float(partial_draws(table, ranked=kind == "spearman")(weights)[0])
        plain = partial_correlation(*again.T, kind=kind, design=Design.independent(n))
        if plain.r is not None:
            assert partial == pytest.approx(plain.r, abs=1e-6)


def test_undefined_correlations_have_a_reason():
    def correlated(x, y, kind="spearman"):
        return correlate(x, y, kind=kind, design=Design.independent(len(x)))

    assert correlated([1.0, 2.0], [1.0, 2.0]).reason == "fewer than three pairs of values"
    assert correlated([1.0] * 5, range(5)).reason == "all values of x are equal"
    assert correlated(range(5), [2.0] * 5, "kendall").r is None
    perfect = correlated(range(6), range(6))
    assert perfect.r == 1
    assert perfect.low is None
    assert perfect.reason == "it is 1 or -1, or is so without one item or cluster"
    with pytest.raises(UsageError, match="Did you mean 'spearman'"):
        correlated(range(6), range(6), "spearmann")
    with pytest.raises(UsageError, match="x has 5 values, units has 6"):
        correlate(range(5), range(5), design=Design.independent(6))


def test_one_covariate_is_partialed_out_as_by_yules_formula():
    generator = np.random.default_rng(3)
    z = generator.normal(size=40)
    x, y = z + generator.normal(size=40), z + generator.normal(size=40)
    for kind in ("pearson", "spearman"):
        r = {
            name: coefficient(a, b, kind=kind).r
            for name, a, b in (("xy", x, y), ("xz", x, z), ("yz", y, z))
        }
        # Yule 1907: the partial from the three plain coefficients.
        expected = (r["xy"] - r["xz"] * r["yz"]) / math.sqrt(
            (1 - r["xz"] ** 2) * (1 - r["yz"] ** 2)
        )
        correlation = partial_correlation(x, y, z, kind=kind, design=Design.independent(40))
        assert correlation.r == pytest.approx(expected)
        assert correlation.low < correlation.r < correlation.high
        t = expected * math.sqrt(37 / (1 - expected**2))
        assert correlation.p_asymptotic == pytest.approx(2 * stats.t.sf(abs(t), 37))


def test_two_covariates_are_partialed_out_as_by_the_inverse_matrix():
    generator = np.random.default_rng(4)
    table = generator.normal(size=(30, 4)) @ generator.normal(size=(4, 4))
    inverse = np.linalg.inv(np.corrcoef(table, rowvar=False))
    expected = -inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1])
    thirty = Design.independent(30)
    correlation = partial_correlation(
        table[:, 0], table[:, 1], table[:, 2:], kind="pearson", design=thirty
    )
    assert correlation.r == pytest.approx(expected)


def test_covariates_that_explain_everything_leave_nothing():
    x, eight = np.arange(8.0), Design.independent(8)
    correlation = partial_correlation(x, x**2, 3 * x + 1, kind="pearson", design=eight)
    assert correlation.r is None
    assert correlation.reason == "the covariates leave nothing of x or of y"
    three = Design.independent(3)
    assert partial_correlation([1.0, 2, 3], [1.0, 2, 4], [1.0, 2, 2], design=three).r is None
    with pytest.raises(UsageError, match="'pearson' or 'spearman'"):
        partial_correlation(x, x, x, kind="kendall", design=eight)


def test_spearman_brown_by_hand():
    assert spearman_brown(0.5) == pytest.approx(2 / 3)
    assert spearman_brown(0.5, factor=3) == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("raters", "noise"),
    [([3], 1.5), ([2, 3, 5], 1.5),
     *(pytest.param(*one, marks=pytest.mark.slow) for one in (([3], 0.5), ([5], 1.5), ([4], 1.5)))],
)  # fmt: skip
def test_odd_and_unequal_numbers_of_ratings_have_the_ceiling_they_were_made_with(raters, noise):
    # Effects of variance 1 and noise of variance v: means of k ratings have errors of v / k.
    truth = 1 / (1 + noise * np.mean([1 / rater for rater in raters]))
    generator = np.random.default_rng(3)
    items = generator.normal(size=20_000)
    ratings = [
        (effect + generator.normal(0, math.sqrt(noise), raters[row % len(raters)])).tolist()
        for row, effect in enumerate(items)
    ]
    halves = split_half(ratings, seed=1, draws=40)
    assert halves.reliability == pytest.approx(truth, abs=0.01)
    assert halves.low < halves.reliability < halves.high


def test_the_ceiling_of_simulated_raters_is_the_one_they_were_made_with():
    # Item effects of variance 1, rating noise of variance 2, ten ratings: reliability
    # 1 / (1 + 2 / 10) = 0.833, ceiling 0.913.
    generator = np.random.default_rng(7)
    items = generator.normal(size=400)
    ratings = [(item + generator.normal(0, math.sqrt(2), 10)).tolist() for item in items]
    halves = split_half(ratings, seed=1, draws=200)
    assert halves.reliability == pytest.approx(1 / 1.2, abs=0.03)
    assert halves.ceiling == pytest.approx(math.sqrt(1 / 1.2), abs=0.02)
    assert halves.low < halves.reliability < halves.high
    # The correlation of the true effects with the means is what the ceiling estimates.
    truth = np.corrcoef(items, [np.mean(rating) for rating in ratings])[0, 1]
    assert halves.ceiling == pytest.approx(truth, abs=0.02)


def test_ratings_that_tell_nothing_have_no_ceiling():
    assert split_half([[1.0, 2.0], [1.0]], seed=0).reason.startswith("fewer than three items")
    same = split_half([[2.0, 2.0]] * 5, seed=0, draws=10)
    assert same.reliability is None
    assert same.reason == "undefined in 10 of 10 halvings"
    with pytest.raises(UsageError, match="'pearson' or 'spearman'"):
        split_half([[1.0, 2.0]] * 3, seed=0, kind="kendall")


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.golden
def test_correlations_of_the_released_ratings(shared):
    folder = shared / "data/connectives"
    expected = json.loads((shared / "golden/connectives/stats_expected.json").read_text("utf-8"))
    for name in ("accomplit_ACCEPT-Corpus-training.tsv", "accomplit_complexity-set-test.tsv"):
        rows = read(folder / name)
        mean = [float(row["mean"]) for row in rows]
        length = [float(len(row["sentence"].split())) for row in rows]
        want = expected[name]["mean_vs_whitespace_length"]
        for kind, key in (("pearson",) * 2, ("spearman",) * 2, ("kendall", "kendall_b")):
            correlation = coefficient(mean, length, kind=kind)
            assert correlation.n == want["n"]
            assert (correlation.r, correlation.p_asymptotic) == pytest.approx(
                tuple(want[key]), rel=1e-9
            )

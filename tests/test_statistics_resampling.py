"""The bootstrap and permutation tests."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento.errors import UsageError
from cimento.statistics.correlation import correlate
from cimento.statistics.permutation import EXACT, MONTE_CARLO, permute_pairs, sign_flip
from cimento.statistics.resampling import bootstrap, bootstrap_difference, bootstrap_mean

VALUES = st.lists(st.integers(-6, 6), min_size=2, max_size=9)
# R 4.2.2: set.seed(1); round(rexp(12), 3)
SKEWED = [0.755, 1.182, 0.146, 0.14, 0.436, 2.895, 1.23, 0.54, 0.957, 0.147, 1.391, 0.762]


def by_enumeration(values, alternative):
    total = sum(values)
    sums = [
        sum(sign * each for sign, each in zip(signs, values, strict=True))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    if alternative == "two-sided":
        extreme = sum(abs(each) >= abs(total) for each in sums)
    elif alternative == "greater":
        extreme = sum(each >= total for each in sums)
    else:
        extreme = sum(each <= total for each in sums)
    return extreme / len(sums)


@given(VALUES, st.sampled_from(["two-sided", "greater", "less"]))
@settings(deadline=None)
def test_exact_sign_flips_count_every_pattern(values, alternative):
    found = sign_flip([0.1 * each for each in values], seed=0, alternative=alternative)
    if not any(values):
        assert found.p is None
        assert found.reason == "all values are zero"
        return
    assert found.method == EXACT
    assert found.statistic == pytest.approx(np.mean(values) / 10)
    assert found.p == pytest.approx(by_enumeration(values, alternative), abs=1e-12)


def test_exact_sign_flips_are_scipys_permutation_test():
    # scipy 1.17.1: permutation_test((d,), np.mean, permutation_type="samples", n_resamples=inf)
    differences = np.array([0.4, -0.1, 1.3, 0.9, -0.2, 0.7, 0.5, 1.1, -0.6, 0.3])
    oracle = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip(differences, seed=0).p == pytest.approx(oracle.pvalue)


def test_draws_are_the_same_however_many_are_held_at_once(monkeypatch):
    values = np.random.default_rng(2).normal(0.1, 1.0, 60)

    def found():
        mean = bootstrap_mean(values, seed=1, draws=700)
        flips = sign_flip(values, seed=1, exact_up_to=1, draws=1500).p
        pairs = correlate(values, values**2, seed=1, draws=1200)
        return [mean.low, mean.high, flips, pairs.p_permutation, pairs.low, pairs.high]

    whole = found()
    monkeypatch.setattr("cimento.statistics.values._MOST_CELLS", 600)  # ten draws of sixty values
    assert found() == pytest.approx(whole, abs=1e-12)


def test_drawn_sign_flips_agree_with_counted_ones_and_are_never_zero():
    values = np.random.default_rng(3).normal(0.3, 1, 30)
    exact = sign_flip(values, seed=1)
    drawn = sign_flip(values, seed=1, exact_up_to=0, draws=20_000)
    assert (exact.method, drawn.method) == (EXACT, MONTE_CARLO)
    assert drawn.p == pytest.approx(exact.p, abs=0.01)
    assert drawn == sign_flip(values, seed=1, exact_up_to=0, draws=20_000)
    assert sign_flip(np.ones(200), seed=1, draws=999).p == pytest.approx(1 / 1000)


def test_clusters_flip_as_a_whole():
    values, clusters = [1.0, 1.0, 1.0, 2.0, 2.0], ["a", "a", "a", "b", "b"]
    # Sums 3 and 4: of four patterns two are as extreme as 7.
    assert sign_flip(values, seed=0, clusters=clusters).p == 0.5
    assert sign_flip(values, seed=0).p == 2 / 2**5


def test_sign_flips_refuse_nonsense():
    with pytest.raises(UsageError, match="Did you mean 'greater'"):
        sign_flip([1.0], seed=0, alternative="greater than")
    with pytest.raises(UsageError, match="0 draws"):
        sign_flip([1.0], seed=0, draws=0)
    assert sign_flip([], seed=0).reason == "no values"


def test_one_sign_alone_is_no_test():
    for found in (sign_flip([1.5], seed=0), sign_flip([1.0, 2.0], seed=0, clusters=["a", "a"])):
        assert found.p is None
        assert found.reason == "fewer than two observations"


def test_permuted_pairs_have_the_p_of_all_permutations():
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([2.0, 1, 4, 3, 6, 4])

    def r(a, b):
        return float(np.corrcoef(a, b)[0, 1])

    every = [
        abs(r(x, np.array(order))) >= abs(r(x, y)) - 1e-12 for order in itertools.permutations(y)
    ]
    found = permute_pairs(x, y, r, seed=2, draws=4000)
    assert found.p == pytest.approx(np.mean(every), abs=0.01)


def test_intervals_of_the_mean_are_scipys():
    for method, theirs in (("percentile", "percentile"), ("bca", "BCa")):
        oracle = stats.bootstrap(
            (SKEWED,), np.mean, n_resamples=40_000, method=theirs, rng=np.random.default_rng(0)
        )
        found = bootstrap_mean(SKEWED, seed=1, draws=40_000, method=method)
        assert (found.low, found.high) == pytest.approx(oracle.confidence_interval, abs=0.02)
        assert found.se == pytest.approx(oracle.standard_error, rel=0.02)
        assert found.estimate == pytest.approx(np.mean(SKEWED))


def test_bca_moves_to_the_side_of_the_tail():
    percentile = bootstrap_mean(SKEWED, seed=1, method="percentile")
    bca = bootstrap_mean(SKEWED, seed=1)
    assert percentile.low < bca.low
    assert percentile.high < bca.high


def test_any_statistic_of_rows_is_bootstrapped():
    oracle = stats.bootstrap((SKEWED,), np.median, n_resamples=5000, rng=np.random.default_rng(4))
    found = bootstrap(SKEWED, np.median, seed=4, draws=5000)
    assert found.method == "bootstrap, BCa"
    assert (found.low, found.high) == pytest.approx(oracle.confidence_interval, abs=0.15)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=4, max_size=20))
@settings(deadline=None, max_examples=25)
def test_the_fast_mean_is_the_mean_of_the_general_bootstrap(rows):
    values, clusters = [float(row[0]) for row in rows], [row[1] for row in rows]
    fast = bootstrap_mean(values, seed=6, clusters=clusters, draws=400, method="percentile")
    slow = bootstrap(values, np.mean, seed=6, clusters=clusters, draws=400, method="percentile")
    assert (fast.low is None) == (slow.low is None)
    assert fast.method == slow.method == "cluster bootstrap, percentile"
    assert fast.reason == slow.reason
    if fast.low is not None:
        assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=2.5)


def test_clusters_that_agree_with_themselves_widen_the_interval():
    values = np.repeat(np.random.default_rng(8).normal(size=12), 5)
    rows = bootstrap_mean(values, seed=1)
    clustered = bootstrap_mean(values, seed=1, clusters=np.repeat(np.arange(12), 5).tolist())
    assert clustered.high - clustered.low > 1.8 * (rows.high - rows.low)


def test_degenerate_samples_have_a_reason_and_no_interval():
    assert bootstrap_mean([1.0], seed=0).reason == "fewer than two observations"
    assert bootstrap_mean([], seed=0).estimate is None
    assert bootstrap_mean([0.1] * 7, seed=0).reason == "all draws are equal"
    one = bootstrap_mean([1.0, 2.0], seed=0, clusters=["a", "a"])
    assert (one.low, one.reason) == (None, "fewer than two clusters")
    rare = bootstrap([1.0] * 40 + [2.0], np.median, seed=0, draws=500, method="percentile")
    assert (rare.low, rare.reason) == (None, "all draws are equal")
    most = bootstrap([1.0] * 15 + [2.0] * 5, np.median, seed=0, draws=2000, method="percentile")
    assert (most.low, most.reason) == (None, "all draws between the two ends are equal")
    assert bootstrap([1.0, 2.0], lambda _: None, seed=0).reason == "undefined in the sample"
    picky = bootstrap(
        [1.0, 2.0, 3.0],
        lambda rows: float("nan") if np.ptp(rows) == 0 else rows.mean(),
        seed=0,
        draws=500,
    )
    assert picky.low is None
    assert picky.undefined > 25
    assert picky.reason == f"undefined in {picky.undefined} of 500 draws"


def test_the_difference_of_paired_samples():
    first, second = [1.0, 2.0, 4.0, 3.0, 6.0], [0.5, 2.5, 3.0, 1.0, 4.0]
    mean = bootstrap_difference(first, second, seed=2)
    assert mean == bootstrap_mean(np.subtract(first, second), seed=2)
    median = bootstrap_difference(first, second, seed=2, statistic=np.median, draws=500)
    assert median.estimate == pytest.approx(3.0 - 2.5)
    with pytest.raises(UsageError, match="first has 1 values, second has 2"):
        bootstrap_difference([1.0], [1.0, 2.0], seed=0)


def test_nonsense_is_refused():
    with pytest.raises(UsageError, match="Did you mean 'bca'"):
        bootstrap_mean([1.0, 2.0], seed=0, method="bc")
    with pytest.raises(UsageError, match="0 draws"):
        bootstrap_mean([1.0, 2.0], seed=0, draws=0)
    with pytest.raises(UsageError, match="rows has 2 values, clusters has 1"):
        bootstrap([1.0, 2.0], np.mean, seed=0, clusters=["a"])


@pytest.mark.golden
def test_the_story_clusters_of_a_published_study(shared):
    folder = shared / "golden/stories"
    documents = [
        json.loads(line)
        for line in (folder / "dataset/gita4calamita.jsonl").read_text("utf-8").splitlines()
    ]
    checked = 0
    for path in sorted((folder / "expected").glob("*.json")):
        expected = json.loads(path.read_text("utf-8"))["cluster_bootstrap95_paper_code"]["Accuracy"]
        rows = [
            json.loads(line)
            for line in (folder / "responses" / f"{path.stem}.jsonl")
            .read_text("utf-8")
            .splitlines()
        ]
        rows = [row for row in rows if row["task"] == "story_class" and row["ll"] is not None]
        right = [
            (row["ll"][1] > row["ll"][0]) == documents[row["doc"]]["plausible"] for row in rows
        ]
        clusters = [documents[row["doc"]]["story_id"] for row in rows]
        found = bootstrap_mean(right, seed=1, clusters=clusters, method="percentile")
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.01)
        checked += 1
    assert checked >= 3

"""The bootstrap of any statistic, and permuted pairs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from cimento import UsageError
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of
from cimento.statistics.resampling import bootstrap

# R 4.2.2: set.seed(1); round(rexp(12), 3)
SKEWED = [0.755, 1.182, 0.146, 0.14, 0.436, 2.895, 1.23, 0.54, 0.957, 0.147, 1.391, 0.762]


def test_draws_are_the_same_however_many_are_held_at_once(monkeypatch):
    values = np.random.default_rng(2).normal(0.1, 1.0, 60)
    sixty = Design.independent(60)

    def intervals():
        mean = mean_of(values, sixty, seed=1, draws=1500)
        pairs = correlate(values, values**2, design=sixty)
        return [mean.low, mean.high, mean.p, pairs.p, pairs.low, pairs.high]

    whole = intervals()
    monkeypatch.setattr("cimento.statistics.design._MOST_CELLS", 600)  # ten draws of sixty values
    assert intervals() == pytest.approx(whole, abs=1e-12)


TWELVE = Design.independent(12)


def test_intervals_of_the_mean_are_scipys():
    for method, theirs in (("percentile", "percentile"), ("bca", "BCa")):
        oracle = stats.bootstrap(
            (SKEWED,), np.mean, n_resamples=40_000, method=theirs, rng=np.random.default_rng(0)
        )
        interval = bootstrap(SKEWED, np.mean, TWELVE, seed=1, draws=20_000, method=method)
        assert (interval.low, interval.high) == pytest.approx(oracle.confidence_interval, abs=0.02)
        assert interval.se == pytest.approx(oracle.standard_error, rel=0.02)
        assert interval.estimate == pytest.approx(np.mean(SKEWED))


def test_bca_moves_to_the_side_of_the_tail():
    percentile = bootstrap(SKEWED, np.mean, TWELVE, seed=1, method="percentile")
    bca = bootstrap(SKEWED, np.mean, TWELVE, seed=1)
    assert percentile.low < bca.low
    assert percentile.high < bca.high


def test_any_statistic_of_rows_is_bootstrapped():
    oracle = stats.bootstrap((SKEWED,), np.median, n_resamples=5000, rng=np.random.default_rng(4))
    interval = bootstrap(SKEWED, np.median, TWELVE, seed=4, draws=5000)
    assert interval.method == "bootstrap, BCa"
    assert (interval.low, interval.high) == pytest.approx(oracle.confidence_interval, abs=0.15)


def test_clusters_that_agree_with_themselves_widen_the_interval():
    values = np.repeat(np.random.default_rng(8).normal(size=12), 5)
    rows = bootstrap(values, np.mean, Design.independent(60), seed=1, draws=1000)
    names = tuple(np.repeat(np.arange(12), 5).tolist())
    clustered = bootstrap(values, np.mean, Design(names, names), seed=1, draws=1000)
    assert clustered.method == "cluster bootstrap, BCa"
    assert clustered.high - clustered.low > 1.8 * (rows.high - rows.low)


@pytest.mark.parametrize("sizes", [(1,) * 12, (3,) * 12, (1, 2, 3, 4) * 3])
def test_several_draws_at_once_give_what_each_gives_alone(sizes):
    values = np.random.default_rng(9).normal(size=sum(sizes))
    values[:2] = 0.0
    clusters = tuple(np.repeat(np.arange(12), sizes).tolist())
    design = Design(tuple(range(len(values))), clusters)

    def mean(rows):
        return math.nan if rows.min() > -1.5 else rows.mean()

    def means(draws):
        return np.where(draws.min(axis=1) > -1.5, np.nan, draws.mean(axis=1))

    for method in ("percentile", "bca"):
        for alone, together in ((np.mean, lambda draws: draws.mean(axis=1)), (mean, means)):
            one, several = (
                bootstrap(values, alone, design, seed=3, draws=2500, method=method, several=at_once)
                for at_once in (None, together)
            )
            assert one == several


def test_degenerate_samples_have_a_reason_and_no_interval():
    def bootstrapped(values, statistic, draws=500, method="percentile"):
        design = Design.independent(len(values))
        return bootstrap(values, statistic, design, seed=0, draws=draws, method=method)

    assert bootstrapped([0.1] * 7, np.mean).reason == "all draws are equal"
    rare = bootstrapped([1.0] * 40 + [2.0], np.median)
    assert (rare.low, rare.reason) == (None, "all draws are equal")
    most = bootstrapped([1.0] * 15 + [2.0] * 5, np.median, draws=2000)
    assert (most.low, most.reason) == (None, "all draws between the two ends are equal")
    assert bootstrapped(range(6), lambda _: None).reason == "undefined in the sample"
    picky = bootstrapped(
        [0.0] * 5 + [3.0], lambda rows: math.nan if np.ptp(rows) == 0 else rows.mean()
    )
    assert picky.low is None
    assert picky.undefined > 25
    assert picky.reason == f"undefined in {picky.undefined} of 500 draws"


@pytest.mark.filterwarnings("error")
def test_a_statistic_that_needs_every_row_has_no_bca_interval_and_says_why():
    def of_all(rows):
        return rows.mean() if len(rows) == len(SKEWED) else None

    interval = bootstrap(SKEWED, of_all, TWELVE, seed=0, draws=200)
    assert (interval.low, interval.reason) == (None, "undefined without any one row or cluster")


def test_nonsense_is_refused():
    with pytest.raises(UsageError, match="Did you mean 'bca'"):
        bootstrap(range(12), np.mean, TWELVE, seed=0, method="bc")
    with pytest.raises(UsageError, match="0 draws"):
        bootstrap(range(12), np.mean, TWELVE, seed=0, draws=0)
    with pytest.raises(UsageError, match="rows has 2 values, units has 12"):
        bootstrap([1.0, 2.0], np.mean, TWELVE, seed=0)


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
        stories = tuple(documents[row["doc"]]["story_id"] for row in rows)
        design = Design(stories, stories)
        interval = bootstrap(right, np.mean, design, seed=1, draws=4000, method="percentile")
        assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=0.01)
        checked += 1
    assert checked >= 3

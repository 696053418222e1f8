"""Two-way answers, their thresholds and their probabilities."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError, statistics
from cimento.statistics.calibration import brier, expected_calibration_error, nll
from cimento.statistics.classification import (
    Confusion,
    auc,
    balanced_accuracy,
    balanced_folds,
    best_threshold,
    confusion,
    d_prime,
    f1,
    mcc,
    mid_ranks,
    threshold_mcc,
    tnr,
    tpr,
)

SCORED = st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=40)
COUNTS = Confusion(tp=6, fp=2, fn=1, tn=4)


def test_the_rates_by_hand():
    assert tpr(COUNTS).value == pytest.approx(6 / 7)
    assert tnr(COUNTS).value == pytest.approx(4 / 6)
    assert balanced_accuracy(COUNTS).value == pytest.approx((6 / 7 + 4 / 6) / 2)
    assert mcc(COUNTS).value == pytest.approx((24 - 2) / math.sqrt(8 * 7 * 6 * 5))
    assert f1(COUNTS).value == pytest.approx(12 / 15)


@pytest.mark.parametrize("function", [mcc, balanced_accuracy, d_prime])
def test_a_bare_table_is_refused_with_the_way_to_write_one(function):
    with pytest.raises(UsageError, match=r"a list, and a Confusion .* confusion\(truth, answers\)"):
        function([[1, 2], [3, 4]])


def test_what_the_functions_take_and_give_can_be_imported_with_them():
    assert statistics.confusion([True, False], [True, True]) == statistics.Confusion(1, 1, 0, 0)
    items = statistics.Design.independent(8)
    assert isinstance(statistics.share_interval([True] * 8, items), statistics.Interval)


@given(SCORED)
@settings(deadline=None)
def test_mcc_is_the_correlation_of_truth_and_answer(rows):
    truth, answers = [row[1] for row in rows], [row[0] > 0 for row in rows]
    statistic = mcc(confusion(truth, answers))
    if len(set(truth)) == 1 or len(set(answers)) == 1:
        assert statistic.value is None
        assert statistic.reason
    else:
        assert statistic.value == pytest.approx(np.corrcoef(truth, answers)[0, 1])


def test_an_empty_class_leaves_rates_undefined():
    only = Confusion(tp=3, fp=0, fn=1, tn=0)
    assert tnr(only).value is None
    assert balanced_accuracy(only).reason == "nothing is negative"
    assert mcc(only).value is None
    assert d_prime(only).reason == "nothing is negative"
    assert tpr(Confusion(0, 1, 0, 1)).reason == "nothing is positive"
    assert f1(Confusion(0, 0, 0, 3)).value is None


def test_d_prime_with_the_log_linear_correction():
    # scipy 1.17.1: norm.ppf(6.5 / 8) - norm.ppf(2.5 / 7)
    detection = d_prime(COUNTS)
    assert detection.d_prime == pytest.approx(stats.norm.ppf(6.5 / 8) - stats.norm.ppf(2.5 / 7))
    assert detection.criterion == pytest.approx(
        -(stats.norm.ppf(6.5 / 8) + stats.norm.ppf(2.5 / 7)) / 2
    )
    assert detection.method == "log-linear correction"
    perfect = d_prime(Confusion(10, 0, 0, 10))
    assert perfect.d_prime == pytest.approx(2 * stats.norm.ppf(10.5 / 11))
    assert perfect.criterion == pytest.approx(0)


@given(SCORED)
@settings(deadline=None)
def test_auc_counts_pairs_with_ties_as_half(rows):
    positives = [score for score, positive in rows if positive]
    negatives = [score for score, positive in rows if not positive]
    area = auc([row[0] for row in rows], [row[1] for row in rows])
    if not positives or not negatives:
        assert area.value is None
        return
    wins = sum((a > b) + (a == b) / 2 for a in positives for b in negatives)
    assert area.value == pytest.approx(wins / (len(positives) * len(negatives)))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30))
@settings(deadline=None)
def test_mid_ranks_are_scipys(values):
    assert mid_ranks(np.asarray(values, float)).tolist() == stats.rankdata(values).tolist()


@given(SCORED)
@settings(deadline=None)
def test_the_best_threshold_is_the_best_of_all(rows):
    values = np.asarray([row[0] for row in rows], float)
    truth = np.asarray([row[1] for row in rows])
    threshold = best_threshold(values, truth)
    candidates = [-math.inf, *(values + 0.5)]
    quality = [mcc(confusion(truth, values >= cut)).value for cut in candidates]
    reached = mcc(confusion(truth, values >= threshold)).value
    defined = [value for value in quality if value is not None]
    assert (reached is None) == (not defined)
    if defined:
        assert reached == pytest.approx(max(defined))


def test_a_threshold_for_noise_does_not_flatter_out_of_sample():
    generator = np.random.default_rng(11)
    thresholds = [
        threshold_mcc(generator.normal(size=60), generator.random(60) < 0.5, seed=seed)
        for seed in range(60)
    ]
    assert np.mean([threshold.mcc_in_sample for threshold in thresholds]) > 0.12
    assert (
        abs(np.mean([threshold.mcc for threshold in thresholds if threshold.mcc is not None])) < 0.1
    )


def test_a_threshold_for_separate_classes_is_perfect_and_repeats():
    scores, truth = [*range(10), *range(20, 30)], [False] * 10 + [True] * 10
    threshold = threshold_mcc(scores, truth, seed=3)
    assert threshold.mcc == pytest.approx(1)
    assert len(threshold.thresholds) == 10
    assert threshold == threshold_mcc(scores, truth, seed=3)
    assert threshold_mcc(scores, [True] * 20, seed=3).reason
    assert threshold_mcc([1.0] * 20, truth, seed=3).mcc is None
    assert threshold_mcc(scores, truth, seed=3, clusters=["a"] * 20).reason == "one cluster only"
    with pytest.raises(UsageError, match="two or more"):
        threshold_mcc(scores, truth, seed=3, folds=1)


def test_clusters_are_not_divided():
    """Rows that come twice, each with its twin, choose the thresholds that single rows choose."""
    generator = np.random.default_rng(5)
    truth = [number % 2 == 0 for number in range(40)]
    scores = generator.normal(size=40) + np.asarray(truth)
    once = threshold_mcc(scores, truth, seed=1)
    twins = np.repeat(np.arange(40), 2)
    twice = threshold_mcc(scores[twins], np.asarray(truth)[twins], seed=1, clusters=twins.tolist())
    assert twice.thresholds == once.thresholds
    assert twice.mcc == pytest.approx(once.mcc)
    assert 0 < once.mcc < once.mcc_in_sample


def test_folds_are_alike_in_their_shares_of_yes():
    clusters = np.arange(80) // 2
    parts = balanced_folds(clusters, clusters % 2 == 0, folds=10, seed=1)
    assert (parts[::2] == parts[1::2]).all()
    assert np.bincount(parts).tolist() == [8] * 10
    assert [np.mean(clusters[parts == part] % 2) for part in range(10)] == [0.5] * 10


def test_brier_and_nll_by_hand():
    p = [[0.8, 0.2], [0.4, 0.6]]
    assert brier(p, [0, 0]).value == pytest.approx((0.08 + 0.72) / 2)
    assert nll(p, [0, 0]).value == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)
    assert nll([[1.0, 0.0]], [1]).reason == "something right has probability zero"
    assert brier([], []).reason == "no observations"
    with pytest.raises(UsageError, match="sum to 1"):
        brier([[0.8, 0.3]], [0])
    with pytest.raises(UsageError, match="outside 0 to 1"):
        nll(p, [0, 2])


def test_calibration_by_hand_with_edges_closed_above():
    calibration = expected_calibration_error(
        [0.5, 0.5, 0.75, 1.0, 0.0], [True, False, True, False, False], bins=2
    )
    low, high = calibration.bins
    assert (low.n, high.n) == (3, 2)
    assert low.confidence == pytest.approx(1 / 3)
    assert low.accuracy == pytest.approx(1 / 3)
    assert calibration.ece == pytest.approx(2 / 5 * abs(0.5 - 0.875))
    empty = expected_calibration_error([], [])
    assert empty.ece is None
    assert empty.reason == "no observations"
    assert all(row.confidence is None for row in empty.bins)
    with pytest.raises(UsageError, match="outside 0 to 1"):
        expected_calibration_error([1.2], [True])


@pytest.mark.golden
def test_bias_and_calibration_of_a_published_study(shared):
    folder = shared / "golden/stories"
    documents = [
        json.loads(line)
        for line in (folder / "dataset/gita4calamita.jsonl").read_text("utf-8").splitlines()
    ]
    checked = 0
    for path in sorted((folder / "expected").glob("*.json")):
        expected = json.loads(path.read_text("utf-8"))
        rows = [
            json.loads(line)
            for line in (folder / "responses" / f"{path.stem}.jsonl")
            .read_text("utf-8")
            .splitlines()
        ]
        rows = [row for row in rows if row["task"] == "story_class" and row["ll"] is not None]
        truth = [bool(documents[row["doc"]]["plausible"]) for row in rows]
        ll = np.asarray([row["ll"] for row in rows])
        margin = ll[:, 1] - ll[:, 0]
        counts = confusion(truth, (margin > 0).tolist())
        bias = expected["bias"]
        assert (counts.tp, counts.fp, counts.fn, counts.tn) == tuple(
            bias[key] for key in ("tp", "fp", "fn", "tn")
        )
        assert mcc(counts).value == pytest.approx(bias["mcc"], abs=1e-12)
        assert balanced_accuracy(counts).value == pytest.approx(bias["balanced_accuracy"])
        assert auc(margin, truth).value == pytest.approx(bias["auc"], abs=1e-12)
        p = np.exp(ll - np.logaddexp.reduce(ll, axis=1, keepdims=True))
        calibration = expected["per_task"]["story_class"]["calibration"]
        assert brier(p, [int(value) for value in truth]).value == pytest.approx(
            calibration["brier_sum"], abs=1e-9
        )
        assert nll(p, [int(value) for value in truth]).value == pytest.approx(
            calibration["nll"], abs=1e-9
        )
        right = (p.argmax(axis=1) == np.asarray(truth, int)).tolist()
        ece = expected_calibration_error(p.max(axis=1), right).ece
        assert ece == pytest.approx(calibration["ece10"], abs=1e-9)
        checked += 1
    assert checked >= 4

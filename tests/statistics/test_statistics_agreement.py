"""Agreement among people, and between distributions of answers."""

from __future__ import annotations

import csv
import json
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.statistics.agreement import (
    NO_PAIR,
    NO_VARIATION,
    SINGLE_ITEM,
    cohen_kappa,
    correlation_with_rest,
    fleiss_kappa,
    krippendorff_alpha,
)
from cimento.statistics.calibration import jensen_shannon
from cimento.statistics.design import Design
from cimento.statistics.draws import JACKKNIFE

RATINGS = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=4, max_size=4),
    min_size=1,
    max_size=15,
)
FIRST = [1, 2, 3, 3, 2, 1, 4, 4, 2, 3, 1, 2]
SECOND = [1, 2, 2, 3, 3, 1, 4, 3, 2, 4, 2, 2]


@given(RATINGS, st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(deadline=None)
def test_alpha_is_the_krippendorff_packages(ratings, level):
    alpha = krippendorff_alpha(ratings, scale=level)
    paired = [[rating for rating in item if rating is not None] for item in ratings]
    paired = [item for item in paired if len(item) > 1]
    if not paired:
        assert alpha.reason == NO_PAIR
        return
    if len({rating for item in paired for rating in item}) == 1:
        assert alpha.value is None
        assert alpha.reason == NO_VARIATION
        return
    if len(paired) == 1:
        assert (alpha.value, alpha.reason) == (None, SINGLE_ITEM)
        return
    table = np.array(
        [[math.nan if rating is None else rating for rating in item] for item in ratings]
    ).T
    oracle = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
    assert alpha.value == pytest.approx(oracle, abs=1e-9)
    assert alpha.items == len(paired)
    assert alpha.ratings == sum(map(len, paired))


def test_one_item_tells_nothing_of_agreement():
    for alpha in (
        krippendorff_alpha([[1, 2]], design=Design.independent(1)),
        krippendorff_alpha([[1, 2], [None, 1]], scale="ordinal"),
        fleiss_kappa([[1, 2, 2]]),
        cohen_kappa([1], [2]),
    ):
        assert (alpha.value, alpha.low, alpha.reason) == (None, None, SINGLE_ITEM)


def test_nominal_alpha_takes_any_labels_and_order_does_not_matter():
    ratings = [["ok", "ok", None], ["bad", "ok", "bad"], ["ok", None, "ok"], ["odd", "bad", "odd"]]
    numbers = {"ok": 1, "bad": 2, "odd": 3, None: None}
    alpha = krippendorff_alpha(ratings)
    again = krippendorff_alpha(
        [[numbers[rating] for rating in item][::-1] for item in ratings[::-1]]
    )
    assert alpha.value == pytest.approx(again.value)
    assert alpha.coefficient == "Krippendorff's alpha, nominal"


def test_more_items_make_the_interval_narrower():
    generator = np.random.default_rng(1)
    ratings = [
        (base + generator.integers(0, 2, 6)).tolist() for base in generator.integers(1, 5, 40)
    ]
    alpha = krippendorff_alpha(ratings, scale="ordinal", design=Design.independent(40))
    assert alpha.low < alpha.value < alpha.high
    assert alpha.method == JACKKNIFE
    assert krippendorff_alpha(ratings, scale="ordinal").low is None
    fewer = krippendorff_alpha(ratings[:10], scale="ordinal", design=Design.independent(10))
    assert fewer.high - fewer.low > alpha.high - alpha.low


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_where_all_agree_there_is_no_interval(level):
    alpha = krippendorff_alpha(
        [[k, k, k] for k in (1, 2, 3, 4, 5, 6, 7, 7)], scale=level, design=Design.independent(8)
    )
    assert alpha.value == 1.0
    assert alpha.reason == "it is 1 or -1, or is so without one item or cluster"


def test_bad_levels_and_ratings_are_refused():
    with pytest.raises(UsageError, match="Did you mean 'ordinal'"):
        krippendorff_alpha([[1, 2]], scale="ordnal")
    with pytest.raises(UsageError, match="not all values are numbers"):
        krippendorff_alpha([["a", "b"]], scale="interval")


def test_fleiss_kappa_is_statsmodels():
    # statsmodels 0.15.0: fleiss_kappa(counts)
    counts = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ]
    )
    ratings = [np.repeat(np.arange(5), row).tolist() for row in counts]
    kappa = fleiss_kappa(ratings, design=Design.independent(10))
    assert kappa.value == pytest.approx(0.20993070442195522)
    assert kappa.low < kappa.value < kappa.high


def test_fleiss_kappa_needs_equal_numbers_and_variation():
    assert "use Krippendorff's alpha" in fleiss_kappa([[1, 2], [1, 2, 2]]).reason
    assert fleiss_kappa([[1, 1], [1, 1]]).reason == NO_VARIATION
    assert fleiss_kappa([]).reason == NO_PAIR


def test_cohens_kappas_are_scikit_learns():
    # scikit-learn 1.9.1: cohen_kappa_score(FIRST, SECOND, weights=...), None, linear, quadratic
    expected = {"none": 0.4285714285714286, "linear": 0.620253164556962}
    expected["quadratic"] = 0.7887323943661971
    for weights, kappa in expected.items():
        agreement = cohen_kappa(FIRST, SECOND, weights=weights, design=Design.independent(12))
        assert agreement.value == pytest.approx(kappa)
        assert agreement.low < kappa < agreement.high
        words = ["never", "rarely", "often", "always"]
        named = cohen_kappa(
            [words[number - 1] for number in FIRST],
            [words[number - 1] for number in SECOND],
            weights=weights,
            categories=words,
        )
        assert named.value == pytest.approx(kappa)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=20))
@settings(deadline=None)
def test_kappa_is_symmetric_and_one_where_all_agree(pairs):
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    for weights in ("none", "linear", "quadratic"):
        one = cohen_kappa(first, second, weights=weights).value
        assert one == pytest.approx(cohen_kappa(second, first, weights=weights).value)
        if len(set(first)) > 1:
            assert cohen_kappa(first, first, weights=weights).value == pytest.approx(1)


def test_kappa_refuses_what_it_cannot_order():
    with pytest.raises(UsageError, match="categories in their order"):
        cohen_kappa(["a"], ["b"], weights="linear")
    with pytest.raises(UsageError, match="not categories: c"):
        cohen_kappa(["a", "c"], ["b", "a"], categories=["a", "b"])
    with pytest.raises(UsageError, match="no weights are called 'square'"):
        cohen_kappa(["a"], ["b"], weights="square")
    assert cohen_kappa(["a", "a"], ["a", "a"]).reason == NO_VARIATION


def test_each_rater_with_the_rest():
    rows = [[1, 2, 1], [2, 3, 5], [3, 5, 1], [4, None, 4], [5, 5, 2]]
    correlations = correlation_with_rest(rows)
    rest = [1.5, 4.0, 3.0, 4.0, 3.5]
    assert correlations[0].r == pytest.approx(np.corrcoef([1, 2, 3, 4, 5], rest)[0, 1])
    assert correlations[1].n == 4
    assert correlations[1].r == pytest.approx(np.corrcoef([2, 3, 5, 5], [1, 3.5, 2, 3.5])[0, 1])
    constant = correlation_with_rest([[3, 1], [3, 2], [3, 4]])
    assert constant[0].reason == "all values of x are equal"
    with pytest.raises(UsageError, match="rows of 1 to 2"):
        correlation_with_rest([[1], [1, 2]])


def test_jensen_shannon_by_hand():
    # P = (1/2, 1/2), Q = (1, 0): M = (3/4, 1/4).
    by_hand = (0.5 * math.log2(2 / 3) + 0.5 * math.log2(2) + math.log2(4 / 3)) / 2
    assert jensen_shannon({"e": 5, "ma": 5}, {"e": 0.2}).value == pytest.approx(by_hand)
    assert jensen_shannon({"e": 1}, {"ma": 3}).value == 1
    assert jensen_shannon({"e": 1, "ma": 2}, {"e": 2, "ma": 4}).value == pytest.approx(0, abs=1e-12)
    assert jensen_shannon({}, {"e": 1}).reason == "one side has no weight at all"
    with pytest.raises(UsageError, match="weight of -1"):
        jensen_shannon({"e": -1}, {"e": 1})


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9)),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9)),
)
@settings(deadline=None)
def test_jensen_shannon_is_scipys_distance_squared(first, second):
    from scipy.spatial.distance import jensenshannon

    divergence = jensen_shannon(first, second)
    if not sum(first.values()) or not sum(second.values()):
        assert divergence.value is None
        return
    p, q = ([side.get(option, 0) for option in "abcd"] for side in (first, second))
    assert divergence.value == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-9)
    assert jensen_shannon(second, first).value == pytest.approx(divergence.value)


@pytest.mark.golden
def test_agreement_on_released_ratings(shared):
    expected = json.loads((shared / "golden/connectives/stats_expected.json").read_text("utf-8"))
    for key, name in (("lau2020_none", "none"), ("lau2020_real", "real")):
        path = shared / f"data/connectives/lau2020_context-{name}-ratings.csv"
        with path.open(encoding="utf-8", newline="") as file:
            ratings = [
                [float(rating) for rating in row["full-ratings"].split(",")]
                for row in csv.DictReader(file)
            ]
        for level, alpha in expected[key]["alpha"].items():
            agreement = krippendorff_alpha(ratings, scale=level)
            assert agreement.value == pytest.approx(alpha, abs=1e-9)
            assert agreement.ratings == expected[key]["ratings"]


@pytest.mark.golden
def test_agreement_on_released_forced_choices(shared):
    expected = json.loads((shared / "golden/connectives/stats_expected.json").read_text("utf-8"))
    with (shared / "data/connectives/blimp_human_forced_choice.tsv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    failed = {
        row["hit"]
        for row in rows
        if row["is_attention_check"] == "1" and row["choice"] != row["correct_option"]
    }
    items = {}
    for row in rows:
        if row["hit"] not in failed and row["is_attention_check"] == "0" and row["choice"] != "NA":
            key = (row["paradigm"], *sorted((row["sentence_1"], row["sentence_2"])))
            items.setdefault(key, []).append(row["choice"] == row["correct_option"])
    assert len(items) == expected["blimp_human"]["items"]
    assert sum(map(len, items.values())) == expected["blimp_human"]["judgements_kept"]
    alpha = krippendorff_alpha(list(items.values()))
    assert alpha.value == pytest.approx(expected["blimp_human"]["alpha_nominal"], abs=1e-9)

"""Rates with their counts, intervals and chance levels; predictions that contradict each other."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cimento.statistics.design import FEWEST_CLUSTERS
from cimento.statistics.intervals import NOTHING_SCORED, WILSON, WILSON_CLUSTERED, wilson
from cimento.suites.contradictions import can_hold, contradictions
from cimento.suites.formula import Arithmetic, Comparison, Number, Reference
from cimento.suites.model import Meta, Prediction, Suite
from cimento.verdicts.accuracy import Rule, accuracies, accuracies_by
from cimento.verdicts.judge import judge
from tests.judging import make_suite, requests_of, word_tokens

# Contradictions


def with_predictions(*formulas, n_regions=3):
    return Suite(
        meta=Meta(name="test"),
        region_names=tuple("r" * n_regions),
        predictions=tuple(Prediction(formula) for formula in formulas),
        items=(),
    )


@pytest.mark.parametrize(
    ("formulas", "message"),
    [
        (["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%a%)"], "Predictions 0 and 1 contradict"),
        (
            ["(1;%a%) < (1;%b%)", "(2;%a%) < (2;%b%)", "(1;%a%) = (1;%b%)"],
            "Predictions 0 and 2 contradict each other: no item can pass both (but for",
        ),
        (["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%a%)"], "Prediction 1 can never hold."),
        (["(1;%a%) > 5 & (1;%a%) < 4"], "Prediction 0 can never hold."),
        (
            ["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%c%)", "(1;%c%) < (1;%a%)"],
            "The 3 predictions can never hold together.",
        ),
        (["(1;%a%) > (1;%b%) + 1", "(1;%a%) < (1;%b%) + 1"], "Predictions 0 and 1 contradict"),
        (
            ["(*;%a%) < (*;%b%)", "(1;%a%) > (1;%b%) & (2;%a%) > (2;%b%) & (3;%a%) > (3;%b%)"],
            "Predictions 0 and 1 contradict",
        ),
        (
            ["(1;%a%) < (1;%b%) | (1;%b%) < (1;%a%)", "(1;%a%) = (1;%b%)"],
            "Predictions 0 and 1 contradict",
        ),
    ],
)
def test_predictions_that_cannot_hold_together_are_named(formulas, message):
    [warning] = contradictions(with_predictions(*formulas))
    assert warning.startswith(message)


@pytest.mark.parametrize(
    "formulas",
    [
        [],
        ["(1;%a%) < (1;%b%)"],
        ["(1;%a%) < (1;%b%)", "(1;%a%) < (1;%b%)"],
        ["(1;%a%) < (1;%b%)", "(1;%b%) < (1;%c%)", "(1;%a%) < (1;%c%)"],
        ["(1;%a%) < (1;%b%)", "(2;%a%) = (2;%b%)"],
        ["(1;%a%) < (1;%b%) | (2;%a%) < (2;%b%)", "(1;%b%) < (1;%a%)"],
        ["(*;%a%) < (*;%b%)", "(1;%a%) > (1;%b%)"],
        ["&".join(f"(1;%c{i}%) < (1;%c{i + 1}%)" for i in range(20))],
    ],
)
def test_ordinary_predictions_give_no_warning(formulas):
    assert contradictions(with_predictions(*formulas)) == []


def test_what_is_too_large_to_decide_gives_no_warning():
    either = "((1;%a%) < (1;%b%) | (1;%b%) < (1;%a%))"
    suite = with_predictions(" & ".join([either] * 9), "(1;%a%) = (1;%b%)")
    assert contradictions(suite) == []


VARIABLES = [Reference(number, name) for name in "ab" for number in (1, 2)]


@st.composite
def sums(draw):
    tree = draw(st.sampled_from(VARIABLES))
    for _ in range(draw(st.integers(0, 3))):
        term = draw(st.sampled_from(VARIABLES) | st.builds(Number, st.integers(-2, 2).map(float)))
        tree = Arithmetic(draw(st.sampled_from("+-")), tree, term)
    return tree


def linear(tree):
    """Coefficients of the four variables, and the constant."""
    if isinstance(tree, Arithmetic):
        left, right = linear(tree.left), linear(tree.right)
        return left + right if tree.operator == "+" else left - right
    row = np.zeros(5)
    if isinstance(tree, Number):
        row[4] = tree.value
    else:
        row[VARIABLES.index(tree)] = 1
    return row


@given(
    st.lists(st.builds(Comparison, st.sampled_from("<>="), sums(), sums()), min_size=1, max_size=6)
)
@settings(deadline=None, max_examples=150)
def test_whether_inequalities_can_hold_is_what_linear_programming_says(comparisons):
    # Maximise a slack s <= 1 with s <= every strict difference: solvable iff the best s > 0.
    strict, equal = [], []
    for each in comparisons:
        row = linear(each.left) - linear(each.right)
        if each.operator == "=":
            equal.append(row)
        else:
            strict.append(row if each.operator == ">" else -row)
    oracle = linprog(
        c=[0, 0, 0, 0, -1],
        A_ub=[[*-row[:4], 1] for row in strict] or None,
        b_ub=[row[4] for row in strict] or None,
        A_eq=[[*row[:4], 0] for row in equal] or None,
        b_eq=[-row[4] for row in equal] or None,
        bounds=[(None, None)] * 4 + [(None, 1)],
    )
    assume(oracle.status in {0, 2})
    expected = oracle.status == 0 and -oracle.fun > 1e-7
    assert can_hold(comparisons, n_regions=2) == expected


@pytest.mark.golden
def test_golden_suites_contradict_themselves_only_where_it_is_known(shared):
    found = {}
    for path in (shared / "golden/syntaxgym/suites").glob("*/*.json"):
        source = json.loads(path.read_text(encoding="utf-8"))
        suite = with_predictions(
            *(each["formula"] for each in source["predictions"]),
            n_regions=len(source["region_meta"]),
        )
        found[f"{path.parent.name}/{path.stem}"] = contradictions(suite)
    assert len(found) == 68
    warned = {name: warnings for name, warnings in found.items() if warnings}
    assert set(warned) == {"bracket/fgd_hierarchy", "paren/fgd_hierarchy"}
    for [warning] in warned.values():
        assert warning.startswith("Predictions 0 and 1 contradict each other")


# Accuracies


def judged(surprisals, **options):
    """A suite of one-word stimuli `a` < `b`, and its verdicts."""
    texts = [{"a": f"x{k}", "b": f"y{k}"} for k in range(len(surprisals) // 2)]
    suite = make_suite(["(1;%a%) < (1;%b%)"], texts, **options)
    return suite, judge(suite, word_tokens(suite, surprisals), requests_of(suite))


def test_counts_and_rate():
    nan = math.nan
    suite, verdicts = judged([1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, nan, 1.0, 1.0, 1.000001])
    result = accuracies(suite, verdicts, seed=0, rule=Rule(near_tie_bits=1e-5))
    [first] = result.predictions
    assert result.n_items == 6
    assert result.conjunction == first
    assert (first.passed, first.failed, first.tied, first.unscored) == (3, 1, 1, 1)
    assert first.near_tied == 1
    assert first.accuracy == 3 / 5
    assert (first.low, first.high) == wilson(3 / 5, 5)
    assert first.interval_method == WILSON
    assert first.chance == 0.5
    assert first.reason is None


def test_nothing_scored_is_no_rate_but_a_reason():
    suite, verdicts = judged([math.nan, 1.0])
    [first] = accuracies(suite, verdicts, seed=0).predictions
    assert first.accuracy is first.low is first.high is first.interval_method is None
    assert first.reason == NOTHING_SCORED
    assert (first.unscored, first.chance) == (1, 0.5)


def test_a_suite_without_predictions_has_no_rates():
    suite = make_suite([], [{"a": "x"}])
    result = accuracies(suite, [], seed=0)
    assert (result.n_items, result.predictions, result.conjunction) == (1, (), None)
    assert accuracies_by(suite, [], seed=0) == {}


def test_items_of_one_cluster_share_their_evidence():
    columns = [{"template": name} for name in "aabbccddee"]
    suite, verdicts = judged([1.0, 2.0] * 10, columns=columns, cluster="template")
    [first] = accuracies(suite, verdicts, seed=0).predictions
    assert (first.low, first.high) == wilson(1.0, 5)
    assert first.interval_method == WILSON_CLUSTERED


def test_few_clusters_have_a_rate_and_no_interval_but_a_reason():
    columns = [{"template": name} for name in "aabbcc"]
    suite, verdicts = judged([1.0, 2.0] * 6, columns=columns, cluster="template")
    [first] = accuracies(suite, verdicts, seed=0).predictions
    assert (first.accuracy, first.low, first.high) == (1.0, None, None)
    assert first.reason == "3 clusters: an interval needs 5 or more"


def test_items_without_a_cluster_stand_alone():
    columns = [{"template": ""}] * 3 + [{"template": "a"}, {"template": "b"}]
    suite, verdicts = judged([1.0, 2.0] * 5, columns=columns, cluster="template")
    [first] = accuracies(suite, verdicts, seed=0).predictions
    assert first.interval_method == WILSON
    assert (first.low, first.high) == wilson(1.0, 5)


def test_rates_by_phenomenon():
    columns = [{"phenomenon": "islands"}, {"phenomenon": "agreement"}, {"phenomenon": "islands"}]
    suite, verdicts = judged([1.0, 2.0, 2.0, 1.0, 2.0, 1.0], columns=columns)
    groups = accuracies_by(suite, verdicts, seed=0)
    assert list(groups) == ["islands", "agreement"]
    assert [group.n_items for group in groups.values()] == [2, 1]
    assert [group.predictions[0].accuracy for group in groups.values()] == [0.5, 0]
    assert all(group.conjunction == group.predictions[0] for group in groups.values())
    assert accuracies_by(suite, verdicts, seed=0, column="level") == {}


def test_other_predictions_than_the_suites_have_their_own_chance():
    suite, _ = judged([1.0, 2.0])
    formulas = ["(1;%a%) < (1;%b%) + 1", "(1;%b%) < (1;%a%)"]
    tokens = word_tokens(suite, [1.0, 2.0])
    verdicts = judge(suite, tokens, requests_of(suite), predictions=formulas)
    result = accuracies(suite, verdicts, seed=0, predictions=formulas)
    assert [each.chance for each in result.predictions] == [None, 0.5]
    assert "a number in it" in result.predictions[0].chance_reason
    assert result.conjunction.chance is None
    assert [each.passed for each in result.predictions] == [1, 0]


@given(st.lists(st.sampled_from([1.0, 2.0, math.nan]), min_size=2, max_size=30))
@settings(deadline=None)
def test_every_item_is_in_one_count(values):
    surprisals = values[: len(values) // 2 * 2]
    suite, verdicts = judged(surprisals)
    [first] = accuracies(suite, verdicts, seed=0).predictions
    assert first.passed + first.failed + first.tied + first.unscored == len(suite.items)
    if first.accuracy is not None:
        scored = first.passed + first.failed + first.tied
        assert first.accuracy == float(Fraction(first.passed, scored))
        if scored < FEWEST_CLUSTERS:
            assert first.low is first.high is None
        else:
            assert first.low <= first.accuracy <= first.high

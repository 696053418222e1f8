"""Rates with their counts, intervals and chance levels; predictions that contradict each other."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cimento import Meta, Prediction, Suite
from cimento.paradigms.regions.judging import ALL
from cimento.statistics.design import FEWEST_CLUSTERS, Design
from cimento.statistics.intervals import (
    NOTHING_SCORED,
    WILSON,
    WILSON_CLUSTERED,
    Interval,
    counted_interval,
    effective_number,
    share_interval,
    wilson,
)
from cimento.suites.checks.contradictions import can_hold, contradictions
from cimento.suites.formula import Arithmetic, Comparison, Number, Reference
from tests.helpers.judging import judged, make_suite, word_tokens

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
@settings(deadline=None, max_examples=50)
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


def answered(surprisals, *, columns=(), cluster="", **options):
    """A run of one-word stimuli `a` < `b`."""
    texts = [{"a": f"x{k}", "b": f"y{k}"} for k in range(len(surprisals) // 2)]
    suite = make_suite(["(1;%a%) < (1;%b%)"], texts, columns=columns, cluster=cluster)
    return judged(suite, word_tokens(suite, surprisals), **options)


def test_counts_and_rate():
    nan = math.nan
    surprisals = [1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, nan, 1.0, 1.0, 1.000001]
    run = answered(surprisals, near_tie_bits=1e-5)
    [rate] = run.estimates()
    assert (rate.question, rate.role, rate.statistic) == (ALL, "headline", "accuracy")
    assert run.n_items == 6
    assert (rate.passed, rate.failed, rate.tied, rate.unscored) == (3, 1, 1, 1)
    assert (rate.right, rate.n, rate.near_tied) == (3, 5, 1)
    assert rate.value == 3 / 5
    assert (rate.low, rate.high) == wilson(3 / 5, 5)
    assert rate.interval_method == WILSON
    assert rate.chance == 0.5
    assert rate.reason == ""


def test_a_tie_counts_as_a_pass_where_the_options_say_so():
    [rate] = answered([1.0, 2.0, 1.0, 1.0, 2.0, 1.0], ties="pass").estimates()
    assert (rate.passed, rate.tied, rate.failed, rate.right) == (1, 1, 1, 2)
    assert rate.value == 2 / 3


def test_nothing_scored_is_no_rate_but_a_reason():
    [rate] = answered([math.nan, 1.0]).estimates()
    assert rate.value is rate.low is rate.high is rate.interval_method is None
    assert rate.reason == NOTHING_SCORED
    assert (rate.unscored, rate.chance) == (1, 0.5)


def test_a_suite_without_predictions_has_no_rates():
    suite = make_suite([], [{"a": "x"}], columns=[{"phenomenon": "islands"}])
    run = judged(suite, word_tokens(suite, 1.0))
    assert (run.n_items, run.estimates()) == (1, ())


def test_items_of_one_cluster_share_their_evidence():
    columns = [{"template": name} for name in "aabbccddee"]
    [rate] = answered([1.0, 2.0] * 10, columns=columns, cluster="template").estimates()
    assert (rate.low, rate.high) == wilson(1.0, 5)
    assert rate.interval_method == WILSON_CLUSTERED


def test_few_clusters_have_a_rate_and_no_interval_but_a_reason():
    columns = [{"template": name} for name in "aabbcc"]
    [rate] = answered([1.0, 2.0] * 6, columns=columns, cluster="template").estimates()
    assert (rate.value, rate.low, rate.high) == (1.0, None, None)
    assert rate.reason == "3 clusters: an interval needs 5 or more"


def test_items_without_a_cluster_stand_alone():
    columns = [{"template": ""}] * 3 + [{"template": "a"}, {"template": "b"}]
    [rate] = answered([1.0, 2.0] * 5, columns=columns, cluster="template").estimates()
    assert rate.interval_method == WILSON
    assert (rate.low, rate.high) == wilson(1.0, 5)


def test_rates_by_phenomenon():
    columns = [{"phenomenon": "islands"}, {"phenomenon": "agreement"}, {"phenomenon": "islands"}]
    whole, *groups = answered([1.0, 2.0, 2.0, 1.0, 2.0, 1.0], columns=columns).estimates()
    assert (whole.level, whole.n) == ("", 3)
    assert [(rate.group, rate.level) for rate in groups] == [
        ("phenomenon", "islands"),
        ("phenomenon", "agreement"),
    ]
    assert [rate.n for rate in groups] == [2, 1]
    assert [rate.value for rate in groups] == [0.5, 0]
    assert [rate.role for rate in groups] == ["main", "main"]


def test_other_predictions_than_the_suites_have_their_own_chance():
    formulas = ["(1;%a%) < (1;%b%) + 1", "(1;%b%) < (1;%a%)"]
    first, second, both = answered([1.0, 2.0], predictions=formulas).estimates()
    assert [first.chance, second.chance] == [None, 0.5]
    assert "a number in it" in first.chance_method
    assert (both.question, both.chance) == (ALL, None)
    assert [first.passed, second.passed] == [1, 0]


@given(st.lists(st.sampled_from([1.0, 2.0, math.nan]), min_size=2, max_size=30))
@settings(deadline=None)
def test_every_item_is_in_one_count(values):
    surprisals = values[: len(values) // 2 * 2]
    [rate] = answered(surprisals).estimates()
    assert rate.passed + rate.failed + rate.tied + rate.unscored == len(surprisals) // 2
    if rate.value is not None:
        scored = rate.passed + rate.failed + rate.tied
        assert rate.value == float(Fraction(rate.passed, scored))
        if scored < FEWEST_CLUSTERS:
            assert rate.low is rate.high is None
        else:
            assert rate.low <= rate.value <= rate.high


# Rates are group-bys of outcomes


def interval_of_lists(passed, labels):
    """The interval of a share from all verdicts, as docs/statistics.md has it."""
    n = len(passed)
    if not n:
        return Interval(None, None, None, NOTHING_SCORED)
    share = sum(passed) / n
    design = Design(tuple(range(n)), tuple(labels))
    method = WILSON_CLUSTERED if design.clustered else WILSON
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    count = effective_number(passed, design) if design.clustered else n
    return Interval(*wilson(share, count), method)


def of_lists(rows, clusters, *, passes):
    """What a rate says of one question, from lists of verdicts, margins and labels."""
    kinds = Counter(verdict for _, verdict, _ in rows)
    scored = [(item, verdict in passes) for item, verdict, _ in rows if verdict != "unscored"]
    held = [right for _, right in scored]
    interval = interval_of_lists(held, [clusters[item] for item, _ in scored])
    return (
        *(kinds[kind] for kind in ("pass", "fail", "tie", "unscored")),
        sum(kind in {"pass", "fail"} and abs(by) < 1e-5 for _, kind, by in rows if by is not None),
        sum(held) / len(scored) if scored else None,
        interval.low,
        interval.high,
        interval.method,
        interval.reason or "",
    )


LABELS = st.sampled_from(("", "u", "v", "w"))


@settings(deadline=None, max_examples=50)
@given(
    surprisals=st.lists(
        st.tuples(*[st.sampled_from((1.0, 2.0, 2.000001, math.nan))] * 3), min_size=1, max_size=14
    ),
    cluster=st.sampled_from(("", "template")),
    ties=st.sampled_from(("tie", "pass")),
    data=st.data(),
)
def test_rates_are_those_of_lists_of_outcomes(surprisals, cluster, ties, data):
    columns = [
        {"template": data.draw(LABELS), "phenomenon": data.draw(LABELS)}
        if data.draw(st.integers(0, 5))
        else {"level": "1"}
        for _ in surprisals
    ]
    formulas = ("(1;%a%) < (1;%b%)", "(1;%a%) > (1;%c%)")
    texts = [{name: f"{name}{k}" for name in "abc"} for k in range(len(surprisals))]
    suite = make_suite(formulas, texts, columns=columns, cluster=cluster)
    tokens = word_tokens(suite, [each for three in surprisals for each in three])
    run = judged(suite, tokens, ties=ties, near_tie_bits=1e-5)

    clusters = suite.clusters()
    phenomena = {item.id: item.column("phenomenon") or "" for item in suite.items}
    names = list(dict.fromkeys(phenomena.values())) if any(phenomena.values()) else []
    rows = list(run.outcomes().select("item", "question", "verdict", "value").iter_rows())
    assert len(rows) == 3 * len(surprisals)
    expected = {
        (group, level, question): of_lists(
            [
                (item, verdict, margin)
                for item, asked, verdict, margin in rows
                if asked == question and (not group or phenomena[item] == level)
            ],
            clusters,
            passes={"pass", "tie"} if ties == "pass" else {"pass"},
        )
        for group, level in [("", ""), *(("phenomenon", name) for name in names)]
        for question in ("prediction 0", "prediction 1", ALL)
    }
    assert {
        (rate.group, rate.level, rate.question): (
            *(rate.passed, rate.failed, rate.tied, rate.unscored, rate.near_tied, rate.value),
            *(rate.low, rate.high, rate.interval_method, rate.reason),
        )
        for rate in run.estimates()
    } == expected
    assert [(rate.group, rate.level, rate.question) for rate in run.estimates()] == list(expected)


@settings(deadline=None, max_examples=60)
@given(
    drawn=st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=60),
    level=st.sampled_from((0.5, 0.95)),
)
def test_counted_clusters_have_the_interval_of_their_verdicts(drawn, level):
    passed, labels = [each for each, _ in drawn], [label for _, label in drawn]
    sizes = Counter(labels)
    held = Counter(label for each, label in drawn if each)
    counted = Counter((held[label], size) for label, size in sizes.items())
    design = Design(tuple(range(len(drawn))), tuple(labels))
    assert share_interval(passed, design, level=level) == counted_interval(counted, level=level)
    assert share_interval(passed, design) == interval_of_lists(passed, labels)

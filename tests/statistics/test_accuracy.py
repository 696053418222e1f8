"""Rates with their counts, intervals and chance levels."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.records.outcomes import Estimate, Outcome, design_of, outcomes_table, rate
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
from tests.helpers.judging import judged, make_suite, word_tokens

ALL = "all predictions"


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
    assert (rate.question, rate.role, rate.statistic) == ("prediction 0", "headline", "accuracy")
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


@pytest.mark.slow
@settings(deadline=None)
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
    tokens = word_tokens(suite, [bits for three in surprisals for bits in three])
    run = judged(suite, tokens, ties=ties, near_tie_bits=1e-5)

    clusters = suite.clusters()
    phenomena = {item.id: item.column("phenomenon") or "" for item in suite.items}
    names = list(dict.fromkeys(phenomena.values())) if any(phenomena.values()) else []
    rows = list(run.outcomes().select("item", "question", "verdict", "value").iter_rows())
    assert len(rows) == 3 * len(surprisals)
    # An item with an unscored part has no place in the rate of the conjunction.
    without = {item for item, _, verdict, _ in rows if verdict == "unscored"}
    rows = [
        (item, asked, "unscored" if asked == ALL and item in without else verdict, margin)
        for item, asked, verdict, margin in rows
    ]
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


@settings(deadline=None)
@given(
    drawn=st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=60),
    level=st.sampled_from((0.5, 0.95)),
)
def test_counted_clusters_have_the_interval_of_their_verdicts(drawn, level):
    passed, labels = [right for right, _ in drawn], [label for _, label in drawn]
    sizes = Counter(labels)
    held = Counter(label for right, label in drawn if right)
    counted = Counter((held[label], size) for label, size in sizes.items())
    design = Design(tuple(range(len(drawn))), tuple(labels))
    assert share_interval(passed, design, level=level) == counted_interval(counted, level=level)
    assert share_interval(passed, design) == interval_of_lists(passed, labels)


JUDGED = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from(["", "x", "y", "3"]),
        st.sampled_from([True, False, None]),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(JUDGED)
def test_a_rate_has_the_interval_of_its_verdicts_one_by_one(judged_items):
    names = {True: "pass", False: "fail", None: "unscored"}
    outcomes = [
        Outcome(item=str(item), question="q", verdict=names[right], right=right, cluster=cluster)
        for item, cluster, right in judged_items
    ]
    scored = [outcome for outcome in outcomes if outcome.right is not None]
    rights = [bool(outcome.right) for outcome in scored]
    design = design_of(
        [outcome.item for outcome in scored], [outcome.cluster or None for outcome in scored]
    )
    expected = share_interval(rights, design)
    estimate = rate(outcomes_table("s", outcomes), Estimate(suite="s", model="m", question="q"))
    assert (estimate.low, estimate.high, estimate.interval_method) == (
        expected.low,
        expected.high,
        expected.method,
    )
    assert estimate.reason == (expected.reason or "")
    assert (estimate.n, estimate.right, estimate.clustered) == (
        len(rights),
        sum(rights),
        design.clustered,
    )
    assert estimate.value == (sum(rights) / len(rights) if rights else None)
    assert estimate.unscored == len(outcomes) - len(scored)

"""Accuracies are counted in one pass, and say to the last bit what lists of verdicts would."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.statistics.design import Design
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
from cimento.suites.model import Suite
from cimento.verdicts.accuracy import Rule, accuracies, accuracies_by, clusters_of
from cimento.verdicts.compact import Verdict, Verdicts
from tests.judging import make_suite

FORMULAS = ("(1;%a%) < (1;%b%)", "(1;%a%) > (1;%b%)")
KINDS = ("pass", "fail", "tie", "unscored")


def interval_of_lists(passed: Sequence[bool], clusters: Sequence[Hashable]) -> Interval:
    """The interval of a share from all verdicts, as docs/statistics.md has it."""
    n = len(passed)
    if not n:
        return Interval(None, None, None, NOTHING_SCORED)
    share = sum(passed) / n
    design = Design(tuple(range(n)), tuple(clusters))
    method = WILSON_CLUSTERED if design.clustered else WILSON
    if design.shortage:
        return Interval(None, None, method, design.shortage)
    count = effective_number(passed, design) if design.clustered else n
    return Interval(*wilson(share, count), method)


def of_lists(
    verdicts: Sequence[Verdict], clusters: Mapping[str, Hashable], *, passes: set[str]
) -> dict[str, object]:
    """What an accuracy says of one prediction, from lists of verdicts and labels."""
    kinds = Counter(each.verdict for each in verdicts)
    scored = [each for each in verdicts if each.verdict != "unscored"]
    held = [each.verdict in passes for each in scored]
    interval = interval_of_lists(held, [clusters[each.item] for each in scored])
    return {
        "passed": kinds["pass"],
        "failed": kinds["fail"],
        "tied": kinds["tie"],
        "unscored": kinds["unscored"],
        "near_tied": sum(each.is_near_tie(1e-5) for each in verdicts),
        "accuracy": sum(held) / len(scored) if scored else None,
        "low": interval.low,
        "high": interval.high,
        "interval_method": interval.method,
        "reason": interval.reason,
    }


def without_chance(accuracy: object) -> dict[str, object]:
    fields = dataclasses.asdict(accuracy)
    others = ("chance", "length")
    return {name: value for name, value in fields.items() if not name.startswith(others)}


@st.composite
def judged(draw: st.DrawFn) -> tuple[Suite, list[Verdict]]:
    """A suite and verdicts on its items: mostly in order, sometimes in none, sometimes twice."""
    count = draw(st.integers(0, 12))
    label = st.sampled_from(("", "u", "v", "w"))
    columns = [
        {"template": draw(label), "phenomenon": draw(label)}
        if draw(st.integers(0, 5))
        else {"level": "1"}
        for _ in range(count)
    ]
    cluster = draw(st.sampled_from(("", "template")))
    texts = [{"a": "x", "b": "y"}] * count
    suite = make_suite(FORMULAS, texts, columns=columns, cluster=cluster)
    if not count:
        return dataclasses.replace(suite, predictions=()), []
    if not draw(st.integers(0, 4)):
        # Two items of one id.
        suite = dataclasses.replace(suite, items=(*suite.items, suite.items[0], suite.items[-1]))
    margins = st.none() | st.sampled_from((0.0, 1e-6, -1e-6, 2.0, math.nan))
    verdicts = [
        Verdict("test", item.id, None, number, draw(st.sampled_from(KINDS)), draw(margins), None)
        for item in suite.items
        for number in (0, 1, None)
    ]
    some = draw(st.sampled_from(("all", "some", "shuffled", "twice")))
    if some == "some":
        verdicts = [each for each in verdicts if draw(st.booleans())]
    elif some == "shuffled":
        verdicts = draw(st.permutations(verdicts))
    elif some == "twice":
        verdicts = [*verdicts, *verdicts[: draw(st.integers(0, 5))]]
    return suite, verdicts


@settings(deadline=None, max_examples=300)
@given(
    case=judged(),
    packed=st.booleans(),
    ties=st.sampled_from(("tie", "pass")),
)
def test_accuracies_are_those_of_lists_whatever_the_order_of_verdicts(case, packed, ties):
    suite, verdicts = case
    passes = {"pass", "tie"} if ties == "pass" else {"pass"}
    clusters = clusters_of(suite)
    names = {item.id: item.column("phenomenon") or "" for item in suite.items}
    numbers = (*range(len(suite.predictions)), None) if suite.predictions else ()
    given_verdicts = Verdicts(verdicts) if packed else verdicts

    rule = Rule(ties=ties, near_tie_bits=1e-5)
    found = accuracies(suite, given_verdicts, seed=0, rule=rule)
    assert found.n_items == len(suite.items)
    assert [without_chance(each) for each in (*found.predictions, found.conjunction) if each] == [
        of_lists([v for v in verdicts if v.prediction == n], clusters, passes=passes)
        for n in numbers
    ]

    groups = accuracies_by(suite, given_verdicts, seed=0, rule=rule)
    assert list(groups) == (list(dict.fromkeys(names.values())) if any(names.values()) else [])
    for name, group in groups.items():
        assert group.n_items == list(names.values()).count(name)
        assert [without_chance(x) for x in (*group.predictions, group.conjunction) if x] == [
            of_lists(
                [v for v in verdicts if v.prediction == n and names[v.item] == name],
                clusters,
                passes=passes,
            )
            for n in numbers
        ]


@settings(deadline=None, max_examples=200)
@given(
    drawn=st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=60),
    level=st.sampled_from((0.5, 0.95)),
)
def test_counted_clusters_have_the_interval_of_their_verdicts(drawn, level):
    passed, clusters = [each for each, _ in drawn], [label for _, label in drawn]
    sizes = Counter(clusters)
    held = Counter(label for each, label in drawn if each)
    counted = Counter((held[label], size) for label, size in sizes.items())
    design = Design(tuple(range(len(drawn))), tuple(clusters))
    assert share_interval(passed, design, level=level) == counted_interval(counted, level=level)
    assert share_interval(passed, design) == interval_of_lists(passed, clusters)


def test_a_verdict_on_no_item_of_the_suite_is_refused():
    suite = make_suite(FORMULAS, [{"a": "x", "b": "y"}])
    stranger = Verdict("test", "9", None, 0, "pass", 1.0, None)
    with pytest.raises(KeyError, match="9"):
        accuracies(suite, [stranger], seed=0)

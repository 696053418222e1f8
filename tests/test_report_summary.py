"""The summary: its JSON, its schema, and what it takes over from what was judged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import TableError
from cimento.report.build import flatten
from cimento.report.summary import (
    Missing,
    Phenomenon,
    Result,
    RunSummary,
    Summary,
    by_suite,
    from_json,
    json_schema,
    to_json,
)
from cimento.verdicts.accuracy import LengthOnly
from tests.judging import make_suite
from tests.reporting import AGREEMENT, every_result, make_summary, named, summary_of, unknown

SCHEMA = Path(__file__).parents[1] / "docs" / "schemas" / "summary.schema.json"

rates = st.none() | st.floats(0, 1)
counts = st.integers(0, 10**6)
results = st.builds(
    Result,
    index=st.none() | counts,
    formula=st.none() | st.text(),
    comment=st.text(),
    passed=counts,
    failed=counts,
    tied=counts,
    near_tied=counts,
    unscored=counts,
    accuracy=rates,
    low=rates,
    high=rates,
    interval_method=st.none() | st.text(),
    chance=rates,
    chance_method=st.none() | st.text(),
    length=st.none()
    | st.builds(LengthOnly, passed=counts, failed=counts, tied=counts, accuracy=rates),
    null_reasons=st.dictionaries(st.text(), st.text(), max_size=2),
)
few = st.lists(results, max_size=2).map(tuple)
phenomena = st.builds(
    Phenomenon, name=st.text(), n_items=counts, predictions=few, conjunction=st.none() | results
)
runs = st.builds(
    RunSummary,
    suite=st.text(),
    model=st.text(),
    model_kind=st.text(),
    language=st.text(),
    n_items=counts,
    folder=st.none() | st.text(),
    metric=st.text(),
    predictions=few,
    conjunction=st.none() | results,
    phenomena=st.lists(phenomena, max_size=2).map(tuple),
    warnings=st.lists(st.text(), max_size=2).map(tuple),
)
lost = st.builds(Missing, suite=st.text(), model=st.text(), message=st.text())
summaries = st.builds(
    Summary,
    cimento=st.text(),
    runs=st.lists(runs, max_size=2).map(tuple),
    missing=st.lists(lost, max_size=2).map(tuple),
)


@settings(deadline=None, max_examples=60)
@given(summaries)
def test_json_reads_back_as_it_was_written(summary):
    assert from_json(to_json(summary)) == summary


def test_the_stored_schema_is_the_one_of_the_records():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema(), (
        "write json.dumps(cimento.report.summary.json_schema(), indent=2) to the stored file"
    )


def test_the_schema_describes_every_field_of_a_result_that_is_not_plain():
    definitions = json_schema()["$defs"]
    assert isinstance(definitions, dict)
    for name in ("Result", "RunSummary"):
        undescribed = [
            field
            for field, schema in definitions[name]["properties"].items()
            if "description" not in schema
        ]
        assert undescribed == []


def test_the_object_begins_with_its_version_and_has_the_promised_fields():
    content = json.loads(to_json(summary_of(make_summary())))
    assert list(content) == ["schema_version", "cimento", "runs", "missing"]
    assert content["schema_version"] == 1
    [run] = content["runs"]
    promised = {"index", "formula", "passed", "failed", "tied", "unscored"}
    promised |= {"accuracy", "low", "high", "chance"}
    assert promised <= set(run["predictions"][0])
    assert set(run["predictions"][0]) == set(run["conjunction"])
    assert {"suite", "model", "n_items", "predictions", "conjunction"} <= set(run)
    assert run["conjunction"]["index"] is None
    assert run["conjunction"]["formula"] is None


def test_counts_add_up_to_the_items_in_every_group():
    run = make_summary()
    assert [each.name for each in run.phenomena] == ["tame", "wild"]
    assert sum(each.n_items for each in run.phenomena) == run.n_items == 8
    for result in run.predictions:
        parts = [each.predictions[result.index] for each in run.phenomena]
        for count in ("passed", "failed", "tied", "near_tied", "unscored"):
            assert getattr(result, count) == sum(getattr(part, count) for part in parts)
        assert result.n_judged + result.unscored == run.n_items


def test_what_is_null_has_a_reason_and_what_is_not_has_none():
    equal = dataclasses.replace(
        named(AGREEMENT, "equal"),
        predictions=make_suite(["(1;%match%) = (1;%mismatch%)"], []).predictions,
    )
    seen = []
    for run in (make_summary(), make_summary(score=unknown), make_summary(equal)):
        for result in every_result(run):
            fields = (
                *("accuracy", "low", "high", "interval_method"),
                *("chance", "chance_method", "length"),
            )
            nulls = {field for field in fields if getattr(result, field) is None}
            assert set(result.null_reasons) == nulls
            assert all(result.null_reasons.values())
            seen.append(frozenset(nulls))
    rate, ends = {"accuracy", "low", "high", "interval_method"}, {"low", "high"}
    scale = {"chance", "chance_method", "length"}
    # Phenomena of fewer than five items have a rate and no interval.
    assert set(seen) == set(map(frozenset, (set(), ends, rate, scale, scale | ends)))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "not a summary"),
        ("[]", "not a summary"),
        ('{"cimento": "1", "runs": [{"suite": "a"}]}', "runs.0.model"),
        ('{"cimento": "1", "runs": [], "schema_version": 2}', "schema version 2"),
    ],
)
def test_what_is_not_a_summary_is_refused_in_one_message(text, seen):
    with pytest.raises(TableError, match=r"^x\.json: ") as error:
        from_json(text, where="x.json")
    assert seen in str(error.value)


def test_runs_are_grouped_by_suite_in_order_of_appearance():
    first, second = named(AGREEMENT, "b"), named(AGREEMENT, "a")
    made = [
        make_summary(first, model="x"),
        make_summary(second, model="x"),
        make_summary(first, model="y"),
    ]
    groups = by_suite(made)
    assert {name: [run.model for run in group] for name, group in groups.items()} == {
        "b": ["x", "y"],
        "a": ["x"],
    }
    assert list(groups) == ["b", "a"]


def test_a_manifest_becomes_lines_and_loses_nothing_but_the_empty():
    manifest = {
        "model": {"name": "m", "window": None, "details": {"layers": 4}},
        "with_bos": True,
        "warnings": ["a", "b"],
        "seed": 0,
        "note": "",
    }
    assert flatten(manifest) == [
        ("model name", "m"),
        ("model details layers", "4"),
        ("with bos", "yes"),
        ("warnings", "a\nb"),
        ("seed", "0"),
    ]

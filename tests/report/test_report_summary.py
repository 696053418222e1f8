"""The summary: its JSON, its schema, and what it takes over from the outcomes and estimates."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Estimate, Outcome, RunSummary, Summary, TableError, evaluate, open_run
from cimento.records.summary import Missing, json_schema
from cimento.report import manifest_lines
from cimento.report.formatting import chances, explanation
from cimento.testing import FakeScorer

SCHEMA = resources.files("cimento") / "data" / "schemas" / "summary.schema.json"

estimates = st.from_type(Estimate)
groups = st.dictionaries(st.text(), st.text(), max_size=2)
outcomes = st.builds(Outcome, groups=groups)
plain = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text()
runs = st.builds(
    RunSummary,
    options=st.dictionaries(st.text(), plain | st.lists(plain, max_size=2), max_size=3),
    estimates=st.lists(estimates, max_size=2).map(tuple),
    warnings=st.lists(st.text(), max_size=2).map(tuple),
    outcomes=st.lists(outcomes, max_size=2).map(tuple),
)
summaries = st.builds(
    Summary,
    cimento=st.text(),
    runs=st.lists(runs, max_size=2).map(tuple),
    missing=st.lists(st.from_type(Missing), max_size=2).map(tuple),
    schema_version=st.just(3),
)


def finite(value):
    """Whether all floats in plain values can be in JSON."""
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(finite, value))
    return not isinstance(value, float) or abs(value) < float("inf")


@settings(deadline=None)
@given(summaries.filter(lambda summary: finite(asdict(summary))))
def test_json_reads_back_as_it_was_written(summary):
    assert Summary.from_json(summary.to_json()) == summary


def test_the_stored_schema_is_the_one_of_the_records():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema(), (
        "write json.dumps(cimento.records.summary.json_schema(), indent=2) to the stored file"
    )


def test_the_json_of_a_summary_is_the_text_of_its_file(tmp_path):
    run = evaluate("it-subject-verb", "demo-causal", limit=5, output=tmp_path)
    text = (run.folder / "summary.json").read_text(encoding="utf-8")
    assert run.summary().to_json() == text
    assert Summary.from_json(text).runs == (run.summary(),)
    assert Summary.from_json(text).to_json() == text


@pytest.mark.parametrize("name", ["Estimate", "Outcome", "RunSummary"])
def test_the_schema_describes_every_field(name):
    properties = json_schema()["$defs"][name]["properties"]
    assert [field for field, schema in properties.items() if "description" not in schema] == []


@pytest.fixture
def run(probing, tmp_path):
    """A stored run of a paradigm that a package brings: short verbs win."""
    short = FakeScorer(lambda words, index: -float(len(words[index])), name="short")
    return evaluate(probing, short, output=tmp_path / "runs")


def test_the_object_begins_with_its_version_and_has_the_promised_fields(run):
    content = json.loads(run.summary(with_outcomes=True).to_json())
    assert list(content) == ["schema_version", "cimento", "runs", "missing", "means"]
    assert content["schema_version"] == 3
    [said] = content["runs"]
    assert (said["suite"], said["paradigm"], said["n_items"]) == ("it-probe", "probing", 7)
    [estimate] = said["estimates"]
    assert (estimate["question"], estimate["right"], estimate["n"]) == ("agreement", 4, 7)
    assert [outcome["verdict"] for outcome in said["outcomes"]].count("pass") == 4


def test_the_stored_summary_says_what_the_run_says_without_outcomes(run):
    stored = Summary.from_json((run.folder / "summary.json").read_text(encoding="utf-8"))
    assert stored == Summary(runs=(open_run(run.folder).summary(),))
    assert stored.runs[0].outcomes == ()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "not a summary"),
        ("[]", "not a summary"),
        ('{"cimento": "1", "runs": [{"suite": "a"}]}', "runs.0.paradigm"),
        ('{"cimento": "1", "runs": [], "schema_version": 1}', "schema version 1"),
        ('{"cimento": "1", "runs": [], "schema_version": 4}', "schema version 4"),
    ],
)
def test_what_is_not_a_summary_is_refused_in_one_message(text, seen):
    with pytest.raises(TableError, match=r"^x\.json (is|has) ") as error:
        Summary.from_json(text, where="x.json")
    assert seen in str(error.value)


def test_a_manifest_becomes_lines_and_loses_nothing_but_the_empty():
    manifest = {
        "model": {"name": "m", "window": None, "details": {"layers": 4}},
        "with_bos": True,
        "warnings": ["a", "b"],
        "seed": 0,
        "note": "",
    }
    assert manifest_lines(manifest) == [
        ("model name", "m"),
        ("model details layers", "4"),
        ("with bos", "yes"),
        ("warnings", "a\nb"),
        ("seed", "0"),
    ]


def _at_chance(suite, chance, method, question=""):
    return Estimate(suite=suite, model="m", question=question, chance=chance, chance_method=method)


def test_chance_levels_of_several_methods_stand_with_their_suites():
    lot, equal, free = (
        "answers drawn at random",
        "all options equally likely",
        "any word may be a candidate",
    )
    stories = [_at_chance("stories", level, lot) for level in (0.5, 0.1, 0.5)]
    cloze = [_at_chance("cloze", 0.25, equal), _at_chance("templates", 0.25, equal)]
    drawn = _at_chance("stories", 0.207, "simulated (64 draws, seed 0)", "all predictions")

    assert chances([*stories, *cloze]) == f"Chance: {equal}; stories: {lot}."
    assert chances([*stories, drawn]) == (
        f"Chance: {lot}; all predictions: simulated (64 draws, seed 0)."
    )
    assert chances([*stories, drawn, *cloze]).endswith(
        "all predictions of stories: simulated (64 draws, seed 0)."
    )
    assert chances(cloze) == f"Chance: {equal}."
    assert chances([_at_chance("open", None, free)]) == f"Chance: none ({free})."
    assert chances([*cloze, _at_chance("open", None, free)]) == (
        f"Chance: {equal}; open: none ({free})."
    )
    assert not chances([_at_chance("old", None, None)])


def test_an_explanation_says_how_ties_count():
    assert "(both sides exactly equal) count in n but never as passes." in explanation()
    assert "count in n, and as passes where a note says so." in explanation(ties_pass=True)

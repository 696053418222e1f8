"""The names of predictions: one for the tables, the reports and the options of every command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento.cli.main import invoke
from cimento.compare import compare_before_after
from cimento.errors import UsageError
from cimento.kinds.registry import load_suite, save_suite
from cimento.paradigms.regions.sections import region_report
from cimento.records.summary import Summary
from cimento.report.terminal import terminal_item, terminal_table
from cimento.suites import Prediction
from cimento.suites.formats.syntaxgym import read_syntaxgym
from cimento.suites.formats.writing import convert
from cimento.suites.load import open_suite
from cimento.suites.naming import find_prediction, named

TOML = """regions = ["subject", "verb"]
[meta]
name = "named"
language = "it"
[[predictions]]
formula = "(2;%match%) < (2;%mismatch%)"
name = "number"
[[predictions]]
formula = "(*;%match%) < (*;%mismatch%)"
"""
ITEMS = """item\tcondition\ttext
1\tmatch\tIl cane | dorme.
1\tmismatch\tIl cane | dormono.
2\tmatch\tI cani | dormono.
2\tmismatch\tI cani | dorme.
"""


def written(place: Path, toml: str = TOML) -> Path:
    place.mkdir()
    (place / "suite.toml").write_text(toml, encoding="utf-8")
    (place / "items.tsv").write_text(ITEMS, encoding="utf-8")
    return place


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "named")


def names(suite):
    return [prediction.name for prediction in suite.predictions]


def questions(run):
    return run.outcomes()["question"].unique(maintain_order=True).to_list()


def test_names_are_kept_by_every_form_that_has_room_for_them(folder, tmp_path):
    loaded = load_suite(folder)
    assert names(loaded.suite) == ["number", ""]
    for name in ("copy", "copy.xlsx"):
        assert load_suite(save_suite(loaded, tmp_path / name)).suite == loaded.suite
    gym = convert(open_suite(folder).suite, "syntaxgym", tmp_path / "named.json")
    assert names(read_syntaxgym(gym).suite) == ["number", ""]


def test_people_and_tables_have_the_same_names(folder):
    run = cimento.evaluate(folder, "demo-causal")
    asked = ["number", "prediction 1", "all predictions"]
    assert questions(run) == [estimate.question for estimate in run.estimates()] == asked
    assert run.outcomes().filter(pl.col("question") == "number").height == 2
    summary = run.summary()
    table = terminal_table(Summary(runs=(summary,)))
    assert "number: (2;%match%) < (2;%mismatch%)" in table
    assert "prediction 1: (*;%match%) < (*;%mismatch%)" in table
    assert "all predictions " in table
    report = region_report(run)
    assert [claim.name for claim in report.claims] == asked[:2]
    assert [label for label, _ in report.rates[0].lines] == asked
    item = terminal_item(report.items[0], report)
    assert all(question in item for question in asked)
    text = summary.to_json()
    assert [e["question"] for e in json.loads(text)["runs"][0]["estimates"]] == asked
    assert Summary.from_json(text).runs[0] == summary


def test_a_prediction_alone_is_called_by_its_name_too(folder):
    run = cimento.evaluate(folder, "demo-causal")
    for text, name in (("0", "number"), ("number", "number"), ("prediction 1", "prediction 1")):
        alone = run.judge(predictions=text)
        [estimate] = alone.estimates()
        assert (questions(alone), estimate.question, estimate.role) == ([name], name, "headline")
        assert f" {name} " in terminal_table(Summary(runs=(alone.summary(),)))


def test_a_stored_run_is_shown_with_the_names(folder, tmp_path, capsys):
    command = ["run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    for _ in range(2):
        assert invoke(command) == 0
        assert "number: (2;%match%) < (2;%mismatch%)" in capsys.readouterr().out


def test_a_prediction_is_chosen_by_name_number_or_formula(folder):
    by_name = cimento.evaluate(folder, "demo-causal", predictions=("number",))
    for text in ("0", "prediction 0", " number ", "(2;%match%) < (2;%mismatch%)"):
        assert by_name.judge(predictions=(text,)).estimates() == by_name.estimates()
    # A formula of one's own is called by the number after those of the suite.
    assert questions(by_name.judge(predictions=("(2;%match%) > (2;%mismatch%)",))) == [
        "prediction 2"
    ]
    assert questions(by_name.judge(predictions=("0", "number"))) == ["number"]
    with pytest.raises(UsageError, match="Did you mean 'number'"):
        by_name.judge(predictions=("nummber",)).outcomes()
    with pytest.raises(UsageError, match="It has 2, counted from 0"):
        by_name.judge(predictions=("2",)).outcomes()


def test_predictions_with_names_that_would_be_mistaken_are_called_by_their_numbers():
    given = ["same", "same", "all predictions", "prediction 0", " own ", ""]
    predictions = [Prediction(f"(1;%a%) > {n}", name=name) for n, name in enumerate(given)]
    assert [prediction.name for prediction in named(predictions)] == [
        "prediction 0", "prediction 1", "prediction 2", "prediction 3", "own", "prediction 5"
    ]  # fmt: skip
    assert find_prediction("prediction 0", predictions).formula == "(1;%a%) > 0"
    assert find_prediction("5", predictions).formula == "(1;%a%) > 5"
    assert find_prediction("same", predictions) is None


def test_a_run_is_compared_by_question_with_one_of_the_suite_before_it_was_edited(tmp_path):
    before = written(tmp_path / "before", TOML.replace('name = "number"\n', ""))
    after = written(tmp_path / "after")
    runs = [cimento.evaluate(suite, "demo-masked") for suite in (before, after)]
    assert questions(runs[0]) == ["prediction 0", "prediction 1", "all predictions"]
    compared = compare_before_after(*runs)
    assert [rate.question for rate in compared.rates] == [
        "number", "prediction 1", "all predictions"
    ]  # fmt: skip
    assert [rate.n for rate in compared.rates] == [2, 2, 2]
    assert len(compared.headlines) == 1


def test_a_question_of_a_pilot_may_be_a_name_or_a_number(tmp_path, capsys):
    run = cimento.evaluate(
        "it-subject-verb", "demo-masked", limit=24, predictions=("person",), output=tmp_path
    )
    plans = []
    for question in ("", "person", "1", "prediction 1"):
        command = ["analyze", "power", str(run.folder), "--json"]
        assert invoke([*command, *(["--question", question] if question else [])]) == 0
        plans.append(json.loads(capsys.readouterr().out))
    assert plans[0]["title"].startswith("it-subject-verb, person")
    assert all(plan == plans[0] for plan in plans)
    assert invoke([*command, "--question", "number"]) == 2
    assert "Known: person." in capsys.readouterr().err

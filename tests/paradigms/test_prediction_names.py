"""Predictions with names: read, written, shown, chosen by; the tables keep their ids."""

from __future__ import annotations

import json

import pytest

from cimento.api import evaluate
from cimento.cli.main import invoke
from cimento.errors import UsageError
from cimento.paradigms.regions.sections import region_report
from cimento.paradigms.registry import load_suite, save_suite
from cimento.report.terminal import terminal_item, terminal_table
from cimento.runs.summary import Summary, from_json, to_json
from cimento.suites.formats import convert
from cimento.suites.formats.syntaxgym import read_syntaxgym
from cimento.suites.load import open_suite

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


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "named"
    place.mkdir()
    (place / "suite.toml").write_text(TOML, encoding="utf-8")
    (place / "items.tsv").write_text(ITEMS, encoding="utf-8")
    return place


def names(suite):
    return [prediction.name for prediction in suite.predictions]


def test_names_are_kept_by_every_form_that_has_room_for_them(folder, tmp_path):
    loaded = load_suite(folder)
    assert names(loaded.suite) == ["number", ""]
    for name in ("copy", "copy.xlsx"):
        assert load_suite(save_suite(loaded, tmp_path / name)).suite == loaded.suite
    gym = convert(open_suite(folder).suite, "syntaxgym", tmp_path / "named.json")
    assert names(read_syntaxgym(gym).suite) == ["number", ""]


def test_people_see_names_and_tables_keep_ids(folder):
    run = evaluate(folder, "demo-causal")
    assert set(run.outcomes()["question"]) == {"prediction 0", "prediction 1", "all predictions"}
    summary = run.summary()
    table = terminal_table(Summary(runs=(summary,)))
    assert "number: (2;%match%) < (2;%mismatch%)" in table
    assert " 1: (*;%match%) < (*;%mismatch%)" in table
    report = region_report(run)
    assert [claim.name for claim in report.claims] == ["number", ""]
    assert next(label for label, _ in report.rates[0].lines) == "number"
    assert "number" in terminal_item(report.items[0], report)
    text = to_json(Summary(runs=(summary,)))
    assert json.loads(text)["runs"][0]["names"] == {"prediction 0": "number"}
    assert from_json(text).runs[0] == summary


def test_a_stored_run_is_shown_with_the_names(folder, tmp_path, capsys):
    command = ["run", str(folder), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    for _ in range(2):
        assert invoke(command) == 0
        assert "number: (2;%match%) < (2;%mismatch%)" in capsys.readouterr().out


def test_a_prediction_is_chosen_by_its_name(folder):
    by_name = evaluate(folder, "demo-causal", predictions=("number",))
    by_number = evaluate(folder, "demo-causal", predictions=("0",))
    assert by_name.estimates() == by_number.estimates()
    assert " number " in terminal_table(Summary(runs=(by_name.summary(),)))
    with pytest.raises(UsageError, match="Did you mean 'number'"):
        evaluate(folder, "demo-causal", predictions=("nummber",))

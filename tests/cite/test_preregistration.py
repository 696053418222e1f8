"""Preregistration sheets: what they fix, and what runs do otherwise."""

from __future__ import annotations

import dataclasses
import tomllib

import pytest

from cimento import evaluate, open_run
from cimento.cite.preregistration import (
    deviations,
    preregistration_sheet,
    read_preregistration,
)
from cimento.cli.main import invoke
from cimento.errors import InputError


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    output = tmp_path_factory.mktemp("pilot")
    return evaluate("it-subject-verb", "demo-causal", limit=3, output=output)


@pytest.fixture
def sheet(pilot, tmp_path):
    path = tmp_path / "sheet.toml"
    path.write_text(preregistration_sheet([pilot]), encoding="utf-8")
    return path


def test_a_sheet_fixes_content_predictions_and_options(pilot, sheet):
    plain = tomllib.loads(sheet.read_text("utf-8"))
    assert plain["suites"][0]["sha256"] == pilot.manifest["suite"]["content"]
    assert plain["suites"][0]["contrasts"] == pilot.manifest["inputs"]["predictions"]
    assert {"exclusions", "analysis", "smallest_effect"} <= plain.keys()
    assert read_preregistration(sheet).models == (pilot.model,)


def test_a_whole_later_run_keeps_to_its_sheet(sheet, tmp_path):
    run = evaluate("it-subject-verb", "demo-causal", output=tmp_path / "runs")
    assert deviations(read_preregistration(sheet), [run]) == []


def test_what_a_run_does_otherwise_is_told(pilot, sheet):
    planned = read_preregistration(sheet)
    [line] = [one for one in deviations(planned, [pilot]) if "items" in one]
    assert line.endswith("only the first 3 items were run.")
    early = dataclasses.replace(
        pilot, manifest={**pilot.manifest, "created": "2000-01-01T00:00:00+00:00"}
    )
    deviated = " ".join(deviations(planned, [early.judge(metric="mean")]))
    assert "older than the sheet" in deviated
    assert "the option metric is 'mean', and None in the sheet" in deviated
    assert "it-subject-verb was not run on" in " ".join(deviations(planned, []))


def test_other_models_suites_and_contents_are_told(pilot, sheet):
    planned = read_preregistration(sheet)
    other = dataclasses.replace(planned, models=("gpt2",))
    deviated = " ".join(deviations(other, [pilot]))
    assert "the model is not in the sheet" in deviated
    assert "was not run on gpt2" in deviated
    none = dataclasses.replace(planned, suites=())
    assert "the suite is not in the sheet" in " ".join(deviations(none, [pilot]))
    changed = dataclasses.replace(planned.suites[0], sha256="0" * 64)
    deviated = " ".join(deviations(dataclasses.replace(planned, suites=(changed,)), [pilot]))
    assert "another content" in deviated


def test_the_commands_print_a_sheet_and_check_against_it(pilot, tmp_path, capsys):
    assert invoke(["cite", str(pilot.folder), "--prereg"]) == 0
    path = tmp_path / "sheet.toml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    again = ["rerun", str(pilot.folder), "-o", str(tmp_path / "again"), "--prereg", str(path)]
    assert invoke(again) == 1
    assert "not as preregistered" in capsys.readouterr().err
    assert open_run(pilot.folder).n_items == 3


@pytest.mark.parametrize("text", ["", "version = 1", "[[", "version = 2\ncreated = 2026-01-01"])
def test_what_is_no_sheet_is_refused(tmp_path, text):
    path = tmp_path / "sheet.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_preregistration(path)


def test_a_sheet_is_printed_alone(pilot, capsys):
    assert invoke(["cite", str(pilot.folder), "--prereg", "--methods"]) == 2
    assert "printed alone" in capsys.readouterr().err

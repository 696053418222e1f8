"""Python does what the command line does: every function takes names, paths as text, and runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cimento import UsageError, analysis, open_run
from cimento.api import evaluate
from cimento.models.fake import FakeScorer
from cimento.runs.run import open_runs

FORMS = ("x.html", "x.md", "x.txt", "x.csv", "x.json")
TARGETS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A folder of runs of one suite by two models, as text."""
    path = str(tmp_path_factory.mktemp("runs"))
    for name, cost in (("short", 1.0), ("odd", 0.5)):
        model = FakeScorer(
            lambda words, index, cost=cost: -cost * len(words[index]) - index % 2, name=name
        )
        evaluate("it-subject-verb", model, limit=10, output=path)
    return path


def test_runs_are_opened_by_text(folder):
    runs = open_runs(folder)
    assert [repr(run).count("\n") for run in runs] == [0, 0]
    assert repr(open_run(str(runs[0].folder))) == repr(runs[0])
    assert [run.model for run in open_runs([str(run.folder) for run in runs])] == [
        run.model for run in runs
    ]


@pytest.mark.parametrize("name", FORMS)
def test_a_report_of_a_folder_in_every_form(folder, name, tmp_path):
    path = analysis.report(folder, str(tmp_path / name))
    assert path.stat().st_size > 100
    run = open_runs(folder)[0]
    assert run.report(str(tmp_path / f"one-{name}")).exists()


@pytest.mark.parametrize("to", TARGETS)
def test_a_run_is_exported(folder, to, tmp_path):
    files = open_runs(folder)[0].export(to, str(tmp_path / to))
    assert files
    assert all(file.exists() for file in files)


def test_two_runs_and_a_folder_are_compared(folder):
    first, second = open_runs(folder)
    comparison = analysis.compare(str(first.folder), second)
    [pair] = [rate for rate in comparison.rates if rate.question == "all predictions"]
    headline = {run.model: e for run in (first, second) for e in run.estimates()
                if e.role == "headline"}  # fmt: skip
    assert pair.second_share == headline[second.model].value
    [ranking] = analysis.compare(folder).rankings
    assert {model.model for model in ranking.models} == {first.model, second.model}


def test_runs_are_cited(folder):
    run = open_runs(folder)[0]
    assert run.cite().startswith("@")
    assert "it-subject-verb" in run.cite("methods")
    assert "\\citep" in analysis.cite(folder, "methods", form="latex")


def test_a_figure_is_drawn_and_a_wrong_name_told(folder, tmp_path):
    run = open_runs(folder)[0]
    drawn = run.figure("margins", str(tmp_path / "margins.json"))
    assert drawn.name == "margins"
    assert json.loads((tmp_path / "margins.json").read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="margins"):
        run.figure("margin")


def test_the_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "cimento", "--help"], capture_output=True, text=True, check=True
    )
    assert "Start with: cimento demo" in run.stdout

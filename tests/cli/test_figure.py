"""Tests for the names of figures that `cimento figure` lists for runs."""

from __future__ import annotations

import pytest

from cimento.cli.main import invoke
from cimento.kinds.run import open_run


def one_run(folder, suite):
    return next(path for path in sorted((folder / suite).iterdir()) if path.is_dir())


@pytest.mark.parametrize(
    "suite",
    ["it-islands", "es-agreement-templates",
     *(pytest.param(name, marks=pytest.mark.slow)
       for name in ("it-acceptability", "it-connectives-cloze", "es-stories"))],
)  # fmt: skip
def test_a_wrong_name_lists_figures_that_the_run_has(runs_of_every_kind, tmp_path, capsys, suite):
    run = one_run(runs_of_every_kind, suite)
    assert invoke(["figure", str(run), "zzz", "-o", str(tmp_path / "x.json")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    names = said.split("Known: ")[1].rstrip(". ").split(", ")
    assert {"interaction", "rows", "items"} <= set(names) or suite != "it-islands"
    assert "scatter" in names or suite != "it-acceptability"
    for name in names:
        more = ["--item", items_of(run)] if name == "tokens" else []
        path = tmp_path / f"{name}.json"
        assert invoke(["figure", str(run), name, *more, "-o", str(path)]) == 0, name


def items_of(run):
    return open_run(run).outcomes()["item"][0]


@pytest.mark.parametrize("suite", ["it-islands", "es-stories"])
def test_the_example_for_a_run_without_a_name_can_be_drawn(
    runs_of_every_kind, tmp_path, capsys, monkeypatch, suite
):
    monkeypatch.chdir(tmp_path)
    run = one_run(runs_of_every_kind, suite)
    assert invoke(["figure", str(run), "-o", "x.svg"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    command = said.split("Such as: cimento ")[1].split(". Figures here:")[0]
    assert invoke(command.split(" ")) == 0


def test_a_run_without_factors_names_what_can_be_drawn_instead(
    runs_of_every_kind, tmp_path, capsys
):
    run = one_run(runs_of_every_kind, "it-acceptability")
    assert invoke(["figure", str(run), "items", "-o", str(tmp_path / "x.svg")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "none of the runs is of a suite with two factors" in said
    assert "or draw one of these: scatter, position, tokens, length, regions." in said

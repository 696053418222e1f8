"""The figure of a paper: each model's result with its interval, suite by suite."""

from __future__ import annotations

import csv
import re

import pytest

from cimento import UsageError, figure, open_runs
from cimento.cli.main import invoke
from cimento.documents.paper import results_grid
from cimento.documents.paper_figure import results_figure
from tests.helpers.made_runs import made_run, outcomes_of


def drawn(folders, path, *options):
    """The exit code of a command that draws the results of some runs."""
    named = map(str, folders)
    return invoke(["report", *named, "--figure", "results", "-o", str(path), *options])


def test_models_have_a_panel_for_each_suite_with_intervals_and_chance():
    runs = [
        made_run(model, outcomes_of(right, ""), suite=suite)
        for suite in ("s", "t")
        for model, right in (("a@1", "++-" * 4), ("b@2", "+---" * 3))
    ]
    rows = results_figure(runs).frame.to_dicts()

    # Wilson's intervals of 8 and of 3 of 12 in percent, from the formula.
    both = [("a", 66.66667, 39.06221, 86.18799), ("b", 25.0, 8.89417, 53.23053)]
    assert [(row["suite"], row["model"]) for row in rows] == [
        (suite, model) for suite in ("s", "t") for model, *_ in both
    ]
    for row, (_, *numbers) in zip(rows, both * 2, strict=True):
        assert [row["value"], row["low"], row["high"]] == pytest.approx(numbers, abs=1e-5)
        assert (row["unit"], row["n"]) == ("percent", 12)


def test_the_figure_has_the_numbers_of_the_table(runs_of_every_kind, tmp_path):
    folders = sorted(set(runs_of_every_kind.glob("*-*")) - {runs_of_every_kind / "it-islands"})
    assert drawn(folders, tmp_path / "x.csv") == 0
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["suite"]: row for row in csv.DictReader(file)}
    table = results_grid(open_runs(folders))
    assert {str(row[0]) for row in table.rows} == set(rows)
    for row in table.rows:
        shown, cell = rows[str(row[0])], row[-1]
        ends = [shown[name] for name in ("value", "low", "high")]
        assert ends == ["" if x is None else str(x) for x in (cell.value, cell.low, cell.high)]
        assert (shown["unit"], shown["reason"]) == (cell.unit, cell.reason)


def test_a_figure_of_results_is_renamed_and_keeps_its_panels(runs_of_every_kind, tmp_path):
    suites = ("es-stories", "it-acceptability")
    folders = [runs_of_every_kind / suite for suite in suites]
    names = ("--rename", "es-stories=Stories", "--rename", "demo-causal=GPT")
    assert drawn(folders, tmp_path / "x.svg", *names) == 0
    svg = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "Stories (story_class), n 3" in svg
    assert "correlation" in svg
    assert "accuracy, %" in svg
    # One row for each of two suites, with its mark.
    assert svg.count(">GPT<") == 2
    assert svg.count('aria-roledescription="point"') == 2
    assert not re.search("es-stories|demo-causal", svg)


def test_designs_and_runs_without_a_result_are_not_drawn_as_results(
    runs_of_every_kind, tmp_path, capsys
):
    assert drawn([runs_of_every_kind / "it-islands"], tmp_path / "x.svg") == 2
    assert "the result of a factorial design: it-islands. " in capsys.readouterr().err
    unscored = made_run("a@1", outcomes_of("????", ""), suite="s")
    with pytest.raises(UsageError, match="no result has a value"):
        results_figure([unscored])
    assert not (tmp_path / "x.svg").exists()


def test_python_draws_it_by_its_name(runs_of_every_kind, tmp_path):
    runs = open_runs(runs_of_every_kind / "it-acceptability")
    made = figure(runs, "results", tmp_path / "x.csv")
    assert made.frame["suite"].to_list() == ["it-acceptability (Spearman's rho)"]
    assert (tmp_path / "x.csv").is_file()
    with pytest.raises(UsageError, match="Did you mean 'results'"):
        figure(runs, "result")

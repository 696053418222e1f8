"""Tests for the names of figures that `cimento report --figure` lists for runs."""

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
    assert invoke(["report", str(run), "--figure", "zzz", "-o", str(tmp_path / "x.json")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    names = said.split("Known: ")[1].rstrip(". ").split(", ")
    assert {"interaction", "rows", "items"} <= set(names) or suite != "it-islands"
    assert "scatter" in names or suite != "it-acceptability"
    for name in names:
        more = ["--item", items_of(run)] if name == "tokens" else []
        path = tmp_path / f"{name}.json"
        assert invoke(["report", str(run), "--figure", name, *more, "-o", str(path)]) == 0, name


def items_of(run):
    return open_run(run).outcomes()["item"][0]


def test_a_figure_without_a_file_says_which_files_there_are(runs_of_every_kind, capsys):
    run = one_run(runs_of_every_kind, "it-islands")
    assert invoke(["report", str(run), "--figure", "interaction"]) == 2
    assert "Add -o interaction.svg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--figure", "items", "--label", "tab:x"], "--label has no effect with --figure"),
        (["--site", "s", "--gray"], "--gray has no effect with --site"),
        (["--table", "results", "--address", "https://x.org"], "It belongs to --site FOLDER"),
        (["--font-size", "12"], "--font-size has no effect in a page"),
        (["--figure", "items", "--site", "s"], "--site"),
    ],
)
def test_an_option_of_another_kind_of_report_is_refused(
    runs_of_every_kind, tmp_path, monkeypatch, capsys, options, said
):
    monkeypatch.chdir(tmp_path)
    run = one_run(runs_of_every_kind, "it-islands")
    assert invoke(["report", str(run), *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not any(tmp_path.iterdir())


def test_only_figures_that_the_runs_can_be_drawn_as_are_suggested(tmp_path, capsys):
    """Two suites have no regions in common, though a page has those of each."""
    runs, suites = tmp_path / "runs", ["it-islands", "it-connectives"]
    asked = ["run", *suites, "-m", "demo-masked", "--limit", "3", "-o", str(runs)]
    assert invoke(asked) == 0
    ask = ["report", str(runs), "-o", str(tmp_path / "x.csv"), "--figure"]
    capsys.readouterr()
    assert invoke([*ask, "none-of-them"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    known = said.partition("Known: ")[2].rstrip(".").split(", ")
    assert {"rows", "margins"} <= {*known}
    for name in known:
        assert invoke([*ask, name]) == 0, name


def test_lengths_are_not_suggested_where_no_sentence_was_scored_whole(tmp_path, capsys):
    run = tmp_path / "runs"
    assert (
        invoke(["run", "en-subject-verb", "-m", "demo-causal", "--limit", "4", "-o", str(run)]) == 0
    )
    ask = ["report", str(run), "-o", str(tmp_path / "x.csv"), "--figure"]
    assert invoke([*ask, "length"]) == 2
    assert "no sentence has a value" in capsys.readouterr().err
    assert invoke([*ask, "none-of-them"]) == 2
    assert "Known: margins, position," in " ".join(capsys.readouterr().err.split())


def test_a_run_without_factors_names_what_can_be_drawn_instead(
    runs_of_every_kind, tmp_path, capsys
):
    run = one_run(runs_of_every_kind, "it-acceptability")
    assert invoke(["report", str(run), "--figure", "items", "-o", str(tmp_path / "x.svg")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "none of the runs is of a suite with two factors" in said
    assert (
        "or draw one of these: scatter, position, tokens, length, region-sums, sensitivity." in said
    )

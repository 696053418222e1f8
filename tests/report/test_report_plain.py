"""Reports of runs of any paradigm: one of another package has every form through what all share."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest

from cimento import open_runs
from cimento.cli.main import invoke
from cimento.paradigms import PlainPresenter
from cimento.report.formatting import interval
from cimento.report.grid import EstimateCell, Grid
from cimento.statistics.intervals import Interval
from tests.helpers.pages import parse_page


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return tmp_path_factory.mktemp("plain") / "runs"


@pytest.fixture
def runs(probing, stored):
    """Two stored runs of a paradigm that brings no sections of its own."""
    if not stored.exists():
        models = ["-m", "demo-causal", "-m", "demo-masked"]
        assert invoke(["run", str(probing), *models, "-o", str(stored)]) == 0
    return stored


def written(runs, tmp_path, ending):
    file = tmp_path / f"report{ending}"
    assert invoke(["report", str(runs), "-o", str(file)]) == 0
    return file.read_bytes().decode()


def test_a_page_has_overview_rates_figures_the_table_of_estimates_and_items(runs, tmp_path):
    page = parse_page(written(runs, tmp_path, ".html"))
    [suite] = page.all("section.suite")
    assert "agreement" in page.all("table.matrix")[0].words
    assert len(suite.all("table.forest")[0].all("td.of")) == 2
    assert [figure.words[-9:] for figure in suite.all("figure")] == ["rates.svg", "rgins.svg"]
    [grid] = suite.all("table.grid")
    assert grid.words.count("agreement") == 2
    [data] = [e for e in page.all("script") if e.attributes.get("id") == "item-data"]
    block = json.loads(data.text)
    assert len(block["items"]) == 14
    worst = block["items"][0]
    assert (worst[1], block["words"][worst[5]]) == ("4", "bits")
    assert [option[0] for option in worst[9][0][1:]] == ["sbatte", "sbattono"]


def test_a_page_says_how_the_runs_were_made(runs, tmp_path):
    [methods] = parse_page(written(runs, tmp_path, ".html")).all("p.methods")
    assert "7 items" in methods.words
    assert "demo-causal" in methods.words


def test_csv_is_the_estimates_table(runs, tmp_path):
    text = written(runs, tmp_path, ".csv")
    assert text.splitlines(keepends=True)[0].endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    stored = pl.concat(run.table("estimates") for run in open_runs(runs))
    assert [row["question"] for row in rows] == stored["question"].to_list()
    assert [float(row["value"]) for row in rows] == stored["value"].to_list()
    assert list(rows[0]) == stored.columns


def test_json_is_the_summary_of_the_runs(runs, tmp_path):
    summary = json.loads(written(runs, tmp_path, ".json"))
    assert summary["schema_version"] == 3
    made = [run.estimates()[0] for run in open_runs(runs)]
    assert [run["estimates"][0]["low"] for run in summary["runs"]] == [
        estimate.low for estimate in made
    ]


def test_markdown_and_text_show_the_same_numbers(runs, tmp_path, capsys):
    assert invoke(["report", str(runs)]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() == written(runs, tmp_path, ".txt").strip()
    # As for cimento's own kinds: proportions in the terminal, percent in documents.
    assert "0.857 [0.487, 0.974]" in printed
    assert "85.7 [48.7, 97.4]" in written(runs, tmp_path, ".md")


def test_its_table_is_written_alone_and_a_wrong_name_lists_it(runs, tmp_path, capsys):
    file = tmp_path / "table.csv"
    assert invoke(["report", str(runs), "--table", "estimates", "-o", str(file)]) == 0
    assert "value_percent_low" in file.read_text(encoding="utf-8")
    assert invoke(["report", str(runs), "--table", "estimate"]) == 2
    assert "estimates" in capsys.readouterr().err


def test_show_tells_one_item_with_its_options(runs, capsys):
    assert invoke(["show", str(runs), "4"]) == 0
    printed = capsys.readouterr().out
    assert "fail by" in printed
    assert "sbatte" in printed


def test_nothing_of_a_run_is_changed_by_its_report(runs, tmp_path):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    for ending in (".html", ".md", ".csv", ".json", ".txt"):
        written(runs, tmp_path, ending)
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.5, 0.75, "[0.500, 0.750]"),
        (0.99981, 0.99998, "[0.9998, 1.0000]"),
        (0.9998112, 0.9998114, "[0.9998112, 0.9998114]"),
    ],
)
def test_the_ends_of_an_interval_are_never_shown_as_one_number(low, high, shown):
    assert interval(low, high) == shown
    cell = str(EstimateCell.of(high, Interval(low, high, None), 9000, percent=True))
    ends = cell.partition("[")[2].rstrip("]").split(", ")
    assert len(set(ends)) == 2


def test_its_figures_are_drawn_with_their_numbers(runs, tmp_path):
    for ending in (".svg", ".csv", ".json"):
        file = tmp_path / f"rates{ending}"
        assert invoke(["report", str(runs), "--figure", "rates", "-o", str(file)]) == 0
        assert file.stat().st_size > 100
    numbers = pl.read_csv(tmp_path / "rates.csv")
    assert numbers["value"].to_list() == [run.estimates()[0].value for run in open_runs(runs)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("interaction", "runs of the kind probing are not drawn like this"),
        ("tokens", "runs of the kind probing are not drawn like this"),
        ("heat", "there is no such figure of these runs"),
        ("rate", "rates"),
    ],
)
def test_a_figure_that_there_is_no_data_for_is_refused_in_one_message(
    runs, tmp_path, capsys, name, message
):
    file = tmp_path / "x.svg"
    assert invoke(["report", str(runs), "--figure", name, "-o", str(file)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not file.exists()


def test_a_kind_of_another_package_makes_tables_by_name(runs, monkeypatch, capsys):
    def table(_self, name, runs, settings):
        return Grid(
            title=name, header=("runs", "seed"), rows=((str(len(runs)), f"{settings.seed}"),)
        )

    monkeypatch.setattr(PlainPresenter, "tables", ("verbs",))
    monkeypatch.setattr(PlainPresenter, "table", table)
    asked = ["report", str(runs), "--table", "verbs", "--seed", "7", "--format", "csv"]
    assert invoke(asked) == 0
    assert capsys.readouterr().out.split() == ["runs,seed", "2,7"]
    assert invoke(["report", str(runs), "--table", "nouns"]) == 2
    assert "verbs" in capsys.readouterr().err


def test_a_figure_of_a_plug_in_that_fails_names_the_plug_in(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(PlainPresenter, "figures", ("verbs",))
    monkeypatch.setattr(PlainPresenter, "drawable", lambda _self, _runs: ["verbs"])
    monkeypatch.setattr(PlainPresenter, "figure", lambda *_: {}["nothing"])
    assert invoke(["report", str(runs), "--figure", "verbs", "-o", str(tmp_path / "x.svg")]) == 1
    assert "'probing'" in capsys.readouterr().err
    assert invoke(["report", str(runs), "--figure", "zzz", "-o", str(tmp_path / "x.svg")]) == 2
    assert "verbs" in capsys.readouterr().err

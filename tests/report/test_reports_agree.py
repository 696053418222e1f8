"""One run says one number: in its tables, its page, its CSV, its JSON and its notebook view."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import json

import polars as pl
import pytest

from cimento import evaluate, report
from cimento.documents import sections_of
from cimento.kinds.run_html import run_html
from cimento.report.grid import EstimateCell as Cell

SUITES = {
    "regions": "it-subject-verb",
    "factorial": "it-islands",
    "ratings": "it-acceptability",
    "cloze": "it-connectives-cloze",
    "templates": "es-agreement-templates",
    "stories": "es-stories",
    "probing": "",
}


@pytest.fixture(scope="module")
def stored_run(tmp_path_factory):
    """From a suite to its run by a demo model, made once, of a few items."""
    output = tmp_path_factory.mktemp("runs")
    return functools.cache(lambda suite: evaluate(suite, "demo-causal", output=output, limit=12))


@pytest.fixture(params=SUITES)
def run(request, stored_run):
    """A stored run of each paradigm."""
    return stored_run(SUITES[request.param] or request.getfixturevalue("probing"))


def plain(estimate):
    """What an estimate says, however prominently it is shown."""
    return dataclasses.replace(estimate, role="detail")


@pytest.mark.slow
def test_a_page_shows_the_very_estimates_of_the_run(run):
    known = {plain(estimate) for estimate in run.estimates()}
    reports = [one for section in sections_of([run]) for one in section.runs]
    for section in reports:
        shown = [rate for rates in section.rates for _, rate in rates.lines]
        assert section.headline is None or plain(section.headline) in known
        assert {plain(rate) for rate in shown} <= known
        assert all(rate.is_share for rate in shown)
    assert any(one.headline for one in reports)


def test_csv_and_json_are_the_tables_of_the_run(run, tmp_path):
    text = report([run], tmp_path / "r.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    table = run.table("estimates")
    assert list(rows[0]) == table.columns
    for name in ("value", "low", "high"):
        assert [float(row[name]) if row[name] else None for row in rows] == table[name].to_list()
    said = json.loads(report([run], tmp_path / "r.json").read_text(encoding="utf-8"))
    [summary] = said["runs"]
    assert [estimate["value"] for estimate in summary["estimates"]] == table["value"].to_list()
    assert (
        summary == json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))["runs"][0]
    )


def test_rates_are_means_of_the_outcomes(run):
    outcomes = run.outcomes()
    for estimate in run.estimates():
        if not estimate.is_share or estimate.statistic != "accuracy" or estimate.role == "detail":
            continue
        asked = outcomes.filter(question=estimate.question, method=estimate.method)
        if estimate.group:
            column = f"group:{estimate.group}"
            if column not in outcomes.columns:
                continue
            asked = asked.filter(pl.col(column).fill_null("") == estimate.level)
        right = asked["right"].drop_nulls()
        assert (estimate.n, estimate.right) == (len(right), right.sum())
        assert estimate.value == (right.mean() if len(right) else None)


def test_no_interval_is_without_width_and_nothing_is_undefined_without_a_reason(run):
    for estimate in run.estimates():
        assert (estimate.low is None) == (estimate.high is None)
        if estimate.low is None or estimate.high is None:
            assert estimate.reason
        else:
            assert estimate.low < estimate.high
    for section in sections_of([run]):
        cells = [cell for table in section.tables for row in table.grid.rows for cell in row]
        for cell in cells:
            if isinstance(cell, Cell) and cell.low is not None and cell.high is not None:
                assert cell.low < cell.high


def test_notebooks_and_text_show_the_headline(run, tmp_path):
    headline = next(estimate for estimate in run.estimates() if estimate.role == "headline")
    assert f"{headline.value:z.3f}" in run_html(run.summary())
    text = report([run], tmp_path / "r.txt").read_text(encoding="utf-8")
    shown = {f"{headline.value:z.3f}", f"{100 * headline.value:.1f}"}
    assert any(number in text for number in shown)
    assert run.model in text


@pytest.mark.slow
def test_a_page_stands_for_all_of_them(run, tmp_path):
    page = report([run], tmp_path / "r.html").read_text(encoding="utf-8")
    assert run.suite.name in page
    assert "item-data" in page

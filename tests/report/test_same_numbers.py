"""One number everywhere: what a run estimates is what every command says, with its interval."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import polars as pl
import pytest

from cimento import Estimate, Run, evaluate, open_run
from cimento.cite import methods_paragraph
from cimento.cli.main import invoke
from cimento.compare import rank_models
from cimento.export.data import RunData, bounds
from cimento.paired.item_outcomes import item_outcomes
from cimento.records.summary import Summary

SUITES = {
    "regions": "it-islands",
    "ratings": "it-acceptability",
    "cloze": "it-connectives-cloze",
    "templates": "es-agreement-templates",
    "stories": "es-stories",
}
TARGETS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")
LIMIT = 8


@pytest.fixture(scope="module", params=SUITES.values(), ids=SUITES)
def run(request, tmp_path_factory) -> Run:
    """A small stored run of each paradigm."""
    folder = tmp_path_factory.mktemp("runs")
    return evaluate(request.param, "demo-causal", limit=LIMIT, output=folder, device="cpu")


@pytest.fixture
def estimates(run) -> list[Estimate]:
    """The headline and the main numbers over all items."""
    stated = [e for e in run.estimates() if not e.group and e.role != "detail"]
    assert [e.role for e in stated].count("headline") == 1
    assert any(e.value is not None for e in stated)
    return stated


@pytest.fixture(scope="module")
def exports(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("exports")
    for target in TARGETS:
        assert invoke(["export", str(run.folder), "--to", target, "-o", str(out / target)]) == 0
    return out


def name_of(estimate: Estimate) -> str:
    return " ".join(filter(None, (estimate.method, estimate.question)))


def read(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.slow
def test_stored_summary_and_tables_have_them(run, estimates):
    [stored] = Summary.from_json((run.folder / "summary.json").read_text("utf-8")).runs
    table = pl.read_parquet(run.folder / "estimates.parquet").to_dicts()

    assert list(open_run(run.folder).estimates()) == list(run.estimates())
    for estimate in estimates:
        assert estimate in stored.estimates
        assert dataclasses.asdict(estimate) in table


def test_what_run_prints_as_json_has_them(run, estimates, capsys):
    output = run.folder.parents[1]
    command = ["run", run.suite.name, "-m", "demo-causal", "--limit", str(LIMIT)]
    capsys.readouterr()
    assert invoke([*command, "--device", "cpu", "-o", str(output), "--json"]) == 0
    [printed] = Summary.from_json(capsys.readouterr().out).runs

    for estimate in estimates:
        assert estimate in printed.estimates


def test_comparisons_have_them(run, estimates):
    twin = dataclasses.replace(run, manifest={**run.manifest, "label": "twin"})
    ranked = rank_models(item_outcomes([run, twin], every_question=True))
    rankings = {ranking.question: ranking for ranking in ranked.rankings}
    correlations = {(one.question, one.coefficient): one for one in ranked.correlations}
    first_methods: dict[str, str] = {}
    for row in run.outcomes().iter_rows(named=True):
        first_methods.setdefault(row["question"], row["method"])
    compared = 0
    for estimate in estimates:
        if first_methods.get(estimate.question) != estimate.method:
            continue
        if estimate.statistic == "accuracy" and estimate.right is not None:
            ranking = rankings[estimate.question]
            for model in ranking.models:
                interval = (model.interval.low, model.interval.high, model.interval.method)
                assert (model.accuracy, model.n) == (estimate.value, estimate.n)
                assert interval == (estimate.low, estimate.high, estimate.interval_method)
            compared += 1
        elif (estimate.question, estimate.statistic) in correlations:
            change = correlations[estimate.question, estimate.statistic].change
            assert (change.first, change.second, change.n) == (
                estimate.value,
                estimate.value,
                estimate.n,
            )
            compared += 1
    assert compared


@pytest.mark.slow
def test_lm_eval_has_them(run, estimates, exports):
    [path] = (exports / "lm-eval").rglob("results_*.json")
    plain = read(path)
    tasks = {tuple(task): task for task in plain["results"]}
    assert tasks
    by_name = {result.name: result for result in RunData(run).results}
    for estimate in estimates:
        task = run.suite.name + ("" if len(by_name) == 1 else f"_{name_of(estimate)}")
        task = "".join(c if c.isalnum() or c == "_" else "_" for c in task)
        metric = "acc" if estimate.statistic == "accuracy" else estimate.statistic
        metric = "".join(c if c.isalnum() or c == "_" else "_" for c in metric)
        value = plain["results"][task][f"{metric},none"]
        error = plain["results"][task][f"{metric}_stderr,none"]
        uncertainty = plain["configs"][task]["metadata"]["uncertainty"][metric]
        assert value == ("N/A" if estimate.value is None else estimate.value)
        assert (uncertainty["low"], uncertainty["high"]) == (estimate.low, estimate.high)
        assert error == "N/A" or error > 0
        assert error != "N/A" or uncertainty["stderr_reason"]


def test_inspect_has_them(estimates, exports):
    [path] = (exports / "inspect").glob("*.json")
    scores = {score["name"]: score for score in read(path)["results"]["scores"]}
    for estimate in estimates:
        score = scores[name_of(estimate)]
        uncertainty = score["metadata"]["uncertainty"][estimate.statistic]
        if estimate.value is not None:
            assert score["metrics"][estimate.statistic]["value"] == estimate.value
        assert (uncertainty["low"], uncertainty["high"]) == (estimate.low, estimate.high)
        assert score["metrics"].get("stderr", {"value": 1})["value"] > 0


def test_every_eval_ever_has_them(run, estimates, exports):
    [path] = (exports / "every-eval-ever").rglob("*.json")
    results = {
        (result["evaluation_name"], result["metric_config"]["metric_id"]): result["score_details"]
        for result in read(path)["evaluation_results"]
    }
    for estimate in estimates:
        if estimate.value is None or bounds(estimate) is None:
            continue
        details = results[f"{run.suite.name}: {name_of(estimate)}", estimate.statistic]
        uncertainty = details["uncertainty"]
        interval = uncertainty.get("confidence_interval", {"lower": None, "upper": None})
        assert (details["score"], uncertainty["num_samples"]) == (estimate.value, estimate.n)
        assert (interval["lower"], interval["upper"]) == (estimate.low, estimate.high)
        assert uncertainty.get("standard_error", {"value": 1})["value"] > 0


def test_the_dataset_folder_and_its_card_have_them(estimates, exports):
    table = pl.read_parquet(exports / "hf-dataset" / "data" / "estimates.parquet").to_dicts()
    card = (exports / "hf-dataset" / "README.md").read_text("utf-8").replace("|  |", "| |")
    for estimate in estimates:
        assert dataclasses.asdict(estimate) in table
        right = "" if estimate.right is None else estimate.right
        value = "" if estimate.value is None else f"{estimate.value:.3f}"
        cells = (name_of(estimate), estimate.statistic, right, estimate.n, value)
        assert "| " + " | ".join(map(str, cells)).replace("|  |", "| |") in card.replace(
            "|  |", "| |"
        )
    assert (exports / "hf-dataset" / "data" / "outcomes.parquet").is_file()


def test_tables_for_r_have_them(estimates, exports):
    with (exports / "r" / "estimates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (exports / "r" / "outcomes.csv").open(encoding="utf-8", newline="") as file:
        outcomes = list(csv.DictReader(file))

    def number(text: str) -> float | None:
        return float(text) if text else None

    for estimate in estimates:
        [row] = [
            row
            for row in rows
            if (row["question"], row["method"], row["statistic"])
            == (estimate.question, estimate.method, estimate.statistic)
        ]
        assert number(row["value"]) == estimate.value
        assert (number(row["low"]), number(row["high"])) == (estimate.low, estimate.high)
        assert int(row["n"]) == estimate.n
        right = [o["right"] for o in outcomes if o["question"] == name_of(estimate) and o["right"]]
        if estimate.is_share and right:
            assert (right.count("1"), len(right)) == (estimate.right, estimate.n)


def test_the_methods_paragraph_has_the_headline(run, estimates):
    [headline] = [e for e in estimates if e.role == "headline"]
    paragraph = methods_paragraph([run], appendix=True)

    of = f"{headline.right} of {headline.n}" if headline.is_share else f"n = {headline.n}"
    interval = (
        f"no interval: {headline.reason.replace(': ', ', and ', 1)}"
        if headline.low is None
        else f"95% interval [{headline.low:.3f}, {headline.high:.3f}]"
    )
    assert f"was {headline.value:.3f} ({of}; {interval})" in paragraph


def test_no_interval_is_of_width_zero(run):
    for estimate in run.estimates():
        assert estimate.low is None or estimate.low < estimate.high
        assert estimate.low is not None or estimate.reason

"""What `run` says of a run is what every other command says of it: shares, intervals, clusters."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from cimento.cli.main import invoke
from cimento.cli.marks import read_marks
from cimento.cli.run_clusters import clusters_of_run
from cimento.earlier import UNREACHABLE
from cimento.exporting.data import Outcome, RunData, Share, read_runs
from cimento.runs.estimates import Estimate
from cimento.runs.run import Run, open_runs
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.mixed import mixed_model
from cimento.suites.builtin import find_suite
from cimento.verdicts.factorial_mixed import BY_CLUSTER, INTERCEPTS

SUITE = "it-connectives-cloze"
TARGETS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")
CLUSTERS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models on blanks, of which one cannot find every answer at one mask."""
    out = tmp_path_factory.mktemp("blanks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(out / "cache"))
        command = ["run", SUITE, "-m", "demo-causal", "-m", "demo-masked", "-o", str(out / "runs")]
        assert invoke(command) == 0
    return out / "runs"


@pytest.fixture(scope="module")
def exports(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("exports")
    for target in TARGETS:
        command = ["export", str(folder), "--to", target, "-o", str(out / target)]
        assert invoke(command) == 0
    return out


def run_of(folder: Path, model: str) -> Run:
    [run] = [each for each in open_runs(folder) if each.model.startswith(model)]
    return run


def hits(folder: Path, model: str) -> dict[str, Estimate]:
    """Question to the rate that `run` prints of it."""
    return {
        f"{each.method} {each.question}": each
        for each in run_of(folder, model).estimates()
        if each.question in ("hit@1", "hit@10") and not each.group
    }


def test_an_answer_that_cannot_be_found_is_a_miss_in_every_command(folder, capsys):
    told = hits(folder, "demo-masked")["mask hit@10"]
    outcomes = run_of(folder, "demo-masked").outcomes()
    unreachable = set(outcomes.filter(outcomes["reason"] == UNREACHABLE)["item"])
    [run] = [each for each in read_runs([folder], clusters_of_run) if "masked" in each.model]
    share = run.share("mask hit@10")
    [marks] = [
        each
        for each in read_marks([folder])
        if "masked" in each.model and each.question == "hit@10"
    ]

    assert len(unreachable) == 19
    assert told.n == share.n == len(marks.right) == 40
    assert told.right == share.right == sum(marks.right.values())
    assert (share.interval.low, share.interval.high) == (told.low, told.high)
    missed = [each for each in run.outcomes if each.reason == UNREACHABLE]
    assert {each.verdict for each in missed} == {"fail"}
    assert {each.item for each in missed} == unreachable
    assert invoke(["compare", str(folder)]) == 0
    assert re.search(rf"{SUITE}.*40", capsys.readouterr().out.replace("\n", " "))


def test_every_export_has_the_numbers_of_the_run(folder, exports):
    for model in ("demo-causal", "demo-masked"):
        expected = hits(folder, model)
        [path] = (exports / "lm-eval").glob(f"{model}*/results_*.json")
        results = json.loads(path.read_text("utf-8"))
        [log] = [
            each
            for each in map(_json, (exports / "inspect").glob("*.json"))
            if each["eval"]["model"].endswith(model)
        ]
        [record] = [
            each
            for each in map(_json, (exports / "every-eval-ever").rglob("*.json"))
            if each["model_info"]["name"].endswith(model)
        ]
        for question, rate in expected.items():
            task = f"{SUITE}_{question}".replace("-", "_").replace(" ", "_").replace("@", "_")
            assert results["results"][task]["acc,none"] == rate.value
            told = results["configs"][task]["metadata"]["uncertainty"]
            assert (told["low"], told["high"]) == (rate.low, rate.high)
            [score] = [each for each in log["results"]["scores"] if each["name"] == question]
            assert score["metrics"]["accuracy"]["value"] == rate.value
            assert (score["metadata"]["low"], score["metadata"]["high"]) == (
                told["low"],
                told["high"],
            )
            [result] = [
                each
                for each in record["evaluation_results"]
                if each["evaluation_name"].endswith(f": {question}")
            ]
            assert result["score_details"]["score"] == rate.value
        assert f"| {rate.right} | {rate.n} | " in _text(exports / "hf-dataset/README.md")
    with (exports / "r" / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["question"] == "mask hit@10"]
    assert (sum(row["right"] == "1" for row in rows), len(rows)) == (6, 40)


def _json(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def test_no_export_has_a_standard_error_of_zero_or_an_interval_without_width(exports):
    zero = 0
    for path in (exports / "lm-eval").rglob("results_*.json"):
        plain = _json(path)
        for task, metrics in plain["results"].items():
            told = plain["configs"][task]["metadata"]["uncertainty"]
            assert metrics["acc_stderr,none"] == "N/A" or metrics["acc_stderr,none"] > 0
            if metrics["acc,none"] in (0, 1):
                zero += 1
                assert metrics["acc_stderr,none"] == "N/A"
                assert told["stderr_reason"]
            assert told["interval_reason"] or told["low"] < told["high"]
    assert zero, "there is a share of 0 or 1 in these runs"
    for path in (exports / "inspect").glob("*.json"):
        for score in _json(path)["results"]["scores"]:
            assert score["metrics"].get("stderr", {"value": 1})["value"] > 0
            assert "stderr" in score["metrics"] or score["metadata"]["stderr_reason"]
    for path in (exports / "every-eval-ever").rglob("*.json"):
        for result in _json(path)["evaluation_results"]:
            details = result["score_details"]
            uncertainty = details["uncertainty"]
            assert uncertainty.get("standard_error", {"value": 1})["value"] > 0
            assert "standard_error" in uncertainty or details["details"]["stderr_reason"]
            interval = uncertainty.get("confidence_interval", {"lower": 0, "upper": 1})
            assert interval["lower"] < interval["upper"]


def share(passed: list[bool]) -> Share:
    outcomes = tuple(
        Outcome(item=str(k), question="0", verdict="pass" if each else "fail", margin_bits=None,
                reason="")
        for k, each in enumerate(passed)
    )  # fmt: skip
    facts = type("Facts", (), {"judging": type("Judging", (), {"ties": "fail"})})
    return RunData(path=Path(), facts=facts, outcomes=outcomes, texts={}, logprobs={},
                   clusters={}).share("0")  # fmt: skip


def test_none_of_six_has_wilsons_interval_and_no_standard_error():
    found = share([False] * 6)

    assert found.stderr is None
    assert "equal" in found.stderr_reason
    # z^2 / (n + z^2), with z = 1.959964
    assert (found.interval.low, found.interval.high) == (0.0, pytest.approx(0.390334, abs=1e-6))


def test_one_of_six_has_both():
    found = share([True] + [False] * 5)

    assert found.stderr == pytest.approx(math.sqrt(1 / 6 * 5 / 6 / 5))
    assert found.stderr_reason == ""


@pytest.fixture(scope="module")
def clustered(tmp_path_factory, zoo_folder):
    """A factorial suite whose items belong together by twos, run with two causal models."""
    out = tmp_path_factory.mktemp("clustered")
    source = find_suite("it-islands")
    kept = [f"whether-{number:02}" for number in range(1, 2 * CLUSTERS + 1)]
    head, *lines = (source / "items.tsv").read_text("utf-8").splitlines()
    rows = [
        f"{line}\tframe-{kept.index(line.partition(chr(9))[0]) // 2}"
        for line in lines
        if line.partition("\t")[0] in kept
    ]
    (out / "suite").mkdir()
    (out / "suite" / "items.tsv").write_text("\n".join([f"{head}\tframe", *rows]) + "\n", "utf-8")
    toml = (source / "suite.toml").read_text("utf-8")
    (out / "suite" / "suite.toml").write_text(f'{toml}\n[options]\ncluster = "frame"\n', "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIMENTO_CACHE_DIR", str(out / "cache"))
        models = ["-m", "demo-causal", "-m", str(zoo_folder("gpt2"))]
        assert invoke(["run", str(out / "suite"), *models, "-o", str(out / "runs")]) == 0
    assert invoke(["export", str(out / "runs"), "--to", "r", "-o", str(out / "r")]) == 0
    return out


def test_tables_for_r_have_the_clusters(clustered):
    verdicts, scores = (
        list(csv.DictReader(io.StringIO((clustered / "r" / name).read_text("utf-8"))))
        for name in ("verdicts.csv", "scores.csv")
    )
    for rows in (verdicts, scores):
        assert {row["cluster"] for row in rows} == {f"frame-{k}" for k in range(CLUSTERS)}
        of_item = {(row["item"], row["cluster"]) for row in rows}
        assert len(of_item) == 2 * CLUSTERS
    assert {row["kind"] for row in verdicts} == {"causal"}


def test_shares_of_a_clustered_suite_allow_for_clusters(clustered):
    for run in read_runs([clustered / "runs"], clusters_of_run):
        share = run.share("0")
        scored = run.scored("0")
        design = Design.of(
            [each.item for each in scored],
            {each.item: run.cluster_name(each.item) for each in scored},
        )
        assert share.clustered
        assert share.stderr is None
        assert share.interval == share_interval([run.is_right(each) for each in scored], design)


def test_the_script_for_r_has_the_models_with_clusters(clustered):
    script = (clustered / "r" / "analysis.R").read_text("utf-8")

    assert "right ~ model + (1 | item) + (1 | cluster)" in script
    assert "margin_bits ~ model + (1 | item) + (1 | cluster)" in script
    assert "(1 + second * first || cluster)" in script
    for opening, closing in ("()", "{}"):
        assert script.count(opening) == script.count(closing)


@pytest.mark.slow
def test_r_fits_them(clustered):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    done = subprocess.run(
        ["Rscript", "analysis.R"],  # noqa: S607  # the program is on the path
        cwd=clustered / "r",
        capture_output=True,
        text=True,
        check=False,
    )
    if "lme4" in done.stderr and done.returncode:
        pytest.skip("lme4 is not installed")
    assert done.returncode == 0, done.stderr
    assert f"random effects of {CLUSTERS} clusters and their items" in done.stdout
    model, *_ = _fitted(clustered / "r" / "scores.csv")
    lines = done.stdout.partition("demo-causal@91bca5d - whether")[2].splitlines()
    line = next(row for row in lines if row.startswith("second:first"))
    estimate, error = map(float, line.split()[1:3])
    effect = model.effect("second:first")
    assert estimate == pytest.approx(effect.estimate, rel=1e-3)
    assert error == pytest.approx(effect.se, rel=1e-2)


def _fitted(path: Path):
    """Our own mixed model of the scores of each model."""
    table = pl.read_csv(path)
    for own in table.partition_by("model", maintain_order=True):
        columns = {name: own[name].to_list() for name in ("score", "first", "second")}
        labels = {name: own[name].to_list() for name in ("item", "cluster")}
        yield mixed_model(f"{INTERCEPTS} + {BY_CLUSTER}", {**columns, **labels})

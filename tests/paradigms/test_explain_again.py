"""Explanations that are interrupted, shared among workers, or only planned; and the logit lens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import cimento
from cimento.engine.cache import MemoryCache
from cimento.engine.engines import Engine
from cimento.explain import ExplainSettings, attribute, explain, plan_explanation
from cimento.models.hf.gradients import Gradients
from cimento.models.hf.interchange import Interchange
from cimento.paradigms.regions.lens import lens_of
from tests.helpers.command_line import invoke

SETTINGS = ExplainSettings(predictions=("number",), rule="gradient")
ASKS = {explain: (Interchange, "patch"), attribute: (Gradients, "attribute")}


def evaluated(folder, **more):
    return cimento.evaluate(
        "it-subject-verb", "demo-causal", output=folder, device="cpu", limit=20, **more
    )


def counting(monkeypatch, ask, *, most):
    """What a model is asked from now on; after so many requests, the program is interrupted."""
    owner, name = ASKS[ask]
    original = getattr(owner, name)
    asked = []

    def counted(self, asks):
        if len(asked) >= most:
            raise KeyboardInterrupt
        asked.extend(asks)
        yield from original(self, asks)

    monkeypatch.setattr(owner, name, counted)
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("ask", ASKS, ids=["interchanges", "gradients"])
def test_an_interrupted_explanation_goes_on_and_asks_nothing_twice(ask, tmp_path, monkeypatch):
    whole = ask(evaluated(tmp_path / "whole"), SETTINGS)
    run = evaluated(tmp_path / "again")
    with monkeypatch.context() as patched:
        before = counting(patched, ask, most=30)
        with pytest.raises(KeyboardInterrupt):
            ask(run, SETTINGS)
    assert not (run.folder / "explanations.parquet").exists()
    assert not (run.folder / "attributions.parquet").exists()
    with monkeypatch.context() as patched:
        after = counting(patched, ask, most=10_000)
        resumed = ask(run, SETTINGS)
    assert before
    assert after
    assert not set(before) & set(after)
    assert resumed.table.equals(whole.table)
    [name] = {"explanations.parquet", "attributions.parquet"} & {
        path.name for path in run.folder.iterdir()
    }
    other = next(path for path in (tmp_path / "whole").rglob(name))
    assert (run.folder / name).read_bytes() == other.read_bytes()


@pytest.mark.slow
def test_a_killed_command_goes_on_with_the_same_bytes(tmp_path):
    run = evaluated(tmp_path / "runs")
    command = [
        sys.executable, "-m", "cimento", "analyze", "attribution", str(run.folder),
        "--prediction", "number", "--by", "integrated", "--no-cache",
    ]  # fmt: skip
    process = subprocess.Popen(  # noqa: S603  # our own interpreter and code
        command, env=os.environ, stdout=subprocess.DEVNULL
    )
    for _ in range(600):
        # A unit that is done is in the store.
        if any((tmp_path / "runs" / ".units").rglob("*.unit*")) or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run(  # noqa: S603  # our own interpreter and code
        command, env=os.environ, check=True, stdout=subprocess.DEVNULL
    )
    killed = (run.folder / "attributions.parquet").read_bytes()
    other = evaluated(tmp_path / "other")
    attribute(other, ExplainSettings(predictions=("number",)))
    assert (other.folder / "attributions.parquet").read_bytes() == killed


@pytest.mark.slow
def test_workers_give_the_same_table(tmp_path):
    run = evaluated(tmp_path)
    alone = explain(run, SETTINGS, store=False)
    together = explain(run, SETTINGS, store=False, engine=Engine(workers=2))
    assert together.table.equals(alone.table)


@pytest.mark.slow
def test_a_plan_says_what_remains_without_loading_a_model(tmp_path, capsys):
    run = evaluated(tmp_path)
    cache = MemoryCache()
    plan = plan_explanation(run, SETTINGS, gradients=True, cache=cache)
    assert (plan.requests, plan.units, plan.done, plan.kept) == (40, 2, 0, 0)
    assert plan.tokens > plan.requests
    attribute(run, SETTINGS, cache=cache)
    assert plan_explanation(run, SETTINGS, gradients=True, cache=cache).done == 2
    asked = ["analyze", "attribution", str(run.folder), "--prediction", "number", "--plan"]
    assert invoke(asked) == 0
    assert "requests in" in capsys.readouterr().out
    assert invoke([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["done"] == 0
    assert not (run.folder / "explanations.parquet").exists()


# --- The logit lens


@pytest.mark.slow
def test_the_lens_ends_in_the_margin_and_stands_beside_the_layers(tmp_path, capsys):
    run = cimento.evaluate(
        "it-subject-verb", "demo-causal", output=tmp_path, device="cpu", limit=6, layers="all"
    )
    lens = {(mean.question, mean.layer): mean for mean in lens_of(run)}
    questions = {question for question, _ in lens}
    layers = {layer for _, layer in lens}
    outcomes = run.outcomes()
    for question in questions:
        margins = outcomes.filter(question=question)["value"]
        assert lens[question, max(layers)].margin_bits == pytest.approx(margins.mean(), abs=1e-4)
        assert lens[question, 0].n == 6
    # By hand, from the tokens: the verbs of the first item after the first layer.
    verbs = run.table("requests").filter(pl.col("item") == "1", pl.col("region") == 2)
    inside = run.table("tokens").join(verbs, on="request", suffix="_verb")
    inside = inside.filter(pl.col("start").is_between("start_verb", pl.col("end_verb") - 1))
    sums = dict(inside.group_by("condition").agg(pl.col("logprob_nats_layer_1").sum()).iter_rows())
    alone = cimento.evaluate("it-subject-verb", "demo-causal", device="cpu", limit=1, layers="all")
    [mean] = [m for m in lens_of(alone) if m.question == "number" and m.layer == 1]
    # The run asked about six items at once, and float32 sums depend on the batch.
    assert mean.margin_bits == pytest.approx(
        (sums["match"] - sums["mismatch_number"]) / 0.6931471805599453, abs=1e-5
    )
    assert invoke(["analyze", "attribution", str(run.folder), "--prediction", "number"]) == 0
    printed = capsys.readouterr().out
    assert "logit lens" in printed
    assert "it is the margin itself" in printed
    page = cimento.report(run, tmp_path / "page.html").read_text("utf-8")
    assert "logit lens (margin)" in page


def test_a_run_without_layers_has_no_lens(tmp_path):
    assert lens_of(evaluated(tmp_path)) == ()

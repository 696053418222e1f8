"""What `run` says of a run is what every other command says of it: shares, intervals, clusters."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cimento
from cimento import open_runs
from cimento.cli.main import invoke
from cimento.export.data import run_data, standard_error
from cimento.paired.item_outcomes import item_outcomes
from cimento.paradigms.cloze.judging import UNREACHABLE
from cimento.paradigms.regions.factorial import BY_CLUSTER, INTERCEPTS
from cimento.records.outcomes import design_of, each_outcome
from cimento.statistics.intervals import share_interval
from cimento.statistics.mixed import mixed_model
from cimento.suites.builtin import find_suite
from tests.helpers.r_script import printed_by_r

SUITE = "it-connectives-cloze"
TARGETS = ("inspect", "every-eval-ever", "hf-dataset", "r")
CLUSTERS = 6
HIT = ("mask", "hit@10", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models on blanks, of which one cannot find every answer at one mask."""
    out = tmp_path_factory.mktemp("blanks")
    command = ["run", SUITE, "-m", "demo-causal", "-m", "demo-masked", "-o", str(out / "runs")]
    assert invoke(command) == 0
    return out / "runs"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_blanks_go_to_every_target(folder, tmp_path, target):
    assert invoke(["export", str(folder), "--to", target, "-o", str(tmp_path / target)]) == 0


@pytest.mark.slow
def test_an_answer_that_cannot_be_found_is_a_miss_in_every_command(folder, tmp_path, capsys):
    [run] = [run for run in open_runs(folder) if "masked" in run.model]
    [rate] = [e for e in run.estimates() if (e.method, e.question, e.group) == HIT]
    several = [one for one in each_outcome(run.outcomes()) if one.reason == UNREACHABLE]
    missed = [one for one in several if one.value is None]
    outcomes = item_outcomes([run], every_question=True)
    [compared] = [outcome for outcome in outcomes if outcome.question == "hit@10"]

    assert {one.verdict for one in missed} == {"fail"}
    assert len({one.item for one in missed}) == 135
    # Of "Ma" after a full stop another spelling was found, "ma".
    assert {one.item for one in several} - {one.item for one in missed} == {"100"}
    assert (rate.right, rate.n) == (sum(compared.right.values()), len(compared.right)) == (42, 270)
    assert invoke(["export", str(folder), "--to", "lm-eval", "-o", str(tmp_path)]) == 0
    [path] = tmp_path.glob("demo-masked*/results_*.json")
    plain = json.loads(path.read_text("utf-8"))
    assert plain["results"]["it_connectives_cloze_mask_hit_10"]["acc,none"] == 42 / 270
    assert invoke(["compare", str(folder), "--every-question"]) == 0
    assert re.search(r"hit@10 .*\b270 ", capsys.readouterr().out)


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
    outcomes, scores = (
        list(csv.DictReader(io.StringIO((clustered / "r" / name).read_text("utf-8"))))
        for name in ("outcomes.csv", "scores.csv")
    )
    for rows in (outcomes, scores):
        assert {row["cluster"] for row in rows} == {f"frame-{k}" for k in range(CLUSTERS)}
        of_item = {(row["item"], row["cluster"]) for row in rows}
        assert len(of_item) == 2 * CLUSTERS
    assert {row["kind"] for row in outcomes} == {"causal"}


def test_shares_of_a_clustered_suite_allow_for_clusters(clustered):
    for data in run_data(open_runs(clustered / "runs")):
        for result in data.results:
            [estimate] = result.estimates
            design = design_of(
                [one.item for one in result.scored], [one.cluster for one in result.scored]
            )
            interval = share_interval([bool(one.right) for one in result.scored], design)
            assert estimate.clustered
            assert standard_error(estimate)[0] is None
            assert (estimate.low, estimate.high) == (interval.low, interval.high)


def test_the_script_for_r_has_the_models_with_clusters(clustered):
    script = (clustered / "r" / "analysis.R").read_text("utf-8")

    assert "right ~ model + (1 | item) + (1 | cluster)" in script
    assert "value ~ model + (1 | item) + (1 | cluster)" in script
    assert 'factors <- c("cluster", further(part))' in script
    assert '"(1 + ", second, " * ", first, " || ", factors, ")", collapse = " + "' in script
    for opening, closing in ("()", "{}"):
        assert script.count(opening) == script.count(closing)


def test_the_script_lets_models_differ_more_in_one_cluster_than_in_another(clustered):
    script = (clustered / "r" / "analysis.R").read_text("utf-8")
    slopes = "(1 | item) + (1 | cluster) + (1 | cluster:model)"
    assert [f"{name} ~ model + {slopes}" in script for name in ("right", "value")] == [True] * 2


@pytest.mark.slow
def test_without_slopes_by_cluster_models_seem_to_differ_where_they_do_not():
    """The exported model of values in our own fit: 9 clusters of 4, models differ by cluster."""
    generator = np.random.default_rng(5)
    item, model = np.tile(np.arange(36), 2), np.repeat([0, 1], 36)
    cluster = item // 4
    both = cluster * 2 + model
    found = dict.fromkeys(("", " + (1 | both)"), 0)
    for _ in range(30):
        effects = (generator.normal(size=9)[cluster], 0.5 * generator.normal(size=36)[item],
                   0.8 * generator.normal(size=18)[both])  # fmt: skip
        columns = {
            "value": (sum(effects) + generator.normal(size=72)).tolist(),
            "model": (model - 0.5).tolist(), "item": item.tolist(), "cluster": cluster.tolist(),
            "both": both.tolist(),
        }  # fmt: skip
        for slopes in found:
            formula = f"value ~ model + (1 | item) + (1 | cluster){slopes}"
            found[slopes] += mixed_model(formula, columns).effect("model").p <= 0.05
    # python -c "from scipy import stats; print(stats.binom.ppf(.999, 30, .05))": 6
    assert found[" + (1 | both)"] <= 6 <= found[""]


@pytest.mark.slow
def test_r_fits_them(clustered):
    printed = printed_by_r(clustered / "r")
    assert f"Random effects of {CLUSTERS} clusters and their items" in printed
    model, *_ = _fitted(clustered / "r" / "scores.csv")
    lines = printed.partition("demo-causal@91bca5d - whether")[2].splitlines()
    line = next(row for row in lines if row.startswith("structure_code:distance_code"))
    estimate, error = map(float, line.split()[1:3])
    effect = model.effect("second:first")
    assert estimate == pytest.approx(effect.estimate, rel=1e-3)
    assert error == pytest.approx(effect.se, rel=1e-2)


def _fitted(path: Path):
    """Our own mixed model of the scores of each model."""
    table = pl.read_csv(path)
    for rows in table.partition_by("model", maintain_order=True):
        names = {"score": "oriented", "first": "distance_code", "second": "structure_code"}
        columns = {name: rows[column].to_list() for name, column in names.items()}
        labels = {name: rows[name].to_list() for name in ("item", "cluster")}
        yield mixed_model(f"{INTERCEPTS} + {BY_CLUSTER}", {**columns, **labels})


def test_crossed_clusters_have_a_column_for_each_factor(tmp_path):
    rows = [
        (f"Il {noun} {verb} .", f"Il {noun} {verb}no .", noun, verb)
        for noun in ("cuoco", "medico", "sarto")
        for verb in ("canta", "salta")
    ]
    table = [dict(zip(("good", "bad", "noun", "verb"), row, strict=True)) for row in rows]
    suite = cimento.pairs(table, language="it", cluster=("verb", "noun"))
    run = cimento.evaluate(suite, "demo-causal", output=tmp_path / "runs")
    cimento.export(run, "r", tmp_path / "r")
    made = pl.read_csv(tmp_path / "r" / "outcomes.csv")
    assert list(zip(made["cluster_2"], made["cluster"], strict=True)) == [row[2:] for row in rows]
    cimento.export(run, "hf-dataset", tmp_path / "hub")
    shown = pl.read_parquet(tmp_path / "hub" / "data" / "outcomes.parquet")["cluster"]
    assert shown[0] == "canta × cuoco"

"""Logs of lm-eval: what `resps` are of, and which configuration and size a task has."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cimento import open_runs
from cimento.cli.main import invoke
from cimento.paradigms.regions.side_values import side_values

TOML = """regions = ["subject", "verb", "rest"]

[meta]
name = "keys"
language = "en"

[[predictions]]
name = "verb"
formula = "(2;%plural%) < (2;%singular%)"

[[predictions]]
name = "whole"
formula = "(*;%plural%) < (*;%other%)"

[[predictions]]
name = "attraction"
formula = "((2;%singular%) - (2;%plural%)) > ((3;%other%) - (3;%plural%))"
"""
SUBJECTS = ("lamps", "doors", "boats", "trees", "horses", "letters")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A suite one of whose predictions needs the whole of one of its sentences."""
    made = tmp_path_factory.mktemp("keys")
    rows = ["item\tcondition\ttext"]
    for number, name in enumerate(SUBJECTS, 1):
        rows += [f"{number}\tplural\tThe {name} | are | here.",
                 f"{number}\tsingular\tThe {name} | is | here.",
                 f"{number}\tother\tThe {name} | were | there."]  # fmt: skip
    (made / "keys").mkdir()
    (made / "keys" / "suite.toml").write_text(TOML, "utf-8")
    (made / "keys" / "items.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    return made


def run_and_export(folder, name, *options):
    runs, out = folder / f"runs-{name}", folder / f"out-{name}"
    command = ["run", str(folder / "keys"), "-m", "demo-causal", "-o", str(runs)]
    assert invoke([*command, *options]) == 0
    assert invoke(["export", str(runs), "--to", "lm-eval", "-o", str(out)]) == 0
    return runs, out


def samples(out: Path, task: str) -> list[dict]:
    (path,) = out.rglob(f"samples_keys_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def sums(rows: pl.DataFrame, regions: list[int]) -> dict[tuple[str, str], float]:
    kept = rows.filter(pl.col("region").is_in(regions))
    added = kept.group_by("item", "condition").agg(pl.col("logprob_nats").sum())
    return {(item, condition): value for item, condition, value in added.iter_rows()}


def test_resps_are_of_the_regions_of_the_prediction(folder):
    runs, out = run_and_export(folder, "regions")
    [run] = open_runs(runs)
    places = run.table("requests").select("request", "region", "item", "condition", "start", "end")
    tokens = run.table("tokens").select("request", "logprob_nats", at="end")
    rows = places.join(tokens, on="request").filter(
        (pl.col("at") > pl.col("start")) & (pl.col("at") <= pl.col("end"))
    )

    verb, whole = samples(out, "verb"), samples(out, "whole")
    for row, names, regions in [
        *((row, ("plural", "singular"), [2]) for row in verb),
        *((row, ("plural", "other"), [1, 2, 3]) for row in whole),
    ]:
        assert tuple(row["doc"]["texts"]) == names
        assert len(row["arguments"]) == len(row["resps"]) == 2
        values = [float(resp[0][0]) for resp in row["resps"]]
        stated = sums(rows, regions)
        assert values == pytest.approx([stated[row["doc"]["item"], name] for name in names])
        assert row["acc"] == float(values[0] > values[1])
    # No prediction needs the first region of "singular": the conjunction has no number there.
    (last,) = {tuple(row["doc"]["texts"]) for row in samples(out, "all_predictions")}
    answers = [dict(zip(last, row["filtered_resps"], strict=True))
               for row in samples(out, "all_predictions")]  # fmt: skip
    assert {answer["singular"][0] for answer in answers} == {"None"}
    assert "None" not in {answer["plural"][0] for answer in answers}


def test_the_higher_resp_is_the_right_one_under_every_rule(folder):
    for name, options, tasks in (
        ("mean", ["--metric", "mean"], ("verb", "whole")),
        ("penlp", ["--measure", "penlp", "--prediction", "whole"], ("",)),
        ("ppl", ["--measure", "ppl", "--prediction", "whole"], ("",)),
    ):
        _, out = run_and_export(folder, name, *options)
        for task in tasks:
            (path,) = out.rglob(f"samples_keys_{task}_2*.jsonl" if task else "samples_keys_2*")
            for line in path.read_text("utf-8").splitlines():
                row = json.loads(line)
                good, bad = (float(resp[0][0]) for resp in row["resps"])
                assert row["acc"] == float(good > bad)


def test_inspect_has_the_numbers_that_a_score_compares(folder):
    runs, _ = run_and_export(folder, "regions")
    out = folder / "inspect"
    assert invoke(["export", str(runs), "--to", "inspect", "-o", str(out)]) == 0
    [run] = open_runs(runs)
    [log] = [json.loads(path.read_text("utf-8")) for path in out.iterdir()]
    for sample in log["samples"]:
        stated = sample["scores"]["verb"]["metadata"]["logprob_nats"]
        assert stated == side_values(run)["verb"][sample["id"]]
        assert set(stated) == {"plural", "singular"}


def test_runs_with_other_options_have_their_own_configuration(folder):
    runs, _ = run_and_export(folder, "regions")
    out = folder / "several"
    limited = ["run", str(folder / "keys"), "-m", "demo-causal", "-o", str(folder / "few")]
    assert invoke([*limited, "--limit", "2", "--bos", "none", "--all-tokens"]) == 0
    given = [str(runs), str(folder / "few")]
    assert invoke(["export", *given, "--to", "lm-eval", "-o", str(out)]) == 0

    found = {}
    for path in out.rglob("results_*.json"):
        plain = json.loads(path.read_text("utf-8"))
        found[plain["config"]["limit"]] = plain
        assert {line.name.partition("_2")[0] for line in path.parent.glob("samples_*")} == {
            f"samples_{task}" for task in plain["results"]
        }
    assert set(found) == {None, 2}
    bos = {limit: plain["config"]["model_args"]["bos"] for limit, plain in found.items()}
    assert bos == {None: "auto", 2: "none"}
    sizes = {limit: plain["n-samples"]["keys_verb"] for limit, plain in found.items()}
    assert sizes == {None: {"original": 6, "effective": 6}, 2: {"original": 6, "effective": 2}}

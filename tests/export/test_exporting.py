"""Runs in the formats of other programs; their rules are written down here as facts."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import shutil
import uuid
from pathlib import Path

import polars as pl
import pytest

from cimento import Estimate, open_runs
from cimento.cli.main import invoke
from cimento.export.data import run_data, standard_error
from cimento.paradigms.regions.judging import scores_of
from cimento.records.store import find_runs
from tests.helpers.benchmarks import say_fetched_from

TARGETS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")


@pytest.fixture(scope="module")
def exported(runs_of_every_kind, tmp_path_factory):
    """Every kind of run in every format: the folder with one folder for each."""
    folder = tmp_path_factory.mktemp("exported")
    for target in TARGETS:
        command = ["export", str(runs_of_every_kind), "--to", target, "-o", str(folder / target)]
        assert invoke(command) == 0
    return folder


@pytest.fixture(scope="module")
def runs(runs_of_every_kind):
    return {run.suite: run for run in run_data(open_runs(runs_of_every_kind))}


def read_json(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


def test_what_exports_start_from(runs):
    islands, blanks = runs["it-islands"], runs["it-connectives-cloze"]
    results = {result.name: result for result in islands.results}

    assert list(results) == ["DD", "both", "island", "distance", "all predictions"]
    for result in results.values():
        (estimate,) = result.estimates
        assert (estimate.n, len(result.scored)) == (3, 3)
        assert estimate in islands.run.estimates()
        assert "3 values: an interval needs 5" in estimate.reason
    assert any(one.clustered for result in blanks.results for one in result.estimates)
    ratings = runs["it-acceptability"].results
    assert {one.statistic for result in ratings for one in result.estimates} >= {"spearman"}
    assert all(len(result.scored) == len(result.outcomes) for result in ratings)
    assert set(islands.logprobs["whether-01"]) == set(islands.texts["whether-01"])


def test_a_standard_error_is_that_of_a_mean_of_ones_and_zeros():
    plain = Estimate(suite="s", model="m", question="q", value=1 / 6, n=6, right=1)

    # the standard deviation of the mean of one 1 and five 0
    assert standard_error(plain) == (pytest.approx(math.sqrt(1 / 6 * 5 / 6 / 5)), "")
    none = standard_error(dataclasses.replace(plain, value=0.0, right=0))
    assert none == (None, "all verdicts are equal, so that the formula gives 0; see the interval")
    assert standard_error(dataclasses.replace(plain, clustered=True))[0] is None
    assert standard_error(dataclasses.replace(plain, n=1))[1] == "fewer than two verdicts"
    assert standard_error(dataclasses.replace(plain, right=None, statistic="spearman"))[0] is None


# The keys that lm_eval/result_schema.py (v0.4.13) names for a record and for a sample.
LM_EVAL = {"results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better",
           "n-samples", "config", "date", "git_hash", "model_source", "model_name",
           "model_name_sanitized", "task_hashes"}  # fmt: skip
SAMPLE = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
          "doc_hash", "prompt_hash", "target_hash"}  # fmt: skip


def test_lm_eval_results_and_samples(exported, runs):
    (folder,) = (exported / "lm-eval").iterdir()
    (results,) = folder.glob("results_*.json")
    plain = read_json(results)

    assert set(plain) == LM_EVAL
    assert "it_islands_all_predictions" in plain["results"]
    for task, metrics in plain["results"].items():
        (samples,) = folder.glob(f"samples_{task}_2*.jsonl")
        rows = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
        metric = "acc" if "acc,none" in metrics else "value"
        assert all(set(row) == {*SAMPLE, metric} for row in rows)
        if metric == "acc":
            mean = sum(row["acc"] for row in rows) / len(rows)
            assert metrics["acc,none"] == pytest.approx(mean)
        else:
            assert "spearman,none" in metrics
            assert all(row["doc"]["reference"] is not None for row in rows)
        assert plain["n-samples"][task]["effective"] == metrics["sample_len"] == len(rows)
        hashes = "".join(r["doc_hash"] + r["prompt_hash"] + r["target_hash"] for r in rows)
        assert plain["task_hashes"][task] == hashlib.sha256(hashes.encode()).hexdigest()
    first = json.loads(
        next(folder.glob("samples_it_islands_DD_*")).read_text("utf-8").split("\n")[0]
    )
    texts = runs["it-islands"].texts["whether-01"]
    assert [argument["arg_1"] for argument in first["arguments"].values()] == list(texts.values())
    sums = runs["it-islands"].logprobs["whether-01"]
    numbers = [float(resp[0]) for resp in first["filtered_resps"]]
    assert numbers == pytest.approx(list(sums.values()))
    assert first["resps"] == [[resp] for resp in first["filtered_resps"]]


def test_inspect_logs(exported, runs):
    logs = [read_json(path) for path in (exported / "inspect").iterdir()]

    assert {log["eval"]["task"] for log in logs} == set(runs)
    for log in logs:
        assert (log["version"], log["status"]) == (2, "success")
        assert {"created", "task", "dataset", "model", "config"} <= set(log["eval"])
        assert log["results"]["total_samples"] == len(log["samples"])
        assert log["eval"]["dataset"]["sample_ids"] == [sample["id"] for sample in log["samples"]]
        for score in log["results"]["scores"]:
            marks = [
                sample["scores"][score["name"]]["value"]
                for sample in log["samples"]
                if score["name"] in sample["scores"]
            ]
            assert score["scored_samples"] == len(marks)
            if "accuracy" in score["metrics"]:
                assert set(marks) <= {"C", "I"}
                assert score["metrics"]["accuracy"]["value"] == pytest.approx(
                    marks.count("C") / len(marks)
                )
        for sample in log["samples"]:
            assert {"id", "epoch", "input", "target"} <= set(sample)


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
TEXTS = {"type": "object", "additionalProperties": TEXT}


def record(required: dict, optional: dict | None = None) -> dict:
    """Rules of an object with these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}),
        "additionalProperties": False,
    }


# What the two schemas of Every Eval Ever, version 0.3.0, ask of the members that are written.
RESULT = record(
    {
        "evaluation_name": TEXT,
        "source_data": record(
            {"dataset_name": TEXT, "source_type": {"const": "other"}},
            {"additional_details": TEXTS},
        ),
        "metric_config": record(
            {
                "lower_is_better": {"type": "boolean"},
                "score_type": {"const": "continuous"},
                "min_score": NUMBER,
                "max_score": NUMBER,
            },
            dict.fromkeys(
                (
                    "evaluation_description",
                    "metric_id",
                    "metric_name",
                    "metric_kind",
                    "metric_unit",
                ),
                TEXT,
            ),
        ),
        "score_details": record(
            {"score": NUMBER},
            {
                "details": TEXTS,
                "uncertainty": record(
                    {},
                    {
                        "num_samples": {"type": "integer"},
                        "standard_error": record({"value": NUMBER}, {"method": TEXT}),
                        "confidence_interval": record(
                            {"lower": NUMBER, "upper": NUMBER},
                            {
                                "confidence_level": {"type": "number", "minimum": 0, "maximum": 1},
                                "method": TEXT,
                            },
                        ),
                    },
                ),
            },
        ),
    },
    {"evaluation_result_id": TEXT, "evaluation_timestamp": TEXT},
)
AGGREGATE = record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": r"^\d+(\.\d+)?$"},
        "source_metadata": record(
            {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "source_organization_name": TEXT,
                "evaluator_relationship": {
                    "enum": ["first_party", "third_party", "collaborative", "other"]
                },
            },
            {"source_name": TEXT},
        ),
        "model_info": record(
            {
                "name": TEXT,
                "id": TEXT,
                "developer": TEXT,
                "additional_details": {
                    **TEXTS,
                    "required": ["deployment_type", "model_availability"],
                    "properties": {
                        "deployment_type": {"enum": ["self_deployed", "unknown"]},
                        "model_availability": {"enum": ["open_weights", "unknown"]},
                    },
                },
            },
            {"inference_engine": record({}, {"name": TEXT, "version": TEXT})},
        ),
        "eval_library": record({"name": TEXT, "version": TEXT}, {"additional_details": TEXTS}),
        "evaluation_results": {"type": "array", "items": RESULT},
    },
    {
        "evaluation_timestamp": TEXT,
        "detailed_evaluation_results": record(
            {},
            {
                "format": {"enum": ["jsonl", "json"]},
                "file_path": {
                    "type": "string",
                    "pattern": r"^data/[^/]+/[^/]+/[^/]+/\S+_samples\.jsonl$",
                },
                "hash_algorithm": {"enum": ["sha256", "md5"]},
                "checksum": TEXT,
                "total_rows": {"type": "integer"},
            },
        ),
    },
)
INSTANCE = record(
    {
        "schema_version": TEXT,
        "evaluation_id": TEXT,
        "model_id": TEXT,
        "evaluation_name": TEXT,
        "sample_id": TEXT,
        "interaction_type": {"const": "single_turn"},
        "input": record(
            {"raw": TEXT, "reference": {"type": "array", "items": TEXT}},
            {"choices": {"type": ["array", "null"], "items": TEXT}},
        ),
        "output": record({"raw": {"type": "array", "items": TEXT}}),
        "messages": {"type": "null"},
        "answer_attribution": {"type": "array", "maxItems": 0},
        "evaluation": record({"score": NUMBER, "is_correct": {"type": "boolean"}}),
    },
    {"evaluation_result_id": TEXT, "sample_hash": TEXT, "metadata": TEXTS},
)


def test_every_eval_ever_records(exported, runs):
    jsonschema = pytest.importorskip("jsonschema")
    records = list((exported / "every-eval-ever").rglob("*.json"))

    assert len(records) == len(runs)
    for path in records:
        plain = read_json(path)
        jsonschema.validate(plain, AGGREGATE)
        assert uuid.UUID(path.stem).version == 4
        if "detailed_evaluation_results" not in plain:
            assert "/it-acceptability/" in path.as_posix(), "only ratings have no verdicts"
            continue
        details = plain["detailed_evaluation_results"]
        data = (exported / details["file_path"].replace("data", "every-eval-ever", 1)).read_bytes()
        assert hashlib.sha256(data).hexdigest() == details["checksum"]
        rows = [json.loads(line) for line in data.decode().splitlines()]
        assert len(rows) == details["total_rows"]
        scores = {
            record["evaluation_result_id"]: record["score_details"]["score"]
            for record in plain["evaluation_results"]
        }
        for row in rows:
            jsonschema.validate(row, INSTANCE)
            assert row["evaluation_id"] == plain["evaluation_id"]
        for result, score in scores.items():
            row_scores = [
                r["evaluation"]["score"] for r in rows if r["evaluation_result_id"] == result
            ]
            assert not row_scores or score == pytest.approx(sum(row_scores) / len(row_scores))


def test_a_dataset_folder_holds_every_table_and_a_card(exported, runs):
    folder = exported / "hf-dataset"
    card = (folder / "README.md").read_text("utf-8")

    assert card.startswith('---\nlanguage:\n- "es"\n- "it"\nlicense: cc-by-4.0\n')
    tables = {path.stem for path in (folder / "data").iterdir()}
    assert {"outcomes", "estimates", "tokens", "requests", "fills", "choices"} <= tables
    assert "judgments" not in tables  # they name who judged
    for name in tables:
        assert f"- config_name: {name}\n  data_files: data/{name}.parquet" in card
    for name in ("outcomes", "estimates"):
        table = pl.read_parquet(folder / "data" / f"{name}.parquet")
        assert set(table["suite"]) == set(runs)
        assert set(table["model"]) == {"demo-causal@91bca5d"}
    assert "The model was demo-causal" in card
    assert "@inproceedings{hu2020," in card


def test_tables_for_r(exported, runs):
    folder = exported / "r"
    outcomes = list(csv.DictReader(io.StringIO((folder / "outcomes.csv").read_text("utf-8"))))
    scores = list(csv.DictReader(io.StringIO((folder / "scores.csv").read_text("utf-8"))))

    asked = [result for run in runs.values() for result in run.results]
    assert len(outcomes) == sum(len(result.outcomes) for result in asked)
    assert {row["suite"] for row in outcomes} == set(runs)
    assert {row["suite"] for row in scores} == {"it-islands", "it-acceptability"}
    assert all(row["text"] for row in scores)
    for name, measure in {(row["suite"], row["measure"]) for row in scores}:
        judged = scores_of(runs[name].run, [measure])
        stated = {(r["item"], r["condition"]): r["value"] for r in judged.iter_rows(named=True)}
        of_suite = [row for row in scores if row["suite"] == name]
        assert of_suite
        for row in of_suite:
            value = stated[row["item"], row["condition"]]
            assert float(row["value"]) == pytest.approx(value)
    scores = [row for row in scores if row["suite"] == "it-islands"]
    assert len(scores) == 3 * 4
    assert {(row["first_factor"], row["second_factor"]) for row in scores} == {
        ("distance", "structure")
    }
    of_item = {row["condition"]: row for row in scores if row["item"] == "whether-01"}
    levels = of_item["long_island"]
    assert (levels["distance"], levels["structure"]) == ("long", "island")
    assert (levels["distance_code"], levels["structure_code"]) == ("0.5", "-0.5")
    plain = of_item["short_nonisland"]
    assert (plain["distance_code"], plain["structure_code"]) == ("-0.5", "0.5")
    assert plain["text"] == runs["it-islands"].texts["whether-01"]["short_nonisland"]
    bits = -runs["it-islands"].logprobs["whether-01"]["long_island"] / math.log(2)
    assert of_item["long_island"]["measure"] == "surprisal-bits"
    assert float(of_item["long_island"]["value"]) == pytest.approx(bits)
    assert float(of_item["long_island"]["oriented"]) == pytest.approx(-bits)
    sentences = list(csv.DictReader(io.StringIO((folder / "sentences.csv").read_text("utf-8"))))
    assert {row["suite"] for row in sentences} == set(runs)
    blank = next(row for row in sentences if row["suite"] == "it-connectives-cloze")
    assert "___" in blank["text"]
    assert any(row["cluster"] for row in outcomes if row["suite"] == "it-connectives-cloze")
    first = {"whether", "complex_np", "subject"}
    assert {row["phenomenon"] for row in outcomes if row["suite"] == "it-islands"} == first
    rated = [row for row in sentences if row["suite"] == "it-acceptability"]
    assert all(row["rating"] and row["phenomenon"] for row in rated)
    assert {row["phenomenon"] for row in scores} == first


def test_the_same_run_makes_the_same_files(runs_of_every_kind, exported, tmp_path):
    for target in TARGETS:
        again = tmp_path / target
        command = ["export", str(runs_of_every_kind), "--to", target, "-o", str(again)]
        assert invoke(command) == 0
        for path in again.rglob("*"):
            other = exported / target / path.relative_to(again)
            assert path.is_dir() or path.read_bytes() == other.read_bytes()


def test_bad_input_is_refused(tmp_path, runs_of_every_kind, capsys):
    run = str(runs_of_every_kind)
    assert invoke(["export", str(tmp_path), "--to", "r", "-o", str(tmp_path / "x")]) == 2
    assert "no finished run" in capsys.readouterr().err
    assert invoke(["export", run, "--to", "helm", "-o", str(tmp_path / "x")]) == 2
    assert "--to: got 'helm'. Known: eval-results" in capsys.readouterr().err
    wrong = ["export", run, "--to", "r", "-o", str(tmp_path / "x"), "--organization", "We"]
    assert invoke(wrong) == 2
    (tmp_path / "file").write_text("", "utf-8")
    assert invoke(["export", run, "--to", "r", "-o", str(tmp_path / "file")]) == 2


def test_one_run_is_one(runs_of_every_kind, tmp_path, capsys):
    run = str(runs_of_every_kind / "it-islands")
    capsys.readouterr()

    assert invoke(["export", run, "--to", "hf-dataset", "-o", str(tmp_path)]) == 0
    assert "1 run is in" in capsys.readouterr().err
    assert "\n1 run of cimento," in (tmp_path / "README.md").read_text("utf-8")


def test_two_runs_of_one_task_are_not_mixed_up(runs_of_every_kind, tmp_path, capsys):
    run = str(runs_of_every_kind / "it-islands")

    assert invoke(["export", run, run, "--to", "lm-eval", "-o", str(tmp_path)]) == 2
    assert "its task it_islands_DD is that of" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_date_is_refused(runs_of_every_kind, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(next(find_runs(runs_of_every_kind / "it-islands")).path, copy)
    plain = read_json(copy / "manifest.json")
    (copy / "manifest.json").write_text(json.dumps({**plain, "created": "today"}), "utf-8")

    for target in ("lm-eval", "every-eval-ever"):
        assert invoke(["export", str(copy), "--to", target, "-o", str(tmp_path / target)]) == 2
        assert "does not say when the run was made" in capsys.readouterr().err


def test_results_for_model_cards_are_one_file_for_each_model(runs_of_every_kind, tmp_path, capsys):
    hub = pytest.importorskip("huggingface_hub")
    yaml = pytest.importorskip("yaml")
    runs = say_fetched_from(shutil.copytree(runs_of_every_kind, tmp_path / "runs"), "lab/suites")
    command = ["export", str(runs), "--to", "eval-results", "-o", str(tmp_path / "cards")]
    assert invoke([*command, "--dataset", "lab/suites"]) == 0
    (path,) = tmp_path.rglob("*.yaml")
    assert path.parent.name == ".eval_results"
    entries = hub.parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))
    headlines = {
        run.suite_name: one.value
        for run in open_runs(runs_of_every_kind)
        for one in run.estimates()
        if (one.role == "headline" or one.statistic == "DD") and one.value is not None
    }
    assert {entry.task_id: entry.value for entry in entries} == pytest.approx(headlines)
    capsys.readouterr()
    assert invoke([*command, "--dataset", "suites"]) == 2
    assert "OWNER/NAME" in capsys.readouterr().err
    assert invoke(command) == 2
    assert "eval-results needs --dataset OWNER/NAME" in capsys.readouterr().err
    assert invoke([*command, "--dataset", "a/b", "--organization", "Us"]) == 2
    assert "no place for it" in capsys.readouterr().err


def test_a_card_has_no_suite_that_was_not_fetched_from_the_benchmark(tmp_path, capsys, monkeypatch):
    """A starter suite and a table of one's own are refused, and so is a set of another address."""
    monkeypatch.chdir(tmp_path)
    own, fetched = tmp_path / "own.tsv", tmp_path / "lamps" / "pairs.tsv"
    fetched.parent.mkdir()
    for path in (own, fetched):
        path.write_text("good\tbad\nLe luci sono accese.\tLe luci è accese.\n", "utf-8")
    address = "https://huggingface.co/datasets/lab/lamps"
    source = {"name": "lamps", "address": address, "revision": "1" * 40, "complete": True,
              "files": {"pairs.tsv": ""}}  # fmt: skip
    (fetched.parent / "source.json").write_text(json.dumps(source), "utf-8")
    model = ["-m", "demo-causal", "--limit", "2", "-o", "runs"]
    assert invoke(["run", "pt-determiner-noun-adjective", *model]) == 0
    assert invoke(["run", str(own), str(fetched), "--language", "it", *model]) == 0
    command = ["export", "runs", "--to", "eval-results", "-o", "cards", "--dataset"]
    capsys.readouterr()
    assert invoke([*command, "lab/lamps"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "not fetched from it: own, pt-determiner-noun-adjective" in said
    assert not Path("cards").exists()
    command[1] = "runs/pairs"
    assert invoke([*command, "jumelet/multiblimp"]) == 2
    assert invoke([*command, "lab/lamps"]) == 0
    assert len([*Path("cards").rglob("*.yaml")]) == 1

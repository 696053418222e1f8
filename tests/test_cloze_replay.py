"""Recorded candidates judged without a model."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest

from cimento.answers import FILLS, VERDICTS, read_table
from cimento.cli.main import invoke
from cimento.cloze.asking import plan_fills
from cimento.cloze.records import ClozeItem, ClozeSuite, Option
from cimento.cloze.replaying import open_recording
from cimento.cloze.writers.native import write_folder
from cimento.engine.cache import MemoryCache
from cimento.errors import InputError
from cimento.suites.model import Meta

ITEMS = (
    ClozeItem(
        "pioggia",
        "Siamo usciti ",
        " pioveva.",
        (
            Option("anche se"),
            Option("mentre", "plausible"),
            Option("quindi", "implausible"),
        ),
        columns={"relation": "concessive", "sentence": "a"},
    ),
    ClozeItem(
        "febbre",
        "Il bambino resta a casa ",
        " ha la febbre.",
        (Option("perché", variants=("perche'",)), Option("ma", "implausible")),
        columns={"relation": "causal", "sentence": "a"},
    ),
    ClozeItem("fame", "Ho fame, ", " mangio.", (Option("quindi"), Option("se", "implausible"))),
)
SUITE = ClozeSuite(Meta("it-connectives-small", language="it"), items=ITEMS)


@pytest.fixture
def suite_folder(tmp_path):
    return write_folder(SUITE, tmp_path / "suite")


def test_recorded_candidates_are_judged_without_a_model(suite_folder, tmp_path, capsys):
    rows = [
        ("pioggia", 1, "mentre", 0.5), ("pioggia", 2, '"', 0.3),
        ("febbre", 1, "Perché", 0.9), ("febbre", 2, "null", 0.05),
        ("fame", 1, "##i", 0.4), ("fame", 2, "quindi", 0.1),
    ]  # fmt: skip
    recorded = tmp_path / "recorded.tsv"
    lines = ["item\trank\tcandidate\tprobability", *("\t".join(map(str, row)) for row in rows)]
    recorded.write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ["run", str(suite_folder), "-m", f"replay:{recorded}", "-o", str(tmp_path / "runs")]
    assert invoke([*arguments, "--set", "k=2", "--set", "by=relation", "--json"]) == 0
    [made] = json.loads(capsys.readouterr().out)["cloze"]
    [method] = made["methods"]
    assert [(rate["correct"], rate["n"]) for rate in method["hits"]] == [(1, 3), (2, 3)]
    assert method["kinds"] == {"word": 4, "punctuation": 1, "piece": 1}
    assert method["hits_by"]["relation"]["causal"][0]["correct"] == 1
    folder = next((tmp_path / "runs" / SUITE.name).iterdir())
    verdicts = read_table(VERDICTS, folder)
    assert verdicts.filter(pl.col("verdict") == "pass")["item"].to_list() == [
        "febbre", "febbre", "fame",
    ]  # fmt: skip
    fills = read_table(FILLS, folder)
    assert fills["logprob_nats"].to_list()[0] == pytest.approx(math.log(0.5))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item\trank\n", "candidate"),
        ("item\trank\tcandidate\nfame\t1\n", "2 cells and 3 columns"),
        ("item\trank\tcandidate\nfame\tx\ta\n", "no number"),
        ("item\trank\tcandidate\tprobability\nfame\t1\ta\t1.5\n", "no probability"),
        ("item\trank\tcandidate\nfame\t1\ta\nfame\t1\tb\n", "two candidates have rank 1"),
    ],
)
def test_recordings_that_cannot_be_used_are_refused(content, said, tmp_path):
    path = tmp_path / "recorded.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        open_recording(str(path))


def test_a_recording_of_another_suite_is_refused(tmp_path):
    path = tmp_path / "recorded.tsv"
    path.write_text("item\trank\tcandidate\nfame\t1\ta\n", encoding="utf-8")
    with pytest.raises(InputError, match="'pioggia' is not in it"):
        open_recording(str(path)).fill(plan_fills(ITEMS), [0], cache=MemoryCache())


@pytest.mark.golden
def test_the_recorded_predictions_of_the_brazilian_study_give_its_hits(shared, tmp_path, capsys):
    """Counts of Tables 1 and 13 as spec/portuguese.md section 3 prints them."""
    from cimento.cloze.readers.portuguese import read_instances, read_multiword_cells

    golden = shared / "golden/portuguese"
    items = tuple(read_multiword_cells(golden / "mwe_items.jsonl"))
    suite = ClozeSuite(Meta("mwe", language="pt"), items=items, cluster="expression")
    folder = write_folder(suite, tmp_path / "mwe")
    arguments = ["run", str(folder), "-o", str(tmp_path / "runs"), "--set", "by=word", "--json"]
    for model in ("bertimbau-base", "bertimbau-large", "mbert"):
        arguments += ["-m", f"replay:{golden / 'mwe_predictions.jsonl'}#{model}"]
    assert invoke(arguments) == 0
    expected = [((66, 95), (75, 106)), ((87, 108), (85, 111)), ((11, 28), (6, 19))]
    printed = json.loads(capsys.readouterr().out)
    [found] = printed["comparisons"]
    assert (found["pairs"][0]["k"], found["pairs"][0]["only_first"]) == (1, 8)
    assert [pair["k"] for pair in found["pairs"]] == [1, 1, 1, 10, 10, 10]
    assert (found["n"], found["clusters"], found["left_out"]) == (330, 33, 0)
    # By expressions, 10 sentences each; as if all sentences were independent p would be 1e-50.
    assert [test["p"] for test in found["cochran_q"]] == [1e-4, 1e-4]
    for run, words in zip(printed["cloze"], expected, strict=True):
        by = run["methods"][0]["hits_by"]["word"]
        assert tuple(tuple(s["correct"] for s in by[word]) for word in "12") == words

    instances = tuple(each.item for each in read_instances(golden / "grammar_instances.jsonl"))
    suite = ClozeSuite(Meta("grammar", language="pt"), items=instances, cluster="template")
    folder = write_folder(suite, tmp_path / "grammar")
    recorded = golden / "grammar_judgments.tsv"
    arguments = ["run", str(folder), "-m", f"replay:{recorded}", "-o", str(tmp_path / "runs")]
    arguments += ["--set", f"judgments={recorded}", "--set", "by=dimension", "--json"]
    assert invoke(arguments) == 0
    [run] = json.loads(capsys.readouterr().out)["cloze"]
    method = run["methods"][0]
    assert (method["fitting_micro"][1]["correct"], method["fitting_micro"][1]["n"]) == (9164, 12319)
    assert method["kinds"]["piece"] == 117
    assert method["kinds"]["unknown"] == 43
    assert "1 candidate of 12320 not judged" in method["warnings"][0]

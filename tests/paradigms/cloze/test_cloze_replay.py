"""Recorded candidates judged without a model."""

from __future__ import annotations

import json
import math
from collections import Counter

import polars as pl
import pytest

from cimento import InputError, Meta, evaluate, open_run
from cimento.cli.main import invoke
from cimento.paradigms.cloze.files import write_cloze
from cimento.paradigms.cloze.recording import read_recorded_candidates
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option
from tests.helpers.connectives import CONNECTIVES


@pytest.fixture
def suite_folder(tmp_path):
    return write_cloze(CONNECTIVES, tmp_path / "suite")


def counts(run, question, group="", level=""):
    """Right and judged ones of an estimate of a run, as JSON has it."""
    [rate] = [
        estimate
        for estimate in run["estimates"]
        if (estimate["question"], estimate["group"], estimate["level"]) == (question, group, level)
        and estimate["right"] is not None
    ]
    return rate["right"], rate["n"]


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
    [made] = json.loads(capsys.readouterr().out)["runs"]
    assert counts(made, "hit@1") == (1, 3)
    assert counts(made, "hit@2") == (2, 3)
    assert counts(made, "hit@1", "relation", "causal")[0] == 1
    run = open_run(made["folder"])
    outcomes = run.outcomes()
    assert outcomes.filter(pl.col("verdict") == "pass")["item"].to_list() == [
        "febbre", "febbre", "fame",
    ]  # fmt: skip
    fills = run.table("fills")
    assert fills["kind"].to_list() == ["word", "punctuation", "word", "word", "piece", "word"]
    assert fills["logprob_nats"].to_list()[0] == pytest.approx(math.log(0.5))
    assert (run.model_kind, run.model.partition("@")[0]) == ("replay", "recorded")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item\trank\n", "candidate"),
        ("item\trank\tcandidate\nfame\t1\n", "2 cells and 3 columns"),
        ("item\trank\tcandidate\nfame\tx\ta\n", "not a number"),
        ("item\trank\tcandidate\tprobability\nfame\t1\ta\t1.5\n", "not a probability"),
        ("item\trank\tcandidate\nfame\t1\ta\nfame\t1\tb\n", "two candidates have rank 1"),
    ],
)
def test_recordings_that_cannot_be_used_are_refused(content, said, tmp_path):
    path = tmp_path / "recorded.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_recorded_candidates(str(path))


def test_a_recording_of_another_suite_is_refused(tmp_path):
    path = tmp_path / "recorded.tsv"
    path.write_text("item\trank\tcandidate\nfame\t1\ta\n", encoding="utf-8")
    with pytest.raises(InputError, match="no answer for item 'pioggia'"):
        evaluate(CONNECTIVES, f"replay:{path}")


def test_items_of_one_text_have_one_answer(tmp_path):
    again = ClozeItem("fame/2", "Ho fame, ", " mangio.", (Option("dunque"),))
    suite = ClozeSuite(Meta("it-twice", language="it"), items=(CONNECTIVES.items[2], again))
    path = tmp_path / "recorded.tsv"
    path.write_text("item\trank\tcandidate\nfame\t1\ta\nfame/2\t1\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match="'fame/2' has another answer than item 'fame'"):
        evaluate(suite, f"replay:{path}")


@pytest.mark.slow
@pytest.mark.golden
def test_the_recorded_predictions_of_the_brazilian_study_give_its_hits(shared, tmp_path, capsys):
    """Counts of Tables 1 and 13 as spec/portuguese.md section 3 prints them."""
    notebook = shared / "data/authors/portuguese/BertMaskMWE.ipynb"
    arguments = ["run", str(notebook), "-o", str(tmp_path / "runs")]
    arguments += ["--set", "by=word", "--json"]
    for model in ("bertimbau-base", "bertimbau-large", "mbert"):
        arguments += ["-m", f"replay:{notebook}#{model}"]
    assert invoke(arguments) == 0
    expected = [((66, 95), (75, 106)), ((87, 108), (85, 111)), ((11, 28), (6, 19))]
    printed = json.loads(capsys.readouterr().out)
    base, large = ({o["item"] for o in run["outcomes"] if o["question"] == "hit@1" and o["right"]}
                   for run in printed["runs"][:2])  # fmt: skip
    assert len(base - large) == 8
    for run, words in zip(printed["runs"], expected, strict=True):
        asked = ("hit@1", "hit@10")
        hits = (tuple(counts(run, at, "word", word)[0] for at in asked) for word in "12")
        assert tuple(hits) == words

    recorded = notebook.with_name("all-eval.tsv")
    arguments = ["run", str(recorded), "-m", f"replay:{recorded}", "-o", str(tmp_path / "runs")]
    arguments += ["--set", f"judgments={recorded}", "--set", "by=dimension", "--json"]
    assert invoke(arguments) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert counts(run, "fits@10") == (9164, 12319)
    kinds = Counter(open_run(run["folder"]).table("fills")["kind"])
    assert (kinds["piece"], kinds["unknown"]) == (117, 43)
    assert any("1 candidate of 12320 not judged" in text for text in run["warnings"])


def test_a_released_file_that_cannot_be_used_is_named(tmp_path, capsys):
    path = tmp_path / "BertMaskMWE.ipynb"
    path.write_text('{"cells": []}\n', encoding="utf-8")
    assert invoke(["run", str(path), "-m", "demo-masked", "-o", str(tmp_path / "runs")]) == 2
    assert "BertMaskMWE.ipynb: it has no multiword items" in capsys.readouterr().err

"""Blanks and stories as multiple-choice tasks of lm-evaluation-harness."""

from __future__ import annotations

import json

import pytest
import yaml

from cimento import evaluate
from cimento.cli.main import invoke
from cimento.evaluation.freetext import score_texts


def rows_of(folder, task):
    lines = (folder / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def summed_bits(prompt, text):
    """What the harness compares, with the other sign: the surprisal of a text after a prompt."""
    table = score_texts([text.removeprefix(" ")], "demo-causal", contexts=[prompt])
    return sum(table["surprisal_bits"].to_list())


@pytest.mark.slow
def test_a_blank_is_its_options_with_what_stands_after_them(tmp_path):
    folder = tmp_path / "blanks"
    arguments = ["suites", "convert", "it-connectives-cloze", "--to", "lm-eval"]
    assert invoke([*arguments, "-o", str(folder)]) == 0
    task = yaml.safe_load((folder / "it_connectives_cloze.yaml").read_text(encoding="utf-8"))
    assert task["dataset_kwargs"] == {"data_files": "blanks/it_connectives_cloze.jsonl"}
    assert (task["output_type"], task["target_delimiter"]) == ("multiple_choice", "")
    rows = rows_of(folder, "it_connectives_cloze")
    assert len(rows) == 270
    assert all(len(row["choices"]) == 5 for row in rows)
    # The harness takes the text with the higher sum: cimento's choice by the whole sentence.
    run = evaluate("it-connectives-cloze", "demo-causal", choice="sentence", limit=6)
    outcomes = run.outcomes()
    choices = outcomes.filter(outcomes["question"] == "choice", outcomes["method"] == "sentence")
    ours = dict(choices.select("item", "right").iter_rows())
    expected = {
        row["item"]: min(row["choices"], key=lambda text: summed_bits(row["prompt"], text))
        == row["choices"][row["gold"]]
        for row in rows[:6]
        if row["prompt"]
    }
    assert expected
    assert {item: ours[item] for item in expected} == expected


@pytest.mark.slow
def test_stories_are_three_tasks_with_the_prompts_that_a_run_asks(tmp_path):
    folder = tmp_path / "tales"
    assert invoke(["suites", "convert", "it-stories", "--to", "lm-eval", "-o", str(folder)]) == 0
    run = evaluate("it-stories", "demo-causal", chat="no", limit=3)
    asked = run.table("requests")
    for tier in ("story_class", "conflict_detec", "physical_state"):
        rows = {row["item"]: row for row in rows_of(folder, f"it_stories_{tier}")}
        mine = asked.filter(asked["condition"] == tier, asked["item"].is_not_null())
        assert mine.height
        for item, text in mine.select("item", "text").iter_rows():
            row = rows[item]
            assert row["prompt"] == text.rstrip()
            assert 0 <= row["gold"] < len(row["choices"])
            assert all(choice.startswith(" ") for choice in row["choices"])


@pytest.mark.parametrize("name", ["pt-idioms", "pt-collocations"])
def test_blanks_without_options_are_refused(tmp_path, capsys, name):
    arguments = ["suites", "convert", name, "--to", "lm-eval", "-o", str(tmp_path / "x")]
    assert invoke(arguments) == 2
    assert "nothing to choose among" in capsys.readouterr().err

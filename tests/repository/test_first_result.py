"""The first screen of README: its table and its picture are what their data give."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest
from scipy.stats import binomtest

import first_result
import two_items
from cimento.cli.main import invoke
from tests.helpers.docs_pages import blocks

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "docs" / "checkpoints.md"
MODELS = ("Meta-Llama-3.1-8B-Instruct", "Meta-Llama-3.1-70B-Instruct", "gemma-2-9b-it")


def test_accuracies_are_those_of_table_3_and_of_the_constant_answer():
    # Pensa et al. 2024, Table 3, "Accuracy"; 238 of the 356 stories are impossible: 66.85%.
    expected = [("77.25", "77.25"), ("74.16", "74.16"), ("72.75", "72.75"), ("", "66.85")]
    assert [(printed, now) for _, printed, now, _ in first_result.rows()] == expected


def test_discordant_stories_are_those_of_the_logs():
    # expected_paired_story_class.json beside the released answers: 38 and 27, exact p 0.2145...
    verdicts, design = first_result.read()
    found = {}
    for first, second in combinations(first_result.PRINTED, 2):
        pairs = Counter(zip(verdicts[first], verdicts[second], strict=True))
        found[first, second] = pairs[True, False], pairs[False, True]
    assert list(found.values()) == [(38, 27), (69, 53), (78, 73)]
    assert (design.n, design.m) == (356, 117)
    assert binomtest(27, 65).pvalue == pytest.approx(0.2145391940081784)


def test_no_difference_is_significant_with_clusters_either():
    for _, value, low, high, p in first_result.differences():
        assert low < 0 < value < high
        assert p > 0.25


@pytest.mark.golden
def test_the_counts_are_those_of_the_released_answers(shared):
    folder = shared / "golden" / "stories"
    lines = (folder / "dataset" / "gita4calamita.jsonl").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    digits = [[] for _ in stories]
    for model in MODELS:
        answers = (folder / "responses" / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, answers):
            if row["task"] == "story_class":
                said = row["ll"][1] > row["ll"][0]
                digits[row["doc"]].append("01"[said == stories[row["doc"]]["plausible"]])
    families = defaultdict(list)
    for story, known in zip(stories, digits, strict=True):
        families[story["story_id"]].append("".join(known) + "01"[not story["plausible"]])
    counts = Counter(" ".join(sorted(known, reverse=True)) for known in families.values())
    kept = [line.split("\t") for line in first_result.VERDICTS.read_text("utf-8").splitlines()[1:]]
    assert counts == {verdicts: int(count) for count, verdicts in kept}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_pages_show_what_the_script_prints(page, capsys):
    first_result.main()
    table, _, differences = capsys.readouterr().out.partition("\n\n")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert table in text
    assert differences in text or page == "README.md"


def test_the_picture_is_that_of_the_recording_and_its_sums_are_right():
    drawn = two_items.picture(two_items.replayed())
    assert two_items.PICTURE.read_text(encoding="utf-8") == drawn
    # By hand, from grnn.tsv: "in front of" after that and after what, "in full view of" likewise.
    first = 7.414894 + 5.734955 + 0.045228, 3.475513 + 7.039057 + 0.032947
    second = 4.985428 + 11.222540 + 7.176736 + 1.190642, 3.669177 + 12.630682 + 7.269060 + 2.059464
    for total in (*first, *second):
        assert f">{total:.1f} bits<" in drawn
    assert f"✓ correct, by {first[0] - first[1]:.1f} bits" in drawn
    assert f"✗ incorrect, by {second[1] - second[0]:.1f} bits" in drawn


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("](") <= 15
    words = [word for word in text.split() if any(letter.isalnum() for letter in word)]
    assert len(words) <= 550


@pytest.mark.slow  # it runs two models on twelve suites
def test_the_gate_of_the_readme_is_what_the_command_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mixing = next(one for one in blocks(CHECKPOINTS) if one.language == "python")
    exec(mixing.text, {})  # noqa: S102  # the docs' own code
    for step, folder in ((3000, "released"), (2000, "candidate")):
        model = f"out/checkpoint-{step}"
        assert invoke(f"run --language it --sets starter -m {model} -o {folder}".split()) == 0
    [gate] = [one for one in blocks(ROOT / "README.md") if "--fail-if-worse" in one.text]
    command, said = gate.text.split("\n...\n")
    capsys.readouterr()
    assert invoke(command.removeprefix("$ cimento ").split()) == 4
    out, err = capsys.readouterr()
    assert " ".join(said.split()) == err.splitlines()[-1]
    # The page on checkpoints shows more of the same.
    [page] = [one for one in blocks(CHECKPOINTS) if one.text.startswith(command + "\n")]
    shown = [line for line in page.text.splitlines()[1:] if line != "..."]
    assert [line for line in shown if line not in out.splitlines() + err.splitlines()] == []

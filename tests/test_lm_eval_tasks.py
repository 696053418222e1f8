"""Tasks of lm-evaluation-harness: written, read back, and refused where they are something else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cimento.cli.main import invoke
from cimento.errors import InputError
from cimento.suites.builtin import find_suite
from cimento.suites.load import load_suite

TASK = """
include: base.yaml
task: verbs
doc_to_choice: "{{[wrong, right]}}"
doc_to_target: 1
"""
BASE = """
dataset_path: json
dataset_kwargs: {data_files: verbs.jsonl}
output_type: multiple_choice
"""
DATA = '{"wrong": "Il sole splendono.", "right": "Il sole splende.", "level": 2}\n'


def task(folder: Path, **changed: str) -> Path:
    files = {"verbs.yaml": TASK, "base.yaml": BASE, "verbs.jsonl": DATA}
    for name, text in {**files, **{k.replace("_", "."): v for k, v in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "verbs.yaml"


def test_a_task_is_read_with_what_it_includes(tmp_path: Path) -> None:
    loaded = load_suite(task(tmp_path))
    assert (loaded.format, loaded.suite.name) == ("lm-eval", "verbs")
    (item,) = loaded.suite.items
    assert item.condition("good").regions[0].text == "Il sole splende."
    assert item.condition("bad").regions[0].text == "Il sole splendono."
    assert item.column("level") == "2"


@pytest.mark.parametrize(
    ("changed", "seen"),
    [
        ({"base_yaml": "dataset_path: org/verbs\n"}, "Fetch the dataset org/verbs"),
        ({"verbs_yaml": TASK.replace("target: 1", "target: label")}, "not a task of minimal"),
        ({"verbs_yaml": TASK.replace("[wrong, right]", "choices")}, "not a task of minimal"),
        ({"verbs_yaml": "process_docs: !function utils.f\n"}, "no YAML that can be read safely"),
        ({"verbs_yaml": "include: verbs.yaml\n"}, "without end"),
        ({"verbs_yaml": "- a\n"}, "there are no keys"),
        ({"verbs_jsonl": '{"wrong": "a"}\n'}, "row 1: there is no text in 'right'"),
        ({"verbs_jsonl": "{"}, "is not JSON"),
    ],
)
def test_other_tasks_are_refused(tmp_path: Path, changed: dict[str, str], seen: str) -> None:
    with pytest.raises(InputError, match=seen):
        load_suite(task(tmp_path, **changed))


def test_a_suite_comes_back_from_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    command = ["suites", "convert", "es-subject-verb", "--to", "lm-eval", "-o", str(folder)]
    assert invoke(command) == 2
    assert invoke([*command, "--allow-loss"]) == 0
    written = yaml.safe_load((folder / "es_subject_verb.yaml").read_text(encoding="utf-8"))
    assert written["doc_to_choice"] == "{{[sentence_good, sentence_bad]}}"
    assert (written["doc_to_target"], written["output_type"]) == (0, "multiple_choice")
    again = load_suite(folder / "es_subject_verb.yaml").suite
    suite = load_suite(find_suite("es-subject-verb")).suite
    assert len(again.items) == len(suite.items) * len(suite.predictions)
    first = suite.items[0].condition("match")
    assert again.items[0].condition("good").regions[0].text == " ".join(
        region.text for region in first.regions if region.text
    )

"""A task of lm-evaluation-harness: a YAML file and the pairs it asks for, as BLiMP JSONL."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cimento.files import write_text
from cimento.suites.model import Suite
from cimento.suites.writers.blimp import write_blimp

_TASK = """\
# Minimal pairs of {suite}, written by cimento; run it with
#   lm_eval --model hf --model_args pretrained=MODEL --tasks {task} --include_path FOLDER
# from the folder that FOLDER is in: the path of the data is relative to the working folder.
# target_delimiter is what stands before each sentence: {said}.
task: {task}
dataset_path: json
dataset_kwargs:
  data_files: {data}
output_type: multiple_choice
test_split: train
doc_to_text: ""
target_delimiter: {delimiter}
doc_to_choice: "{{{{[sentence_good, sentence_bad]}}}}"
doc_to_target: 0
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: {version}
"""


_BLANK = "a blank, as the suite says"
_NOTHING = 'nothing, as cimento scores; tasks without this line, such as blimp_*, have " "'


def write_lm_eval(suite: Suite, folder: Path) -> Path:
    """Write a folder with a task and its data.

    The good sentence is the first choice; the harness takes the choice of the higher
    log-probability, and the first where they are equal.

    Args:
        suite: whose predictions compare one condition with one other.
        folder: to write to.

    Raises:
        InputError: no prediction makes pairs.
        StorageError: the folder cannot be written.
    """
    task = re.sub(r"[^A-Za-z0-9_]+", "_", suite.name)
    data = folder / f"{task}.jsonl"
    write_blimp(suite, data)
    text = _TASK.format(
        suite=" ".join(suite.name.split()),
        task=task,
        delimiter='" "' if suite.leading_blank else '""',
        said=_BLANK if suite.leading_blank else _NOTHING,
        data=json.dumps(f"{folder.name}/{data.name}"),
        version=json.dumps(suite.meta.version or "0"),
    )
    write_text(text, folder / f"{task}.yaml")
    return folder

"""The logs of lm-evaluation-harness with ``--log_samples``, sample by sample.

Each task of a model is a file ``samples_TASK_TIME.jsonl``, beside ``results_TIME.json``, which
names the model. A sample holds the document that it was made from, what was asked, and the summed
log-probability of each option, in nats. Logs of 2024 and later are read, and those that
``cimento export --to lm-eval`` writes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cimento.errors import InputError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.suites.model import JsonValue
from cimento.suites.reading import sha256_of

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl")
_NAMED = re.compile(r"(?:^|,)(?:pretrained|model|peft)=([^,]+)")
_GET_THEM = "lm-eval writes them with --log_samples --output_path FOLDER."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One document of a task with the model's answers.

    Attributes:
        where: it stands, for messages.
        doc: as the task's data have it.
        contexts: what stood before each option.
        options: as they were asked, with the blank before them where there is one.
        logprobs_nats: of each option; NaN where none was logged.
        greedy: whether the model would have written each option; None where that is not known.
    """

    where: str
    doc: Mapping[str, JsonValue]
    contexts: tuple[str, ...]
    options: tuple[str, ...]
    logprobs_nats: tuple[float, ...]
    greedy: tuple[bool | None, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The whole scored texts."""
        return tuple(a + b for a, b in zip(self.contexts, self.options, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLog:
    """The samples of one task.

    Attributes:
        task: its name.
        path: of the file.
        sha256: of the file, hexadecimal.
        samples: in order.
    """

    task: str
    path: Path
    sha256: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLog:
    """The logs of one model in one folder.

    Attributes:
        model: as lm-eval was given it, such as ``org/name``.
        folder: of its files.
        tasks: the newest log of each task.
    """

    model: str
    folder: Path
    tasks: tuple[TaskLog, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tasks."""
        return tuple(task.task for task in self.tasks)

    @property
    def sha256(self) -> str:
        """Of all its files together, hexadecimal."""
        return sha256_of(*(task.sha256.encode() for task in self.tasks))


def is_log(path: Path) -> bool:
    """Whether a path is a file of samples, or a folder with some in it."""
    return bool(_FILE.fullmatch(path.name)) or (
        path.is_dir() and next(path.rglob("samples_*.jsonl"), None) is not None
    )


def read_logs(path: Path) -> list[ModelLog]:
    """The logs of a folder and all below, or one file of samples.

    Raises:
        InputError: there are none, or one cannot be used.
    """
    files = [path] if path.is_file() else sorted(path.rglob("samples_*.jsonl"))
    folders: dict[Path, dict[str, Path]] = {}
    for file in files:
        if match := _FILE.fullmatch(file.name):
            # Logs are read in order of time, so that the newest replaces earlier ones.
            folders.setdefault(file.parent, {})[match["task"]] = file
    if not folders:
        seen = "there are no samples_TASK_TIME.jsonl"
        raise InputError(where=str(path), seen=seen, todo=_GET_THEM)
    return [
        ModelLog(
            model=_model_of(folder),
            folder=folder,
            tasks=tuple(_read_task(task, file) for task, file in tasks.items()),
        )
        for folder, tasks in folders.items()
    ]


def one_log(path: Path) -> ModelLog:
    """The log of the only model in a folder.

    Raises:
        InputError: there are several, or none, or one cannot be used.
    """
    logs = read_logs(path)
    if len(logs) > 1:
        folders = ", ".join(str(log.folder.relative_to(path)) for log in logs)
        raise InputError(
            where=str(path), seen="it holds the logs of several models", todo=f"Name one: {folders}"
        )
    return logs[0]


def _model_of(folder: Path) -> str:
    """The model that a folder's results name; else the name of the folder, as lm-eval makes it."""
    for results in sorted(folder.glob("results_*.json"), reverse=True):
        try:
            content = parse_json(read_bytes(results))
        except json.JSONDecodeError:
            continue
        config = content.get("config") if isinstance(content, dict) else None
        args = config.get("model_args") if isinstance(config, dict) else None
        named = _NAMED.search(args) if isinstance(args, str) else None
        name = args.get("pretrained") if isinstance(args, dict) else named and named[1]
        if name or (name := content.get("model_name") if isinstance(content, dict) else None):
            return str(name)
    return folder.name.replace("__", "/")


def _read_task(task: str, path: Path) -> TaskLog:
    data = read_bytes(path)
    try:
        samples = tuple(_samples(data.decode("utf-8"), path))
    except UnicodeDecodeError as error:
        raise InputError(where=str(path), seen=f"not UTF-8: {error}", todo=_GET_THEM) from error
    return TaskLog(task=task, path=path, sha256=sha256_of(data), samples=samples)


def _samples(text: str, path: Path) -> Iterator[Sample]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            yield _sample(parse_json(line), where)
        except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
            raise InputError(
                where=f"{path.parent / path.name} line {number}",
                seen="it is no sample of a task with options that were scored",
                todo=_GET_THEM,
            ) from error


def _sample(line: Any, where: str) -> Sample:  # noqa: ANN401  # what JSON has
    asked = line["arguments"]
    pairs: Sequence[Sequence[str]] = (
        [(each["arg_0"], each["arg_1"]) for each in asked.values()]
        if isinstance(asked, Mapping)
        else asked
    )
    responses = [each[0] for each in line["resps"]]
    answers = [_number_and_flag(response) for response in responses]
    contexts, options = zip(*((str(pair[0]), str(pair[1])) for pair in pairs), strict=True)
    values, greedy = zip(*answers[: len(options)], strict=True)
    if len(values) != len(options) or not isinstance(line["doc"], Mapping):
        raise ValueError("there are as many answers as options")
    return Sample(
        where=where,
        doc=line["doc"],
        contexts=contexts,
        options=options,
        logprobs_nats=values,
        greedy=greedy,
    )


def _number_and_flag(answer: Sequence[object]) -> tuple[float, bool | None]:
    """The two parts of an answer, which lm-eval writes as JSON or as Python prints them."""
    value, greedy = answer
    number = math.nan if value in (None, "None") else float(str(value))
    return number, {"true": True, "false": False}.get(str(greedy).lower())

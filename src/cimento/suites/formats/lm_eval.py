"""Tasks of lm-evaluation-harness: read if they are minimal pairs, and written of pairs or choices.

A task is YAML; that of pairs names two columns in a file of pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError, needing
from cimento.faults import fault
from cimento.intake.reading import TableReading, reading_of_keys
from cimento.intake.shapes import PAIRS
from cimento.intake.table import as_cell
from cimento.intake.tables import SUFFIXES as TABLE_SUFFIXES
from cimento.intake.tables import read_suite_table
from cimento.io.files import read_bytes, write_text
from cimento.io.parsing import parse_json
from cimento.io.unfinished import finished_name
from cimento.suites import JsonValue, Meta, Suite, pair_conditions
from cimento.suites.formats.blimp import pair_losses, write_blimp
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading

SUFFIXES = (".yaml", ".yml")
HARNESS = "lm-evaluation-harness"
_CHOICES = re.compile(r"\{\{\s*\[\s*(\w+)\s*,\s*(\w+)\s*\]\s*\}\}")
_LOCAL = ("json", "csv", "text")
DELIMITER = "target_delimiter"
_USED = frozenset({
    "task", "dataset_path", "dataset_kwargs", "doc_to_choice", "doc_to_target",
    # A task with a single data file has a single split.
    "test_split", "validation_split", "training_split",
})  # fmt: skip
_SAID_ANYWAY: Mapping[str, tuple[JsonValue, ...]] = {
    "output_type": ("multiple_choice",),
    "doc_to_text": ("", None),
    "description": ("", None),
    "num_fewshot": (0, None),
    "repeats": (1,),
    "dataset_name": (None, ""),
}
"""Values of fields that only ask for behavior that cimento has anyway."""
_LABELS = frozenset({
    "tag", "group", "task_alias", "metadata", "should_decontaminate",
    "doc_to_decontamination_query", "dataset_name",
})  # fmt: skip
_DEEPEST = 8
MOST_BYTES = 50_000
"""Greatest size of a task in bytes; its data are in a separate file."""
_MOST_IN_FOLDER = 2_000_000
"""Greatest size of all possible tasks of a folder together."""
_MOST_NESTED = 50
"""Largest number of nested levels; the time of the YAML reader grows with their square."""


def read_lm_eval(path: Path) -> Reading:
    """Read a task whose two choices are two columns of a file in its folder.

    Every other column of the data becomes a free column. ``include`` is followed, and
    ``target_delimiter`` decides whether each text has a blank before it. A warning names fields
    that are ignored.

    Raises:
        InputError: the file is not such a task, or its data are not local.
        SuiteError: the table of its data cannot be read.
    """
    task = _task(path, depth=0)
    if isinstance(task.get("task"), list):
        raise InputError(
            where=str(path),
            seen="is a group, which only names its tasks",
            todo="Give the files of the tasks, or the folder in which they are.",
        )
    good, bad = _choices(task, path)
    data = _data_file(task, path)
    items, rows = Gathered(), list(_rows(data))
    for number, row in enumerate(rows, start=1):
        for column in (good, bad):
            if not isinstance(row.get(column), str):
                raise InputError(
                    where=f"{data}, row {number}",
                    seen=f"there is no text in {column!r}",
                    todo=f"The task {path.name} says that the sentences are there.",
                )
        others = ((key, value) for key, value in row.items() if key not in (good, bad))
        columns = {key: as_cell(value) for key, value in others if value is not None}
        pair = pair_conditions(str(row[good]).strip(), str(row[bad]).strip(), columns)
        for condition in pair:
            items.add(str(number), condition, f"{data.name} row {number}")
    delimiter, metadata = task.get(DELIMITER, " "), task.get("metadata")
    version, language = map((metadata if isinstance(metadata, dict) else {}).get, _METADATA)
    is_code = isinstance(language, str) and _CODE.match(language)
    reading = items.reading(
        path,
        read_bytes(path) + read_bytes(data),
        _unused(task, path),
        meta=Meta(
            name=str(task.get("task") or path.stem),
            version="" if version is None else str(version),
            language=str(language) if is_code else "",
        ),
        # None where the task puts something else before each text.
        leading_blank={" ": True, "": False}.get(delimiter) if isinstance(delimiter, str) else None,
    )
    return replace(reading, table=_read_as(rows, good, bad))


def _read_as(rows: Sequence[Mapping[str, JsonValue]], good: str, bad: str) -> TableReading:
    """What the rows of a task were read as."""
    names, roles = (name for row in rows for name in row), {"good": good, "bad": bad}
    return reading_of_keys(names, PAIRS, roles, n_items=len(rows), known=HARNESS)


def with_tasks(paths: Sequence[Path], files: Iterable[Path]) -> list[Path]:
    """The suites of a folder with its tasks of minimal pairs, which stand for their tables.

    A task whose data are on the hub counts only where the folder has nothing else, so that its
    reader can say which dataset to fetch.

    Args:
        paths: the suites of the folder without tasks.
        files: all that is in the folder.

    Raises:
        InputError: the possible tasks are too long to be read.
        MissingDependencyError: YAML cannot be read here.
    """
    texts = {file: read_bytes(file) for file in files if _may_be_task(file)}
    if sum(map(len, texts.values())) > _MOST_IN_FOLDER:
        raise InputError(
            where=str(next(iter(texts)).parent),
            seen=f"its tasks of lm-evaluation-harness have more than {_MOST_IN_FOLDER:,} bytes",
            todo="Give them one by one.",
        )
    tasks = {file: task for file in texts if (task := _pair_task(file)) is not None}
    local = [file for file, task in tasks.items() if task.get("dataset_path") in _LOCAL]
    data = set()
    for file in local:
        with suppress(InputError):  # its reader says that there are no data
            data.add(_data_file(tasks[file], file).resolve())
    others = [path for path in paths if path.resolve() not in data]
    return sorted([*others, *local]) or list(tasks)


def _may_be_task(file: Path) -> bool:
    """Whether a file may be a task, which is cheap to say: most YAML files are none."""
    named = file.suffix.lower() in SUFFIXES and file.is_file()
    if not named or file.stat().st_size > MOST_BYTES:
        return False
    text = read_bytes(file)
    return b"task" in text and (b"doc_to_choice" in text or b"include" in text)


def _pair_task(path: Path) -> Mapping[str, JsonValue] | None:
    """The keys of a task of minimal pairs; None if a file is something else."""
    try:
        task = _task(path, depth=0)
        _choices(task, path)
    except InputError:
        return None
    return task if isinstance(task.get("task"), str) else None


def _task(path: Path, *, depth: int) -> dict[str, JsonValue]:
    """The keys of a task, after those of the file that it includes."""
    with needing("pyyaml", extra="hf", purpose=f"reading {path.name}"):
        import yaml
    try:
        # The harness marks functions with !function; a task that needs one cannot be read.
        content = _plain_yaml(read_bytes(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # such as the 99th of a month
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            where=str(path),
            seen=f"is not YAML that can be read safely ({reason})",
            todo="Tasks with functions of their own cannot be converted.",
        ) from error
    if not isinstance(content, dict):
        raise InputError(where=str(path), seen="is not a task: there are no keys in it")
    # YAML allows keys that are not texts: `0:`, or `on:` for true.
    content = {str(key): value for key, value in content.items()}
    include = content.pop("include", None)
    if include is None:
        return content
    if depth >= _DEEPEST:
        raise InputError(where=str(path), seen="files include each other without end")
    included = path.parent / str(include)
    if not _is_near(included, path):
        raise InputError(
            where=str(path),
            seen=f"there is no file {str(include)!r} beside it or below, which it includes",
            todo="Put it there, or copy its keys.",
        )
    return {**_task(included, depth=depth + 1), **content}


def _plain_yaml(data: bytes) -> object:
    """The value of a YAML text, which must not be made huge by aliases or deep nesting.

    Raises:
        yaml.YAMLError: the text is not such YAML, or is too long.
    """
    import yaml
    from yaml import tokens

    if len(data) > MOST_BYTES:
        raise yaml.YAMLError(f"more than {MOST_BYTES:,} bytes")
    begins = (
        tokens.BlockMappingStartToken,
        tokens.BlockSequenceStartToken,
        tokens.FlowMappingStartToken,
        tokens.FlowSequenceStartToken,
    )
    ends = (tokens.BlockEndToken, tokens.FlowMappingEndToken, tokens.FlowSequenceEndToken)
    depth = 0
    for token in yaml.scan(data):
        depth += isinstance(token, begins) - isinstance(token, ends)
        if depth > _MOST_NESTED:
            raise yaml.YAMLError(f"more than {_MOST_NESTED} levels in each other")
        if isinstance(token, tokens.AliasToken):
            raise yaml.YAMLError(f"an alias, *{token.value}, which is not followed")
    return yaml.safe_load(data)


_METADATA = ("version", "language")
_CODE = re.compile(r"[a-z]{2,3}$")


def _unused(task: Mapping[str, JsonValue], path: Path) -> tuple[Fault, ...]:
    """A warning that names the fields that are ignored although they matter."""
    changing = [name for name, value in task.items() if not _is_honored(name, value)]
    labels = [name for name in changing if name in _LABELS]
    others = [name for name in changing if name not in _LABELS]
    said = []
    if others:
        said.append(f"These fields are ignored but may change scores: {', '.join(others)}.")
    if labels:
        said.append(f"These are ignored and change none: {', '.join(labels)}.")
    if not said:
        return ()
    return (fault("CIM-S008", where=path.name, seen=" ".join(said)),)


def _is_honored(name: str, value: JsonValue) -> bool:
    """Whether a field is used, or asks only for what cimento does anyway."""
    if name == DELIMITER:
        return value in ("", " ")
    if name == "metadata":
        return isinstance(value, dict) and set(value) <= {*_METADATA}
    if name == "metric_list":
        return isinstance(value, list) and all(map(_is_accuracy, value))
    return name in _USED or value in _SAID_ANYWAY.get(name, ())


def _is_accuracy(metric: JsonValue) -> bool:
    """Whether a metric is the proportion of correct choices, by sums or per character."""
    usual = {"aggregation": "mean", "higher_is_better": True}
    if not isinstance(metric, dict) or metric.get("metric") not in ("acc", "acc_norm"):
        return False
    settings = {key: value for key, value in metric.items() if key != "metric"}
    return settings.items() <= usual.items()


def _choices(task: Mapping[str, JsonValue], path: Path) -> tuple[str, str]:
    """The columns of the good and of the bad sentence."""
    match = _CHOICES.fullmatch(str(task.get("doc_to_choice", "")).strip())
    target = task.get("doc_to_target")
    if match is None or isinstance(target, bool) or target not in (0, 1, "0", "1"):
        raise InputError(
            where=str(path),
            seen="is not a task of minimal pairs: doc_to_choice must name two columns, as in"
            ' "{{[sentence_good, sentence_bad]}}", and doc_to_target be 0 or 1',
            todo="Write its data as a table with the columns good and bad.",
        )
    first, second = match.groups()
    return (first, second) if int(str(target)) == 0 else (second, first)


def _data_file(task: Mapping[str, JsonValue], path: Path) -> Path:
    arguments = task.get("dataset_kwargs")
    files = arguments.get("data_files") if isinstance(arguments, dict) else None
    if isinstance(files, dict):
        files = next(iter(files.values()), None)
    if isinstance(files, list):
        files = files[0] if len(files) == 1 else None
    source = str(task.get("dataset_path", ""))
    if source not in _LOCAL or not isinstance(files, str):
        raise InputError(
            where=str(path),
            seen=f"its data are not in one local file (dataset_path is {source!r})",
            todo=f"Fetch the dataset {source}, and name its file in dataset_kwargs: data_files.",
        )
    # The harness resolves paths from the working folder, but people keep the two files together.
    places = [path.parent / files, path.parent / Path(files).name, Path(files)]
    near = next((place for place in places if _is_near(place, path)), None)
    if near is None:
        raise InputError(where=str(path), seen=f"there is no file {files!r}", todo="Put it there.")
    return near


def _is_near(place: Path, task: Path) -> bool:
    """Whether a file exists in the task's folder or below, or in the working folder.

    An untrusted task must not read arbitrary files of this machine.
    """
    try:
        real = place.resolve()
        near = (task.parent.resolve(), Path.cwd())
        return real.is_file() and any(real.is_relative_to(folder) for folder in near)
    except (OSError, ValueError):  # a name that no file can have
        return False


def _rows(path: Path) -> Iterator[Mapping[str, JsonValue]]:
    data = read_bytes(path)
    if path.suffix.lower() in TABLE_SUFFIXES:
        table, faults = read_suite_table(data, path)
        if table is None:
            raise SuiteError(where=str(path), faults=faults)
        yield from ({**row.cells} for row in table.rows)
        return
    try:
        text = data.decode("utf-8-sig")
        parsed = parse_json(text) if text.lstrip().startswith("[") else None
        lines = (
            parsed
            if isinstance(parsed, list)
            else [parse_json(line) for line in text.split("\n") if line.strip()]
        )
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, dict):
            raise InputError(where=f"{path}, row {number}", seen="is not a JSON object")
        yield line


_TASK = """\
# {about}; run it with
#   lm_eval --model hf --model_args pretrained=MODEL --tasks {task} --include_path FOLDER
# from the folder that FOLDER is in: the path of the data is relative to the working folder.
{remark}task: {task}
dataset_path: json
dataset_kwargs:
  data_files: {data}
output_type: multiple_choice
test_split: train
{asks}
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  {metadata}
"""


def write_task(
    data: Path, *, about: str, asks: Mapping[str, str], meta: Meta, remark: str = ""
) -> Path:
    """Write the description of a multiple-choice task beside its data.

    Args:
        data: the file of its rows; the task has the name of the file.
        about: the beginning of the first comment.
        asks: the keys by which the harness makes prompts and choices of rows, with YAML values.
        meta: the metadata of the suite, of which version and language are written.
        remark: a further comment, with its line feed.

    Raises:
        StorageError: the file cannot be written.
    """
    # In quotation marks, because YAML reads an unquoted ``no``, the code of Norwegian, as false.
    stated = {"version": meta.version or "0", "language": meta.language}
    text = _TASK.format(
        about=about,
        task=data.stem,
        data=json.dumps(f"{finished_name(data.parent)}/{data.name}"),
        asks="\n".join(f"{key}: {value}" for key, value in asks.items()),
        metadata="\n  ".join(f"{key}: {json.dumps(text)}" for key, text in stated.items() if text),
        remark=remark,
    )
    return write_text(text, data.with_suffix(".yaml"))


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """A multiple-choice task whose texts are exactly those that cimento scores.

    The harness compares the summed log-probabilities of the texts after the prompt.

    Attributes:
        name: the name of the task, of which characters that the harness does not take are replaced.
        rows: the data, one object each: ``prompt``, ``choices``, ``gold`` (from 0), and others.
    """

    name: str
    rows: tuple[dict[str, JsonValue], ...]


_CHOICE_KEYS = {
    "doc_to_text": '"{{prompt}}"',
    "doc_to_choice": "choices",
    "doc_to_target": "gold",
    "target_delimiter": '""',
}


def write_choice_tasks(tasks: Iterable[ChoiceTask], folder: Path, *, meta: Meta) -> Path:
    """Write a folder with a YAML file and JSON lines for each task.

    Raises:
        StorageError: a file cannot be written.
    """
    for task in tasks:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", task.name)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in task.rows)
        data = write_text("".join(lines), folder / f"{name}.jsonl")
        write_task(data, about="Written by cimento", asks=_CHOICE_KEYS, meta=meta)
    return folder


_BLANK = "a blank, as the suite says"
_NOTHING = 'nothing, as cimento scores; tasks without this line, such as blimp_*, have " "'


def write_lm_eval(suite: Suite, folder: Path) -> Path:
    """Write a folder with a task and its data.

    The good sentence is the first choice; the harness takes the choice of the higher
    log-probability, and the first where they are equal.

    Args:
        suite: a suite whose predictions each compare two conditions.
        folder: the folder to write.

    Raises:
        InputError: no prediction makes pairs.
        StorageError: the folder cannot be written.
    """
    task = re.sub(r"[^A-Za-z0-9_]+", "_", suite.name)
    data = folder / f"{task}.jsonl"
    write_blimp(suite, data)
    said = _BLANK if suite.leading_blank else _NOTHING
    write_task(
        data,
        about=f"Minimal pairs of {' '.join(suite.name.split())}, written by cimento",
        asks={
            "doc_to_text": '""',
            "target_delimiter": '" "' if suite.leading_blank else '""',
            "doc_to_choice": '"{{[sentence_good, sentence_bad]}}"',
            "doc_to_target": "0",
        },
        meta=suite.meta,
        remark=f"# target_delimiter is what comes before each sentence: {said}.\n",
    )
    return folder


def lm_eval_losses(suite: Suite) -> list[str]:
    """The parts of a suite that a task and its data cannot hold, as phrases; may be empty."""
    return pair_losses(replace(suite, meta=replace(suite.meta, version="", language="")))

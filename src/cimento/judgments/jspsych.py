"""What a jsPsych experiment gives: a list of trials, as JSON or as CSV (jspsych.org, data module).

One file may hold one list, or one list a line, as servers that collect them write it. A trial is an
answer where its data name an item; all others (instructions, consent) are counted and passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from cimento.errors import InputError
from cimento.io.parsing import parse_json
from cimento.judgments.mapping import TEXT, ColumnMap, RawRow, usual_map
from cimento.judgments.tabular import Found, read_long
from cimento.suites.model import JsonValue
from cimento.suites.reading import open_text

PEOPLE = (
    "participant", "participant_id", "PROLIFIC_PID", "prolific_pid", "subject", "subject_id",
    "run_id",
)  # fmt: skip
FILE = "file"
"""Where no column says who answered: each file is one person's."""


def jspsych_map() -> ColumnMap:
    """Where the fields stand in jsPsych's data."""
    return usual_map(
        annotator=(*PEOPLE, FILE),
        value=("answer", "response"),
        milliseconds=("rt",),
        survey=("list",),
        text=("sentence", "stimulus"),
    )


def read_jspsych(path: Path) -> Found:
    """The trials of a file that are about an item.

    Raises:
        InputError: it is neither JSON nor CSV of trials.
    """
    trials = _from_csv(path) if path.suffix.lower() == ".csv" else list(_from_json(path))
    rows, passed = [], dict[str, int]()
    for each in trials:
        if each.cells.get("item", "").strip() or _is_shown_text(each.cells):
            rows.append(each)
            continue
        reason = f"a trial of type {each.cells.get('trial_type') or 'unknown'} names no item"
        passed[reason] = passed.get(reason, 0) + 1
    if not rows:
        raise InputError(
            where=str(path),
            seen="no trial names an item",
            todo="Put item, condition and question into the trials' data; surveys that `cimento"
            " annotate survey` builds have them.",
        )
    return Found(rows, passed)


def _is_shown_text(cells: Mapping[str, str]) -> bool:
    """Whether a trial without an id can be known by what it showed and has an answer."""
    return bool(cells.get("sentence") or cells.get(TEXT))


def _from_csv(path: Path) -> list[RawRow]:
    return [
        RawRow(row.where, _one_answer({FILE: path.stem, **row.cells}))
        for row in read_long(path).rows
    ]


def _one_answer(cells: dict[str, str]) -> dict[str, str]:
    """A row whose response may be a JSON object of one answer, as survey plugins write it."""
    try:
        response = parse_json(cells.get("response", ""))
    except ValueError:
        return cells
    return {**cells, "response": _text(response)}


def _from_json(path: Path) -> Iterator[RawRow]:
    text = open_text(path).strip()
    lines = [text] if _is_json(text) else text.split("\n")
    number = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            content = parse_json(line)
        except ValueError as error:
            raise InputError(
                where=str(path),
                seen=f"is not JSON ({error})",
                todo="Give what jsPsych's data.json() wrote, one list of trials a file or a line.",
            ) from error
        for trial in content if isinstance(content, list) else [content]:
            number += 1
            where = f"{path.name}, trial {number}"
            if not isinstance(trial, dict):
                raise InputError(where=where, seen="is no object", todo="Is it a list of trials?")
            cells = {str(name): _text(value) for name, value in trial.items()}
            yield RawRow(where, {FILE: path.stem, **cells})


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _text(value: JsonValue) -> str:
    """A value as a cell: an object of one answer as that answer."""
    if isinstance(value, dict) and len(value) == 1:
        return _text(next(iter(value.values())))
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

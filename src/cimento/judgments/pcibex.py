"""Results of PCIbex and Ibex: CSV without quoting, its columns named by comments between the rows.

A line such as ``# 11. Value.`` says what the eleventh column of the rows below it is; only what has
changed is said again. Commas inside a cell are written ``%2C`` (doc.pcibex.net, results files).
PennController writes one row for each event of a trial, Ibex's own controllers one for each thing
that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from cimento.errors import InputError
from cimento.judgments.mapping import ColumnMap, RawRow, usual_map
from cimento.judgments.records import finite
from cimento.judgments.tabular import Found
from cimento.suites.reading import open_text

ANSWERS = ("Choice", "Selection", "Selected", "Final", "PressedKey")
"""Parameters under which PennController logs what was chosen: scales, selectors, keys, texts."""

RECEIVED, PERSON, ORDER = (
    "Results reception time",
    "MD5 hash of participant's IP address",
    "Order number of item",
)
LABEL = "Label"
PARAMETER, VALUE, TIME = "Parameter", "Value", "EventTime"
SENTENCE, ANSWER, TOOK = (
    "Sentence (or sentence MD5)",
    "Answer",
    "Time taken to answer",
)
_FIRST = (RECEIVED, PERSON, "Controller name", ORDER, "Inner element number", LABEL)
"""The first columns of every row; versions of Ibex name some of them differently."""

_COLUMN = re.compile(r"#\s*(?P<number>\d{1,4})\.(?P<name>.*)$")
_NULL = ("", "NULL", "undefined")
_STARTED = ("_Trial_", "Start")


def pcibex_map() -> ColumnMap:
    """Where the fields stand once the rows of a trial are one."""
    return usual_map(
        item=("Item", "id"),
        condition=("Condition",),
        annotator=("participant", "PROLIFIC_PID", "ID", "prolific", PERSON),
        value=("answer",),
        survey=("list", "Latin Square Group"),
        text=("sentence", "Sentence", SENTENCE),
        milliseconds=("took",),
        position=(ORDER,),
    )


def read_pcibex(path: Path) -> Found:
    """The trials of a results file in which something was answered.

    Raises:
        InputError: it has no comments that name its columns, or no answer.
    """
    text = open_text(path)
    trials: dict[tuple[str, ...], list[RawRow]] = {}
    for row in _rows(text, path.name):
        key = tuple(row.cells.get(name, "") for name in (RECEIVED, PERSON, ORDER, LABEL))
        trials.setdefault(key, []).append(row)
    rows, passed = [], dict[str, int]()
    for events in trials.values():
        answered = _answered(events)
        if answered is None:
            label = events[0].cells.get(LABEL) or "without a label"
            reason = f"nothing was answered in a trial labelled {label}"
            passed[reason] = passed.get(reason, 0) + 1
        else:
            rows.append(answered)
    if not rows:
        raise InputError(
            where=str(path),
            seen="there is no answer",
            todo="Give the results file as PCIbex has it, with the lines that begin with #; log the"
            " scale or the selector in the script.",
        )
    return Found(rows, passed)


def _rows(text: str, name: str) -> Iterator[RawRow]:
    columns: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if line.startswith("#"):
            if found := _COLUMN.match(line):
                columns[int(found["number"])] = found["name"].strip().removesuffix(".").rstrip()
                columns |= dict(enumerate(_FIRST, start=1))
            continue
        if not columns:
            raise InputError(
                where=f"{name} line {number}",
                seen="a row stands before any comment that names its columns",
                todo="Give the results file with its lines that begin with #.",
            )
        cells = {
            columns.get(place, f"column {place}"): _plain(cell)
            for place, cell in enumerate(line.split(","), start=1)
        }
        yield RawRow(f"{name} line {number}", cells)


def _answered(events: Iterable[RawRow]) -> RawRow | None:
    """The events of a trial as one row: what was logged, the last answer, and how long it took."""
    cells: dict[str, str] = {}
    started = ""
    last: RawRow | None = None
    for each in events:
        cells |= {name: cell for name, cell in each.cells.items() if cell not in _NULL}
        if (each.cells.get(PARAMETER), each.cells.get(VALUE)) == _STARTED:
            started = each.cells.get(TIME, "")
        if each.cells.get(PARAMETER) in ANSWERS or each.cells.get(ANSWER, "") not in _NULL:
            last = each
    if last is None:
        return None
    cells["answer"] = last.cells.get(ANSWER) or last.cells.get(VALUE, "")
    took = last.cells.get(TOOK) or _difference(last.cells.get(TIME, ""), started)
    return RawRow(last.where, {**cells, "took": took, "at": _moment(last.cells)})


def _difference(later: str, earlier: str) -> str:
    one, other = finite(later), finite(earlier)
    return "" if one is None or other is None else f"{one - other:.0f}"


def _moment(cells: Mapping[str, str]) -> str:
    """When the results came in, which is given in seconds since 1970."""
    seconds = cells.get(RECEIVED, "")
    if not seconds.isdecimal():
        return ""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def _plain(cell: str) -> str:
    return unquote(cell).strip()

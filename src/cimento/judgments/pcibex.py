"""The trials in a results file of PCIbex or Ibex, and whose they are.

The file names its columns in comments between the rows: ``# 11. Value.`` says what the eleventh
column is, and only changes are repeated; a comma inside a cell is ``%2C`` (doc.pcibex.net).

A submission is what one browser sent at its end. People in one room share an address, and results
are received by the second, so that neither tells people apart: what the experiment logged of its
participants does, then the comment ``# Results on`` before a submission, then a trial that starts
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from cimento.errors import InputError, counted
from cimento.intake.decoding import open_text
from cimento.intake.forms import programs
from cimento.intake.table import Table
from cimento.judgments import TEXT, ColumnMap, RawRow, finite
from cimento.judgments.formats import RawAnswers
from cimento.judgments.participants import ANNOTATOR, called_so, remark
from cimento.judgments.roles import (
    ANSWER_ROLES,
    answers_reading,
    resolved,
    rows_of,
    table_of,
    with_file,
    with_roles,
)

_ANSWER_TYPES = ("Choice", "Selection", "Selected", "Final", "PressedKey")
"""Parameters under which PennController logs what was chosen: scales, selectors, keys, texts."""

RECEIVED, ADDRESS = "Results reception time", "MD5 hash of participant's IP address"
ORDER, ELEMENT = "Order number of item", "Inner element number"
_LABEL = "Label"
PARAMETER, VALUE, TIME = "Parameter", "Value", "EventTime"
SENTENCE, ANSWER, TOOK = "Sentence (or sentence MD5)", "Answer", "Time taken to answer"
_FIRST = (RECEIVED, ADDRESS, "Controller name", ORDER, ELEMENT, _LABEL)
"""The first columns of every row; versions of Ibex name some of them differently."""

_COLUMN = re.compile(r"#\s*(?P<number>\d{1,4})\.(?P<name>.*)$")
_SENT = re.compile(r"#\s*Results on\b")
_NULL = ("", "NULL", "undefined")
_STARTED = ("_Trial_", "Start")
_SHOWN = 5

SUBMISSION = "submission"
"""The stand-in for a column of participants: each submission is one person's."""

_Trial = tuple[str, ...]
"""The key of a trial within a submission: its order and label, and the participant logged."""


@dataclass(slots=True)
class _Submission:
    """What one browser sent.

    Attributes:
        received: seconds since 1970, as in the file.
        address: hash of the address.
        trials: the rows of each trial.
        seen: starts of trials, and answers of Ibex.
    """

    received: str
    address: str
    trials: dict[_Trial, list[RawRow]] = field(default_factory=dict)
    seen: set[_Trial] = field(default_factory=set)


def read_pcibex(
    path: Path, columns: ColumnMap, person: str = "", *, keep_names: bool = True
) -> RawAnswers:
    """The trials of a results file in which something was answered.

    Args:
        path: of the file.
        columns: where the fields stand.
        person: name of submissions of nobody; empty for the name of the file.
        keep_names: whether names are stored as they are. A hash of an address, from which the
            address can be found, then names nobody.

    Raises:
        InputError: it has no comments that name its columns, no item, or no answer.
    """
    rows = list(_rows(open_text(path), path.name))
    people = _people_columns(rows, columns)
    submissions = list(_submissions(rows, people))
    answered, passed, doubled = list[RawRow](), dict[str, int](), list[str]()
    for number, submission in enumerate(submissions, start=1):
        shown = f"{person or path.stem}-{number}"
        name = shown if keep_names else _named(submission, submissions, number)
        for events in submission.trials.values():
            answer, choices = _answered(events)
            if answer is None:
                reason = f"nothing was answered in a trial labeled {_label_of(events[0])}"
                passed[reason] = passed.get(reason, 0) + 1
                continue
            if choices > 1:
                doubled.append(answer.where)
            answered.append(replace(answer, cells={**answer.cells, SUBMISSION: name}))
    if not answered:
        raise InputError(
            where=str(path),
            seen="there is no answer",
            todo="Give the results file as PCIbex has it, with the lines that begin with #; log the"
            " scale or the selector in the script.",
        )
    table, columns, notes = _in_roles(path, answered, submissions, columns, people)
    reading = answers_reading(
        table,
        columns,
        program=programs()["pcibex"].title,
        own=_OURS,
        roles={"answer": [name for name in (VALUE, ANSWER) if name in table.cells]},
        written=_written(table),
    )
    answers = [replace(one, cells=row.cells) for one, row in zip(answered, table.rows, strict=True)]
    kept = _about_items(answers, columns, passed)
    return RawAnswers(resolved(kept, columns), passed, (*notes, *_doubled(doubled, kept)), reading)


def _label_of(row: RawRow) -> str:
    return row.cells.get(_LABEL) or "without a label"


def _about_items(
    answers: Sequence[RawRow], columns: ColumnMap, passed: dict[str, int]
) -> list[RawRow]:
    """The answers without those of trials about no item, such as a form for the participant's code.

    Those are the trials whose label no trial with an item has; they are counted as passed over.
    """
    about = {row.where for row in answers if any(columns.cell(row, name) for name in _ABOUT)}
    labels = {row.cells.get(_LABEL, "") for row in answers if row.where in about}
    kept = list[RawRow]()
    for row in answers:
        if row.where in about or row.cells.get(_LABEL, "") in labels:
            kept.append(row)
            continue
        reason = f"an answer in a trial labeled {_label_of(row)} is about no item"
        passed[reason] = passed.get(reason, 0) + 1
    return kept


_ABOUT = ("item", TEXT, "expected")
"""The fields of which one says what an answer is about."""


def _in_roles(
    path: Path,
    answered: Sequence[RawRow],
    submissions: Sequence[_Submission],
    columns: ColumnMap,
    people: Sequence[str],
) -> tuple[Table, ColumnMap, tuple[str, ...]]:
    """The table of the answered trials, where its fields stand, and what is said of people.

    Raises:
        InputError: no column has items.
        UsageError: a column that somebody has chosen does not fit its role.
    """
    lines = [int(row.where.rpartition(" ")[2]) for row in answered]
    table, columns = with_roles(table_of(answered, lines, name=path.name), columns)
    if _IBEX_NUMBER in table.cells and "position" not in columns.chosen:
        columns = replace(columns, columns={**columns.columns, "position": ()})
    found = _found(table, people, columns)
    told = list[str]()
    if not _is_about_items(table, columns):
        table, columns, told = _of_ibex(table, columns)
    stated = (*columns.columns.get(ANNOTATOR, ()), *found)
    named = replace(columns, columns={**columns.columns, ANNOTATOR: stated})
    notes = (*map(remark, found), *told, *_unnamed(table, submissions, named))
    return *with_file(table, named, SUBMISSION), notes


def _people_columns(rows: Sequence[RawRow], columns: ColumnMap) -> list[str]:
    """The logged columns that may say who took part: those of the map, and codes by their name."""
    logged = dict.fromkeys(name for row in rows for name in row.cells)
    chosen = columns.chosen.get("participant", "").removesuffix("!")
    stated = [chosen] if chosen else columns.columns.get(ANNOTATOR, ())
    mapped = [name for name in stated if name in logged]
    return mapped or [name for name in logged if called_so(name) and name not in columns.taken]


def _found(table: Table, people: Sequence[str], columns: ColumnMap) -> list[str]:
    """Of the columns that may say who took part those that nobody named, and that hold codes."""
    if "participant" in columns.chosen or columns.columns.get(ANNOTATOR):
        return []
    test = ANSWER_ROLES["participant"].fits
    return [name for name in people if name in table.cells and test(table.profile(name))]


def _written(table: Table) -> list[str]:
    """The columns that the program writes itself, before those that the experiment logs."""
    return [name for name in table.columns if name in {*_FIRST, *_PENN}]


def _code(row: RawRow, people: Sequence[str]) -> str:
    return next((cell for name in people if (cell := row.cells.get(name, "")) not in _NULL), "")


def _submissions(rows: Iterable[RawRow], people: Sequence[str]) -> Iterator[_Submission]:
    """The submissions in the rows of a file, in their order."""
    current: _Submission | None = None
    block = ""
    for row in rows:
        cells = row.cells
        received, address = cells.get(RECEIVED, ""), cells.get(ADDRESS, "")
        trial = (cells.get(ORDER, ""), cells.get(_LABEL, ""), _code(row, people))
        mark = _mark(cells, trial)
        if (
            current is None
            or (received, address) != (current.received, current.address)
            or cells[_BLOCK] != block
            or (mark and mark in current.seen)
        ):
            if current is not None:
                yield current
            current, block = _Submission(received, address), cells[_BLOCK]
        if mark:
            current.seen.add(mark)
        current.trials.setdefault(trial, []).append(row)
    if current is not None:
        yield current


def _mark(cells: Mapping[str, str], trial: _Trial) -> _Trial:
    """What one submission has once: the start of a trial, or the answer of an element of Ibex."""
    if (cells.get(PARAMETER), cells.get(VALUE)) == _STARTED:
        return (*trial, *_STARTED)
    answered = cells.get(ANSWER, "") not in _NULL
    return (*trial, "answer", cells.get(ELEMENT, "")) if answered else ()


def _named(submission: _Submission, submissions: Sequence[_Submission], number: int) -> str:
    """A name for a person who is known by the address alone: with the time if others share it."""
    same = [one for one in submissions if one.address == submission.address]
    if len(same) == 1:
        return submission.address
    moment = f"{submission.address} {submission.received}"
    together = sum(one.received == submission.received for one in same)
    return moment if together == 1 else f"{moment} {number}"


def _unnamed(table: Table, submissions: Sequence[_Submission], columns: ColumnMap) -> Iterator[str]:
    """A note on submissions that name no participant."""
    names = columns.columns.get(ANNOTATOR, ())
    nobody = {row.cells[SUBMISSION] for row in rows_of(table) if not _code(row, names)}
    if not nobody or columns.fixed.get(ANNOTATOR):
        return
    shared = len(submissions) - len({submission.address for submission in submissions})
    addresses = (
        f" {counted(shared, 'comes', 'come')} from an address that another one has;"
        if shared
        else ""
    )
    yield (
        f"{counted(len(nobody), 'submission names', 'submissions name')} no participant:{addresses}"
        " each counts as one person. If somebody took part twice, nothing shows it; log a code in"
        " the script."
    )


def _doubled(doubled: Sequence[str], asked: Sequence[RawRow]) -> Iterator[str]:
    """What is said of trials with several answers, among those that count."""
    known = {row.where for row in asked}
    if places := [where for where in doubled if where in known]:
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        shown = ", ".join(places[:_SHOWN]) + more
        yield (
            f"{counted(len(places), 'trial has', 'trials have')} several answers: the last one"
            f" counts ({shown})."
        )


def _is_about_items(table: Table, columns: ColumnMap) -> bool:
    """Whether any answer says what it is about."""
    return any(columns.cell(row, name) for row in rows_of(table) for name in _ABOUT)


def _of_ibex(table: Table, columns: ColumnMap) -> tuple[Table, ColumnMap, list[str]]:
    """Results of Ibex: items are its groups, conditions its types (docs/manual.md of Ibex).

    Each participant sees one sentence of a group. Sentences without a group are known by *Item
    number*, which is the place in the script, not the order in which they were shown.

    Raises:
        InputError: the comments name other columns, or somebody answered twice to one item.
    """
    if not all(name in table.cells for name in _IBEX):
        raise _no_items(table)
    numbers, types = table.stripped(_IBEX_NUMBER), table.stripped(_IBEX_TYPE)
    groups = table.stripped(_IBEX_GROUP) if _IBEX_GROUP in table.cells else [""] * len(numbers)
    item, cells = (_IBEX_GROUP, groups) if all(groups) else (_IBEX_NUMBER, numbers)
    if any(groups) and not all(groups):
        both = zip(groups, types, numbers, strict=True)
        item, cells = _ITEM, [group or f"{kind} {number}" for group, kind, number in both]
        table = table.with_cells({**table.cells, _ITEM: cells})
    asked = [*zip(table.stripped(SUBMISSION), cells, strict=True)]
    if len({*asked}) < len(asked) or not all(cells):
        raise _no_items(table)
    roles = {"item": (item,), "condition": columns.columns.get("condition") or (_IBEX_TYPE,)}
    shown = " or ".join(map(repr, (_IBEX_GROUP, _IBEX_NUMBER))) if item == _ITEM else repr(item)
    note = f"Results of Ibex: items are by {shown}, conditions by {roles['condition'][0]!r}."
    return table, replace(columns, columns={**columns.columns, **roles}), [note]


_IBEX_TYPE, _IBEX_GROUP, _IBEX_NUMBER = "Type", "Group", "Item number"
_IBEX = (_IBEX_NUMBER, "Element number", _IBEX_TYPE)
"""What the comments in results of Ibex call the columns of places, of their parts, and of types."""


def _no_items(table: Table) -> InputError:
    """The error of answers of which none says what it is about, with the columns that there are."""
    cells = {name: cell for row in rows_of(table) for name, cell in row.cells.items() if cell}
    ours = {*_OURS, RECEIVED, ADDRESS}
    shown = ", ".join(f"{name!r} ({cell})" for name, cell in cells.items() if name not in ours)
    return InputError(
        where=table.name,
        seen=f"no column is known as that of the items; there are, each with a value: {shown}",
        todo="Name them: --columns='item=COLUMN,condition=COLUMN'.",
    )


_BLOCK = "block of the file"
"""The stand-in for a column: how many submissions the comments have announced so far."""
_ITEM = "item of the script"
"""The stand-in for a column of items where some have a group and others a place alone."""
_OURS = (SUBMISSION, _BLOCK, _ITEM, "answer", "took", "at")
"""Columns that are made here of others."""
_PENN = ("PennElementType", "PennElementName", PARAMETER, VALUE, TIME, ANSWER, TOOK, "Comments")
"""Columns that the program writes after the first ones."""


def _rows(text: str, name: str) -> Iterator[RawRow]:
    columns: dict[int, str] = {}
    stated: dict[int, str] = {}
    block = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if line.startswith("#"):
            block += bool(_SENT.match(line))
            if match := _COLUMN.match(line):
                stated[int(match["number"])] = match["name"].strip().removesuffix(".").rstrip()
                columns = stated | dict(enumerate(_FIRST, start=1))
            continue
        if not columns:
            raise InputError(
                where=f"{name} line {number}",
                seen="a row comes before any comment that names its columns",
                todo="Give the results file with its lines that begin with #.",
            )
        cells = {_BLOCK: str(block)}
        for place, cell in enumerate(line.split(","), start=1):
            value = unquote(cell).strip()
            # Under the names of the file too, by which people map them.
            cells[stated.get(place, f"column {place}")] = value
            cells[columns.get(place, f"column {place}")] = value
        yield RawRow(f"{name} line {number}", cells)


def _answered(events: Iterable[RawRow]) -> tuple[RawRow | None, int]:
    """The events of a trial as one row: what was logged, the last answer, and how long it took.

    Returns:
        The row, None where nothing was answered; and the number of different answers.
    """
    cells: dict[str, str] = {}
    started = ""
    last: RawRow | None = None
    answers: dict[str, None] = {}
    for event in events:
        cells |= {name: cell for name, cell in event.cells.items() if cell not in _NULL}
        if (event.cells.get(PARAMETER), event.cells.get(VALUE)) == _STARTED:
            started = event.cells.get(TIME, "")
        if event.cells.get(PARAMETER) in _ANSWER_TYPES or event.cells.get(ANSWER, "") not in _NULL:
            last = event
            answers[event.cells.get(ANSWER) or event.cells.get(VALUE, "")] = None
    if last is None:
        return None, 0
    cells["answer"] = last.cells.get(ANSWER) or last.cells.get(VALUE, "")
    took = last.cells.get(TOOK) or _difference(last.cells.get(TIME, ""), started)
    return RawRow(last.where, {**cells, "took": took, "at": _moment(last.cells)}), len(answers)


def _difference(later: str, earlier: str) -> str:
    one, other = finite(later), finite(earlier)
    return "" if one is None or other is None else f"{one - other:.0f}"


def _moment(cells: Mapping[str, str]) -> str:
    """The time of arrival of the results, given in seconds since 1970."""
    seconds = cells.get(RECEIVED, "")
    if not seconds.isdecimal():
        return ""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""

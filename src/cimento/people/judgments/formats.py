"""Readers for the files of survey programs: tables, jsPsych, PCIbex, exports of Prolific.

Tables are long (an answer a row) or wide (a person a row). jsPsych gives a list of trials as JSON
or CSV, one list a file or a line; a trial whose data name an item is an answer, and all others
(instructions, consent) are counted and skipped. PCIbex names the columns of its results in
comments between the rows: ``# 11. Value.`` says what the eleventh column is, and only changes are
repeated; a comma inside a cell is ``%2C`` (doc.pcibex.net). Prolific's exports of different years
head the same columns differently; capitals, blanks and underscores do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from cimento.errors import InputError, need_known
from cimento.io.files import inert, write_text
from cimento.io.parsing import parse_json
from cimento.people.judgments import TEXT, ColumnMap, RawRow, finite, usual_map
from cimento.people.judgments.asked import AskedItems
from cimento.people.judgments.participants import (
    ANNOTATOR,
    is_named,
    nobody,
    of_long,
    of_wide,
    remark,
)
from cimento.suites import JsonValue
from cimento.suites.reading import open_text
from cimento.suites.tables import Row, Table, open_table

_SHOWN_COLUMNS = 5
_QUESTION_ID = re.compile(r"q\d+|check-\d+")
"""The ids that surveys of our own give to questions and attention checks."""


@dataclass(frozen=True, slots=True)
class RawAnswers:
    """The answers in a file.

    Attributes:
        rows: one for each answer, in order.
        passed: what was skipped, and why, to how often.
        notes: what was understood of the columns.
    """

    rows: Sequence[RawRow]
    passed: dict[str, int]
    notes: tuple[str, ...] = ()


def read_long(path: Path, columns: ColumnMap) -> RawAnswers:
    """A table with one answer in each row.

    Args:
        path: of the table.
        columns: where the fields stand.

    Raises:
        InputError: it cannot be read, or does not say whose the answers are.
    """
    table = open_table(path)
    rows = [RawRow(table.where(row), row.cells) for row in table.rows]
    if is_named(table, columns):
        return RawAnswers(rows, {})
    if not (people := of_long(table, columns)):
        raise nobody(table, [name for name in table.columns if name not in columns.taken])
    return RawAnswers(_of_people(rows, people), {}, (remark(people),))


def read_wide(path: Path, columns: ColumnMap, places: AskedItems) -> RawAnswers:
    """A table with one person in each row, and one item in each column.

    Where the suite is known, the columns that are headed by an id or a text of it are items, also
    where that stands in brackets after a question. Where it is not, all columns are that are mapped
    to no field.

    Args:
        path: of the table.
        columns: which columns are no items but fields.
        places: what the suite asks; may be empty.

    Raises:
        InputError: it cannot be read, or no column is an item.
    """
    table = open_table(path)
    named = is_named(table, columns)
    people = "" if named else of_wide(table, columns)
    taken = columns.taken | {people}
    rest = [name for name in table.columns if name not in taken and name.strip()]
    items = [name for name in rest if not places or places.find(name, where=table.name)]
    if not named and not people:
        raise nobody(table, [name for name in rest if name not in {*items}])
    if not items:
        shown = ", ".join(rest[:_SHOWN_COLUMNS]) or "none"
        raise InputError(
            where=table.name,
            seen=f"no column is headed by an item of the suite; the first others: {shown}",
            todo="Head columns with ids such as 'e 1/acceptable', or with the sentences.",
        )
    chosen = frozenset(items)
    others = [name for name in rest if name not in chosen]
    passed = {_no_item(name, places): 1 for name in others}
    rows = list(_melted(table, items))
    if not people:
        return RawAnswers(rows, passed)
    return RawAnswers(_of_people(rows, people), passed, (remark(people),))


def _of_people(rows: Iterable[RawRow], column: str) -> list[RawRow]:
    """Rows with the participants, who stand in another column, where they are expected."""
    return [RawRow(row.where, {**row.cells, ANNOTATOR: row.cells[column]}) for row in rows]


def _no_item(name: str, places: AskedItems) -> str:
    """The reason for skipping a column of a wide table."""
    if places.complete and _QUESTION_ID.fullmatch(name.strip()):
        return f"column {name!r} is no question of the design: is it the design that was asked?"
    return f"column {name!r} is no item"


def likely_form(table: Table, columns: ColumnMap, places: AskedItems) -> str:
    """The form that a table has by its columns: ``long``, ``wide``, or empty if it is not clear.

    Args:
        table: of answers.
        columns: the columns of the fields in long tables.
        places: what was asked; may be empty.
    """

    def has(*fields: str) -> bool:
        stated = {name for field in fields for name in columns.columns.get(field, ())}
        return bool(stated & {*table.columns}) or any(map(columns.fixed.get, fields))

    if has("value") and has("item", TEXT):
        return "long"
    rest = [name for name in table.columns if name.strip() and name not in columns.taken]
    if places and any(places.find(name, where=table.name) for name in rest):
        return "wide"
    return "wide" if not places and not has("value", "item", TEXT) and len(rest) > 1 else ""


def _melted(table: Table, items: Sequence[str]) -> Iterator[RawRow]:
    chosen = frozenset(items)
    for row in table.rows:
        kept = {name: cell for name, cell in row.cells.items() if name not in chosen}
        for name in items:
            answer = row.cells.get(name, "").strip()
            if answer:
                where = f"{table.where(row)}, column {name!r}"
                # The heading is whatever the suite calls the item: its id or its text.
                yield RawRow(where, {**kept, "item": name, TEXT: name, "value": answer})


PEOPLE = (
    "participant", "participant_id", "PROLIFIC_PID", "prolific_pid", "subject", "subject_id",
    "run_id",
)  # fmt: skip
_FILE = "file"
"""The stand-in for a column of participants: each file is one person's."""


JSPSYCH_COLUMNS = usual_map(
    annotator=(*PEOPLE, _FILE), value=("answer", "response"), milliseconds=("rt",),
    survey=("list",), text=("sentence", "stimulus"),
)  # fmt: skip
"""The columns of the fields in jsPsych's data."""


def read_jspsych(path: Path) -> RawAnswers:
    """The trials about items in a file.

    Raises:
        InputError: it is neither JSON nor CSV of trials.
    """
    trials = _from_csv(path) if path.suffix.lower() == ".csv" else list(_from_json(path))
    rows, passed = [], dict[str, int]()
    for trial in trials:
        shown = trial.cells.get("sentence") or trial.cells.get(TEXT)
        # A trial without an id can be known by the text that it showed.
        if shown or trial.cells.get("item", "").strip():
            rows.append(trial)
            continue
        reason = f"a trial of type {trial.cells.get('trial_type') or 'unknown'} names no item"
        passed[reason] = passed.get(reason, 0) + 1
    if not rows:
        raise InputError(
            where=str(path),
            seen="no trial names an item",
            todo="Put item, condition and question into the trials' data; surveys that `cimento"
            " annotate survey` builds have them.",
        )
    return RawAnswers(rows, passed)


def _from_csv(path: Path) -> list[RawRow]:
    table = open_table(path)
    return [
        RawRow(table.where(row), _one_answer({_FILE: path.stem, **row.cells})) for row in table.rows
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
            yield RawRow(where, {_FILE: path.stem, **cells})


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


_ANSWER_TYPES = ("Choice", "Selection", "Selected", "Final", "PressedKey")
"""Parameters under which PennController logs what was chosen: scales, selectors, keys, texts."""

RECEIVED, PERSON = "Results reception time", "MD5 hash of participant's IP address"
ORDER = "Order number of item"
_LABEL = "Label"
PARAMETER, VALUE, TIME = "Parameter", "Value", "EventTime"
SENTENCE, ANSWER, TOOK = "Sentence (or sentence MD5)", "Answer", "Time taken to answer"
_FIRST = (RECEIVED, PERSON, "Controller name", ORDER, "Inner element number", _LABEL)
"""The first columns of every row; versions of Ibex name some of them differently."""

_COLUMN = re.compile(r"#\s*(?P<number>\d{1,4})\.(?P<name>.*)$")
_NULL = ("", "NULL", "undefined")
_STARTED = ("_Trial_", "Start")


PCIBEX_COLUMNS = usual_map(
    item=("Item", "id"), condition=("Condition",), value=("answer",), position=(ORDER,),
    annotator=("participant", "PROLIFIC_PID", "ID", "prolific", PERSON), milliseconds=("took",),
    survey=("list", "Latin Square Group"), text=("sentence", "Sentence", SENTENCE),
)  # fmt: skip
"""The columns of the fields once the rows of a trial are one."""


def read_pcibex(path: Path) -> RawAnswers:
    """The trials of a results file in which something was answered.

    Raises:
        InputError: it has no comments that name its columns, or no answer.
    """
    trials: dict[tuple[str, ...], list[RawRow]] = {}
    for row in _rows(open_text(path), path.name):
        key = tuple(row.cells.get(name, "") for name in (RECEIVED, PERSON, ORDER, _LABEL))
        trials.setdefault(key, []).append(row)
    rows, passed = [], dict[str, int]()
    for events in trials.values():
        answered = _answered(events)
        if answered is None:
            label = events[0].cells.get(_LABEL) or "without a label"
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
    return RawAnswers(rows, passed)


def _rows(text: str, name: str) -> Iterator[RawRow]:
    columns: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if line.startswith("#"):
            if match := _COLUMN.match(line):
                columns[int(match["number"])] = match["name"].strip().removesuffix(".").rstrip()
                columns |= dict(enumerate(_FIRST, start=1))
            continue
        if not columns:
            raise InputError(
                where=f"{name} line {number}",
                seen="a row stands before any comment that names its columns",
                todo="Give the results file with its lines that begin with #.",
            )
        cells = {
            columns.get(place, f"column {place}"): unquote(cell).strip()
            for place, cell in enumerate(line.split(","), start=1)
        }
        yield RawRow(f"{name} line {number}", cells)


def _answered(events: Iterable[RawRow]) -> RawRow | None:
    """The events of a trial as one row: what was logged, the last answer, and how long it took."""
    cells: dict[str, str] = {}
    started = ""
    last: RawRow | None = None
    for event in events:
        cells |= {name: cell for name, cell in event.cells.items() if cell not in _NULL}
        if (event.cells.get(PARAMETER), event.cells.get(VALUE)) == _STARTED:
            started = event.cells.get(TIME, "")
        if event.cells.get(PARAMETER) in _ANSWER_TYPES or event.cells.get(ANSWER, "") not in _NULL:
            last = event
    if last is None:
        return None
    cells["answer"] = last.cells.get(ANSWER) or last.cells.get(VALUE, "")
    took = last.cells.get(TOOK) or _difference(last.cells.get(TIME, ""), started)
    return RawRow(last.where, {**cells, "took": took, "at": _moment(last.cells)})


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


_BEST = ("APPROVED", "AWAITING REVIEW")


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of one participant.

    Attributes:
        participant: Prolific's identifier.
        status: ``APPROVED``, ``REJECTED``, ``RETURNED``, ``TIMED-OUT`` ...
        seconds: from the start to the end; None where the export does not say.
        columns: everything else.
    """

    participant: str
    status: str
    seconds: float | None
    columns: Mapping[str, str]


def read_prolific(path: Path) -> dict[str, Submission]:
    """Participant to submission; where there are several, an approved one counts, then the last.

    Raises:
        InputError: it cannot be read, or has no column of participants.
    """
    table = open_table(path)
    person = _column(table, "participantid")
    if person is None:
        raise InputError(
            where=table.name,
            seen=f"there are the columns {', '.join(table.columns[:6])} ...",
            todo="Give Prolific's export with the column Participant id.",
        )
    submissions: dict[str, Submission] = {}
    for row in table.rows:
        submission = _submission(table, row, person)
        before = submissions.get(submission.participant)
        if before is None or before.status not in _BEST or submission.status in _BEST:
            submissions[submission.participant] = submission
    return submissions


def write_participants(
    submissions: Mapping[str, Submission],
    path: Path,
    *,
    keep: Sequence[str],
    rename: Callable[[str], str],
) -> Path:
    """Write who took part as TSV: pseudonym, status, seconds, and the columns that are kept.

    Args:
        submissions: of `read_prolific`.
        path: of the table.
        keep: columns of the export; all others stay behind.
        rename: from a participant's name to the one that is kept.

    Raises:
        UsageError: the export has no such column.
        StorageError: the file cannot be written.
    """
    known = dict.fromkeys(name for person in submissions.values() for name in person.columns)
    for name in keep:
        need_known(name, known, where=f"--keep={name}", seen="the export has no such column")
    lines = ["\t".join(("annotator", "status", "session_seconds", *keep))]
    for submission in submissions.values():
        seconds = "" if submission.seconds is None else f"{submission.seconds:g}"
        kept = map(submission.columns.get, keep)
        cells = (rename(submission.participant), submission.status, seconds, *kept)
        lines.append("\t".join(inert(" ".join((cell or "").split())) for cell in cells))
    return write_text("".join(line + "\n" for line in lines), path)


def _submission(table: Table, row: Row, person: str) -> Submission:
    status, seconds = _column(table, "status"), _column(table, "timetaken")
    text = row.cells.get(seconds, "").strip() if seconds else ""
    taken = finite(text)
    if text and taken is None:
        raise InputError(
            where=table.where(row), seen=f"{seconds} is {text!r}", todo="It is a number of seconds."
        )
    return Submission(
        participant=row.cells[person].strip(),
        status=row.cells.get(status, "").strip().upper() if status else "",
        seconds=taken,
        columns={name: cell for name, cell in row.cells.items() if name != person},
    )


def _column(table: Table, wanted: str) -> str | None:
    plain = {re.sub(r"[\s_]+", "", name).casefold(): name for name in table.columns}
    return plain.get(wanted)

"""Readers for tables of answers, and for exports of Prolific.

Tables are long (an answer a row) or wide (a person per row). Prolific's exports of different years
head the same columns differently; capitals, blanks and underscores do not count.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import InputError, UsageError, need_known
from cimento.intake.forms import squashed
from cimento.intake.reading import AnswersReading
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.io.files import inert, write_text
from cimento.judgments import TEXT, ColumnMap, RawRow, finite
from cimento.judgments.asked import AskedItems
from cimento.judgments.chosen import choices_in
from cimento.judgments.codes import decoded
from cimento.judgments.columns import is_address
from cimento.judgments.participants import (
    ANNOTATOR,
    is_named,
    nobody,
    of_long,
    remark,
)
from cimento.judgments.roles import (
    answers_reading,
    one_each,
    resolved,
    rows_of,
    unanswered,
    with_roles,
)
from cimento.judgments.told import (
    ANSWER,
    coarse_items,
    told_by_two,
    unlisted,
    with_items_told,
    with_names_below,
    with_shared_items,
)


@dataclass(frozen=True, slots=True)
class RawAnswers:
    """The answers in a file.

    Attributes:
        rows: one for each answer, in order; their cells are fields of judgments.
        passed: what was skipped, and why, to how often.
        notes: what was understood of the columns.
        reading: what the columns were read as.
        unnamed: whether its people are told apart by times or numbers, which other files may have.
    """

    rows: Sequence[RawRow]
    passed: Mapping[str, int]
    notes: tuple[str, ...]
    reading: AnswersReading
    unnamed: bool = False


def read_long(table: Table, columns: ColumnMap, *, is_of_suite: bool = False) -> RawAnswers:
    """A table with one answer in each row.

    Args:
        table: the table.
        columns: where the fields stand.
        is_of_suite: whether a suite or a design has the questions; without one the sentences are
            kept beside the names of items.

    Raises:
        InputError: it does not say whose the answers are, or has none.
        UsageError: a column that somebody has chosen does not fit its role.
    """
    stated = columns.columns.get("value", ())
    table, lists = unlisted(table, stated)
    table, columns = with_roles(table, columns)
    if told := told_by_two(table, columns):
        table = table.with_cells({**table.cells, ANSWER: told.answers(table)})
        columns = replace(columns, columns={**columns.columns, "value": (ANSWER,)})
    if not (columns.columns.get("value") or columns.fixed.get("value")):
        raise unanswered(table, stated)
    columns = one_each(table, columns)
    columns, items = with_items_told(table, columns)
    columns, shared = with_shared_items(table, columns, is_of_suite=is_of_suite)
    notes = [*lists, *([told.said(table)] if told else []), *items, *shared]
    if not is_named(table, columns):
        if not (people := of_long(table, columns)):
            raise nobody(table, [name for name in table.columns if name not in columns.taken])
        columns = replace(columns, columns={**columns.columns, ANNOTATOR: (people,)})
        notes.append(remark(people))
    table, below = with_names_below(table, columns)
    notes += below
    roles = {"answer": (told.right, told.side)} if told else None
    reading = answers_reading(table, columns, own=(ANSWER,) if told else (), roles=roles)
    table, codes = decoded(table, columns.columns.get("value", ()), columns.values)
    notes += [*codes, *coarse_items(table, columns)]
    rows = resolved(rows_of(table), columns)
    return RawAnswers(
        rows if is_of_suite else [*map(_with_sentence, rows)], {}, tuple(notes), reading
    )


def _with_sentence(row: RawRow) -> RawRow:
    """An answer to an item with its sentence as what was judged, unless something else was."""
    cells = row.cells
    if "candidate" in cells or not (cells.get("item") and cells.get(TEXT)):
        return row
    return replace(row, cells={**cells, "candidate": cells[TEXT]})


def likely_form(table: Table, columns: ColumnMap, places: AskedItems) -> str:
    """The form that a table has by its columns: ``long``, ``wide``, or empty if it is not clear.

    Args:
        table: of answers.
        columns: the columns of the fields in long tables.
        places: what was asked; may be empty.
    """
    with contextlib.suppress(UsageError):  # it is said where the table is read
        # What a column called like answers holds instead is said there too.
        table, columns = with_roles(table, columns, untested=("value",))

    def has(*fields: str) -> bool:
        return any(columns.columns.get(field) or columns.fixed.get(field) for field in fields)

    if has("value") and has("item", TEXT):
        return "long"
    if has("item", TEXT) and told_by_two(table, columns):
        return "long"
    told, _ = with_items_told(table, columns)
    if told is not columns:
        return "long"
    rest = [name for name in table.columns if name.strip() and name not in columns.taken]
    if places and not places.complete:
        cells, headings = {name: table.stripped(name) for name in rest}, {n: n for n in rest}
        if choices_in(cells, headings, places, values=columns.values):
            return "wide"
    if places and any(places.find(name, where=table.name) for name in rest):
        return "wide"
    is_open = places or has("value", "item", TEXT) or _repeats_people(table, columns)
    return "wide" if not is_open and len(rest) > 1 else ""


_MOST_TIMES = 3
"""Rows of one person from which a table has no person per row, who may have answered twice."""


def _repeats_people(table: Table, columns: ColumnMap) -> bool:
    """Whether each person has several rows, so that a row has not all of somebody's answers."""
    names = columns.columns.get(ANNOTATOR, ())
    people = [*filter(None, table.stripped(names[0]))] if names else []
    return len(people) > 1 and _MOST_TIMES * len({*people}) <= len(people)


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
        UsageError: the export has no such column, or one that tells who somebody is.
        StorageError: the file cannot be written.
    """
    known = dict.fromkeys(name for person in submissions.values() for name in person.columns)
    for name in keep:
        need_known(name, known, where=f"--keep={name}", seen="the export has no such column")
        _refuse_telling(name, submissions.values())
    lines = ["\t".join(("annotator", "status", "session_seconds", *keep))]
    for submission in submissions.values():
        seconds = "" if submission.seconds is None else f"{submission.seconds:g}"
        kept = map(submission.columns.get, keep)
        cells = (rename(submission.participant), submission.status, seconds, *kept)
        lines.append("\t".join(inert(" ".join((cell or "").split())) for cell in cells))
    return write_text("".join(line + "\n" for line in lines), path)


def _refuse_telling(name: str, submissions: Iterable[Submission]) -> None:
    """Refuse to keep a column by which people can be found, beside their pseudonyms.

    Raises:
        UsageError: it has addresses, or the names that the pseudonyms replace.
    """
    for submission in submissions:
        cell = submission.columns.get(name, "").strip()
        if cell and (is_address(cell) or submission.participant in cell):
            raise UsageError(
                where=f"--keep={name}",
                seen="the column has addresses or names of participants, which tells who they are",
                todo="Leave it in the export, which you keep apart.",
            )


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
    return {squashed(name): name for name in table.columns}.get(wanted)

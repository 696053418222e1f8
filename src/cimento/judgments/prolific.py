"""Demographic exports of Prolific: who took part, whether it counts, how long it took.

Exports of different years head the same columns differently (``Participant id``,
``participant_id``); capitals, blanks and underscores do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.files import inert, write_text
from cimento.judgments.records import finite
from cimento.suites.tables import Row, Table, open_table

_PERSON = ("participantid",)
_STATUS = ("status",)
_SECONDS = ("timetaken",)
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
    person = _column(table, _PERSON)
    if person is None:
        raise InputError(
            where=table.name,
            seen=f"there are the columns {', '.join(table.columns[:6])} ...",
            todo="Give Prolific's export with the column Participant id.",
        )
    found: dict[str, Submission] = {}
    for row in table.rows:
        each = _submission(table, row, person)
        before = found.get(each.participant)
        if before is None or before.status not in _BEST or each.status in _BEST:
            found[each.participant] = each
    return found


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
    known = list(dict.fromkeys(name for each in submissions.values() for name in each.columns))
    for name in keep:
        if name not in known:
            raise UsageError(
                where=f"--keep {name}",
                seen="the export has no such column",
                todo=did_you_mean(name, known),
            )
    lines = ["\t".join(("annotator", "status", "session_seconds", *keep))]
    for each in submissions.values():
        seconds = "" if each.seconds is None else f"{each.seconds:g}"
        cells = (rename(each.participant), each.status, seconds, *map(each.columns.get, keep))
        lines.append("\t".join(inert(" ".join((cell or "").split())) for cell in cells))
    return write_text("".join(line + "\n" for line in lines), path)


def _submission(table: Table, row: Row, person: str) -> Submission:
    status, seconds = _column(table, _STATUS), _column(table, _SECONDS)
    text = row.cells.get(seconds, "").strip() if seconds else ""
    taken = finite(text)
    if text and taken is None:
        raise InputError(
            where=table.where(row),
            seen=f"{seconds} is {text!r}",
            todo="It is a number of seconds.",
        )
    return Submission(
        participant=row.cells[person].strip(),
        status=row.cells.get(status, "").strip().upper() if status else "",
        seconds=taken,
        columns={name: cell for name, cell in row.cells.items() if name != person},
    )


def _column(table: Table, wanted: tuple[str, ...]) -> str | None:
    plain = {re.sub(r"[\s_]+", "", name).casefold(): name for name in table.columns}
    return next((plain[name] for name in wanted if name in plain), None)

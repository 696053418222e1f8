"""Personal data of participants: all that is stored of somebody, its deletion, and its date."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cimento.errors import StorageError, UsageError
from cimento.people.surveys import SurveyQuestion, storage
from cimento.people.surveys.links import LINKS_FILE, remove_link

_PATIENCE = 2000
"""Milliseconds for which a deletion waits for programs that read the file."""


class StillInFileError(StorageError):
    """Answers were deleted, but their bytes are still in a file that another program reads."""


def data_of(path: Path, participant: str) -> str:
    """Everything that is stored of one participant, as JSON, with the texts that were shown.

    Raises:
        UsageError: there is no such participant.
        InputError: there is no such file.
        StorageError: it cannot be read.
    """
    design = storage.stored_design(path)
    with storage.opened_database(path) as connection:
        connection.row_factory = sqlite3.Row
        person = connection.execute(
            "SELECT * FROM participants WHERE id = ?", (participant,)
        ).fetchone()
        if person is None:
            raise _unknown(participant)
        consent = connection.execute(
            "SELECT * FROM consents WHERE version = ?", (person["consent"],)
        ).fetchone()
        stored = {
            table: [
                dict(row)
                for row in connection.execute(
                    f"SELECT * FROM {table} WHERE participant = ?",  # noqa: S608  # our own names
                    (participant,),
                )
            ]
            for table in ("background", "answers", "replaced")
        }
    for row in (*stored["answers"], *stored["replaced"]):
        question = design.by_id.get(row["question"])
        row["shown"] = _shown(question) if question else []
    content: Mapping[str, object] = {
        "survey": design.title,
        "participant": dict(person),
        "consent": dict(consent) if consent else None,
        **stored,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _shown(question: SurveyQuestion) -> list[str]:
    """The texts of a question: of a sentence read word by word, what was beside or after it too."""
    more = (" ".join(question.foils), question.comprehension)
    return [*question.lines, *filter(None, more)]


def delete_participant(path: Path, participant: str, links: Path | None = None) -> int:
    """Delete one participant with all answers and the link; a record of it, with its date, remains.

    Args:
        path: the file of the answers.
        participant: the code.
        links: the file of links; by default the one beside the answers.

    Returns:
        How many answers there were.

    Raises:
        UsageError: there is no such participant.
        StillInFileError: the answers are deleted, but their bytes are still in a file that another
            program reads; the same call again removes them.
        StorageError: the answers are deleted, but the link is in a file that cannot be written.
    """
    with storage.opened_database(path) as connection:
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
        connection.execute("BEGIN IMMEDIATE")
        answers = connection.execute(
            "SELECT count(*) FROM answers WHERE participant = ?", (participant,)
        ).fetchone()[0]
        gone = connection.execute("DELETE FROM participants WHERE id = ?", (participant,)).rowcount
        if gone:
            deletion = (participant, storage.now())
            connection.execute("INSERT INTO deletions VALUES (?, ?)", deletion)
        connection.execute("COMMIT")
        noted = connection.execute(
            "SELECT count(*) FROM deletions WHERE participant = ?", (participant,)
        ).fetchone()[0]
        if not noted:
            # Any other text than a code might be in the rows and lines of other people.
            raise _unknown(participant)
        unlinked = remove_link(links or path.with_name(LINKS_FILE), participant)
        if not (gone or unlinked) and _mentions(path, participant) <= noted:
            raise _unknown(participant)
        _overwrite(connection, path, participant, noted)
    return int(answers)


def inactive_participants(path: Path, days: int) -> list[str]:
    """Those of whom the last that is stored, if only their link, is older than some days."""
    limit = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    with storage.opened_database(path) as connection:
        # Times are in UTC and of one length, so that their order is that of their texts.
        rows = connection.execute(
            "SELECT id FROM participants WHERE max(created_at, coalesce(consented_at, ''),"
            " coalesce(finished_at, ''), coalesce((SELECT max(at) FROM answers"
            " WHERE participant = id), '')) < ? ORDER BY rowid",
            (limit,),
        )
        return [row[0] for row in rows]


def _overwrite(connection: sqlite3.Connection, path: Path, participant: str, noted: int) -> None:
    """Rewrite the file without what was deleted, and check that nothing of it is left."""
    try:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError:
        busy = True
    if busy or _mentions(path, participant) > noted:
        raise StillInFileError(
            where=str(path),
            seen=f"the answers of {participant} no longer count and are not exported, but can"
            " still be found in the file, since another program is reading it",
            todo="Wait until it is done (a backup or an export, say), then delete them again.",
        )


def _mentions(path: Path, participant: str) -> int:
    """The number of times that a code is in the bytes of the file and of its log.

    Every row of somebody's answers holds the code.
    """
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.read_bytes().count(participant.encode()) for file in files if file.is_file())


def _unknown(participant: str) -> UsageError:
    return UsageError(
        where=participant,
        seen="there is no such participant",
        todo="The code is on the last page of the survey, and begins with P-.",
    )

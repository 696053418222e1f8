"""Storage of a survey in one SQLite file: codes, hashes of links, answers; no addresses.

An answer that is given again replaces the earlier one, which is kept in ``replaced``. One thread
writes: what waits together is committed together, and only then acknowledged.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cimento.errors import InputError, StorageError
from cimento.io.files import DATABASE_ERRORS
from cimento.people.surveys import SurveyDesign, design_json, parse_design
from cimento.people.surveys.orders import draw_turns, order_questions
from cimento.people.surveys.security import digest, new_token

FORMAT = "2"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS consents (
    version TEXT PRIMARY KEY, text TEXT NOT NULL, stored_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS participants (
    id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, survey TEXT NOT NULL,
    created_at TEXT NOT NULL, consent TEXT REFERENCES consents, consented_at TEXT, finished_at TEXT,
    questions TEXT NOT NULL, background_at TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS background (
    participant TEXT NOT NULL REFERENCES participants ON DELETE CASCADE,
    name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (participant, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    participant TEXT NOT NULL REFERENCES participants ON DELETE CASCADE,
    question TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, remark TEXT NOT NULL,
    at TEXT NOT NULL, seconds REAL, PRIMARY KEY (participant, question, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replaced (
    participant TEXT NOT NULL REFERENCES participants ON DELETE CASCADE,
    question TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, remark TEXT NOT NULL,
    at TEXT NOT NULL, seconds REAL, replaced_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS deletions (participant TEXT NOT NULL, at TEXT NOT NULL) STRICT;
"""


class GoneError(Exception):
    """The participant was deleted meanwhile, or has not agreed."""


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who has a link.

    Attributes:
        id: the code under which the answers are kept.
        survey: the one that is asked.
        created_at: when the link was made, in UTC; so the other two.
        consent: version of the consent text that was agreed to; None before that.
        consented_at: when.
        finished_at: when everything was answered for the first time; None before that.
        questions: their ids, in the participant's order.
        turns: by how many places the answers of a question are turned for the participant.
        background_at: when the questions about the participant were answered; None before that.
    """

    id: str
    survey: str
    created_at: str
    consent: str | None
    consented_at: str | None
    finished_at: str | None
    questions: tuple[str, ...]
    turns: Mapping[str, int]
    background_at: str | None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One participant's answer to one field of one question."""

    participant: str
    question: str
    field: str
    value: str
    remark: str
    at: str
    seconds: float | None


_PARTICIPANT = (
    "id, survey, created_at, consent, consented_at, finished_at, questions, background_at"
)
_ANSWER = "participant, question, field, value, remark, at, seconds"


_SETTINGS = (
    "busy_timeout = 10000",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",
)


def open_database(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode; what is committed survives a crash of the machine.

    Raises:
        StorageError: the file cannot be opened as a database.
    """
    try:
        # Each connection is used by one thread at a time; which one, uvicorn and tests decide.
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except DATABASE_ERRORS as error:
        raise _unusable(path, error) from error
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except DATABASE_ERRORS as error:
        connection.close()
        raise _unusable(path, error) from error
    return connection


def _unusable(path: Path, error: Exception) -> StorageError:
    return StorageError(
        where=str(path),
        seen=f"cannot be opened as a database ({error})",
        todo="Name another file with --database.",
    )


def prepare(path: Path, design: SurveyDesign) -> None:
    """Make the file ready for a design.

    Raises:
        InputError: it belongs to another design.
        StorageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make(path, design)
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be made ({error.strerror})",
            todo="Name another file with --database.",
        ) from error
    _fill(path, design)


def _make(path: Path, design: SurveyDesign) -> None:
    """Make a file elsewhere and put it in place: who looks meanwhile finds nothing, or all of it.

    Raises:
        OSError: the file cannot be made.
    """
    with TemporaryDirectory(prefix=".cimento-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        # Answers are personal data: nobody else on this machine needs to read them.
        made.touch(mode=0o600)
        _fill(made, design)
        try:
            os.link(made, path)
        except FileExistsError:  # another server was quicker, and its key counts
            return
        except OSError:  # a disk without links
            made.rename(path)


def _fill(path: Path, design: SurveyDesign) -> None:
    """Write the tables and the facts of a design into a file that lacks them.

    Raises:
        InputError: it belongs to another design.
    """
    with opened_database(path) as connection:
        connection.executescript(_SCHEMA)
        known = _facts(connection)
        if not known:
            facts = {"format": FORMAT, "design": design_json(design), "key": secrets.token_hex(32)}
            connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        elif known["design"] != design_json(design):
            raise InputError(
                where=str(path),
                seen="the answers in it are to another design",
                todo="Name another file with --database, or serve the design that it was made for.",
            )


def stored_design(path: Path) -> SurveyDesign:
    """The design of the answers in a file.

    Raises:
        InputError: there is no such file, or it is none of ours.
    """
    if not path.is_file():
        raise InputError(
            where=str(path),
            seen="there is no such file",
            todo="Serve the survey first, or name its file with --database.",
        )
    with opened_database(path) as connection:
        design = _facts(connection).get("design", "")
    return parse_design(design.encode(), where=str(path))


def signing_key(path: Path) -> bytes:
    """The key for signing forms.

    Raises:
        StorageError: the file cannot be read, or holds none.
    """
    with opened_database(path) as connection:
        try:
            return bytes.fromhex(_facts(connection)["key"])
        except (KeyError, ValueError) as error:
            raise StorageError(
                where=str(path),
                seen="the key that forms are signed with is damaged",
                todo="Take a copy of the file from before.",
            ) from error


def invite_participants(
    path: Path, design: SurveyDesign, number: int
) -> list[tuple[Participant, str]]:
    """Make participants, each in the survey that has the fewest so far.

    Returns:
        Each with the token of their link, which is stored nowhere.
    """
    made = []
    with opened_database(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        counts = Counter(row[0] for row in connection.execute("SELECT survey FROM participants"))
        for _ in range(number):
            survey = min(design.by_survey, key=lambda name: counts[name])
            counts[survey] += 1
            token = new_token()
            code = f"P-{secrets.token_hex(5)}"
            # The code is the seed, and the order is recorded with it.
            chance = random.Random(f"{design.seed} {code}")  # noqa: S311  # no secret
            order = order_questions(design.by_survey[survey], chance)
            questions = tuple(question.id for question in order)
            # Of other questions, the answers have an order of their own, such as that of a scale.
            turns = draw_turns(order, chance) if design.task == "choice" else {}
            asked = [[name, turns[name]] if turns.get(name) else name for name in questions]
            participant = Participant(code, survey, now(), None, None, None, questions, turns, None)
            connection.execute(
                "INSERT INTO participants (id, token, survey, created_at, questions)"
                " VALUES (?, ?, ?, ?, ?)",
                (code, digest(token), survey, participant.created_at, json.dumps(asked)),
            )
            made.append((participant, token))
        connection.execute("COMMIT")
    return made


def participants(path: Path) -> list[Participant]:
    """All participants, in the order in which their links were made."""
    with opened_database(path) as connection:
        rows = connection.execute(f"SELECT {_PARTICIPANT} FROM participants ORDER BY rowid")  # noqa: S608  # our own column names
        return [_participant(row) for row in rows]


def answers(path: Path) -> list[StoredAnswer]:
    """All answers that count."""
    with opened_database(path) as connection:
        rows = connection.execute(f"SELECT {_ANSWER} FROM answers")  # noqa: S608  # our own names
        return [StoredAnswer(*row) for row in rows]


def find_participant(connection: sqlite3.Connection, token_hash: str) -> Participant | None:
    """The participant of a link; None for an unknown link."""
    query = f"SELECT {_PARTICIPANT} FROM participants WHERE token = ?"  # noqa: S608  # our own names
    row = connection.execute(query, (token_hash,)).fetchone()
    return _participant(row) if row else None


def _participant(row: tuple[Any, ...]) -> Participant:
    """The record of a row; sqlite3.DatabaseError where the order of questions was damaged."""
    *facts, questions, background_at = row
    try:
        order = _order_in(questions)
    except ValueError as error:
        seen = f"the questions of participant {facts[0]!r} are unreadable"
        raise sqlite3.DatabaseError(seen) from error
    turns = {name: turn for name, turn in order if turn}
    return Participant(*(*facts, tuple(name for name, _ in order), turns, background_at))


def _order_in(text: str) -> tuple[tuple[str, int], ...]:
    """The questions of a participant in their order, as they are stored.

    Raises:
        ValueError: the text is no such order.
    """
    entries = json.loads(text)
    if not isinstance(entries, list):
        raise ValueError(text)  # noqa: TRY004  # of what is stored, whatever its kind
    return tuple(map(_asked, entries))


def _asked(entry: object) -> tuple[str, int]:
    """A question of a participant, and by how many places its answers are turned.

    An entry is the question's id; where they are turned, that and the number.

    Raises:
        ValueError: it is neither.
    """
    match entry:
        case str(name):
            return name, 0
        case [str(name), int(turn)] if turn > 0:
            return name, turn
    raise ValueError


def answered(connection: sqlite3.Connection, participant: str) -> set[str]:
    """The questions that a participant has answered."""
    query = "SELECT DISTINCT question FROM answers WHERE participant = ?"
    return {row[0] for row in connection.execute(query, (participant,))}


def answer_to(
    connection: sqlite3.Connection, participant: str, question: str
) -> list[StoredAnswer]:
    """A participant's answers to one question, field by field."""
    query = f"SELECT {_ANSWER} FROM answers WHERE participant = ? AND question = ?"  # noqa: S608  # our own names
    return [StoredAnswer(*row) for row in connection.execute(query, (participant, question))]


def store_consent(connection: sqlite3.Connection, participant: str, design: SurveyDesign) -> None:
    """Store a participant's consent, with the text agreed to."""
    version, text = design.consent_version, "\n\n".join(design.consent)
    connection.execute("INSERT OR IGNORE INTO consents VALUES (?, ?, ?)", (version, text, now()))
    connection.execute(
        "UPDATE participants SET consent = ?, consented_at = ? WHERE id = ? AND consent IS NULL",
        (version, now(), participant),
    )


def store_background(
    connection: sqlite3.Connection, participant: str, values: Mapping[str, str]
) -> None:
    """Store what a participant says of themselves, in place of what was said before.

    Raises:
        GoneError: the participant is there no more, or has not agreed.
    """
    changed = connection.execute(
        "UPDATE participants SET background_at = ? WHERE id = ? AND consent IS NOT NULL",
        (now(), participant),
    )
    if not changed.rowcount:
        raise GoneError
    connection.execute("DELETE FROM background WHERE participant = ?", (participant,))
    rows = [(participant, name, value) for name, value in values.items() if value]
    connection.executemany("INSERT INTO background VALUES (?, ?, ?)", rows)


def store_answer(
    connection: sqlite3.Connection,
    participant: str,
    question: str,
    values: Mapping[str, str],
    *,
    remark: str,
    seconds: float | None,
    asked: Sequence[str],
    first_counts: bool = False,
) -> None:
    """Store the answers to one question; the same answer again changes nothing.

    Args:
        connection: in a transaction.
        participant: who.
        question: which.
        values: by field.
        remark: what was added.
        seconds: since the page was shown; None where that is not known.
        asked: all questions of the survey, to know when it is finished.
        first_counts: whether an answer to what was answered before is passed over.

    Raises:
        GoneError: the participant is there no more, or has not agreed.
    """
    row = connection.execute(
        "SELECT consent FROM participants WHERE id = ?", (participant,)
    ).fetchone()
    if row is None or row[0] is None:
        raise GoneError
    known = answer_to(connection, participant, question)
    if (not known or not first_counts) and (
        {answer.field: answer.value for answer in known} != values
        or {answer.remark for answer in known} != {remark}
    ):
        _replace(connection, participant, question)
        connection.executemany(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (participant, question, field, value, remark, now(), seconds)
                for field, value in values.items()
            ],
        )
    if answered(connection, participant) >= set(asked):
        connection.execute(
            "UPDATE participants SET finished_at = ? WHERE id = ? AND finished_at IS NULL",
            (now(), participant),
        )


def now() -> str:
    """The time, in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _replace(connection: sqlite3.Connection, participant: str, question: str) -> None:
    """Move the earlier answers to one question out of the way."""
    connection.execute(
        f"INSERT INTO replaced SELECT {_ANSWER}, ? FROM answers"  # noqa: S608  # our own names
        " WHERE participant = ? AND question = ?",
        (now(), participant, question),
    )
    connection.execute(
        "DELETE FROM answers WHERE participant = ? AND question = ?", (participant, question)
    )


def _facts(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM facts").fetchall())


@contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that is closed at the end; StorageError for what the database refuses."""
    connection = open_database(path)
    try:
        yield connection
    except sqlite3.Error as error:
        raise StorageError(
            where=str(path),
            seen=f"the database cannot be used ({error})",
            todo="Is it a file of `cimento annotate serve`, and is there space on the disk?",
        ) from error
    finally:
        connection.close()

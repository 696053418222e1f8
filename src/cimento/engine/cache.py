"""Answers kept between runs, addressed by their content.

The key of an entry is a hash over the model's weights, its tokenizer, the policy and what was asked
(of scores the exact token ids), and nothing else: never the suite, the batch or the time. Its value
is bytes: packed numbers for scores, JSON for the answers to other questions.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import StorageError
from cimento.io.files import DATABASE_ERRORS
from cimento.io.parsing import parse_json
from cimento.io.tables import BOUNDARY, COLUMNS, LAYER, Column
from cimento.suites.model import JsonValue

Scores: TypeAlias = dict[int, float]
"""Index in the token sequence to log-probability in nats."""

_LOOK_UP = 500
_PATIENCE_SECONDS = 60
"""How long another process may hold the file before that is an error."""

_RETRY_SECONDS = 0.01
_RECORD = struct.Struct("<id")
RECORD_FORMAT = [("index", "<i4"), ("value", "<f8")]
"""A score as it is kept, as numpy reads it."""

_DIGEST = hashlib.sha256().digest_size
_QUESTION = b"?"
"""Follows the hash in the key of an answer that is no scores; the name of its table follows."""

_SEAL = 8
"""Bytes of the hash that tells a damaged entry from a whole one."""

_SEALED = "sealed (key BLOB PRIMARY KEY, scores BLOB) WITHOUT ROWID"
_EARLIER = "answers (key BLOB PRIMARY KEY, scores BLOB) WITHOUT ROWID"
_OURS = (f"CREATE TABLE {_SEALED}", f"CREATE TABLE {_EARLIER}")
"""What SQLite keeps of how tables were made."""

_ROUNDING = 1e-3
"""A log-probability may come out above 0 by so much, in half precision."""


class AnswerCache(Protocol):
    """Where answers are kept."""

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under these keys; those under which nothing is are left out."""

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these entries, all or none; they replace what was there."""


def sequence_key(model_key: str, ids: Sequence[int], words: Sequence[int] = ()) -> bytes:
    """The address of a token sequence scored by one model under one policy.

    Args:
        model_key: all that scores depend on besides the text.
        ids: token ids of the whole sequence.
        words: number of the word of each token, where there are such: what a masked model masks
            depends on them, and texts of the same tokens can differ in blanks.
    """
    digest = hashlib.sha256(model_key.encode())
    digest.update(struct.pack(f"<q{len(ids)}q{len(words)}q", len(ids), *ids, *words))
    return digest.digest()


def column_key(key: bytes, column: Column) -> bytes:
    """The address of another column of what a token sequence was scored."""
    return key + column.encode()


def answer_key(model_key: str, table: str, asked: JsonValue) -> bytes:
    """The address of the answer to a question that is not answered by scores of tokens.

    Args:
        model_key: all that answers depend on besides the question.
        table: name of the table that answers it.
        asked: the question, in plain values.
    """
    text = json.dumps([model_key, table, asked], sort_keys=True)
    return hashlib.sha256(text.encode()).digest() + _QUESTION + table.encode()


def get_scores(cache: AnswerCache, keys: Sequence[bytes]) -> dict[bytes, Scores]:
    """The scores that are kept of these sequences."""
    kept = cache.get(keys).items()
    return {key: unpack_scores(data) for key, data in kept if is_packed(data)}


def is_packed(data: bytes) -> bool:
    """Whether an entry can be scores."""
    return not len(data) % _RECORD.size


def put_scores(cache: AnswerCache, entries: Mapping[bytes, Scores]) -> None:
    """Keep the scores of these sequences, all or none; they replace what was there."""
    cache.put({key: pack_scores(scores) for key, scores in entries.items()})


def get_answers(cache: AnswerCache, keys: Sequence[bytes]) -> dict[bytes, JsonValue]:
    """The answers that are kept under the keys of questions."""
    return {key: parse_json(data) for key, data in cache.get(keys).items() if _is_json(data)}


def put_answers(cache: AnswerCache, entries: Mapping[bytes, JsonValue]) -> None:
    """Keep the answers to these questions, all or none."""
    cache.put({key: json.dumps(answer).encode() for key, answer in entries.items()})


def union(key: bytes, first: bytes, second: bytes) -> bytes:
    """What is known after two have answered: of a sequence the tokens that either has scored."""
    if _QUESTION in key[_DIGEST:] or len(first + second) % _RECORD.size:
        return second
    return pack_scores({**unpack_scores(first), **unpack_scores(second)})


class MemoryCache:
    """A cache that lasts as long as the process."""

    def __init__(self) -> None:
        self._entries: dict[bytes, bytes] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under these keys."""
        return {key: self._entries[key] for key in keys if key in self._entries}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these entries."""
        self._entries.update(entries)


def default_cache_folder() -> Path:
    """``CIMENTO_CACHE_DIR``, else ``cimento`` in the user's cache folder."""
    named = os.environ.get("CIMENTO_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "cimento"
    if not folder.is_absolute():
        # Otherwise every folder that a command is given in would get a cache of its own.
        raise StorageError(
            where="HOME",
            seen=f"the home folder is {str(Path.home())!r}, which is no absolute path",
            todo="Set HOME or CIMENTO_CACHE_DIR, or run with --no-cache.",
        )
    return folder


class FileCache:
    """A cache in one SQLite file, safe for several processes at once.

    Raises:
        StorageError: the file cannot be opened or written, or is not a cache.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "answers.sqlite3"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE_SECONDS, isolation_level=None
            )
        except (OSError, *DATABASE_ERRORS) as error:
            raise self._failure(error) from error
        try:
            _write_ahead(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA trusted_schema=OFF")
            self._refuse_programs()
            self._make_table()
        except DATABASE_ERRORS as error:
            self._connection.close()
            raise self._failure(error) from error
        except StorageError:
            self._connection.close()
            raise

    def _refuse_programs(self) -> None:
        """See that the file holds our tables and no others.

        What a stranger defined would run when the file is used: views, triggers, columns and
        indices that are computed.

        Raises:
            StorageError: it holds others.
        """
        query = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL"
        for kind, sql in self._connection.execute(query):
            if sql not in _OURS:
                raise self._failure(f"it holds a {kind} that is none of a cache")

    def _make_table(self) -> None:
        """Make the table where there is none; entries of earlier versions get their seal."""
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {_SEALED}")
        known = "SELECT 1 FROM sqlite_master WHERE name = 'answers'"
        if self._connection.execute(known).fetchone() is None:
            return
        self._connection.create_function("seal", 2, _sealed, deterministic=True)
        self._connection.execute("BEGIN IMMEDIATE")
        if self._connection.execute(known).fetchone() is not None:  # no other process was first
            self._connection.execute(
                "INSERT OR IGNORE INTO sealed SELECT key, seal(key, scores) FROM answers"
            )
            self._connection.execute("DROP TABLE answers")
        self._connection.execute("COMMIT")

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under these keys; a damaged entry is not, and is asked again."""
        found: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(keys), _LOOK_UP):
                some = keys[start : start + _LOOK_UP]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, scores FROM sealed WHERE key IN ({marks})"  # noqa: S608  # only question marks
                with closing(self._connection.execute(query, some)) as rows:
                    opened = ((key, _opened(key, blob)) for key, blob in rows)
                    found.update((key, data) for key, data in opened if data is not None)
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these entries, in one transaction."""
        rows = [(key, _sealed(key, data)) for key, data in entries.items()]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO sealed VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
        except DATABASE_ERRORS as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise self._failure(error) from error

    def count(self) -> int:
        """The number of texts and questions whose answers are kept."""
        try:
            query = "SELECT count(*) FROM sealed WHERE length(key) = ? OR substr(key, ?, 1) = ?"
            place = (_DIGEST, _DIGEST + 1, _QUESTION)
            [[number]] = self._connection.execute(query, place).fetchall()
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return int(number)

    def clear(self) -> int:
        """Forget everything, and say how many texts and questions that were."""
        number = self.count()
        try:
            self._connection.execute("DELETE FROM sealed")
            self._connection.execute("VACUUM")
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return number

    def verify(self) -> list[str]:
        """What is wrong with the file, as sentences; empty where nothing is."""
        try:
            found = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check")]
            damaged = sum(
                not _is_sound(key, blob)
                for key, blob in self._connection.execute("SELECT key, scores FROM sealed")
            )
        except DATABASE_ERRORS as error:
            return [f"The file cannot be read ({error})."]
        problems = [] if found == ["ok"] else [f"SQLite: {each}." for each in found]
        return problems + ([f"{damaged} entries are damaged."] if damaged else [])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _failure(self, error: Exception | str) -> StorageError:
        return StorageError(
            where=str(self.path),
            seen=f"the cache of answers cannot be used ({error})",
            todo=_BUSY if "locked" in str(error) else _DAMAGED,
        )


_BUSY = "Another program holds it: wait for that one, or run with --no-cache."
_DAMAGED = "Delete it, set CIMENTO_CACHE_DIR to another folder, or run with --no-cache."


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers go on while another process writes.

    SQLite waits for whoever holds a file, but not here: of several processes that make the same
    new file, one may be told at once that it is locked.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # of any sort
            if not busy or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def pack_scores(scores: Scores) -> bytes:
    """Scores as they are stored, in the order of the tokens."""
    return b"".join(_RECORD.pack(index, value) for index, value in sorted(scores.items()))


def unpack_scores(blob: bytes) -> Scores:
    """Scores that were packed.

    Raises:
        struct.error: they were not.
    """
    return dict(_RECORD.iter_unpack(blob))


def _sealed(key: bytes, data: bytes) -> bytes:
    """What is stored of an entry: a hash over key and content, then the content."""
    return hashlib.blake2b(key + data, digest_size=_SEAL).digest() + data


def _opened(key: object, blob: object) -> bytes | None:
    """The content of an entry; None where a bit of it is not what was stored."""
    if not isinstance(key, bytes) or not isinstance(blob, bytes):
        return None
    data = blob[_SEAL:]
    return data if _sealed(key, data) == blob else None


def _is_sound(key: bytes, blob: bytes) -> bool:
    """Whether an entry is whole: JSON, or scores of which none is above the log of a certainty."""
    data = _opened(key, blob)
    if data is None or len(key) < _DIGEST:
        return False
    column = key[_DIGEST:].decode(errors="replace")
    if column.startswith(_QUESTION.decode()):
        return _is_json(data)
    known = not column or column in {*COLUMNS, BOUNDARY} or column.startswith(LAYER)
    if not known or len(data) % _RECORD.size:
        return False
    highest = math.inf if column else _ROUNDING
    return all(index >= 0 and not value > highest for index, value in unpack_scores(data).items())


def _is_json(data: bytes) -> bool:
    try:
        parse_json(data)
    except ValueError:
        return False
    return True

"""A cache of answers that is kept between runs and addressed by content.

The key of an entry is a hash over the model's weights, its tokenizer, the policy and the question
(for scores, the exact token ids), and nothing else: never the suite, the batch or the time. The
value is bytes: packed numbers for scores, JSON for the answers to other questions.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import StorageError
from cimento.io.files import DATABASE_ERRORS
from cimento.io.parsing import parse_json
from cimento.io.tables import BOUNDARY, COLUMNS, LAYER, Column
from cimento.models.checked import ROUNDING_NATS
from cimento.suites import JsonValue

Scores: TypeAlias = dict[int, float]
"""Log-probabilities in nats, by index in the token sequence."""

_LOOK_UP = 500
_PATIENCE_SECONDS = 60
"""Seconds for which another process may lock the file before that is an error."""

_RETRY_SECONDS = 0.01
_RECORD = struct.Struct("<id")
RECORD_FORMAT = [("index", "<i4"), ("value", "<f8")]
"""The numpy type of a stored score."""

_DIGEST = hashlib.sha256().digest_size
_QUESTION = b"?"
"""The mark between hash and table name in the key of an answer that does not hold scores."""

_SEAL = 8
"""Length in bytes of the hash by which a damaged entry is recognized."""

_SEALED = "sealed (key BLOB PRIMARY KEY, scores BLOB) WITHOUT ROWID"
_OURS = f"CREATE TABLE {_SEALED}"
"""The statement that SQLite stores for our table."""


class AnswerCache(Protocol):
    """The protocol of a cache of answers: a `MemoryCache`, a `FileCache` or one of your own."""

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values stored under these keys; keys without a value are left out."""

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store all of these entries or none; they replace earlier values."""


def sequence_key(model_key: str, ids: Sequence[int], words: Sequence[int] = ()) -> bytes:
    """The address of a token sequence scored by one model under one policy.

    Args:
        model_key: everything that scores depend on besides the text.
        ids: token ids of the whole sequence.
        words: number of the word of each token, if words are numbered: the tokens that a masked
            model masks together depend on them, and texts with the same tokens can differ in
            blanks.
    """
    digest = hashlib.sha256(model_key.encode())
    digest.update(struct.pack(f"<q{len(ids)}q{len(words)}q", len(ids), *ids, *words))
    return digest.digest()


def column_key(key: bytes, column: Column) -> bytes:
    """The address of a further column of a token sequence's scores."""
    return key + column.encode()


def answer_key(model_key: str, table: str, asked: JsonValue) -> bytes:
    """The address of the answer to a question whose answer is not token scores.

    Args:
        model_key: everything that answers depend on besides the question.
        table: name of the table that holds the answer.
        asked: the question, as JSON values.
    """
    text = json.dumps([model_key, table, asked], sort_keys=True)
    return hashlib.sha256(text.encode()).digest() + _QUESTION + table.encode()


def get_scores(cache: AnswerCache, keys: Sequence[bytes]) -> dict[bytes, Scores]:
    """The stored scores of token sequences, by key."""
    kept = cache.get(keys).items()
    return {key: unpack_scores(data) for key, data in kept if is_packed(data)}


def is_packed(data: bytes) -> bool:
    """Whether the length of an entry fits packed scores."""
    return not len(data) % _RECORD.size


def put_scores(cache: AnswerCache, entries: Mapping[bytes, Scores]) -> None:
    """Store the scores of all of these sequences or none; they replace earlier scores."""
    cache.put({key: pack_scores(scores) for key, scores in entries.items()})


def get_answers(cache: AnswerCache, keys: Sequence[bytes]) -> dict[bytes, JsonValue]:
    """The stored answers under the keys of questions."""
    return {key: parse_json(data) for key, data in cache.get(keys).items() if _is_json(data)}


def put_answers(cache: AnswerCache, entries: Mapping[bytes, JsonValue]) -> None:
    """Store the answers to all of these questions or none."""
    cache.put({key: json.dumps(answer).encode() for key, answer in entries.items()})


def union(key: bytes, first: bytes, second: bytes) -> bytes:
    """The union of two entries of a key: the token scores of both; of other answers, the second."""
    if _QUESTION in key[_DIGEST:] or len(first + second) % _RECORD.size:
        return second
    return pack_scores({**unpack_scores(first), **unpack_scores(second)})


class MemoryCache:
    """A cache that lasts as long as the process."""

    def __init__(self) -> None:
        self._entries: dict[bytes, bytes] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values stored under these keys; keys without a value are left out."""
        return {key: self._entries[key] for key in keys if key in self._entries}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store these entries; they replace earlier values."""
        self._entries.update(entries)


class FileCache:
    """A cache in one SQLite file, safe for several processes at once.

    Args:
        folder: where the file is, or is made.

    Raises:
        StorageError: the file cannot be opened or written, or is not a cache.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.path = folder / "answers.sqlite3"
        self._turn = threading.Lock()
        self._putting = threading.Lock()
        self._current: FileCache | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Threads of this process look up in turn; see `get`.
            self._connection = sqlite3.connect(
                self.path,
                timeout=_PATIENCE_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        except (OSError, *DATABASE_ERRORS) as error:
            raise self._failure(error) from error
        try:
            _write_ahead(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA trusted_schema=OFF")
            self._refuse_programs()
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS {_SEALED}")
        except DATABASE_ERRORS as error:
            self._connection.close()
            raise self._failure(error) from error
        except StorageError:
            self._connection.close()
            raise

    def _refuse_programs(self) -> None:
        """Refuse a file with anything but our table.

        Views, triggers, and computed columns and indices in an untrusted file would run when the
        file is used.

        Raises:
            StorageError: the file holds something else.
        """
        query = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL"
        for kind, sql in self._connection.execute(query):
            if sql != _OURS:
                raise self._failure(f"it holds a {kind} that is none of a cache")

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values stored under these keys; damaged entries are left out, to be asked again."""
        values: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(keys), _LOOK_UP):
                some = keys[start : start + _LOOK_UP]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, scores FROM sealed WHERE key IN ({marks})"  # noqa: S608  # only question marks
                with self._turn, closing(self._connection.execute(query, some)) as rows:
                    opened = ((key, _opened(key, blob)) for key, blob in rows)
                    values.update((key, data) for key, data in opened if data is not None)
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return values

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store these entries in one transaction."""
        if self._current is not None:
            self._current.put(entries)
            return
        rows = [(key, _sealed(key, data)) for key, data in entries.items()]
        with self._putting:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR REPLACE INTO sealed VALUES (?, ?)", rows)
                self._connection.execute("COMMIT")
            except DATABASE_ERRORS as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise self._failure(error) from error

    @contextmanager
    def unchanged(self) -> Iterator[FileCache]:
        """A context in which this cache shows what it held before, whatever is put there meanwhile.

        The cache that it gives has a connection of its own to the same file and shows what is new.

        Raises:
            StorageError: the file cannot be read.
        """
        with closing(FileCache(self.path.parent)) as current:
            try:
                # A transaction of SQLite sees the file as it is when it first reads.
                with self._turn:
                    self._connection.execute("BEGIN")
                    self._connection.execute("SELECT 1 FROM sealed LIMIT 1").fetchone()
            except DATABASE_ERRORS as error:
                raise self._failure(error) from error
            self._current = current
            try:
                yield current
            finally:
                self._current = None
                with self._turn:
                    self._connection.execute("ROLLBACK")

    def count(self) -> int:
        """The number of texts and questions whose answers are stored."""
        try:
            query = "SELECT count(*) FROM sealed WHERE length(key) = ? OR substr(key, ?, 1) = ?"
            place = (_DIGEST, _DIGEST + 1, _QUESTION)
            [[number]] = self._connection.execute(query, place).fetchall()
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return int(number)

    def clear(self) -> int:
        """Delete all entries, and return the number of texts and questions they answered."""
        number = self.count()
        try:
            self._connection.execute("DELETE FROM sealed")
            self._connection.execute("VACUUM")
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error
        return number

    def verify(self) -> list[str]:
        """Everything that is wrong with the file, as sentences; empty for a sound file."""
        try:
            lines = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check")]
            damaged = sum(
                not _is_sound(key, blob)
                for key, blob in self._connection.execute("SELECT key, scores FROM sealed")
            )
        except DATABASE_ERRORS as error:
            return [f"The file cannot be read ({error})."]
        problems = [] if lines == ["ok"] else [f"SQLite: {line}." for line in lines]
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
    """Switch to write-ahead logging, so that readers go on while another process writes.

    SQLite waits for a lock everywhere else, but not for this switch: of several processes that make
    the same new file, one may get an error at once. So the switch is retried.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # any kind of SQLITE_BUSY
            if not busy or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def pack_scores(scores: Scores) -> bytes:
    """Scores in their stored form, in the order of the tokens."""
    return b"".join(_RECORD.pack(index, value) for index, value in sorted(scores.items()))


def unpack_scores(blob: bytes) -> Scores:
    """The scores in packed bytes.

    Raises:
        struct.error: the bytes are not packed scores.
    """
    return dict(_RECORD.iter_unpack(blob))


def _sealed(key: bytes, data: bytes) -> bytes:
    """The stored form of an entry: a hash over key and content, then the content."""
    return hashlib.blake2b(key + data, digest_size=_SEAL).digest() + data


def _opened(key: object, blob: object) -> bytes | None:
    """The content of an entry; None where a bit of it has changed."""
    if not isinstance(key, bytes) or not isinstance(blob, bytes):
        return None
    data = blob[_SEAL:]
    return data if _sealed(key, data) == blob else None


def _is_sound(key: bytes, blob: bytes) -> bool:
    """Whether an entry is undamaged and holds JSON, or scores with no log-probability above 0."""
    data = _opened(key, blob)
    if data is None or len(key) < _DIGEST:
        return False
    column = key[_DIGEST:].decode(errors="replace")
    if column.startswith(_QUESTION.decode()):
        return _is_json(data)
    known = not column or column in {*COLUMNS, BOUNDARY} or column.startswith(LAYER)
    if not known or len(data) % _RECORD.size:
        return False
    highest = math.inf if column else ROUNDING_NATS
    return all(index >= 0 and not value > highest for index, value in unpack_scores(data).items())


def _is_json(data: bytes) -> bool:
    try:
        parse_json(data)
    except ValueError:
        return False
    return True

"""The index of a dictionary file: millions of forms on disk, built once and opened instantly.

Entries are sorted in compressed blocks of a SQLite file, once by form and once by lemma. The key of
a block is its first word, and all entries of a word are in the same block, so that a look-up reads
and unpacks a single block.
"""

from __future__ import annotations

import codecs
import functools
import re
import sqlite3
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Literal, TypeAlias

from cimento.errors import InputError, StorageError
from cimento.io.files import DATABASE_ERRORS, atomically, reading
from cimento.suites.letters import one_spelling

_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

_ESCAPE = re.compile(r"\\(.)")
_REMARK = re.compile(r"(?<!\\)/")


@dataclass(frozen=True, slots=True)
class DictionaryEntry:
    """An entry of a dictionary, from one line.

    Attributes:
        form: the word form.
        lemma: its lemma.
        tags: its tags as one text; `dictionaries.split_tags` separates several codes.
    """

    form: str
    lemma: str
    tags: str


@dataclass(frozen=True, slots=True)
class LineFault:
    """A line that could not be read.

    Attributes:
        line: its number, from 1.
        text: the line.
        seen: what is wrong with it.
    """

    line: int
    text: str
    seen: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.seen}: {self.text[:80]!r}"


ParseLine: TypeAlias = Callable[[str], "DictionaryEntry | str | None"]
"""A parser of lines, which returns the entry, the description of a fault, or None for no entry."""

_LONGEST_LINE = 10_000
"""Greatest length of a line; the expression below needs two hundred times its memory."""

_DELAF = re.compile(r"(?P<form>(?:\\.|[^\\,])*),(?P<lemma>(?:\\.|[^\\.])*)\.(?P<tags>.*)")
_DELAF_TAGS = re.compile(r"[A-Za-z0-9]+(?:\+[^+:\s]+)*(?::[^+:\s]+)*")


def parse_delaf(line: str) -> DictionaryEntry | str | None:
    r"""The entry of a line ``form,lemma.CLASS+trait:code:code``; ``\`` escapes, ``/`` is a remark.

    An empty lemma means the form itself (Unitex manual, "The DELAF format").
    """
    if not line.strip() or line.startswith("/"):
        return None
    fits = "\t" not in line and len(line) <= _LONGEST_LINE
    match = _DELAF.fullmatch(line) if fits else None
    if match is None:
        return "is not form,lemma.CLASS"
    form, lemma = _plain(match["form"]), _plain(match["lemma"])
    tags = match["tags"]
    # Most of millions of lines have neither a remark nor an escape, so they take a fast path.
    if "/" in tags:
        tags = _REMARK.split(tags)[0]
    tags = tags.strip()
    if not form:
        return "has no form"
    if not _DELAF_TAGS.fullmatch(tags):
        return "has no class, or an unknown code"
    return DictionaryEntry(form, lemma or form, tags)


def parse_unimorph(line: str) -> DictionaryEntry | str | None:
    """The entry of a line ``lemma<TAB>form<TAB>features``; a fourth column is ignored."""
    if not line.strip() or line.startswith("#"):
        return None
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in (3, 4):
        return f"has {len(cells)} columns and not lemma, form, features"
    lemma, form, features = cells[:3]
    if not (lemma and form and features):
        return "has an empty column"
    return DictionaryEntry(form, lemma, features)


def dictionary_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a dictionary, from 1; UTF-8, or UTF-16 with a byte order mark.

    Raises:
        InputError: the file cannot be read, or is in another encoding.
    """
    number = 0
    try:
        with reading(path), _opened(path) as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeError as error:
        raise InputError(
            where=f"{path}, after line {number}",
            seen="is neither UTF-8 nor UTF-16 with a byte order mark",
            todo="Save the dictionary as UTF-8.",
        ) from error


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as file:
        start = file.read(3)
    encoding = next((name for bom, name in _BOMS.items() if start.startswith(bom)), "utf-8")
    return path.open(encoding=encoding, newline="\n")


def _plain(text: str) -> str:
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


VERSION = 2
FAULTS_KEPT = 100
"""Number of faulty lines that are stored; all are counted."""

_BLOCK = 256
"""Approximate number of entries in a block."""
_LARGEST_BLOCK = 50_000_000
"""Largest size of an unpacked block, in bytes."""
_CELLS = 3

_INSERTED = 50_000
IndexKey = Literal["form", "lemma"]
_ORDERED = {
    "form": "SELECT form_key, form, lemma, tags FROM entries ORDER BY form_key, rowid",
    "lemma": "SELECT lemma_key, form, lemma, tags FROM entries ORDER BY lemma_key, rowid",
}
_FIND = {
    "form": "SELECT rowid FROM by_form WHERE first <= ? ORDER BY first DESC LIMIT 1",
    "lemma": "SELECT rowid FROM by_lemma WHERE first <= ? ORDER BY first DESC LIMIT 1",
}
_READ = {
    "form": "SELECT data FROM by_form WHERE rowid = ?",
    "lemma": "SELECT data FROM by_lemma WHERE rowid = ?",
}
_STORE = {
    "form": "INSERT INTO by_form VALUES (?, ?)",
    "lemma": "INSERT INTO by_lemma VALUES (?, ?)",
}
_TABLES = """
CREATE TABLE by_form (first TEXT PRIMARY KEY, data BLOB);
CREATE TABLE by_lemma (first TEXT PRIMARY KEY, data BLOB);
CREATE TABLE faults (line INTEGER, text TEXT, seen TEXT);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
"""


class DictionaryIndex:
    """An index that `build_index` wrote; `close` or deleting the object closes its file.

    Args:
        path: the SQLite file.

    Raises:
        InputError: the file is not such an index, or is of another version.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        uri = f"{path.resolve().as_uri()}?mode=ro"
        with _usable(path):
            # Any thread may drop the last reference to an index and so close it.
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._close = weakref.finalize(self, self._connection.close)
        try:
            self.facts, self.faults = self._read_head()
        except InputError:
            self.close()
            raise
        # A word is often looked up many times, followed by its neighbors (its other forms). The
        # cached function is not a bound method, which would refer back to the index and keep it
        # alive.
        read = functools.partial(_read_block, self._connection, path)
        self._block = functools.lru_cache(maxsize=128)(read)

    def find(self, key: IndexKey, word: str) -> list[DictionaryEntry]:
        """The entries of a form or lemma, ignoring case and spelling, in the order of the file."""
        wanted = _key(word)
        column = 0 if key == "form" else 1
        return [
            DictionaryEntry(*cells)
            for cells in self._block(key, self._block_of(key, wanted))
            if _key(cells[column]) == wanted
        ]

    def close(self) -> None:
        """Close the file."""
        self._close()

    def _read_head(self) -> tuple[dict[str, str], tuple[LineFault, ...]]:
        with _usable(self._path):
            made = self._connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            if any(f"{sql};" not in _TABLES for (sql,) in made):
                # Views and computed columns in an untrusted file would run when they are read.
                raise _not_an_index(self._path, "it holds what no index has")
            facts = dict(self._connection.execute("SELECT name, value FROM facts").fetchall())
            rows = self._connection.execute("SELECT line, text, seen FROM faults").fetchall()
        if facts.get("version") != str(VERSION):
            raise _not_an_index(self._path, "it was made by another version")
        return facts, tuple(LineFault(*row) for row in rows)

    def _block_of(self, key: IndexKey, word: str) -> int:
        with _usable(self._path):
            row = self._connection.execute(_FIND[key], (word,)).fetchone()
        return int(row[0]) if row else 0


def _key(word: str) -> str:
    """A form or lemma as words are looked up: in one spelling and lower case."""
    return one_spelling(word).lower()


def _read_block(
    connection: sqlite3.Connection, path: Path, key: IndexKey, number: int
) -> list[list[str]]:
    with _usable(path):
        row = connection.execute(_READ[key], (number,)).fetchone()
    if row is None:
        return []
    try:
        text = zlib.decompressobj().decompress(row[0], _LARGEST_BLOCK).decode()
    except (zlib.error, UnicodeDecodeError, TypeError) as error:
        raise _not_an_index(path, error) from error
    entries = [line.split("\t") for line in text.split("\n")]
    if any(len(cells) != _CELLS for cells in entries):
        raise _not_an_index(path, "a block of it is damaged")
    return entries


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    """A context of reading an index, in which an error of the database says what to do."""
    try:
        yield
    except DATABASE_ERRORS as error:
        raise _not_an_index(path, error) from error


def build_index(dictionary: Path, path: Path, *, parse: ParseLine, facts: dict[str, str]) -> None:
    """Write the index of a dictionary, completely or not at all.

    Args:
        dictionary: the file.
        path: the index to write.
        parse: reads one line.
        facts: facts stored with the index, which reveal whether the dictionary has changed.

    Raises:
        InputError: the dictionary cannot be read, or has no entry.
        StorageError: the index cannot be written.
    """
    try:
        atomically(path, lambda file: _write(dictionary, file, parse, facts))
    except sqlite3.Error as error:
        raise StorageError(
            where=str(path),
            seen=f"the index cannot be written ({error})",
            todo="Is there room on the disk?",
        ) from error


def _write(dictionary: Path, file: Path, parse: ParseLine, facts: dict[str, str]) -> None:
    # Nobody else has the file, which `atomically` holds a lock of.
    address = f"{file.absolute().as_uri()}?nolock=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        # Entries go through a temporary table that SQLite sorts on disk.
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _TABLES)
        connection.execute(
            "CREATE TEMP TABLE entries (form_key TEXT, lemma_key TEXT, form, lemma, tags)"
        )
        entries, faults = _fill(connection, dictionary, parse)
        if not entries:
            raise InputError(
                where=str(dictionary),
                seen=f"has no entry that can be read ({faults} lines cannot)",
                todo="Is it a dictionary of this format?",
            )
        for key in ("form", "lemma"):
            with closing(connection.execute(_ORDERED[key])) as rows:
                connection.executemany(_STORE[key], _blocks(rows))
        counts = {"version": VERSION, "entries": entries, "faulty_lines": faults}
        kept = {**facts, **{name: str(value) for name, value in counts.items()}}
        connection.executemany("INSERT INTO facts VALUES (?, ?)", kept.items())
        connection.commit()


def _fill(connection: sqlite3.Connection, dictionary: Path, parse: ParseLine) -> tuple[int, int]:
    """Fill the temporary table, and return the numbers of entries and of faulty lines."""
    entries = faults = 0
    rows: list[tuple[str, ...]] = []
    store = "INSERT INTO entries VALUES (?, ?, ?, ?, ?)"
    for number, line in dictionary_lines(dictionary):
        entry = parse(line)
        if isinstance(entry, DictionaryEntry):
            entries += 1
            rows.append((_key(entry.form), _key(entry.lemma), entry.form, entry.lemma, entry.tags))
        elif entry is not None:
            faults += 1
            if faults <= FAULTS_KEPT:
                fault = (number, line, entry)
                connection.execute("INSERT INTO faults VALUES (?, ?, ?)", fault)
        if len(rows) == _INSERTED:
            connection.executemany(store, rows)
            rows.clear()
    connection.executemany(store, rows)
    return entries, faults


def _blocks(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[tuple[str, bytes]]:
    """The blocks of sorted rows, each with its first key and its compressed lines."""
    first: str | None = None
    lines: list[str] = []
    for key, same in groupby(rows, key=lambda row: row[0]):
        if first is None or len(lines) >= _BLOCK:
            if first is not None:
                yield first, _packed(lines)
            first, lines = key, []
        lines += ["\t".join(cells) for _, *cells in same]
    if first is not None:
        yield first, _packed(lines)


def _packed(lines: list[str]) -> bytes:
    return zlib.compress("\n".join(lines).encode(), level=6)


def _not_an_index(path: Path, why: object) -> InputError:
    return InputError(
        where=str(path),
        seen=f"cannot be used as the index of a dictionary ({why})",
        todo="Delete it; it is made again when the dictionary is opened.",
    )

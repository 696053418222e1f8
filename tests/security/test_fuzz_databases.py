"""What the fuzzers found in SQLite files: what computes in them, and what is not text."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from cimento import InputError
from cimento.corpus.morphology.index import DictionaryIndex
from cimento.engine.cache import FileCache
from cimento.errors import StorageError
from cimento.people.surveys.storage import open_database


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE VIEW sealed AS SELECT randomblob(32) AS key, zeroblob(1000000000) AS scores",
        "CREATE TABLE sealed (key BLOB PRIMARY KEY, scores AS (zeroblob(100000))) WITHOUT ROWID",
        "CREATE TABLE x (a); CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM x; END",
    ],
)
def test_a_cache_that_computes_is_refused(tmp_path, statements):
    with contextlib.closing(sqlite3.connect(tmp_path / "answers.sqlite3")) as connection:
        connection.executescript(statements)

    with pytest.raises(StorageError, match="that is none of a cache"):
        FileCache(tmp_path)


@pytest.mark.parametrize("name", ["answers.sqlite3", "it.index", "survey.sqlite"])
def test_a_database_of_which_sqlite_says_what_is_no_text(tmp_path, name):
    """Its message quotes the name of a table, in bytes that Python refuses to decode."""
    path = tmp_path / name
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA writable_schema = ON; CREATE TABLE x (a)")
        connection.execute("UPDATE sqlite_master SET name = CAST(X'96' AS TEXT), sql = 'x'")
        connection.commit()
    opening = {
        "answers.sqlite3": lambda: FileCache(tmp_path),
        "it.index": lambda: DictionaryIndex(path),
        "survey.sqlite": lambda: open_database(path),
    }

    with pytest.raises((StorageError, InputError), match=f"{name}.*can't decode byte 0x96"):
        opening[name]()


def test_an_index_that_computes_is_refused(tmp_path):
    path = tmp_path / "it.index"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE VIEW facts AS SELECT 'version' AS name, '1' AS value")

    with pytest.raises(InputError, match="it holds what no index has"):
        DictionaryIndex(path)

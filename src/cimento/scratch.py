"""Room on disk for what is too much to be held and is needed for a while only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from cimento.errors import StorageError


def scratch_database(*tables: str) -> sqlite3.Connection:
    """A database in a temporary file that goes when it is closed; for use within `needing_room`.

    Args:
        tables: statements that make them.

    Raises:
        StorageError: there is no room for temporary files.
    """
    # The empty name stands for a temporary file that SQLite removes by itself.
    database = sqlite3.connect("", isolation_level=None)
    with needing_room():
        # Nothing is ever undone in it.
        for statement in ("PRAGMA journal_mode = OFF", *tables, "BEGIN"):
            database.execute(statement)
    return database


@contextmanager
def needing_room() -> Iterator[None]:
    """Say what is wrong where a temporary file cannot be used.

    Raises:
        StorageError: it cannot.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else ""
        raise StorageError(
            where="the folder of temporary files",
            seen=f"cannot be used ({why or error})",
            todo="Free some space there, or name another one in TMPDIR and SQLITE_TMPDIR.",
        ) from error

"""Room on disk for what is too much to be held and is needed for a while only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from cimento.errors import StorageError


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

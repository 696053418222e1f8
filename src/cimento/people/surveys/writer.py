"""The writer of a survey's answers: one thread, and one transaction for all writes that wait."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

Returned = TypeVar("Returned")


_MOST = 256
"""Writes in one transaction at most, so that nobody waits for an endless one."""


class Writer:
    """The only writer: it runs functions on its own connection, in the order of arrival.

    Args:
        connect: opens the connection, in autocommit mode, for use in another thread; called at
            once, so that what it raises is raised here and no write waits for ever.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connection = connect()
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="survey writer", daemon=True)
        self._thread.start()

    async def write(self, job: Callable[[sqlite3.Connection], Returned]) -> Returned:
        """Run a function in a transaction; returns when that is on the disk.

        Raises:
            Exception: whatever the function raised, which then has changed nothing; or what the
                database raised when it could not commit.
        """
        future: Future[Returned] = Future()
        self._queue.put(_Write(job, future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection = self._connection
        try:
            ended = False
            while not ended:
                batch = [self._queue.get()]
                with contextlib.suppress(Empty):
                    while len(batch) < _MOST:
                        batch.append(self._queue.get_nowait())
                ended = None in batch
                # A canceled request may have given up its write already.
                writes = [
                    write
                    for write in batch
                    if write is not None and write.future.set_running_or_notify_cancel()
                ]
                _commit(connection, writes)
        finally:
            connection.close()


class _Write(NamedTuple):
    """A function waiting to be run, and the future of its result."""

    job: Callable[[sqlite3.Connection], Any]
    future: Future[Any]


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> None:
    """Run functions in one transaction; each gets its result after it is committed."""
    if not writes:
        return
    done: list[tuple[_Write, Any]] = []
    try:
        connection.execute("BEGIN IMMEDIATE")
        for write in writes:
            connection.execute("SAVEPOINT one")
            try:
                result = write.job(connection)
            except Exception as error:  # noqa: BLE001  # it is raised where the result is awaited
                connection.execute("ROLLBACK TO one")
                write.future.set_exception(error)
            else:
                done.append((write, result))
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for write in writes:
            if not write.future.done():
                write.future.set_exception(error)
        return
    for write, result in done:
        write.future.set_result(result)

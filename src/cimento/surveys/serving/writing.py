"""One thread that writes: what waits together is committed together, and only then acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")

_MOST = 256
"""Writes in one transaction at most, so that nobody waits for an endless one."""


class Writer:
    """Runs functions on a connection of its own, in the order in which they come.

    Args:
        connect: opens the connection, in autocommit mode, for use in another thread; called at
            once, so that what it raises is raised here and no write waits for ever.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connection = connect()
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="survey writer", daemon=True)
        self._thread.start()

    async def write(self, job: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run a function in a transaction; returns when that is on the disk.

        Raises:
            Exception: whatever the function raised, which then has changed nothing; or what the
                database raised when it could not commit.
        """
        future: Future[Result] = Future()
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
                # A cancelled request may have given up its write already.
                writes = [
                    each
                    for each in batch
                    if each is not None and each.future.set_running_or_notify_cancel()
                ]
                _commit(connection, writes)
        finally:
            connection.close()


class _Write:
    """A function that waits to be run, and where its result goes."""

    def __init__(self, job: Callable[[sqlite3.Connection], Any], future: Future[Any]) -> None:
        self.job = job
        self.future = future


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> None:
    """Run functions in one transaction; each gets its result after it is committed."""
    if not writes:
        return
    done: list[tuple[_Write, Any]] = []
    try:
        connection.execute("BEGIN IMMEDIATE")
        for each in writes:
            connection.execute("SAVEPOINT one")
            try:
                result = each.job(connection)
            except Exception as error:  # noqa: BLE001  # it is raised where the result is awaited
                connection.execute("ROLLBACK TO one")
                each.future.set_exception(error)
            else:
                done.append((each, result))
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for each in writes:
            if not each.future.done():
                each.future.set_exception(error)
        return
    for each, result in done:
        each.future.set_result(result)

"""Connections of the survey server: how many there may be, and how long a request may take to come.

uvicorn waits without end for the rest of a request, so that one client could hold all connections.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 30.0
"""From the first byte of a request, or from the connection, to the last byte of its body."""
MOST_CONNECTIONS = 500
_FILES_KEPT = 64
"""Open files that are left for the database and for whatever else the server opens."""


def most_connections() -> int:
    """The number of connections that the system's limit of open files leaves room for."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, files - _FILES_KEPT))


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with an end to unfinished requests and to the number of connections.

    Where all places are taken, a new connection takes that of the oldest unfinished request, else
    of the connection that has been idle for longest.
    """

    deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a place, and begin to wait for a request."""
        super().connection_made(transport)
        self._make_room()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read on, and stop waiting when the request is there."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait for the rest of a request; for a whole one there is nothing to wait for."""
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._unwatch()
        elif self.deadline is None:
            self.deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _unwatch(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _make_room(self) -> None:
        if len(self.connections) <= most_connections():
            return
        others = [other for other in self.connections if isinstance(other, BoundedProtocol)]
        others.remove(self)
        unfinished = [(other.deadline, other) for other in others]
        idle = [(other.timeout_keep_alive_task, other) for other in others]
        for waiting in (unfinished, idle):
            timers = [(timer.when(), other) for timer, other in waiting if timer is not None]
            if timers:
                _, last = min(timers, key=lambda timer: timer[0])
                # It is counted until the loop has closed it.
                self.connections.discard(last)
                last.transport.abort()
                return
        self.transport.abort()

"""HTTP answers that must be complete in some time, whatever the server sends meanwhile.

The timeout of a socket ends the wait for a silent server. One that sends a byte now and then, in
the head or the body of its answer, would keep a request for ever.
"""

from __future__ import annotations

import io
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import socket


_Until: TypeAlias = "tuple[float, float | None]"


class TooSlowError(Exception):
    """The error of an answer that is not complete in time, although the server was not silent."""


class _Reading(io.RawIOBase):
    """The bytes of a connection until a moment.

    Args:
        raw: reads from the connection.
        connection: whose timeout is shortened when the moment is near.
        ends: the moment, by `time.monotonic`.
        bytes_per_s: by how many bytes the moment is put off by a second; None if it is fixed.
    """

    def __init__(
        self,
        raw: io.RawIOBase,
        connection: socket.socket,
        ends: float,
        bytes_per_s: float | None = None,
    ) -> None:
        self._raw = raw
        self._connection = connection
        self._timeout_s = connection.gettimeout()
        self._ends = ends
        self._bytes_per_s = bytes_per_s

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401  # as in the standard library
        """Read what has come.

        Raises:
            TooSlowError: the moment has passed.
            TimeoutError: the server was silent for the timeout of the connection.
        """
        left_s = self._ends - time.monotonic()
        if left_s <= 0:
            raise TooSlowError
        is_last = self._timeout_s is None or left_s < self._timeout_s
        self._connection.settimeout(left_s if is_last else self._timeout_s)
        try:
            count = self._raw.readinto(buffer)
        except TimeoutError:
            if is_last:
                raise TooSlowError from None
            raise
        if count and self._bytes_per_s is not None:
            self._ends += count / self._bytes_per_s
        return count

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()
        super().close()


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit on the time for an answer.

    Attributes:
        whole_s: seconds from the opening of the connection to the last byte.
        bytes_per_s: number of bytes for which there is a second more, so that a large file has the
            time that it needs at this pace; None for no more time.
    """

    whole_s: float
    bytes_per_s: float | None = None


class _Answer(HTTPResponse):
    """An answer whose head and body must have come in some time.

    Args:
        until: the moment, and by how many bytes it is put off by a second.
    """

    def __init__(self, sock: socket.socket, *args: Any, until: _Until, **options: Any) -> None:  # noqa: ANN401  # as in the standard library
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Reading(self.fp.detach(), sock, *until))


def _connect(kind: Callable[..., Any], limit: Limit, *args: Any, **options: Any) -> Any:  # noqa: ANN401  # as in the standard library
    """A connection whose answers must be complete in some time from now."""
    connection = kind(*args, **options)
    until: _Until = (time.monotonic() + limit.whole_s, limit.bytes_per_s)
    connection.response_class = partial(_Answer, until=until)
    return connection


class _Http(urllib.request.HTTPHandler):
    def __init__(self, limit: Limit) -> None:
        super().__init__()
        self._made = partial(_connect, HTTPConnection, limit)

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Send a request."""
        return self.do_open(self._made, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, limit: Limit) -> None:
        super().__init__()
        self._made = partial(_connect, HTTPSConnection, limit)

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Send a request, encrypted."""
        return self.do_open(self._made, req)


def within(limit: Limit) -> list[urllib.request.BaseHandler]:
    """Handlers for an opener whose answers must be complete in some time.

    Args:
        limit: the time; each further answer to one request, after a redirect, has as much again.
    """
    return [_Http(limit), _Https(limit)]

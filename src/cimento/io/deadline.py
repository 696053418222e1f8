"""HTTP answers that must be complete in some time, whatever the server sends meanwhile.

The timeout of a socket ends the wait for a silent server. One that sends a byte now and then, in
the head or the body of its answer, would keep a request for ever.
"""

from __future__ import annotations

import io
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket


class TooSlowError(Exception):
    """The error of an answer that is not complete in time, although the server was not silent."""


class _Reading(io.RawIOBase):
    """The bytes of a connection until a moment.

    Args:
        raw: reads from the connection.
        connection: whose timeout is shortened when the moment is near.
        ends: the moment, by `time.monotonic`.
    """

    def __init__(self, raw: io.RawIOBase, connection: socket.socket, ends: float) -> None:
        self._raw = raw
        self._connection = connection
        self._timeout_s = connection.gettimeout()
        self._ends = ends

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
            return self._raw.readinto(buffer)
        except TimeoutError:
            if is_last:
                raise TooSlowError from None
            raise

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()
        super().close()


class _Answer(HTTPResponse):
    """An answer whose head and body must have come by a moment."""

    def __init__(self, sock: socket.socket, *args: Any, ends: float, **options: Any) -> None:  # noqa: ANN401  # as in the standard library
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Reading(self.fp.detach(), sock, ends))


def _connect(kind: Callable[..., Any], whole_s: float, *args: Any, **options: Any) -> Any:  # noqa: ANN401  # as in the standard library
    """A connection whose answers must be complete in some seconds from now."""
    connection = kind(*args, **options)
    connection.response_class = partial(_Answer, ends=time.monotonic() + whole_s)
    return connection


class _Http(urllib.request.HTTPHandler):
    def __init__(self, whole_s: float) -> None:
        super().__init__()
        self._made = partial(_connect, HTTPConnection, whole_s)

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Send a request."""
        return self.do_open(self._made, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, whole_s: float) -> None:
        super().__init__()
        self._made = partial(_connect, HTTPSConnection, whole_s)

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Send a request, encrypted."""
        return self.do_open(self._made, req)


def within(whole_s: float) -> list[urllib.request.BaseHandler]:
    """Handlers for an opener whose answers must be complete in some seconds.

    Args:
        whole_s: seconds from the opening of the connection to the last byte; each further answer
            to one request, after a redirect, has as many again.
    """
    return [_Http(whole_s), _Https(whole_s)]

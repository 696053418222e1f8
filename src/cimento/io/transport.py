"""HTTP requests: opening addresses, and repeating failed requests after a wait.

Model servers and downloads use this module. It relies on the standard library: requests are few or
slow, and a client with a connection pool costs more CPU time for each request than it saves
(docs/design/libraries.md).
"""

from __future__ import annotations

import random
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import IO, TypeVar
from urllib.parse import urlsplit

from cimento._version import __version__
from cimento.io.deadline import Limit, within

USER_AGENT = f"cimento/{__version__}"

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine, for which no proxy is used."""

BROKEN = (HTTPException, OSError)
"""The errors that the standard library raises when a connection ends too early."""

ANSWER_TIMEOUTS = 5
"""The time for a whole answer, in timeouts of a silent server."""

MOST_OF_REFUSAL = 100_000
"""Greatest number of bytes that are read of the answer with which a request is refused."""

_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The limits on waiting for a server and on repeating requests.

    Attributes:
        timeout_s: seconds to wait for any response from the server; its whole answer may take
            `ANSWER_TIMEOUTS` times as long.
        attempts: total number of attempts for one request.
        first_wait_s: seconds before the second attempt; doubled before every further one.
        longest_wait_s: upper bound of such a wait, in seconds.
        longest_told_s: longest wait in seconds that the server may ask for; a longer one ends the
            attempts.
        seed: seed of the jitter, which keeps requests from returning all at once.
    """

    timeout_s: float = 120.0
    attempts: int = 7
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_told_s: float = 600.0
    seed: int = 0

    @property
    def whole_s(self) -> float:
        """Seconds for a whole answer of a server that sends something now and then."""
        return ANSWER_TIMEOUTS * self.timeout_s

    def wait_s(self, attempt: int, *, request: str) -> float:
        """Seconds to wait after an attempt, between half and all of a doubling bound.

        Args:
            attempt: number of the attempt, from 1.
            request: identity of the request, so that each request has its own jitter.
        """
        jitter = random.Random(f"{self.seed} {attempt} {request}").uniform(0.5, 1.0)  # noqa: S311  # keeps no secret
        return min(self.first_wait_s * 2.0 ** (attempt - 1), self.longest_wait_s) * jitter


class TransientError(Exception):
    """The error of an attempt that failed although the next may succeed.

    Args:
        reason: description of the failure.
        told_s: seconds that the server asks to wait.
        status: HTTP status of the answer; None without an answer.

    Attributes:
        attempts: number of attempts made, set after the last one.
    """

    def __init__(
        self, reason: str, *, told_s: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.told_s = told_s
        self.status = status
        self.attempts = 1


def transient(error: urllib.error.HTTPError, reason: str = "") -> TransientError | None:
    """An HTTP error as a transient one, if its status is transient; else None."""
    if error.code not in _TRANSIENT:
        return None
    told_s = _retry_after_s(error.headers.get("Retry-After"))
    return TransientError(reason or str(error), told_s=told_s, status=error.code)


def patiently(
    attempt: Callable[[], Answer],
    patience: Patience,
    *,
    request: str,
    wait: Callable[[float], object],
    stopped: Callable[[], bool] = lambda: False,
) -> Answer:
    """Make an attempt, repeat it after transient errors, and return its result.

    Args:
        attempt: makes one attempt.
        patience: the limits on attempts and waits.
        request: identity of the request, for its jitter.
        wait: waits for a number of seconds.
        stopped: whether the answer is no longer wanted.

    Raises:
        TransientError: the last attempt failed, or the server asks for too long a wait.
    """
    number = 1
    while True:
        try:
            return attempt()
        except TransientError as error:
            wait_s = patience.wait_s(number, request=request)
            if error.told_s is not None:
                wait_s = error.told_s
            if number == patience.attempts or wait_s > patience.longest_told_s or stopped():
                error.attempts = number
                raise
        wait(wait_s)
        number += 1


def opener(
    address: str,
    *,
    allowed: Callable[[str], object] | None = None,
    limit: Limit | None = None,
) -> urllib.request.OpenerDirector:
    """An opener for an address and those below it, with the proxies of the environment.

    Args:
        address: the first address.
        allowed: raises for an address to which a redirect from https may not lead; None follows no
            redirect, so that data are sent nowhere else.
        limit: the time for a whole answer; None for no limit.
    """
    handlers: list[urllib.request.BaseHandler] = [_Redirects(allowed)]
    if limit is not None:
        handlers += within(limit)
    if urlsplit(address).hostname in LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


def look_up(address: str) -> None:
    """Look up the host of an address, unless a proxy does.

    Without a network this fails at once, where clients try again for half a minute.

    Raises:
        OSError: there is no such host, or no network.
    """
    if not urllib.request.getproxies().keys() & {"http", "https", "all"}:
        socket.getaddrinfo(urlsplit(address).hostname, None)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows redirects where they are allowed."""

    def __init__(self, allowed: Callable[[str], object] | None) -> None:
        self._allowed = allowed

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The request for the new address; None to refuse it."""
        if self._allowed is None:
            return None
        if req.full_url.startswith("https://"):
            self._allowed(newurl)
        if fp is not None:
            # urllib would read the rest of this answer, which may have no end.
            fp.close()
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _retry_after_s(header: str | None) -> float | None:
    """Seconds in a ``Retry-After`` header, which holds a number or a date (RFC 9110, 10.2.3)."""
    if not header:
        return None
    try:
        return max(float(header), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None

"""Requests over HTTP: how addresses are opened, what is asked again, and after how long.

Servers of models and downloads go through it. The standard library does the work: requests are few
or slow, and a client with a pool of connections costs more CPU time for each than it saves
(docs/design/libraries.md).
"""

from __future__ import annotations

import random
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

USER_AGENT = f"cimento/{__version__}"

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts that are this machine; no proxy is asked for them."""

BROKEN = (HTTPException, OSError)
"""What the standard library raises where a connection ends too early."""

_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server is waited for, and how often it is asked.

    Attributes:
        timeout_s: without a sign of the server.
        attempts: in all, for one request.
        first_wait_s: before the second attempt; doubled before every further one.
        longest_wait_s: bound of such a wait.
        longest_told_s: bound of a wait that the server asks for; a longer one is not waited.
        seed: of the jitter that keeps requests from coming back all at once.
    """

    timeout_s: float = 120.0
    attempts: int = 7
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_told_s: float = 600.0
    seed: int = 0

    def wait_s(self, attempt: int, *, request: str) -> float:
        """Seconds to wait after an attempt, between half and all of a doubling bound.

        Args:
            attempt: its number, from 1.
            request: what is asked; each request has a jitter of its own.
        """
        jitter = random.Random(f"{self.seed} {attempt} {request}").uniform(0.5, 1.0)  # noqa: S311  # keeps no secret
        return min(self.first_wait_s * 2.0 ** (attempt - 1), self.longest_wait_s) * jitter


class TransientError(Exception):
    """An attempt that failed where the next may not.

    Args:
        reason: what happened.
        told_s: seconds that the server asks to wait.
        status: that it answered with; None where it did not answer.

    Attributes:
        attempts: how many there were, once no more are made.
    """

    def __init__(
        self, reason: str, *, told_s: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.told_s = told_s
        self.status = status
        self.attempts = 1


def transient(error: urllib.error.HTTPError, reason: str = "") -> TransientError | None:
    """The error as one that may pass, where its status is one of those; else None."""
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
    """What an attempt gives, made again where it fails in a way that may pass.

    Args:
        attempt: asks once.
        patience: how often, and after how long.
        request: what is asked, which makes its jitter.
        wait: waits for some seconds.
        stopped: whether nobody wants the answer any more.

    Raises:
        TransientError: the last one, where there are no more attempts or the server asks for a
            longer wait than patience has.
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
    address: str, *, allowed: Callable[[str], object] | None = None
) -> urllib.request.OpenerDirector:
    """What opens an address and those below it; proxies are those of the environment.

    Args:
        address: where the way begins.
        allowed: raises where a redirect from the secure web may not lead; without it none is
            followed, so that what is sent goes nowhere else.
    """
    handlers: list[urllib.request.BaseHandler] = [_Redirects(allowed)]
    if urlsplit(address).hostname in LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects where they are allowed."""

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
        """The request for the new address; None for none."""
        if self._allowed is None:
            return None
        if req.full_url.startswith("https://"):
            self._allowed(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _retry_after_s(told: str | None) -> float | None:
    """Seconds in a ``Retry-After`` header, which holds a number or a date (RFC 9110, 10.2.3)."""
    if not told:
        return None
    try:
        return max(float(told), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None

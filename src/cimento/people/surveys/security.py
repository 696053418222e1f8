"""Security of the server: secret links, signed forms, rate limits, headers."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("cimento.survey")

HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # The address of a page contains the participant's token, which nobody else may see.
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex, nofollow",
}
LARGEST_FORM = 1 << 16
MOST_FIELDS = 32

_KNOWN = 4096
_LONGEST_PATH = 300
_OTHER_HOST = (
    "This survey is not at that address. Its administrator starts the server with"
    " --url and the address that participants know.\n"
)


class ForbiddenError(Exception):
    """A form that is too large, forged or out of date."""


def new_token() -> str:
    """A token that nobody can guess: 256 random bits."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """The stored hash of a token, which is random, so that one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def sign(key: bytes, *parts: str) -> str:
    """A signature that only this server can make: HMAC-SHA-256 of the parts."""
    return hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def is_signed(key: bytes, signature: str, *parts: str) -> bool:
    """Whether a signature is that of the parts."""
    return hmac.compare_digest(signature.encode(), sign(key, *parts).encode())


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(digest(one), digest(other))


class RateLimits:
    """Token buckets, in memory only, so that nobody can ask too often.

    Args:
        rate: requests a second in the long run.
        burst: requests at once.
    """

    def __init__(self, *, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, key: str) -> bool:
        """Whether one more request is allowed to somebody."""
        moment = time.monotonic()
        left, before = self._buckets.pop(key, (float(self._burst), moment))
        left = min(self._burst, left + (moment - before) * self._rate)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, moment)
        if len(self._buckets) > _KNOWN:
            self._buckets.popitem(last=False)
        return allowed


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form that was sent from one of our pages.

    Raises:
        RefusedError: it is too large, no form, or another site sent it.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise ForbiddenError
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise ForbiddenError
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise ForbiddenError
    try:
        fields = parse_qs(
            body.decode(), keep_blank_values=True, strict_parsing=bool(body),
            max_num_fields=MOST_FIELDS, errors="strict",
        )  # fmt: skip
    except ValueError as error:
        raise ForbiddenError from error
    return {name: values[-1] for name, values in fields.items()}


async def read_signed(request: Request, key: bytes, *parts: str) -> dict[str, str]:
    """The fields of a form that this server has signed.

    Raises:
        ForbiddenError: it is another one, or cannot be read.
    """
    fields = await read_form(request)
    if not is_signed(key, fields.get("form", ""), *parts):
        raise ForbiddenError
    return fields


def redirect(path: str) -> Response:
    """The answer to a form that was taken: go and see another page."""
    from starlette.responses import RedirectResponse

    return RedirectResponse(path, status_code=303)


def host_of(url: str) -> str:
    """The host of an address, without its port; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_expected_host(header: str, host: str) -> bool:
    """Whether a request is for this server.

    A page of another site can lead its own name to this machine (DNS rebinding), and so to the
    server; it cannot make a browser send a number or another name.

    Args:
        header: ``Host`` of the request.
        host: the name that the server is known by.
    """
    name = host_of(f"//{header}")
    if name in {"localhost", host} - {""}:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """The outermost layer: expected hosts, security headers, a log without addresses and tokens.

    Args:
        app: what answers.
        host: the name that the server is known by, besides ``localhost`` and numbers.
    """

    def __init__(self, app: ASGIApp, *, host: str = "") -> None:
        self._app = app
        self._host = host
        self._headers = [(name.encode(), text.encode()) for name, text in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def headed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                added = [] if b"cache-control" in given else [(b"cache-control", b"no-store")]
                message["headers"] = [*message["headers"], *self._headers, *added]
            await send(message)

        if not is_expected_host(Headers(scope=scope).get("host", ""), self._host):
            await PlainTextResponse(_OTHER_HOST, status_code=421)(scope, receive, headed)
        elif len(scope["path"]) > _LONGEST_PATH:
            # Of thousands of digits no number can be made, and no page has so long an address.
            await self._app({**scope, "path": "/-", "raw_path": b"/-"}, receive, headed)
        else:
            await self._app(scope, receive, headed)
        name = getattr(scope.get("endpoint"), "__name__", "nothing")
        milliseconds = (time.perf_counter() - started) * 1000
        log.info("%s %s %d %.1f ms", scope["method"], name, status, milliseconds)

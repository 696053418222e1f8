"""What may be opened, and what is asked again."""

from __future__ import annotations

from email.message import Message
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request

import pytest

from cimento import InputError
from cimento.io.transport import Patience, TransientError, opener, patiently, transient
from cimento.suites.published import https_only
from tests.helpers.servers.loopback import endless, serve


def redirected(start: str, new: str, **options) -> Request | None:
    """What a redirect leads to."""
    [handler] = [h for h in opener(start, **options).handlers if isinstance(h, HTTPRedirectHandler)]
    return handler.redirect_request(Request(start), None, 302, "Found", Message(), new)  # noqa: S310  # opens nothing


def test_no_redirect_leads_out_of_the_secure_web():
    followed = redirected("https://a.org/x", "https://b.org/y", allowed=https_only)
    assert followed is not None
    assert followed.full_url == "https://b.org/y"
    for new in ("http://b.org/y", "ftp://b.org/y", "file:///etc/passwd"):
        with pytest.raises(InputError, match="not https"):
            redirected("https://a.org/x", new, allowed=https_only)


def test_no_redirect_is_followed_where_none_is_allowed():
    assert redirected("https://a.org/x", "https://a.org/y") is None


def test_the_endless_body_of_a_redirect_is_not_read():
    sent = []
    with serve() as server:
        faults = [endless(302, sent, Location=f"{server.url}/models")]
        server.faults = faults
        body = b'{"prompt": "a", "echo": true, "logprobs": 1, "max_tokens": 1}'
        asked = Request(f"{server.url}/completions", data=body)  # noqa: S310  # this machine
        with opener(server.url, allowed=lambda _: None).open(asked, timeout=60) as answer:
            assert b"tiny" in answer.read()

    assert sum(sent) < 50_000_000


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_this_machine_is_asked_without_a_proxy(monkeypatch, host):
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")

    def proxies(address):
        handlers = opener(address).handlers
        return [h.proxies for h in handlers if isinstance(h, ProxyHandler) and h.proxies]

    assert proxies(f"http://{host}:8000/v1") == []
    [proxy] = proxies("http://other.example.org/v1")
    assert proxy["http"] == "http://proxy.example.org:3128"


def failing(*errors: Exception):
    """An attempt that raises these, one after the other, and then succeeds."""
    left = list(errors)

    def attempt():
        if left:
            raise left.pop(0)
        return "answer"

    return attempt


def test_what_may_pass_is_tried_again_and_the_rest_is_not():
    waits: list[float] = []
    options = {"request": "a", "wait": waits.append}
    attempt = failing(TransientError("busy"), TransientError("busy", told_s=3))
    assert patiently(attempt, Patience(), **options) == "answer"
    assert waits[1] == 3
    with pytest.raises(ValueError, match="wrong"):
        patiently(failing(ValueError("wrong")), Patience(), **options)
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("told_s", "attempts", "stopped", "made"),
    [(None, 3, False, 3), (601, 3, False, 1), (None, 3, True, 1), (None, 1, False, 1)],
)
def test_patience_has_an_end(told_s, attempts, stopped, made):
    waits: list[float] = []
    with pytest.raises(TransientError, match="busy") as caught:
        patiently(
            failing(*[TransientError("busy", told_s=told_s) for _ in range(9)]),
            Patience(attempts=attempts),
            request="a",
            wait=waits.append,
            stopped=lambda: stopped,
        )
    assert caught.value.attempts == made
    assert len(waits) == made - 1


@pytest.mark.parametrize("status", [400, 401, 404, 409, 416, 429, 500, 501, 503, 529])
def test_only_some_statuses_may_pass(status):
    error = HTTPError("http://a", status, "words", Message(), None)
    failure = transient(error)
    assert (failure is not None) == (status in {429, 500, 503, 529})
    assert failure is None or (failure.status, failure.told_s) == (status, None)
    error.close()

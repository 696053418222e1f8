"""Who may ask the app's server, for what, and how much may be sent."""

from __future__ import annotations

import asyncio

import pytest

from cimento.app import LARGEST_BODY, Guard, new_token

TOKEN = "T0ken"  # noqa: S105  # of a test
PORT = 8123
HERE = f"127.0.0.1:{PORT}"


class Inner:
    """An application that notes what reaches it, and answers."""

    def __init__(self) -> None:
        self.scopes: list[dict] = []
        self.messages: list[dict] = []

    async def __call__(self, scope, receive, send):
        self.scopes.append(scope)
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        while True:
            message = await receive()
            self.messages.append(message)
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})


def ask(path=f"/{TOKEN}/en/start", *, kind="http", method="GET", bodies=(b"",), **named):
    """What the guard sends back, and what has reached the application."""
    given = {"host": HERE, **{name.replace("_", "-"): value for name, value in named.items()}}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "path": path, "method": method, "headers": headers}
    left = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    left[-1]["more_body"] = False
    sent: list[dict] = []
    inner = Inner()

    async def receive():
        return left.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(inner, token=TOKEN, port=PORT)(scope, receive, send))
    return sent, inner


def status(**given):
    sent, inner = ask(**given)
    assert bool(inner.scopes) == (sent[0]["status"] == 200)
    return sent[0]["status"]


def test_what_has_the_token_and_comes_from_here_is_answered_with_every_header():
    sent, _ = ask()
    headers = dict(sent[0]["headers"])
    assert sent[1]["body"] == b"inside"
    assert b"object-src 'none'" in headers[b"content-security-policy"]
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert headers[b"cache-control"] == b"no-store"


@pytest.mark.parametrize(
    "path", ["/", "/en/start", "/T0kem/en/start", "/T0ken2", "//T0ken", "/t0ken/"]
)
def test_without_the_token_there_is_nothing(path):
    assert status(path=path) == 404


@pytest.mark.parametrize(
    ("language", "begin"), [("it-IT,it;q=0.9", "Qui non c'è"), ("ru", "Здесь"), ("de", "Nothing")]
)
def test_yesterdays_address_is_explained_in_the_language_of_the_browser(language, begin):
    sent, _ = ask(path="/yesterday/it/start", accept_language=language)
    assert sent[1]["body"].decode().startswith(begin)
    assert dict(sent[0]["headers"])[b"content-type"] == b"text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", "0.0.0.0:8123", ""],
)
def test_a_name_led_to_this_machine_is_refused(host):
    assert status(host=host) == 421


@pytest.mark.parametrize("host", [HERE, f"localhost:{PORT}"])
def test_both_names_of_this_machine_are_known(host):
    assert status(host=host, origin=f"http://{host}") == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HERE}", "http://127.0.0.1:9"]
)
def test_a_page_from_elsewhere_is_refused(origin):
    assert status(origin=origin) == 403
    assert status(method="POST", origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_of_another_site_is_believed(site):
    assert status(sec_fetch_site=site) == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_addresses_typed_and_links_of_the_app_are_answered(site):
    assert status(sec_fetch_site=site) == 200


def test_a_socket_from_elsewhere_is_closed_before_it_opens():
    sent, inner = ask(kind="websocket", origin="http://evil.example")
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert inner.scopes == []
    sent, _ = ask(kind="websocket", origin=f"http://{HERE}")
    assert sent == [{"type": "websocket.accept"}]


def test_a_body_that_says_it_is_too_large_is_refused():
    assert status(method="POST", content_length=str(LARGEST_BODY + 1)) == 413
    assert status(method="POST", content_length=str(LARGEST_BODY)) == 200


def test_a_body_that_does_not_say_its_length_ends_where_it_is_too_large(monkeypatch):
    monkeypatch.setattr("cimento.app.LARGEST_BODY", 10)
    _, inner = ask(method="POST", bodies=(b"123456", b"7890", b"1"))
    assert [message["type"] for message in inner.messages] == [
        "http.request", "http.request", "http.disconnect",
    ]  # fmt: skip


def test_what_says_it_was_passed_on_is_not_believed():
    _, inner = ask(x_forwarded_prefix="/x", x_forwarded_host="evil.example", accept="*/*")
    assert [name for name, _ in inner.scopes[0]["headers"]] == [b"host", b"accept"]


def test_tokens_are_long_and_never_the_same():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 43  # 256 bits, six in each character

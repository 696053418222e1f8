"""Who may ask the app's server, for what, and how much may be sent."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import stat
import sys

import pytest

from cimento.app import LARGEST_BODY, OPENER, Guard, new_token, opener
from cimento.cli.main import invoke
from gallery import served

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


def test_the_file_that_opens_the_app_may_lead_to_it_and_nothing_else_of_another_site():
    opened = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert status(**opened, sec_fetch_dest="document") == 200
    assert status(**opened, sec_fetch_dest="iframe") == 403
    assert status(**opened, sec_fetch_dest="document", method="POST") == 403
    assert status(sec_fetch_site="cross-site", sec_fetch_mode="cors", sec_fetch_dest="empty") == 403


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_file_that_opens_the_app_is_for_its_owner_alone_and_goes_at_the_end(tmp_path):
    path, victim = tmp_path / OPENER, tmp_path / "victim"
    victim.write_text("mine")
    path.symlink_to(victim)
    with opener(path, 'http://127.0.0.1:1/a"b/') as page:
        assert stat.S_IMODE(page.lstat().st_mode) == 0o600
        assert stat.S_ISREG(page.lstat().st_mode)
        assert 'url=http://127.0.0.1:1/a&quot;b/"' in page.read_text()
    assert not path.exists()
    assert victim.read_text() == "mine"


def test_the_browser_is_not_given_the_token(tmp_path, monkeypatch, capsys):
    given, served = [], []
    monkeypatch.setattr("webbrowser.open", given.append)

    def serve(workspace, listening, *, ready):  # noqa: ARG001  # as it is called
        ready("http://127.0.0.1:1/T0ken/", tmp_path / OPENER)
        served.append(workspace.folder)

    monkeypatch.setattr("cimento.app.serve", serve)
    assert invoke(["app", str(tmp_path / "files")]) == 0
    assert given == [(tmp_path / OPENER).as_uri()]
    assert "T0ken" in capsys.readouterr().err  # whoever started it may see it


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


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The port and the token of an app that may have few open files, and so few connections."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, limits[1]))
    folder = tmp_path_factory.mktemp("files")
    try:
        started = served("app", folder, "--no-browser", link="http://")
        address = started.__enter__()  # with the limit, which the process has taken over
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    port, token = address.split("/")[2].partition(":")[2], address.split("/")[3]
    yield int(port), token
    started.__exit__(None, None, None)


def answer(port, path, **headers):
    """The status of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status


def test_unfinished_requests_do_not_keep_others_out(running):
    port, token = running
    with contextlib.ExitStack() as held:
        for _ in range(200):
            half = held.enter_context(socket.create_connection(("127.0.0.1", port)))
            half.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            half.setblocking(False)  # noqa: FBT003  # as the library has it
            last = half
        assert answer(port, f"/{token}/mark.svg") in (200, 404)
        assert answer(port, "/") == 404
        with pytest.raises(BlockingIOError):  # the newest still has its time
            last.recv(1)


def test_a_head_without_end_is_refused(running):
    port, _ = running
    with socket.create_connection(("127.0.0.1", port), timeout=30) as asked:
        with contextlib.suppress(OSError):  # it may be closed before all is sent
            asked.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000)
        with contextlib.suppress(ConnectionResetError):
            assert asked.recv(100).startswith(b"HTTP/1.1 400")

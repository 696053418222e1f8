"""The app in the browser: its server, how it is started and stopped, and who may ask it for what.

Only this machine is listened to. The address begins with a random token, so that no other program
or user of the machine can guess it, and no cookie is set that a page of a stranger could use.
``Host`` and ``Origin`` are checked too: a page of another site can lead its own name to this
machine (DNS rebinding), or send forms and open sockets to any address. How much may be sent is
bounded.
"""

from __future__ import annotations

import contextlib
import hmac
import inspect
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import uvicorn
from fastapi import FastAPI, Request
from nicegui import app, ui
from starlette.responses import RedirectResponse, Response

from cimento.app import edit, people, read, run, shown, start
from cimento.app.frame import STYLE, Visit, address, framed, problem
from cimento.app.jobs import QUEUE, Queue
from cimento.app.words import LANGUAGES, spoken, words
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError, UsageError
from cimento.io.files import writing
from cimento.io.parsing import whole_number
from cimento.io.untrusted import open_new
from cimento.people.surveys.security import HEADERS as USUAL_HEADERS
from cimento.people.surveys.security import new_token
from cimento.people.surveys.server import BoundedProtocol
from cimento.suites.load import MAX_FILE_BYTES

if TYPE_CHECKING:
    from nicegui.language import Language
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = MAX_FILE_BYTES + (1 << 20)
"""The largest upload in bytes: the largest file that a reader takes, and the form around it."""

OPENER = "open.html"
"""The file in the folder of the queue that leads a browser to the app while it is served."""

_OPENER_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>cimento</title>
<p><a href="{address}">cimento</a></p>
"""

HOSTS = ("127.0.0.1", "localhost", "[::1]")

_READING = ("GET", "HEAD")
_FORWARDED = (b"x-forwarded-", b"forwarded")

# The framework compiles its templates in the browser, hence 'unsafe-eval', and writes the page's
# content into a script. What users or files say is never part of a script or a template.
HEADERS: Mapping[str, str] = {
    **USUAL_HEADERS,
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline'"
    " 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " font-src 'self' data:; connect-src 'self'; frame-src 'self'; object-src 'none';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
}
Builder: TypeAlias = Callable[[Visit], object]
"""A function that builds the content of a step's page; it may be a coroutine."""

BUILDERS: Mapping[str, Builder] = {
    "start": start.build,
    "edit": edit.build,
    "run": run.build,
    "read": read.build,
    "people": people.build,
}


def refusal(scope: Scope, port: int) -> int:
    """The status with which a request is refused for its headers; 0 where nothing is wrong.

    Args:
        scope: the request.
        port: the port of the server.
    """
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    host, origin = headers.get(b"host", ""), headers.get(b"origin", "")
    length = headers.get(b"content-length", "")
    if host not in {f"{name}:{port}" for name in HOSTS}:
        return 421
    site = headers.get(b"sec-fetch-site", "")
    if site not in {"", "same-origin", "none"} and not _is_opened(scope, headers):
        return 403
    if origin and origin != f"http://{host}":
        return 403
    size = whole_number(length)
    is_too_large = length.isdecimal() if size is None else size > LARGEST_BODY
    return 413 if is_too_large else 0


def _is_opened(scope: Scope, headers: Mapping[bytes, str]) -> bool:
    """Whether a page is opened in a tab of its own, by whatever names its whole address.

    The file that opens the app does, and browsers call it another site. A page so opened cannot be
    read by whoever opened it, nor framed, and opening it changes nothing.
    """
    return (
        scope["type"] == "http"
        and scope["method"] in _READING
        and headers.get(b"sec-fetch-mode") == "navigate"
        and headers.get(b"sec-fetch-dest") == "document"
    )


class Guard:
    """The server's application, with everything refused that does not come from its own pages.

    Args:
        app: what answers; it is mounted at the token.
        token: the beginning of every address.
        port: the port of the server.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self.app = app
        self._token = token
        self._port = port
        self._headers = [(name.encode(), text.encode()) for name, text in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        status = refusal(scope, self._port) or (0 if self._knows(scope["path"]) else 404)
        if status:
            await _refuse(scope, receive, send, status)
            return
        scope = {
            **scope,
            "headers": [
                (name, value)
                for name, value in scope["headers"]
                if not name.lower().startswith(_FORWARDED)
            ],
        }
        if scope["type"] == "http" and scope["method"] not in _READING:
            receive = _BodyReader(receive)
        await self.app(scope, receive, self._headed(send))

    def _knows(self, path: str) -> bool:
        """Whether an address begins with the token, compared in constant time."""
        first = path.removeprefix("/").partition("/")[0]
        return hmac.compare_digest(first.encode(), self._token.encode())

    def _headed(self, send: Send) -> Send:
        """The sender of a response, which adds the headers that it lacks."""

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [header for header in self._headers if header[0] not in given]
                if b"cache-control" not in given:
                    added.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *added]
            await send(message)

        return headed


class _BodyReader:
    """The receiver of a request's body, which ends where too much is sent."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = LARGEST_BODY

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else {"type": "http.disconnect"}


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int) -> None:
    from starlette.responses import PlainTextResponse

    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
    accepted = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    text = words(spoken(accepted))(f"frame.refused_{status}")
    response = PlainTextResponse(f"{text}\n", status_code=status, headers=headers)
    await response(scope, receive, send)


def listen(port: int) -> socket.socket:
    """A socket of this machine only, at which the server listens.

    Args:
        port: the port; 0 for any that is free.

    Raises:
        UsageError: one cannot listen there.
    """
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            where=f"--port {port}",
            seen=f"one cannot listen there ({error.strerror or error})",
            todo="Choose another port, or leave it out.",
        ) from error


def build(workspace: Workspace, queue: Queue) -> None:
    """Make the pages of the app, one for each step and language.

    Args:
        workspace: the folder that they work on.
        queue: the queue of the folder.
    """
    ui.add_css(STYLE.read_text(encoding="utf-8"), shared=True)
    for language in LANGUAGES:
        for step in BUILDERS:
            _page(workspace, queue, language, step)
    shown.add_routes(app, workspace)
    app.add_route("/", _begin)


async def _begin(request: Request) -> Response:
    """The first step, in the language of the browser."""
    language = spoken(request.headers.get("accept-language", ""))
    return RedirectResponse(str(request.scope.get("root_path", "")) + address(language, "start"))


def _page(workspace: Workspace, queue: Queue, language: str, step: str) -> None:
    """Make the page of one step in one language."""

    async def show(request: Request) -> None:
        root = str(request.scope.get("root_path", ""))
        query = dict(request.query_params)
        visit = Visit(workspace, words(language), step, query, queue, root)
        with framed(visit):
            try:
                built = BUILDERS[step](visit)
                if inspect.isawaitable(built):
                    await built
            except CimentoError as error:
                problem(visit, error)

    tag = cast("Language", "en-US" if language == "en" else language)
    ui.page(f"/{language}/{step}", language=tag, response_timeout=30)(show)


def make_app(workspace: Workspace, queue: Queue, token: str) -> FastAPI:
    """The application, mounted at the token."""
    build(workspace, queue)
    outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        outer,
        title="cimento",
        favicon=Path(__file__).with_name("mark.svg"),
        dark=None,
        mount_path=f"/{token}",
        tailwind=False,
        reconnect_timeout=30,
        show_welcome_message=False,
    )
    return outer


@contextlib.contextmanager
def opener(path: Path, address: str) -> Iterator[Path]:
    """A context with a file that leads a browser to an address, and that only its owner can read.

    Every user of a machine can read the arguments of all processes; a browser that is given this
    file has no token among them.

    Args:
        path: the file; what an app that was killed has left there is replaced.
        address: the address, token included.

    Raises:
        StorageError: the file cannot be written.
    """
    page = _OPENER_PAGE.format(address=escape(address, quote=True))
    with writing(path), os.fdopen(open_new(path, 0o600), "w", encoding="utf-8") as file:
        file.write(page)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def serve(
    workspace: Workspace, listening: socket.socket, *, ready: Callable[[str, Path], None]
) -> None:
    """Serve the app until it is interrupted.

    The process works in the folder, so that a path means the same here and in a command.

    Args:
        workspace: the folder that it works on.
        listening: the socket, from `listen`.
        ready: called with the address of the app, and the file that opens it, before the first
            request can come.

    Raises:
        UsageError: another app works in the folder, or its queue is a link.
        StorageError: the folder cannot be written.
    """
    queue = Queue(workspace)
    queue.start()
    port, token = listening.getsockname()[1], new_token()
    guard = Guard(make_app(workspace, queue, token), token=token, port=port)
    config = uvicorn.Config(
        guard, http=BoundedProtocol, log_level="warning", access_log=False, server_header=False,
        proxy_headers=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}/{token}/"
    with opener(workspace.folder / QUEUE / OPENER, address) as page:
        ready(address, page)
        with contextlib.chdir(workspace.folder), contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    queue.end()

"""The application: its parts put together, how it is started, and limits on its connections."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cimento.errors import StorageError, UsageError, needing
from cimento.people.surveys import SurveyDesign, storage
from cimento.people.surveys.administration import Administration
from cimento.people.surveys.material import words
from cimento.people.surveys.participants import Participants, Room, notice, room_place
from cimento.people.surveys.security import Guard, RateLimits, host_of
from cimento.people.surveys.writer import Writer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp
    from uvicorn import Server

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


STATIC = Path(__file__).parent / "static"
_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def make_app(
    design: SurveyDesign, path: Path, *, secret: str, url: str = "", room: int = 0,
    pace: float = 5.0, is_trial: bool = False, language: str = "",
) -> ASGIApp:  # fmt: skip
    """The application for one design.

    Args:
        design: what is asked.
        path: the SQLite file of the answers; it is made where there is none.
        secret: who knows it is the administrator.
        url: the address that participants know; empty for that of each request.
        room: number of people who can join by the room's link; 0 for no such link.
        pace: requests a second that one participant may make in the long run.
        is_trial: whether answers are not kept, which each page says.
        language: ISO 639-1 code of the administrator's pages; empty for that of the survey.

    Raises:
        MissingDependencyError: the extra ``serve`` is not installed.
        InputError: the file belongs to another design.
        StorageError: the file cannot be used.
    """
    with needing("starlette", extra="serve", purpose="cimento annotate serve"):
        from starlette.applications import Starlette
        from starlette.routing import Route
    words(design.language)  # what there are no words for is refused before anybody asks
    storage.prepare(path, design)
    key = storage.signing_key(path)
    connect = functools.partial(storage.open_database, path)
    reader, writer = connect(), Writer(connect)
    people = Participants(
        design=design, key=key, reader=reader, writer=writer, is_trial=is_trial,
        pace=RateLimits(rate=pace, burst=40), strangers=RateLimits(rate=1, burst=20),
    )  # fmt: skip
    administration = Administration(
        design=design, path=path, key=key, secret=secret, url=url,
        attempts=RateLimits(rate=1 / 6, burst=10), language=language,
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        writer.close()
        reader.close()

    entrance = Room(design, path, key, room, RateLimits(rate=2, burst=200), is_trial)
    static = Route("/static/{name}", functools.partial(_static, _files()))
    routes = [static, *people.routes(), *administration.routes()]
    routes += entrance.routes() if room else []
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=_handlers(design))
    return Guard(app, host=host_of(url))


def closed_app(design: SurveyDesign) -> ASGIApp:
    """The application that says of a survey that nobody can answer it now.

    Args:
        design: the survey.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    async def closed(*_: object) -> Response:
        return notice(design, "closed", status=503)

    static = Route("/static/{name}", functools.partial(_static, _files()))
    app = Starlette(routes=[static], exception_handlers={404: closed, 405: closed})
    return Guard(app, host="")


def _handlers(design: SurveyDesign) -> Mapping[Any, Callable[..., Awaitable[Response]]]:
    """The pages for what is missing and for what failed."""

    async def nothing(*_: object) -> Response:
        return notice(design, "unknown", status=404)

    async def failed(*_: object) -> Response:
        return notice(design, "busy", status=503)

    return {404: nothing, 405: nothing, StorageError: failed, 500: failed}


def _files() -> Mapping[str, bytes]:
    """The files that pages load, by name."""
    return {file.name: file.read_bytes() for file in STATIC.iterdir() if file.suffix in _KINDS}


async def _static(files: Mapping[str, bytes], request: Request) -> Response:
    """One of the files that pages load."""
    from starlette.exceptions import HTTPException
    from starlette.responses import Response

    name = request.path_params["name"]
    if name not in files:
        raise HTTPException(404)
    kind = _KINDS[Path(name).suffix]
    return Response(files[name], media_type=kind, headers={"cache-control": "max-age=3600"})


def listen(host: str, port: int) -> socket.socket:
    """A socket at which the server can listen.

    Raises:
        UsageError: one cannot listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=2048)
        # Else the end of a page waits until its beginning is acknowledged: 40 milliseconds.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise UsageError(
            where=f"--host={host} --port={port}",
            seen=f"one cannot listen there ({error.strerror or error})",
            todo="Choose another port or address, or stop what listens there.",
        ) from error
    return made


def make_server(app: ASGIApp, *, proxied: bool = False) -> Server:
    """The server of an application; addresses and tokens are not logged.

    Args:
        app: what answers.
        proxied: whether a web server on this machine is in front; if not, what requests say
            of having been passed on is not believed.

    Raises:
        MissingDependencyError: the extra ``serve`` is not installed.
    """
    with needing("uvicorn", extra="serve", purpose="cimento annotate serve"):
        import uvicorn
    config = uvicorn.Config(
        app, http=BoundedProtocol, ws="none", log_level="warning", access_log=False,
        server_header=False, proxy_headers=proxied, timeout_graceful_shutdown=5,
        timeout_keep_alive=30,
    )  # fmt: skip
    return uvicorn.Server(config)


def serve_surveys(app: ASGIApp, listening: socket.socket, *, proxied: bool = False) -> None:
    """Serve until interrupted.

    Raises:
        MissingDependencyError: the extra ``serve`` is not installed.
    """
    with contextlib.suppress(KeyboardInterrupt):
        make_server(app, proxied=proxied).run(sockets=[listening])


class InThread:
    """An application served in a thread of its own, until it is stopped or the program ends.

    Args:
        app: what answers.
        listening: the socket at which it is asked.

    Attributes:
        port: the port at which it is asked.
    """

    def __init__(self, app: ASGIApp, listening: socket.socket) -> None:
        self._listening, self._server = listening, make_server(app)
        self.port = int(listening.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it still serves."""
        return self._thread.is_alive()

    def stop(self, *, within_seconds: float = 10.0) -> None:
        """Stop serving; answers that were given are in the file."""
        self._server.should_exit = True
        self._thread.join(within_seconds)

    def _run(self) -> None:
        with self._listening:
            self._server.run(sockets=[self._listening])


class Serving(InThread):
    """A survey that is served.

    Args:
        design: what is asked.
        path: the SQLite file of the answers.
        host: address to listen on: ``127.0.0.1`` for this machine, ``0.0.0.0`` for its network.
        port: the port; 0 for any that is free.
        shown: the host in links; empty for the address to listen on.
        room: number of participants up to which people can join by the room's link.
        is_trial: whether answers are not kept, which each page says.
        language: ISO 639-1 code of the administrator's pages; empty for that of the survey.

    Raises:
        UsageError: one cannot listen there.
        InputError: the file belongs to another design.
        StorageError: the file cannot be used.
        MissingDependencyError: the extra ``serve`` is not installed.

    Attributes:
        port: the port at which it is asked.
        address: the beginning of all links.
        room: the room's link.
        secret: the administrator's secret.
    """

    def __init__(
        self, design: SurveyDesign, path: Path, *, host: str, port: int, shown: str, room: int,
        is_trial: bool = False, language: str = "",
    ) -> None:  # fmt: skip
        listening = listen(host, port)
        self._design, self._host = design, host
        self.secret = secrets.token_urlsafe(24)
        try:
            app = make_app(
                design, path, secret=self.secret, room=room, is_trial=is_trial, language=language
            )
            super().__init__(app, listening)
        except BaseException:
            listening.close()
            raise
        self.address = f"http://{shown or host}:{self.port}"
        self.room = self.address + room_place(storage.signing_key(path))

    def close(self) -> InThread:
        """Stop the survey, and say so to whoever opens a link of it.

        Raises:
            UsageError: something else has taken the port.
        """
        self.stop()
        return InThread(closed_app(self._design), listen(self._host, self.port))

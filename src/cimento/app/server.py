"""The server of the app: its pages, where it listens, and how it is started and stopped."""

from __future__ import annotations

import contextlib
import inspect
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import uvicorn
from fastapi import FastAPI, Request
from nicegui import app, ui
from starlette.responses import RedirectResponse, Response

from cimento.app import edit, people, read, results, run, start
from cimento.app.frame import STYLE, Visit, address, framed, problem
from cimento.app.guard import Guard, new_token
from cimento.app.jobs import Queue
from cimento.app.words import LANGUAGES, spoken, words
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError, UsageError

if TYPE_CHECKING:
    from nicegui.language import Language

Builder: TypeAlias = Callable[[Visit], object]
"""A function that builds the content of a step's page; it may be a coroutine."""

BUILDERS: Mapping[str, Builder] = {
    "start": start.build,
    "edit": edit.build,
    "run": run.build,
    "read": read.build,
    "people": people.build,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the app is served.

    Attributes:
        port: the port of this machine.
        token: the beginning of every address.
    """

    port: int
    token: str

    @property
    def address(self) -> str:
        """The address that opens the app."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"


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
    results.add_routes(app, workspace)
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


def serve(
    workspace: Workspace, listening: socket.socket, *, ready: Callable[[Place], None]
) -> None:
    """Serve the app until it is interrupted.

    The process works in the folder, so that a path means the same here and in a command.

    Args:
        workspace: the folder that it works on.
        listening: the socket, from `listen`.
        ready: called with the place before the first request can come.

    Raises:
        UsageError: another app works in the folder.
        StorageError: the folder cannot be written.
    """
    queue = Queue(workspace)
    queue.start()
    place = Place(port=listening.getsockname()[1], token=new_token())
    app_at_token = make_app(workspace, queue, place.token)
    guard = Guard(app_at_token, token=place.token, port=place.port)
    config = uvicorn.Config(
        guard, log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    ready(place)
    with contextlib.chdir(workspace.folder), contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    queue.end()

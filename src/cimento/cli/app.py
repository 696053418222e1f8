"""``cimento app``: everything in the browser, on this machine only."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from cimento.cli.console import note
from cimento.cli.flags import command_of
from cimento.errors import needing
from cimento.options import Options, option


class AppOptions(Options):
    """The folder, and where the page is."""

    folder: Path = option(
        Path("cimento-files"), "Folder of suites, runs and surveys; it is made if need be."
    )
    port: int = option(0, "Port of this machine; 0 for any that is free.", ge=0, le=65535)
    models: tuple[Path, ...] = option(
        (), "Another folder from which models may be loaded. May be repeated."
    )
    browser: bool = option(
        default=True, help="Open the browser.", flags=("--browser/--no-browser",)
    )
    shortcut: bool = option(
        default=False,
        help="Only write a file to the desktop that starts the app by a double click.",
    )


def _app(options: AppOptions) -> None:
    """Open a page in the browser to make suites, run models and read results.

    The page is on this machine only, at an address that nobody can guess, and works on files of one
    folder. Stop it with Ctrl-C; a run that is going on continues, and what was scored is kept.
    """
    if options.shortcut:
        _write_shortcut(options)
        return
    with needing("nicegui", extra="app", purpose="cimento app"):
        import nicegui as _  # noqa: F401  # before anything is written
    from cimento.app.server import Place, listen, serve
    from cimento.app.workspace import Workspace

    workspace = Workspace(
        options.folder.expanduser().absolute(),
        tuple(folder.expanduser().absolute() for folder in options.models),
    )
    workspace.prepare()

    def opened(place: Place) -> None:
        note(f"The page is at {place.address}\nFiles: {options.folder}. Stop with Ctrl-C.")
        if options.browser:
            webbrowser.open(place.address)

    with listen(options.port) as listening:
        serve(workspace, listening, ready=opened)


def _write_shortcut(options: AppOptions) -> None:
    """Write the starter of an app with the same folders."""
    from cimento.app.starter import desktop, write_starter

    words = ["app", str(options.folder.expanduser().absolute())]
    words += [word for folder in options.models for word in ("--models", str(folder.absolute()))]
    note(f"Double-click to start: {write_starter(desktop(), words)}")


app = command_of(AppOptions, _app, positional="folder", metavar="[FOLDER]")

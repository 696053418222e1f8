"""Step: read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.app.frame import Visit, heading
from cimento.app.workspace import Workspace

if TYPE_CHECKING:
    from nicegui import App


def build(visit: Visit) -> None:
    """Build the page."""
    heading(visit.say("read.title"), level=1)


def add_routes(app: App, workspace: Workspace) -> None:
    """Add the addresses of documents that pages show in a frame."""

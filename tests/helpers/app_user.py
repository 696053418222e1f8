"""A user of the app's pages without a browser, for flows."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.app.workspace import Workspace

if TYPE_CHECKING:
    from nicegui.testing import User


def visit(folder: Path, flow: Callable[[User], Awaitable[None]]) -> None:
    """Let a user go through a flow on the app of a folder."""
    from nicegui.testing import user_simulation

    from cimento.app import build
    from cimento.app.jobs import Queue

    async def run() -> None:
        async with user_simulation(lambda: None) as user:
            workspace = Workspace(folder)
            build(workspace, Queue(workspace))
            await flow(user)

    # The framework forgets the modules of pages, and their packages; a second copy of each would
    # have other classes.
    kept = {name: module for name, module in sys.modules.items() if name.startswith("cimento")}
    try:
        asyncio.run(run())
    finally:
        sys.modules.update(kept)


async def until(condition: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Wait until something holds that other tasks of the page bring about."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)

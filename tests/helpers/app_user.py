"""A user of the app's pages without a browser, for flows."""

from __future__ import annotations

import asyncio
import functools
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cimento.app.workspace import Workspace

if TYPE_CHECKING:
    from nicegui.element import Element
    from nicegui.testing import User


def visit(folder: Path, flow: Callable[[User], Awaitable[None]]) -> None:
    """Let a user go through a flow on the app of a folder."""
    from nicegui.testing import general, user_simulation

    from cimento.app import build, jobs
    from cimento.app import run as run_page
    from cimento.app.jobs import Queue

    async def run() -> None:
        async with user_simulation(lambda: None) as user:
            look_often(user)
            workspace = Workspace(folder)
            build(workspace, Queue(workspace))
            await flow(user)

    # The framework forgets the modules of pages, and their packages; a second copy of each would
    # have other classes.
    kept = {name: module for name, module in sys.modules.items() if name.startswith("cimento")}
    try:
        with pytest.MonkeyPatch.context() as patch:
            # The page of runs and the queue look around as seldom as suits people.
            patch.setattr(run_page, "REFRESH_S", 0.05)
            patch.setattr(jobs, "WAIT_S", 0.05)
            # It has all objects looked through, twice, of which only those of the page are its own.
            patch.setattr(general, "gc", SimpleNamespace(collect=functools.partial(gc.collect, 1)))
            asyncio.run(run())
    finally:
        sys.modules.update(kept)


LOOK_S = 0.01
"""How often it is looked whether something is to be seen; ten times as often as the framework."""


def look_often(user: User) -> None:
    """Have a user look as long as the framework would, and more often."""
    see, miss = user.should_see, user.should_not_see

    def sees(given: tuple[object, ...], options: dict[str, object]) -> bool:
        names = ("target", "kind", "marker", "content")
        return user._sees(**dict(zip(names, given, strict=False)), **options)

    async def should_see(*given: object, retries: int = 3, **options: object) -> None:
        end = time.monotonic() + retries * 0.1
        while not sees(given, options) and time.monotonic() < end:
            await asyncio.sleep(LOOK_S)
        await see(*given, retries=1, **options)

    async def should_not_see(*given: object, retries: int = 3, **options: object) -> None:
        end = time.monotonic() + retries * 0.05
        while sees(given, options) and time.monotonic() < end:
            await asyncio.sleep(LOOK_S)
        await miss(*given, retries=1, **options)

    user.should_see, user.should_not_see = should_see, should_not_see


async def until(condition: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Wait until something holds that other tasks of the page bring about."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def texts_in(element: Element) -> list[str]:
    """The texts below an element; the command that does the same is there to be copied."""
    below = (one for one in element.descendants() if one.tag != "code")
    return [text for one in below if (text := str(getattr(one, "text", "")))]

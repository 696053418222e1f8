"""The app as a program, and its pages in headless Chromium."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from tests.helpers.app_server import running_app

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of the app that serves the folder of the module."""
    with running_app(folder) as address:
        yield address


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opener]:
    """Opens pages; the test fails on any error in the console and on any request that fails.

    Pages are named from the address of the app on, or by the address of another one.
    """
    troubles: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(place: str, **options: object) -> Page:
        window = {"viewport": {"width": 1200, "height": 900}, **options}
        context = browser.new_context(**window)  # type: ignore[arg-type]
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on(
            "console",
            lambda message: troubles.append(message.text) if message.type == "error" else None,
        )
        tab.on("response", lambda got: troubles.append(got.url) if got.status >= 400 else None)
        _come_to(tab, urljoin(address, place))
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _come_to(tab: Page, address: str) -> None:
    """Open an address as soon as its server listens."""
    for _ in range(60):
        with contextlib.suppress(Exception):
            tab.goto(address)
            break
        time.sleep(0.5)
    tab.wait_for_selector("#content h1")

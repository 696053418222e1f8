"""The app as a program, and its pages in headless Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from gallery import come_up, served

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of the app that serves the folder of the module."""
    with served("app", folder, "--no-browser", "--port", "0", link="http://") as address:
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
        come_up(tab, urljoin(address, place))
        tab.wait_for_selector("#content h1")
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []

"""The site in headless Chromium: at 400 px, by keyboard, light and dark, from files alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cimento import evaluate
from cimento.site import SiteSettings, write_site
from tests.site.conftest import agreement, knows

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = ("index.html", "runs.html", "models/*.html", "suites/*.html", "phenomena/*.html",
         "suites/*/runs/*.html", "suites/*/items/*.html")  # fmt: skip


@pytest.fixture(scope="module")
def site(animal_runs, more_runs, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("browser")
    text = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    evaluate(agreement(text, comment=text), knows(text), output=root / "runs")
    runs = [animal_runs, more_runs, root / "runs"]
    write_site(runs, root / "site", SiteSettings(title=f"Board {text}"))
    return root / "site"


@pytest.fixture
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab offline; the test fails on any message, error or dialogue, or request but of files."""
    troubles: list[str] = []
    context = browser.new_context(offline=True, **getattr(request, "param", {}))
    page = context.new_page()
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: asked.url.startswith("file://") or troubles.append(asked.url))
    yield page
    context.close()
    assert not troubles


NARROW = {"viewport": {"width": 400, "height": 800}}
DARK = {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "tab",
    [NARROW, pytest.param(DARK, marks=pytest.mark.slow)],
    indirect=True,
    ids=["narrow", "dark"],
)
def test_no_page_is_wider_than_its_window_or_runs_what_a_suite_says(tab: Page, site: Path) -> None:
    for pattern in PAGES:
        for path in sorted(site.glob(pattern))[:2]:
            tab.goto(path.as_uri())
            over = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, f"{path} is {over} px too wide"


def names(tab: Page) -> list[str]:
    return [row for row in tab.locator(".board tbody tr:visible th").all_inner_texts() if row]


@pytest.mark.slow
def test_a_board_is_searched_ordered_and_left_by_keyboard(tab: Page, site: Path) -> None:
    tab.goto((site / "index.html").as_uri())
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the results"
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") == "find-row"
    tab.keyboard.type("WISE")
    assert {name.partition("@")[0] for name in names(tab)} == {"also-wise", "lab/wise"}
    assert tab.locator("#row-count").inner_text() == "2 of 8 models"
    tab.keyboard.press("Escape")
    assert len(names(tab)) == 8
    wide = tab.evaluate(
        "(e => e.scrollWidth > e.clientWidth)(document.getElementById('board-scroll'))"
    )
    assert tab.locator("#board-scrolls").is_visible() == wide
    tab.select_option("#board-order", label="by it-training")
    assert names(tab)[0].startswith("grower-step900")
    tab.select_option("#board-order", label="by name")
    assert names(tab)[0].startswith("<script>")


def test_an_item_leads_to_its_words_in_a_run(tab: Page, site: Path) -> None:
    (item,) = site.glob("suites/it-animals*/items/7.html")
    tab.goto(item.as_uri())
    tab.locator("tbody a").first.click()
    tab.locator("#item-list > li .id").first.wait_for()
    assert tab.locator("#item-list > li .id").all_inner_texts() == ["7"]
    tab.locator("#find").press("Escape")
    assert tab.locator("#item-count").inner_text() == "20 items"


def test_items_of_a_suite_are_searched(tab: Page, site: Path) -> None:
    (page,) = site.glob("suites/it-animals*.html")
    tab.goto(page.as_uri())
    tab.fill("#find-item", "grillo")
    assert tab.locator("#item-table tbody tr:visible").count() == 1
    assert tab.locator("#item-count").inner_text() == "1 of 20 items"

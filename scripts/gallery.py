"""The pictures of docs/gallery.md, made from runs of the two demo models.

    python scripts/gallery.py [FOLDER]

Figures are drawn by the commands of the page, pages photographed in headless Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.main import invoke

if TYPE_CHECKING:
    from playwright.sync_api import Page

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
SUITES = ("it-subject-verb", "it-islands", "it-acceptability", "es-subject-verb", "pt-subject-verb")
FIGURES = {
    "margins": ("it-subject-verb", ("margins",)),
    "interaction": ("it-islands/demo-causal*", ("interaction",)),
    "scatter": ("it-acceptability/demo-causal*", ("scatter",)),
    "tokens": ("it-subject-verb/demo-causal*", ("tokens", "--item", "3")),
}
"""Name of each picture, mapped to its runs and the arguments of ``cimento figure``."""


FIRST_THREE = "(list) => list.replaceChildren(...[...list.children].slice(0, 3))"


def call(*arguments: str | Path) -> None:
    """Run a command of cimento.

    Raises:
        SystemExit: it failed.
    """
    if code := invoke([str(argument) for argument in arguments]):
        raise SystemExit(code)


def photograph(tab: Page, page: Path, picture: Path, *, within: str) -> None:
    """Take a picture of a part of a page."""
    tab.goto(page.as_uri())
    tab.wait_for_timeout(300)
    tab.locator(within).first.screenshot(path=str(picture))


def main(folder: Path) -> None:
    """Make all pictures.

    Args:
        folder: folder of the pictures.
    """
    from playwright.sync_api import sync_playwright

    gallery = folder / "gallery"
    gallery.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        runs, site = Path(name, "runs"), Path(name, "site")
        report = Path(name, "report.html")
        call("run", *SUITES, "-m", "demo-causal", "-m", "demo-masked", "-o", runs)
        for picture, (pattern, arguments) in FIGURES.items():
            (chosen,) = runs.glob(pattern)
            call("figure", chosen, *arguments, "-o", gallery / f"{picture}.svg")
        call("site", runs, "-o", site, "--title", "Two demo models")
        call("report", runs / "it-subject-verb", "-o", report)
        (item,) = site.glob("suites/it-subject-verb-*/items/3.html")
        program = shutil.which("chromium") or shutil.which("google-chrome")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            size = {"width": 1150, "height": 1000}
            tab = browser.new_context(offline=True, viewport=size, device_scale_factor=1).new_page()
            photograph(tab, site / "index.html", gallery / "board.png", within="#board")
            photograph(tab, item, gallery / "item.png", within="body")
            tab.goto(report.as_uri())
            tab.locator("#item-list").evaluate(FIRST_THREE)
            tab.locator("#item-list").screenshot(path=str(folder / "item-browser.png"))
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS)

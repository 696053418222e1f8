"""The pictures of the pages in docs/, made from runs of the demo models and of a recording.

    python scripts/gallery.py [FOLDER]

Figures are drawn by commands that the pages show, pages photographed in headless Chromium: a board,
a report and an answer about a language from files, the app and a survey from their servers on this
machine. The answer is about BLiMP, which is downloaded once.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import two_items
from cimento.cli.main import invoke
from cimento.intake.workbooks import write_sheets

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCS = Path(__file__).parents[1] / "docs"
ASSETS = DOCS / "assets"
SUITES = ("it-subject-verb", "it-islands", "it-acceptability", "es-subject-verb", "pt-subject-verb")
FIGURES = {
    "margins": ("it-subject-verb", ("margins",)),
    "results": ("??-subject-verb", ("results",)),
    "interaction": ("it-islands/demo-causal*", ("interaction",)),
    "scatter": ("it-acceptability/demo-causal*", ("scatter",)),
    "tokens": ("it-subject-verb/demo-causal*", ("tokens", "--item", "3")),
}
"""Name of each picture, mapped to its runs and the arguments of ``cimento report --figure``."""


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


PAIRS = [
    ["Frasi di prova", ""],
    ["buona", "cattiva"],
    ["Il bambino mangia la mela.", "Il bambino mangiano la mela."],
    ["Le ragazze corrono nel parco.", "Le ragazze corre nel parco."],
    ["I gatti dormono sul divano.", "I gatti dormono sul divano."],
    ["Mio nonno racconta  una storia.", "Mio nonno raccontano una storia."],
    ["", "Gli studenti ascolta con attenzione."],
]
"""A table as a beginner might write it, with faults that the app names."""


@contextlib.contextmanager
def served(*arguments: str | Path, link: str) -> Iterator[str]:
    """The address that a command of cimento prints and serves until the end.

    Args:
        arguments: the words of the command after ``cimento``.
        link: a part of the address.
    """
    command = [sys.executable, "-m", "cimento", *map(str, arguments)]
    with subprocess.Popen(  # noqa: S603  # commands of this script
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            said = process.stderr or ()
            yield next(word for line in said for word in line.split() if link in word)
        finally:
            process.terminate()
            process.communicate(timeout=20)


def come_up(tab: Page, address: str) -> None:
    """Open an address as soon as its server listens."""
    for _ in range(120):
        with contextlib.suppress(Exception):
            tab.goto(address)
            return
        time.sleep(0.5)


def photograph_app(browser: Browser, folder: Path, gallery: Path) -> None:
    """The sentences of step 1 with their surprisal, and a beginner's table in step 2."""
    folder.mkdir()
    (folder / "frasi.xlsx").write_bytes(write_sheets({"Foglio1": PAIRS}, where="frasi"))
    with served("app", folder, "--no-browser", "--port", "0", link="http://") as address:
        tab = browser.new_context(viewport={"width": 1150, "height": 1000}).new_page()
        come_up(tab, f"{address}en/start")
        texts = "La ragazza che conosce i miei amici parte domani.\n"
        texts += "La ragazza che conosce i miei amici partono domani."
        tab.get_by_label("Sentences").first.fill(texts)
        tab.get_by_role("button", name="Ask the model").click()
        tab.wait_for_selector(".strip .word", timeout=120_000)
        tab.wait_for_timeout(500)
        tab.locator("section").first.screenshot(path=str(gallery / "app-sentences.png"))
        tab.goto(f"{address}en/edit?suite=frasi.xlsx")
        tab.wait_for_selector(".finding", timeout=60_000)
        tab.get_by_label("Language of the sentences").click()
        tab.get_by_role("option", name="Italian").click()
        tab.locator("h1").click()  # so that the field has no frame
        tab.wait_for_timeout(1000)
        tab.add_style_tag(content=".suite-grid { height: 21rem !important; }")
        tab.screenshot(path=str(gallery / "app-edit.png"), full_page=False)
        tab.context.close()


def photograph_survey(browser: Browser, folder: Path, gallery: Path) -> None:
    """A question of a survey, as a participant sees it."""
    contact = ("--contact", "Anna Bianchi, anna@example.org")
    call("annotate", "survey", "build", "it-acceptability", *contact, "-o", folder)
    serving = ("annotate", "serve", folder, "--port", "8765", "--room", "1")
    with served(*serving, link="/room/") as address:
        tab = browser.new_context(viewport={"width": 760, "height": 360}).new_page()
        come_up(tab, address)
        for _ in range(MOST_PAGES):
            if tab.locator("input[type=radio]").count():
                break
            tab.locator(".next").last.click()
        tab.locator("main").screenshot(path=str(gallery / "survey.png"))
        tab.context.close()


def photograph_answer(tab: Page, folder: Path, gallery: Path) -> None:
    """What the page of an answer says in words, above its tables."""
    asked = ("--language", "en", "--sets", "blimp", "--budget", "1340", "-m", "demo-causal")
    call("run", *asked, "-o", folder)
    tab.set_viewport_size({"width": WIDTH, "height": 1000})
    tab.goto((folder / "en" / "answer.html").as_uri())
    tab.wait_for_timeout(300)
    links = tab.locator("nav").first.bounding_box()
    if links is None:
        raise SystemExit("the answer has no tables")
    tab.screenshot(
        path=str(gallery / "answer.png"),
        clip={"x": 0, "y": 0, "width": WIDTH, "height": links["y"]},
        full_page=True,
    )


WIDTH = 690
"""Width of the page of an answer, in pixels: as the page that shows it."""


def draw_curve(folder: Path, gallery: Path) -> None:
    """The curve of the checkpoints that docs/checkpoints.md makes."""
    folder.mkdir()
    page = (DOCS / "checkpoints.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)  # noqa: S603  # the docs' own code
    models = [word for path in sorted(folder.glob("out/*")) for word in ("-m", path)]
    call("run", "it-subject-verb", *models, "-o", folder / "runs")
    call("compare", folder / "runs", "--figure", gallery / "curve.svg")


MOST_PAGES = 6
"""Most pages before the first question of a survey."""


def main(folder: Path) -> None:
    """Make all pictures.

    Args:
        folder: folder of the pictures.
    """
    from playwright.sync_api import sync_playwright

    gallery = folder / "gallery"
    gallery.mkdir(parents=True, exist_ok=True)
    (folder / "two-items.svg").write_text(two_items.picture(two_items.replayed()), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        runs, site = Path(name, "runs"), Path(name, "site")
        report = Path(name, "report.html")
        call("run", *SUITES, "-m", "demo-causal", "-m", "demo-masked", "-o", runs)
        for picture, (pattern, arguments) in FIGURES.items():
            chosen = sorted(runs.glob(pattern))
            call("report", *chosen, "--figure", *arguments, "-o", gallery / f"{picture}.svg")
        draw_curve(Path(name, "training"), gallery)
        call("report", runs, "--site", site, "--title", "Two demo models")
        recorded, spec = two_items.FOLDER / "grnn.tsv", two_items.FOLDER / "spec.json"
        replayed = ("-m", f"replay:{recorded}", "--spec", spec)
        call("run", two_items.FOLDER, *replayed, "-o", Path(name, "recorded"))
        call("report", Path(name, "recorded"), "-o", report)
        program = shutil.which("chromium") or shutil.which("google-chrome")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            tab = browser.new_context(
                offline=True, viewport={"width": 1150, "height": 1000}, device_scale_factor=1
            ).new_page()
            photograph(tab, site / "index.html", gallery / "board.png", within="#board")
            # The widest page whose items are below their headings: no sentence is wrapped.
            tab.set_viewport_size({"width": 1024, "height": 1000})
            photograph(tab, report, folder / "item-browser.png", within="#item-list")
            photograph_answer(tab, Path(name, "english"), gallery)
            photograph_app(browser, Path(name, "files"), gallery)
            photograph_survey(browser, Path(name, "survey"), gallery)
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS)

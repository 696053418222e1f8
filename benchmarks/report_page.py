"""How large a report of 5,000 items is, and how long Chromium takes to paint it.

    python benchmarks/report_page.py [--items 5000] [--times 5]

A suite of minimal pairs of about eleven words each is answered by a function in place of a model;
every token has a surprisal. The page is opened offline from a file, in a fresh context each time.
First paint is the browser's own ``first-contentful-paint`` since navigation began; the list is
ready when the script has drawn its first rows.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento import report
from cimento.evaluation import evaluate
from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite
from cimento.testing.models import FakeScorer

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

NOUNS = ("gatto", "cane", "bambino", "dottore", "vicino", "pittore", "cugino", "giudice")
PLACES = ("in cucina", "sul balcone", "in giardino", "alla stazione", "nel cortile", "in ufficio")


def suite_of(count: int) -> Suite:
    """A suite of this many agreement pairs."""
    items = []
    for number in range(count):
        noun, place = NOUNS[number % len(NOUNS)], PLACES[number % len(PLACES)]
        start, end = f"Il {noun} numero {number} di mia sorella", f"{place} da molte ore."
        columns = {"phenomenon": f"with {place}"}
        good, bad = (
            Condition(name, (Region(start), Region(verb), Region(end)), columns=columns)
            for name, verb in (("good", "aspetta"), ("bad", "aspettano"))
        )
        items.append(Item(str(number), (good, bad)))
    return Suite(
        meta=Meta(name="five-thousand", language="it"),
        region_names=("subject", "verb", "rest"),
        predictions=(Prediction("(2;%good%) < (2;%bad%)"),),
        items=tuple(items),
    )


def surprise(tokens: Sequence[str], index: int) -> float:
    """A log-probability in nats that depends on a word and the two before it."""
    digest = hashlib.sha256(" ".join(tokens[max(0, index - 2) : index + 1]).encode()).digest()
    return -18 * math.log(2) * int.from_bytes(digest[:2]) / 65535


def paints(
    page: Path, times: int, *, then: Callable[[Tab], tuple[float, ...]] = lambda _: ()
) -> list[tuple[float, ...]]:
    """First paint in milliseconds of each opening, followed by what `then` measures there."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    milliseconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(times):
            context = browser.new_context(offline=True)
            tab = context.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_timeout(200)
            paint = tab.evaluate(
                "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            )
            milliseconds.append((paint, *then(tab)))
            context.close()
        browser.close()
    return milliseconds


def search(tab: Tab) -> tuple[float, float]:
    """When the list was drawn, and how long a search took, in milliseconds."""
    tab.locator("#item-list > li").first.wait_for(state="attached")
    ready = tab.evaluate(
        "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
    )
    begun = time.perf_counter()
    tab.fill("#find", "giudice 4999")
    tab.get_by_text("of 5,000 items").or_(tab.get_by_text("No item")).first.wait_for()
    return ready, 1000 * (time.perf_counter() - begun)


def main() -> None:
    """Write the page, open it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    scorer = FakeScorer(surprise, name="hash")
    run = evaluate(suite_of(given.items), scorer, all_tokens=True)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        page = report(run, Path(folder) / "report.html")
        written = time.perf_counter() - begun
        size = page.stat().st_size
        rows = paints(page, given.times, then=search)
    names = ("first paint", "list drawn", "search answered")
    print(f"{given.items} items, {run.table('tokens').height} tokens")
    print(f"page: {size / 1e6:.2f} MB, written in {written:.1f} s")
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name}: median {statistics.median(values):.0f} ms, slowest {max(values):.0f} ms")


if __name__ == "__main__":
    main()

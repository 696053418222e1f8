"""The documentation as a site: built without a warning, whole, asking nothing of other hosts."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import cimento
from cimento.cli.tree import COMMANDS

ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; any warning fails the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    """The site on a server of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class Loaded(HTMLParser):
    """What a page loads by itself: scripts, style sheets, images, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        loads = tag in {"script", "img", "iframe", "source", "object"}
        if tag == "link":
            loads = named.get("rel") not in {"canonical", "prev", "next"}
        for name in ("src", "href", "data"):
            if loads and (address := named.get(name)):
                self.addresses.append(address)


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(page.read_text(encoding="utf-8"))
        parser.close()
        outside = [link for link in parser.addresses if re.match(r"(https?:)?//", link)]
        assert outside == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text("utf-8"))


def test_every_command_has_a_page_with_its_options(site):
    for name in COMMANDS:
        assert (site / "reference" / f"{name}.html").is_file(), name
    page = (site / "reference" / "run.html").read_text(encoding="utf-8")
    for option in ("--model", "--measure", "--all-tokens", "SUITE"):
        assert re.search(f"<code[^>]*>{option}", page)
    assert '<code class="option">--all-tokens</code>' in page
    required = (site / "reference" / "score.html").read_text(encoding="utf-8")
    assert "Must be given" in required


def test_sub_commands_stand_on_the_page_of_their_group(site):
    page = (site / "reference" / "suites.html").read_text(encoding="utf-8")
    for name in ("cimento suites check", "cimento suites build pairs"):
        assert f"{name}</h" in re.sub(r"<a .*?</a>", "", page), name


def test_every_public_name_is_in_the_python_reference(site):
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    shown = set(re.findall(r'<h2 id="[\w.]*?(\w+)"', page))
    assert set(cimento.__all__) - shown == set()


def test_the_reference_says_what_docstrings_say(site):
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert "Ask one model about one suite and judge its answers." in page
    assert "a built-in name, a path, or a suite made in Python, of any paradigm." in page


def test_browsing_asks_for_nothing_elsewhere_and_search_finds(address, browser):
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    for name in ("index.html", "quickstart.html", "reference/run.html", "checks.html"):
        page.goto(address + name)
    page.get_by_placeholder("Search").first.fill("pseudo-log-likelihood")
    page.locator(".md-search-result__item").first.wait_for()
    page.close()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert said == []


def test_a_site_opened_by_double_click_can_be_searched(site, browser):
    page = browser.new_page()
    page.goto((site / "howto" / "pairs.html").as_uri())
    page.get_by_placeholder("Search").first.fill("spreadsheet")
    page.locator(".md-search-result__item").first.wait_for()
    page.close()


WANTED = {
    "tie": "glossary.html",
    "surprisal": "concepts.html",
    "p-value": "statistics.html",
    "power": "power.html",
    "install": "quickstart.html",
    "excel": "excel-to-table.html",
    "windows": "windows.html",
    "interval": "statistics.html",
    "minimal pairs": "howto/pairs.html",
    "survey": "surveys.html",
    "--batch-size": "commands.html",
}
"""What people look for to the page that they want."""


def test_a_search_has_the_page_that_is_wanted_among_its_first_three(site, browser):
    page = browser.new_page()
    missed = {}
    for query, wanted in WANTED.items():
        page.goto((site / "howto" / "islands.html").as_uri())
        page.get_by_placeholder("Search").first.fill(query)
        page.locator(".md-search-result__item").first.wait_for()
        links = page.locator(".md-search-result__item > a").evaluate_all(
            "links => links.slice(0, 3).map(link => link.href)"
        )
        if not any(wanted in link for link in links):
            missed[query] = links
    page.close()
    assert missed == {}


def test_tables_with_tabs_are_shown_as_tables(site):
    page = (site / "howto" / "pairs.html").read_text(encoding="utf-8")
    assert "<td>La torta è pronta.</td>" in page
    assert "<td>Le porte della villa &#124; restano &#124; chiuse d'inverno.</td>" in page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(address, browser, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = context.new_page()
    for name in ("index.html", "studies.html", "statistics.html", "reference/run.html"):
        page.goto(address + name)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, f"{name} is {width} wide"
    context.close()

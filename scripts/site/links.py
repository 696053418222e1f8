"""Checks of a built site: every link leads somewhere, and nothing is loaded from elsewhere.

The builder itself warns of broken links between pages, but not of files, of pages that the menu
names, of what a page loads, or of pages to which nothing leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
_SHEET = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]*)")
NOT_FOUND = "404.html"
"""The page that servers show at any address, and whose links therefore begin at the root."""


@dataclass
class Read:
    """What a page has and names.

    Attributes:
        anchors: the places on the page.
        links: the addresses to which it leads.
        loaded: the addresses of what it loads by itself: scripts, sheets, images, frames.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.read = Read()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.read.anchors |= {named.get("id", ""), named.get("name", "") if tag == "a" else ""}
        if tag == "a" and "href" in named:
            self.read.links.append(named["href"])
        if tag == "link" and named.get("rel") not in {"canonical", "prev", "next"}:
            self.read.loaded.append(named.get("href", ""))
        if address := named.get(_LOADS.get(tag, ""), ""):
            self.read.loaded.append(address)


def read_page(path: Path) -> Read:
    """What a page in HTML has and names."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.read


def faults(site: Path, *, first: str = "index.html") -> Iterator[str]:
    """Sentences about what is wrong in a folder of pages.

    Args:
        site: the folder.
        first: the page at which readers begin.
    """
    site = site.resolve()
    pages = {path: read_page(path) for path in sorted(site.rglob("*.html"))}
    led_to = {site / first, site / NOT_FOUND}
    for path, read in pages.items():
        where = path.relative_to(site).as_posix()
        yield from (f"{where} loads {url} from another host" for url in read.loaded if _is_out(url))
        for address in dict.fromkeys((*read.links, *read.loaded)):
            if not urlsplit(address).scheme and not _is_out(address):
                target = _target(address, path, site)
                led_to |= {target} - {path}
                if lacking := _lacking(address, target, pages):
                    yield f"{where} leads to {address}, and there is no such {lacking}"
    yield from (f"nothing leads to {path.relative_to(site).as_posix()}"
                for path in pages if path not in led_to)  # fmt: skip
    for sheet in sorted(site.rglob("*.css")):
        for address in _SHEET.findall(sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site).as_posix()} loads {address} from another host"


def _is_out(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _target(address: str, page: Path, site: Path) -> Path:
    """The file to which an address on a page leads."""
    path = unquote(urlsplit(address).path)
    if not path:
        return page
    at_root = path.startswith("/") and page.name == NOT_FOUND
    target = (site / path.lstrip("/") if at_root else page.parent / path).resolve()
    return target / "index.html" if target.is_dir() else target


def _lacking(address: str, target: Path, pages: Mapping[Path, Read]) -> str:
    """What an address names that is not there; empty if all is."""
    anchor = unquote(urlsplit(address).fragment)
    if not target.is_file():
        return "file"
    is_lost = anchor and target in pages and anchor not in pages[target].anchors
    return "place on that page" if is_lost else ""

"""The pages of the site before it is built: those of docs/, and those that are made from the code.

A module beside this one that has a constant ``PAGE`` makes the page of that path, by its function
``NAME_page``.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import commands
import reference
from cells import ROOT, escaped
from commands import FOLDER
from folding import folded

AT_ROOT = {"contributing.md": "CONTRIBUTING.md"}
"""Page of the site to the file at the root of the repository."""
RECORDS = {"changelog.md": "CHANGELOG.md"}
"""The same of files that grow with every version, and that nobody reads from end to end."""
MARK = ROOT / "src" / "cimento" / "app" / "mark.svg"
"""The mark of the app and of the site: a pair of sentences, and the word that counts."""
PARENTS = {
    "checks/": "checks.md",
    "reference/modules": "reference/python.md",
    "reference/dependencies": "reference/python.md",
    FOLDER: "commands.md",
    "changelog": "contributing.md",
    "tables-read": "formats.md",
    "sets": "formats.md",
    "statistics-coverage": "statistics.md",
    "grammars": "generating.md",
    "stored-queries": "treebanks.md",
    "your-language": "language.md",
    "replay": "models.md",
}
"""Beginning of the path of pages that the menu lacks to the page there to which they belong."""
UP = {
    "checks.md": "[All checks of suites](../checks.md)",
    "commands.md": "[All commands](../commands.md)",
}
"""Page of the menu to what is at the end of those that belong to it."""
LEFT_OUT = ("design", "parts")
"""Folders of docs/ that are not pages of the site."""

_TSV = re.compile(
    r'^```tsv(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
_FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_SOURCE = re.compile(r"([A-Z][^|;:\[\]()]*\d{4}), doi:(10\.[^\s;,|]+)")
"""Who published something and when, and the DOI, in a cell."""
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def stage(docs: Path, folder: Path) -> None:
    """Put all pages of the site into a folder.

    Raises:
        SystemExit: a page is both kept and made.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(docs, folder, ignore=lambda here, _: LEFT_OUT if Path(here) == docs else ())
    shutil.copyfile(MARK, folder / "assets" / "logo.svg")
    for path, text in made_pages().items():
        page = folder / path
        if page.exists():
            sys.exit(f"docs/{path} is made by scripts/site/build.py: delete it")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    in_menu = menu(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8")))
    for page in folder.rglob("*.md"):
        text = folded(as_page(page.read_text(encoding="utf-8")))
        path = page.relative_to(folder).as_posix()
        up = UP.get(parent(path, in_menu), "")
        page.write_text(f"{text}\n{up}\n" if up else text, encoding="utf-8")


def parent(path: str, in_menu: Sequence[str]) -> str:
    """The page of the menu to which a page belongs that is not there itself; else empty."""
    if path in in_menu:
        return ""
    return next((page for start, page in PARENTS.items() if path.startswith(start)), "")


def made_pages() -> dict[str, str]:
    """Path in the site to Markdown, of every page that is not kept in docs/."""
    made = {**commands.command_pages(), **reference.pages()}
    made |= {page: root_page(name) for page, name in (AT_ROOT | RECORDS).items()}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if "\nPAGE = " in path.read_text(encoding="utf-8"):
            module = _module(path)
            made[module.PAGE] = getattr(module, f"{path.stem}_page")()
    return made


def _module(path: Path) -> ModuleType:
    """A module beside this one, whatever else is called like it."""
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    assert spec is not None  # noqa: S101  # it is a file of Python
    assert spec.loader is not None  # noqa: S101  # it is a file of Python
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def root_page(name: str) -> str:
    """A page that is at the root of the repository, where those who join look for it."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return outside_fences(text, lambda prose: _LINK.sub(_from_root, prose))


def _from_root(link: re.Match[str]) -> str:
    """A link from the root as the site has it; what the site does not have is named only."""
    words, target, anchor = link[1], link[2], link[3] or ""
    pages = {file: page for page, file in (AT_ROOT | RECORDS).items()}
    if target in pages:
        return f"[{words}]({pages[target]}{anchor})"
    if target.startswith("docs/"):
        return f"[{words}]({target.removeprefix('docs/').removeprefix('parts/')}{anchor})"
    return link[0] if ":" in target or not target else _named(words, target)


def _named(words: str, target: str) -> str:
    return f"`{target}`" if words == target else f"{words} (`{target}`)"


def as_page(text: str) -> str:
    """A page as the site shows it: tables with tabs are tables, and design records are named."""
    return outside_fences(
        _TSV.sub(_as_table, text), lambda prose: _ROW.sub(_cited, _LINK.sub(_from_docs, prose))
    )


def _cited(row: re.Match[str]) -> str:
    """A row of a table whose sources are links, so that its column has no long identifiers."""
    return _SOURCE.sub(r"[\1](https://doi.org/\2)", row[0])


def _from_docs(link: re.Match[str]) -> str:
    target = link[2].removeprefix("../")
    return _named(link[1], f"docs/{target}") if target.startswith("design/") else link[0]


def _as_table(block: re.Match[str]) -> str:
    header, *rows = (line.split("\t") for line in block["text"].splitlines() if line)
    cells = ([escaped(cell) for cell in row] for row in (header, ["---"] * len(header), *rows))
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([f"**`{block['title']}`**\n", *lines] if block["title"] else lines)


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """A text after a change of all that is not in a fenced block."""
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def menu(config: dict[str, Any]) -> list[str]:
    """The pages of the menu, in order, with a title of the menu's own or without."""
    groups = (pages for group in config["project"]["nav"] for pages in group.values())
    entries = (page for pages in groups for page in pages)
    return [
        page
        for entry in entries
        for page in ([entry] if isinstance(entry, str) else entry.values())
    ]

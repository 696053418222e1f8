"""Text and tables in Markdown, and the texts in docs/parts/ into which tables are put."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PARTS = DOCS / "parts"
"""The prose of the pages whose tables are made: each is written as a page of docs/ itself."""
_PLACE = re.compile(r"^\{([\w-]+)\}$", re.MULTILINE)


def escaped(text: str) -> str:
    """Text on one line, none of which is Markdown."""
    return " ".join(_without_markup(text).split())


def _without_markup(text: str) -> str:
    for sign in "&|<>*_[]":
        text = text.replace(sign, f"&#{ord(sign)};")
    return text


def prose(text: str) -> str:
    """Text on one line with code between grave accents, single or double, and no other Markdown."""
    parts = text.replace("``", "`").split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    cells = (in_code(part) if k % 2 else _without_markup(part) for k, part in enumerate(parts))
    return " ".join("".join(cells).split())


def in_code(text: str) -> str:
    """Text as code in a cell of a table."""
    bare = text.replace("|", "&#124;")
    return f"`{text}`" if bare == text else f"<code>{escaped(text)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> str:
    """A table in Markdown.

    Args:
        head: the names of the columns.
        rows: the cells of each row, in Markdown.
        numbers: how many of the last columns are numbers, which are aligned at the right.
    """
    under = ["---"] * (len(head) - numbers) + ["--:"] * numbers
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, under, *rows)) + "\n"


def filled(name: str, made: Mapping[str, str]) -> str:
    """A text of docs/parts/ with what is made in its places, which are names in braces.

    Raises:
        KeyError: the text has a place for something else.
        ValueError: it has no place for one of the things that are made.
    """
    text = (PARTS / name).read_text(encoding="utf-8")
    if lacking := made.keys() - {*_PLACE.findall(text)}:
        raise ValueError(f"docs/parts/{name} has no place for {', '.join(sorted(lacking))}")
    return _PLACE.sub(lambda place: made[place[1]], text)

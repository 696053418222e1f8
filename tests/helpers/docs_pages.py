"""The pages of docs/ as tests read them: their fenced blocks, and the commands in these."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<head>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: language, file name if it has one, text, and number of its first line."""

    language: str
    title: str
    text: str
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    page = path.read_text(encoding="utf-8")
    for match in _FENCE.finditer(page):
        head = match["head"].strip()
        title = _TITLE.search(head)
        line = page.count("\n", 0, match.start()) + 2
        language = re.search(r"\w+", head)
        text = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)  # of a tab
        yield Block(language[0] if language else "", title[1] if title else "", text, line)


def commands(text: str) -> Iterator[list[str]]:
    """The cimento commands of a block as words; what is explained beside them is left out.

    An explanation stands behind three blanks or more, or a ``#``.
    """
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        bare = re.split(r"\s{3,}|\s+#\s", line.removeprefix("$ "), maxsplit=1)[0]
        for part in re.split(r"\s\|\s|\s&&\s", bare):
            if part.startswith("cimento "):
                yield shlex.split(part)[1:]

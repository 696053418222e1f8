"""What a program measures as a table of Markdown, in a page between two marks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table under its title."""
    lines = [f"**{title}**", "", line(names), line(["---"] * len(names)), *map(line, rows)]
    return "\n".join([*lines, ""])


def line(cells: Iterable[object]) -> str:
    """One row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def publish(text: str, mark: str) -> int:
    """Print a text, or write it into the page that is named on the command line.

    Args:
        text: in Markdown.
        mark: name of the marks, which are comments: ``<!-- NAME: begin -->`` and ``... end -->``.

    Returns:
        The exit code.
    """
    if len(sys.argv) == 1:
        print(text)
        return 0
    page = Path(sys.argv[1])
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, marker, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not marker or not closed:
        print(f"{page} lacks the marks {begin} and {end}", file=sys.stderr)
        return 2
    page.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
    return 0

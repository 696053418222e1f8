"""Texts of strangers where they are shown: in a terminal, in LaTeX, in pages made of templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

_TEX = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
})  # fmt: skip


_MOST_DIGITS = 12


def printable(text: str) -> str:
    """The text without line breaks and control characters, safe to show in one line."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else " " for mark in text)


def tex(text: str) -> str:
    """A plain text as LaTeX shows it."""
    return text.translate(_TEX)


def apart(low: float, high: float, digits: int) -> int:
    """The decimals that both ends of an interval are shown with, so that they differ.

    Args:
        low: lower end.
        high: upper end; not the same number.
        digits: decimals that are enough for most.
    """
    while digits < _MOST_DIGITS and f"{low:.{digits}f}" == f"{high:.{digits}f}":
        digits += 1
    return digits


def templates_of(package: str) -> Environment:
    """The templates of a package: texts are escaped, and a name that does not exist is an error.

    Args:
        package: whose folder ``templates`` holds them.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def columns(rows: Sequence[tuple[str, ...]], *, indent: int = 0) -> str:
    """Rows as columns of text, two blanks between them; control characters are blanks."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(" " * indent + line.rstrip() for line in lines)

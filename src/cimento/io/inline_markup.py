"""Untrusted texts made safe to show in a terminal, in LaTeX and in pages made from templates."""

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
    """A plain text escaped for LaTeX."""
    return text.translate(_TEX)


def apart(low: float, high: float, digits: int) -> int:
    """The number of decimals with which both ends of an interval are shown, so that they differ.

    Args:
        low: the lower end.
        high: the upper end, which differs from it.
        digits: the least number of decimals.
    """
    while digits < _MOST_DIGITS and f"{low:.{digits}f}" == f"{high:.{digits}f}":
        digits += 1
    return digits


def templates_of(package: str) -> Environment:
    """The templates of a package, which escape texts and refuse unknown names.

    Args:
        package: the package whose folder ``templates`` holds them.
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
    """Rows as aligned columns of text, two blanks apart; control characters become blanks."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(" " * indent + line.rstrip() for line in lines)

"""Texts made safe to show in a terminal, in LaTeX, in notebooks and in page templates.

Tables of lines are laid out here too: how wide their columns are, and which stand side by side.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING

from cimento.errors import counted

if TYPE_CHECKING:
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
    while digits < _MOST_DIGITS and f"{low:z.{digits}f}" == f"{high:z.{digits}f}":
        digits += 1
    return digits


def templates_of(*packages: str) -> Environment:
    """The templates of some packages, which escape texts and refuse unknown names.

    Args:
        packages: packages whose folders ``templates`` hold them; of two templates with one name,
            the one of the first package is taken.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def width_of(text: str) -> int:
    """The places of a text in a terminal: two for Han and kana, none for combining marks."""
    from rich.cells import cell_len

    return len(text) if text.isascii() else cell_len(text)


def flush_left(text: str, width: int) -> str:
    """A text with blanks after it, up to a width in places of a terminal."""
    return text + " " * (width - width_of(text))


def columns(rows: Sequence[tuple[str, ...]], *, indent: int = 0) -> str:
    """Rows as aligned columns of text, two blanks apart; control characters become blanks."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(width_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(flush_left(c, w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


ITEMS_SHOWN = 3
"""Number of items of a suite that are shown."""

LONGEST_CELL = 160
"""Number of characters of a cell that are shown; a mark stands for the others."""


def notebook_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str,
    notes: Sequence[str] = (),
    labels: int = 1,
) -> str:
    """A table for a notebook.

    Args:
        header: names of the columns.
        rows: the rows of cells, as text.
        title: title above the table.
        notes: sentences below the table.
        labels: number of columns, from the left, that hold text and are set flush left; the others
            hold numbers.

    Returns:
        A ``<div>`` that depends on nothing else in the page.
    """
    head = "".join(f"<th{_side(k, labels)}>{isolated(name)}</th>" for k, name in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(f"<td{_side(k, labels)}>{isolated(x)}</td>" for k, x in enumerate(row))
        + "</tr>"
        for row in rows
    )
    below = "".join(f"<p>{isolated(note, longest=2 * LONGEST_CELL)}</p>" for note in notes)
    return (
        f"<div><p><strong>{isolated(title)}</strong></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def suite_table(
    header: Sequence[str],
    items: Sequence[Sequence[Sequence[str]]],
    *,
    n_items: int,
    facts: Sequence[str],
    notes: Sequence[str] = (),
) -> str:
    """The first items of a suite for a notebook.

    Args:
        header: names of the columns, all of which hold text.
        items: the rows of each item that is shown.
        n_items: number of items of the suite.
        facts: name of the suite, then what is known about it; empty ones are left out.
        notes: sentences below the table.
    """
    name, *others = facts
    count = counted(n_items, "item")
    left = n_items - len(items)
    return notebook_table(
        header,
        [row for rows in items for row in rows],
        title=", ".join(filter(None, (f"{name}: {count}", *others))),
        notes=[*([f"... and {left} more items"] if left > 0 else []), *notes],
        labels=len(header),
    )


def isolated(text: str, *, longest: int = LONGEST_CELL) -> str:
    """A text as HTML that shows it and has no other effect.

    Args:
        text: any text.
        longest: number of characters after which it is cut.
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return f"<bdi>{escape(printable(cut))}</bdi>"


def _side(column: int, labels: int) -> str:
    said = "text-align:left" if column < labels else "text-align:right;white-space:nowrap"
    return f' style="{said}"'


GAP = 2
"""Blanks between two columns."""

_NARROWEST = 10
"""The fewest characters to which a column of texts is folded."""


def layout(
    most: Sequence[int], *, texts: Sequence[int], keys: Sequence[int], width: int | None
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The widths of columns, and the columns that stand side by side.

    Texts are folded until the table fits. Of one that is wider even so, the first texts take half
    of the width, and each block below another has them again.

    Args:
        most: width of the longest cell of each column, in characters.
        texts: indices of the columns that can be folded.
        keys: indices of the first columns, which say what a row is about.
        width: columns of the terminal; None for lines of any length.
    """
    widths = _narrowed(most, texts, width)
    if not width or _total(widths) <= width or len(keys) == len(most):
        return widths, [tuple(range(len(most)))]
    others = _total(most) - _total([most[k] for k in keys])
    widths = _narrowed(most, keys, width // 2 + others)
    blocks: list[tuple[int, ...]] = []
    for k in range(len(keys), len(widths)):
        block = (*(blocks[-1] if blocks else keys), k)
        if blocks and _total([widths[n] for n in block]) <= width:
            blocks[-1] = block
        else:
            blocks.append((*keys, k))
    return widths, blocks


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _narrowed(most: Sequence[int], texts: Iterable[int], width: int | None) -> list[int]:
    """The widths of columns, of which the texts are folded until the table is `width` wide."""
    widths, texts = list(most), list(texts)
    while width and _total(widths) > width and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def folded_row(row: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """A row as several lines, where its cells are longer than the columns are wide."""
    cells = [wrapped(cell, most) for cell, most in zip(row, widths, strict=True)]
    return list(zip_longest(*cells, fillvalue=""))


def wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a text; one of any length where there is no width."""
    if not width or width_of(text) <= width:
        return [text]
    return textwrap.wrap(text, width) or [""]

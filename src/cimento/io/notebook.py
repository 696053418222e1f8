"""HTML for notebooks: a short table without colors, scripts or style sheets.

All content of suites is shown as text: it is escaped, control characters become blanks, and each
cell is isolated, so that right-to-left text does not affect other cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cimento.errors import counted
from cimento.io.inline_markup import printable

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

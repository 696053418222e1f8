"""How notebooks show things: a short table in HTML, without colours, scripts or styles of its own.

Whatever a suite says is text here: it is escaped, control characters are blanks, and each cell is
isolated, so that text that runs from right to left stays in its cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cimento.io.inline_markup import printable

LONGEST_CELL = 160
"""Characters of a cell that are shown; one mark says that there are more."""


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
        rows: their cells, as text.
        title: what is shown; stands above.
        notes: sentences below.
        labels: columns on the left that are set to the left; the others hold numbers.

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


def isolated(text: str, *, longest: int = LONGEST_CELL) -> str:
    """A text as HTML that shows it and does nothing.

    Args:
        text: anything.
        longest: characters after which it is cut.
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return f"<bdi>{escape(printable(cut))}</bdi>"


def _side(column: int, labels: int) -> str:
    said = "text-align:left" if column < labels else "text-align:right;white-space:nowrap"
    return f' style="{said}"'

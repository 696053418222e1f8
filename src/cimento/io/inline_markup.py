"""Texts made safe to show in a terminal, in LaTeX, in notebooks and in page templates.

Tables of lines are laid out here too: how wide their columns are, and which stand side by side.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import takewhile, zip_longest
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
"""The fewest characters to which a column of texts, or a heading, is folded."""

_LONGEST_PART = 16
"""The longest part of a name or text, in characters, that is never cut."""


def layout(
    most: Sequence[int],
    *,
    least: Sequence[int],
    texts: Sequence[int],
    keys: Sequence[int],
    width: int | None,
) -> tuple[list[int], list[tuple[int, ...]]]:
    """The widths of columns, and the columns that stand side by side.

    Headings and texts are folded until the table fits. Of one that is wider even so, the first
    texts take half of the width, and each block below another has them again.

    Args:
        most: width of the longest cell of each column, in characters.
        least: width to which each column can be folded, at most that in `most`.
        texts: indices of the columns whose cells can be folded.
        keys: indices of the first columns, which say what a row is about.
        width: columns of the terminal; None for lines of any length.
    """
    widths = _narrowed(most, least, width)
    if not width or _total(widths) <= width or len(keys) == len(most):
        return widths, [tuple(range(len(most)))]
    shared = _narrowed([most[k] for k in keys], [least[k] for k in keys], width // 2)
    room = width - _total(shared) - GAP
    # A column of numbers is as narrow as it can be, so that many stand side by side.
    others = [
        min(most[k], max(room, _NARROWEST)) if k in texts else least[k]
        for k in range(len(keys), len(most))
    ]
    widths = [*shared, *others]
    blocks: list[tuple[int, ...]] = []
    for k in range(len(keys), len(widths)):
        block = (*(blocks[-1] if blocks else keys), k)
        if blocks and _total([widths[n] for n in block]) <= width:
            blocks[-1] = block
        else:
            blocks.append((*keys, k))
    return widths, blocks


def narrowest(heading: str, cells: Iterable[str], *, is_text: bool) -> int:
    """The width to which a column can be folded: no number is, and no short word is cut.

    Args:
        heading: name of the column.
        cells: its cells.
        is_text: whether the cells are texts, which can be folded too.
    """
    foldable = [heading, *(cells if is_text else ())]
    parts = max(width_of(part) for text in foldable for part in _parts_of(text))
    widest = max(map(width_of, foldable))
    folded = min(widest, max(_NARROWEST, min(parts, _LONGEST_PART)))
    return folded if is_text else max(folded, *map(width_of, cells), 0)


_FEWEST_ALIKE, _LEAST_BEGINNING = 3, 6
"""Names, and characters that all of them begin with, from which these are shown only once."""


def beginning_once(column: Sequence[str]) -> list[str]:
    """A column in which what all its names begin with is in the heading only.

    The common beginning ends at a sign between the parts of a name. A column without one, or of few
    names, is unchanged.

    Args:
        column: the heading, then the cells; empty ones repeat what is above.
    """
    heading, *cells = column
    names = {cell for cell in cells if cell}
    if len(names) < _FEWEST_ALIKE:
        return [*column]
    first, last = min(names), max(names)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    begin = re.sub(r"[^-_/.:]*$", "", "".join(sign for sign, _ in alike))
    if len(begin) < _LEAST_BEGINNING or begin in names:
        return [*column]
    return [f"{heading} {begin}…", *(f"…{cell[len(begin) :]}" if cell else "" for cell in cells)]


def folded(text: str, width: int) -> list[str]:
    """A cell in lines, which end at blanks, or in names at signs; only long words are cut."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}".lstrip()
        if width_of(joined) <= width:
            lines[-1] = joined
            continue
        lines.append("")
        for part in _parts_of(word):
            if lines[-1] and width_of(lines[-1] + part) > width:
                lines.append("")
            lines[-1] += part
            while width_of(lines[-1]) > width:
                lines[-1:] = lines[-1][:width], lines[-1][width:]
    return [line for line in lines if line] or [""]


def folded_row(row: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """A row as several lines, where its cells are longer than the columns are wide."""
    cells = [folded(cell, most) for cell, most in zip(row, widths, strict=True)]
    return list(zip_longest(*cells, fillvalue=""))


def folded_headings(names: Sequence[str], widths: Sequence[int]) -> list[tuple[str, ...]]:
    """The names of columns as several lines; short ones are in the last, just above the cells."""
    cells = [folded(name, most)[::-1] for name, most in zip(names, widths, strict=True)]
    return list(zip_longest(*cells, fillvalue=""))[::-1]


def wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a sentence; one of any length where there is no width."""
    if not width or width_of(text) <= width:
        return [text]
    # Names of models have hyphens, and would be torn apart there.
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _parts_of(text: str) -> list[str]:
    """The parts of a text between which it can be folded."""
    return re.split(r"(?<=[-/_.:,])|(?=@)| ", text)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _narrowed(most: Sequence[int], least: Sequence[int], width: int | None) -> list[int]:
    """The widths of columns, the widest of which are folded until the table is `width` wide."""
    widths = list(most)
    while width and _total(widths) > width:
        foldable = [k for k in range(len(widths)) if widths[k] > least[k]]
        if not foldable:
            break
        widths[max(foldable, key=widths.__getitem__)] -= 1
    return widths


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """A text in which names that occur as whole words are replaced."""
    if not names:
        return text
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w@-])(?:{longest_first})(?![\w@-])", lambda match: names[match[0]], text)

"""Judgment marks and example numbers in the cells of a table: removed, and read as pairs.

What counts as such is decided by the checks of suites, so that a cleaned table has no such fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cimento.app.editing import Grid, Sheet, set_cells, sheet_of
from cimento.suites.checks.asides import cleaned, judgment_mark, judgment_marks, lead
from cimento.suites.checks.notation import Lines, example_numbers, marks_of
from cimento.suites.suite_workbook import ITEMS

SIDES = ("good", "bad")
_MOST_LOOKED_AT = 200
_SENTENCES = ("good", "bad", "text", "sentence", "target", "plausible", "implausible")
_MARKS = r"[*?#%✓✔√]*"
_LABEL = re.compile(
    rf"(?P<before>{_MARKS})\s*[(\[]?(?P<number>\d{{1,4}})[-.]?(?P<letter>[a-zа-я]?)['′’]*[)\].:]*\s*"
    rf"(?P<after>{_MARKS})"
)
"""A cell with nothing but the number of an example, and perhaps a mark: (1b), 12., (3a) *."""


def as_read(grid: Grid) -> Sheet:
    """The sheet with the sentences, without rows that are no part of its table."""
    sheet = grid.items
    rows = [*sheet.rows[: sheet.head + 1], *(sheet.rows[n] for n in grid.read_rows())]
    return replace(sheet, rows=tuple(rows))


def sentence_columns(sheet: Sheet) -> tuple[int, ...]:
    """The columns in which most cells have several words."""
    columns = []
    for column in range(sheet.width):
        cells = [cell for cell in sheet.values(column)[:_MOST_LOOKED_AT] if cell.strip()]
        if 2 * sum(" " in cell.strip() for cell in cells) > len(cells):
            columns.append(column)
    return tuple(columns)


def is_starred(sheet: Sheet, column: int) -> bool:
    """Whether most sentences of a column have a judgment mark."""
    cells = [cell for cell in sheet.values(column)[:_MOST_LOOKED_AT] if cell.strip()]
    return 2 * sum("*" in judgment_mark(cell.strip()) for cell in cells) > len(cells)


def unmarked(grid: Grid) -> Grid:
    """The grid without the judgment marks and the example numbers of sentences."""
    sheet, read = grid.items, as_read(grid)
    named = {sheet.column(name) for name in _SENTENCES} | {*sentence_columns(read)}
    item, condition = sheet.column("item"), sheet.column("condition")
    columns = sorted(column for column in named - {item, condition} if column is not None)
    rows = [n for n in grid.read_rows() if n > sheet.head]
    places = [(n, column) for n in rows for column in columns]
    texts = [sheet.rows[n][column].strip() for n, column in places]
    is_long = item is not None and condition is not None
    lines = Lines(
        texts,
        [sheet.rows[n][condition or 0] if is_long else str(column) for n, column in places],
        [sheet.rows[n][item or 0] if is_long else str(n) for n, _ in places],
        texts,
    )
    marks, numbers = marks_of(lines), example_numbers(lines)
    cells = {
        place: cleaned(
            text, doubtful=k in numbers, soft=marks.get(k, ()) not in ((), judgment_marks(text))
        )
        for k, (place, text) in enumerate(zip(places, texts, strict=True))
        if k in marks or k in numbers
    }
    return set_cells(grid, ITEMS, cells)


# --- Every second sentence is the bad one


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and the one with a mark below it.

    Attributes:
        item: the number that the two share; empty without one.
        good: the sentence.
        bad: the other one, without its mark.
    """

    item: str
    good: str
    bad: str


def label_column(sheet: Sheet, column: int) -> int | None:
    """The one column beside the sentences that has cells, if all are numbers of examples.

    Args:
        sheet: the sheet.
        column: index of the column of sentences.
    """
    filled = [n for n in range(sheet.width) if n != column and any(map(str.strip, sheet.values(n)))]
    rows = [row for row in map(sheet.rows.__getitem__, sheet.body) if row[column].strip()]
    is_label = len(filled) == 1 and all(_LABEL.fullmatch(row[filled[0]].strip()) for row in rows)
    return filled[0] if is_label else None


def pairs_of(sheet: Sheet, column: int, above: Sequence[str] = ()) -> list[Pair]:
    """Each sentence of a column with the marked one below it; none if one has no other.

    Args:
        sheet: the sheet, as it is read.
        column: index of the column of sentences.
        above: sentences in the place of the names of columns.
    """
    beside = label_column(sheet, column)
    rows = [sheet.rows[n] for n in sheet.body if sheet.rows[n][column].strip()]
    texts = [*above, *(row[column].strip() for row in rows)]
    labels = ["" for _ in texts] if beside is None else [row[beside].strip() for row in rows]
    if len(texts) != len(labels) or len(texts) % 2:
        return []
    is_marked = [
        bool(judgment_mark(text) or _marks_in(label))
        for text, label in zip(texts, labels, strict=True)
    ]
    if is_marked != [False, True] * (len(texts) // 2):
        return []
    has_numbers = all(lead(text).number for text in texts)
    clean = [cleaned(text, doubtful=has_numbers) for text in texts]
    numbers = [
        _number_in(label or lead(text).number) for text, label in zip(texts, labels, strict=True)
    ]
    both = list(zip(numbers[::2], numbers[1::2], strict=True))
    is_shared = all(one == other != "" for one, other in both)
    if not is_shared and any(labels) and len({*labels}) < len(labels):
        return []
    items = [one for one, _ in both]
    keeps = is_shared and len({*items}) == len(items)
    return [
        Pair(item if keeps else "", good, bad)
        for item, good, bad in zip(items, clean[::2], clean[1::2], strict=True)
    ]


def _marks_in(label: str) -> str:
    match = _LABEL.fullmatch(label)
    return match["before"] + match["after"] if match else ""


def _number_in(label: str) -> str:
    """The number of an example without its letter; empty where there is none."""
    match = re.search(r"\d+", label)
    return match[0] if match else ""


def paired(grid: Grid, pairs: Sequence[Pair]) -> Grid:
    """The grid with a row for each pair."""
    numbered = all(pair.item for pair in pairs)
    head = ("item", *SIDES) if numbered else SIDES
    rows = (
        (pair.item, pair.good, pair.bad) if numbered else (pair.good, pair.bad) for pair in pairs
    )
    return grid.with_sheet(ITEMS, sheet_of([head, *rows]))

"""Judgment marks and example numbers in the cells of a table: removed, and read as pairs.

What counts as such is decided by the checks of suites, so that a cleaned table has no such fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cimento.app.editing import Grid, Sheet, set_cells, sheet_of
from cimento.suites.checks.asides import cleaned, judgment_mark, judgment_marks
from cimento.suites.checks.notation import Lines, example_numbers, marks_of
from cimento.suites.formats.examples import ExamplePair, is_label, pairs_below, pairs_in_list
from cimento.suites.workbook_words import ITEMS, heading

SIDES = ("good", "bad")
_MOST_LOOKED_AT = 200
_SENTENCES = ("good", "bad", "text", "sentence", "target", "plausible", "implausible")


def as_read(grid: Grid) -> Sheet:
    """The sheet with the sentences, without rows that are not part of its table."""
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


def label_column(sheet: Sheet, column: int) -> int | None:
    """The one column beside the sentences that has cells, if all are numbers of examples.

    Args:
        sheet: the sheet.
        column: index of the column of sentences.
    """
    filled = [n for n in range(sheet.width) if n != column and any(map(str.strip, sheet.values(n)))]
    rows = [row for row in map(sheet.rows.__getitem__, sheet.body) if row[column].strip()]
    holds = len(filled) == 1 and all(is_label(row[filled[0]]) for row in rows)
    return filled[0] if holds else None


def pairs_of(sheet: Sheet, column: int, above: Sequence[str] = ()) -> list[ExamplePair]:
    """Each sentence of a column with the marked one below it; none if one has no other.

    Args:
        sheet: the sheet, as it is read.
        column: index of the column of sentences.
        above: sentences in the place of the names of columns.
    """
    beside = label_column(sheet, column)
    rows = [sheet.rows[n] for n in sheet.body if sheet.rows[n][column].strip()]
    texts = texts_of(sheet, column, above)
    return pairs_in_list(texts, [] if beside is None else [row[beside].strip() for row in rows])


def texts_of(sheet: Sheet, column: int, above: Sequence[str] = ()) -> list[str]:
    """The sentences of a column, as they were written.

    Args:
        sheet: the sheet, as it is read.
        column: index of the column.
        above: sentences in the place of the names of columns.
    """
    return [*above, *filter(None, map(str.strip, sheet.values(column)))]


def versions_of(sheet: Sheet, column: int, above: Sequence[str] = ()) -> list[ExamplePair]:
    """Each marked sentence of a column with the one above it of which it is a version."""
    return pairs_below(texts_of(sheet, column, above))


def paired(grid: Grid, pairs: Sequence[ExamplePair]) -> Grid:
    """The grid with a row for each pair."""
    numbered = all(pair.item for pair in pairs)
    head = [heading(name, grid.words) for name in (("item", *SIDES) if numbered else SIDES)]
    rows = (
        (pair.item, pair.good, pair.bad) if numbered else (pair.good, pair.bad) for pair in pairs
    )
    return grid.with_sheet(ITEMS, sheet_of([head, *rows]))

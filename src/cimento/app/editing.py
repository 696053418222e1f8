"""A suite as an editable grid: sheets of text, edits that make a new grid, undo, and paste.

The grid is the workbook form of a suite (docs/formats.md), which holds a suite of every kind
without loss: the sheets *about*, *items*, *predictions* and *seeds*. A table without a description,
such as a list of pairs, is a grid of one sheet. Every row of the file is kept, titles and empty
rows included, so that row numbers are those of the spreadsheet program.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from cimento.intake.roles import FORCED, number_columns
from cimento.intake.sheets import read_sheet
from cimento.intake.table import Table
from cimento.intake.words import HEADERS
from cimento.intake.workbooks import write_sheets
from cimento.suites.workbook_words import (
    ABOUT,
    COLUMNS,
    ENGLISH,
    ITEMS,
    in_language,
    setting_group,
    setting_meant,
    sheet_called,
    what_it_is,
)

Cells: TypeAlias = tuple[str, ...]

MOST_STEPS = 200
"""Number of edits that can be undone."""
MOST_PASTED = 200_000
"""Largest number of cells that are pasted at once."""


@dataclass(frozen=True)
class Sheet:
    """A sheet of text cells, in which every row has the same number of cells.

    Attributes:
        rows: all rows of the sheet; row ``n`` of a spreadsheet program is ``rows[n - 1]``.
        head: index of the row with the names of the columns.
    """

    rows: tuple[Cells, ...]
    head: int = 0

    @property
    def columns(self) -> Cells:
        """The names of the columns; an unnamed column has an empty name."""
        return self.rows[self.head]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def body(self) -> range:
        """The indices of the rows below the names of the columns."""
        return range(self.head + 1, len(self.rows))

    @cached_property
    def table(self) -> Table:
        """The named columns as a table that finds columns by meaning: ``frase`` is ``text``."""
        names = [name.strip() for name in self.columns]
        cells = {name: self.values(names.index(name)) for name in names if name}
        return Table("", tuple(filter(None, names)), (), cells)

    def column(self, meaning: str) -> int | None:
        """The index of the column with a meaning, such as ``good``; None if there is none."""
        name = self.table.find(meaning) if meaning in HEADERS else None
        if name is None:
            name = meaning
        stripped = [column.strip() for column in self.columns]
        return stripped.index(name) if name in stripped else None

    def values(self, column: int) -> list[str]:
        """The cells of a column below its name."""
        return [self.rows[row][column] for row in self.body]


@dataclass(frozen=True, slots=True)
class Grid:
    """A suite that is being edited.

    Attributes:
        name: name of the file without its suffix.
        sheets: the sheets by name, in the order of the workbook.
        described: whether the suite has a sheet *about*; a bare table has none.
        roles: the column of each role that somebody chose for a bare table; with a description,
            *about* says them, see `known_roles`.
        file: name of the file with a bare table, for messages; empty for other suites.
        words: the language in which its file has the names of sheets and settings; in the grid they
            are in English, and the headings of the items as in the file.
    """

    name: str
    sheets: Mapping[str, Sheet]
    described: bool
    roles: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    words: str = ENGLISH

    @property
    def items(self) -> Sheet:
        """The sheet with the sentences."""
        return self.sheets[ITEMS]

    def settings(self) -> dict[str, str]:
        """The settings on *about*, by their names in English, with their texts as written there."""
        if ABOUT not in self.sheets:
            return {}
        rows = [row for row in self.sheets[ABOUT].rows if len(row) > 1 and row[0].strip()]
        return {setting_meant(row[0].strip()): row[1].strip() for row in rows}

    @property
    def known_roles(self) -> Mapping[str, str]:
        """The column of each role that somebody chose, or that *about* says."""
        said = ((*label.partition(".")[::2], name) for label, name in self.settings().items())
        return self.roles or {role: name for group, role, name in said if group == COLUMNS and role}

    def column(self, meaning: str) -> int | None:
        """The index of the column of the items with a role or a meaning; None if there is none."""
        names = [name.strip() for name in self.items.columns]
        name = self.known_roles.get(meaning, "").removesuffix(FORCED)
        return names.index(name) if name in names else self.items.column(meaning)

    def read_rows(self) -> tuple[int, ...]:
        """The indices of the rows with sentences, as the readers of suites take them.

        Of a table without a description, headings, sums, and notes below it are no such rows.
        """
        sheet = self.items
        filled = tuple(n for n in sheet.body if any(map(str.strip, sheet.rows[n])))
        if self.described:
            return filled
        text = "\n".join("\t".join(map(one_line, row)) for row in plain_rows(sheet))
        table, _ = read_sheet(text.encode(), Path(f"{ITEMS}.tsv"))
        numbers = {n + 1 for n in filled} if table is None else {*table.numbers}
        return tuple(n for n in filled if n + 1 in numbers)

    def with_sheet(self, name: str, sheet: Sheet) -> Grid:
        """The grid with another sheet of this name."""
        return replace(self, sheets={**self.sheets, name: sheet})


def sheet_of(rows: Iterable[Sequence[str]], *, head: int = 0) -> Sheet:
    """A sheet of rows of any lengths; without rows, it has one empty cell."""
    listed = [tuple(row) for row in rows] or [("",)]
    width = max(1, *map(len, listed))
    return Sheet(
        tuple(row + ("",) * (width - len(row)) for row in listed), min(head, len(listed) - 1)
    )


def plain_rows(sheet: Sheet) -> list[list[str]]:
    """The rows of a sheet without the empty cells at their ends."""
    rows = []
    for row in sheet.rows:
        width = max((n for n, cell in enumerate(row, start=1) if cell), default=0)
        rows.append(list(row[:width]))
    return rows


_BREAKS = re.compile(r"[ ]*[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+[ ]*")


def one_line(text: str) -> str:
    """A text as a cell holds it: breaks become blanks, control characters are left out."""
    text = _BREAKS.sub(" ", text)
    return "".join(char for char in text if unicodedata.category(char) not in {"Cc", "Cs"})


def workbook_of(grid: Grid) -> bytes:
    """The bytes of a grid's workbook, in which ratings are numbers and all else is text.

    Raises:
        InputError: a text is too long for a cell.
    """
    sheets = {name: plain_rows(sheet) for name, sheet in grid.sheets.items()}
    written = in_language(sheets, grid.words)
    places = number_columns(grid.items.columns, grid.items.table, grid.known_roles)
    numbers = {sheet_called(ITEMS, grid.words): places}
    return write_sheets(written, where=grid.name, numbers=numbers)


# --- Edits


def set_cells(grid: Grid, sheet: str, cells: Mapping[tuple[int, int], str]) -> Grid:
    """The grid with other texts in some cells; the sheet grows where a cell is beyond its end.

    Args:
        grid: the grid.
        sheet: name of the sheet.
        cells: text by row and column, as indices from 0.
    """
    old = grid.sheets[sheet]
    width = max(old.width, *(column + 1 for _, column in cells)) if cells else old.width
    height = max(len(old.rows), *(row + 1 for row, _ in cells)) if cells else len(old.rows)
    rows = [[*row, *[""] * (width - len(row))] for row in old.rows]
    rows += [[""] * width for _ in range(height - len(rows))]
    for (row, column), text in cells.items():
        rows[row][column] = one_line(text)
    made = tuple(
        old.rows[n] if n < len(old.rows) and old.rows[n] == tuple(row) else tuple(row)
        for n, row in enumerate(rows)
    )
    return grid if made == old.rows else grid.with_sheet(sheet, replace(old, rows=made))


def insert_rows(grid: Grid, sheet: str, at: int, rows: Sequence[Sequence[str]]) -> Grid:
    """The grid with more rows before a row of a sheet; never above the names of the columns."""
    old = grid.sheets[sheet]
    at = min(max(at, old.head + 1), len(old.rows))
    made = sheet_of((*old.rows[:at], *rows, *old.rows[at:]), head=old.head)
    return grid.with_sheet(sheet, made)


def delete_rows(grid: Grid, sheet: str, rows: Iterable[int]) -> Grid:
    """The grid without some rows of a sheet; the names of the columns stay."""
    old = grid.sheets[sheet]
    gone = set(rows) - {old.head}
    kept = tuple(row for n, row in enumerate(old.rows) if n not in gone)
    return grid.with_sheet(sheet, Sheet(kept, old.head - sum(n < old.head for n in gone)))


def remove_titles(grid: Grid, sheet: str) -> Grid:
    """The grid without what is above the names of the columns."""
    return delete_rows(grid, sheet, range(grid.sheets[sheet].head))


def insert_column(grid: Grid, sheet: str, at: int, name: str) -> Grid:
    """The grid with one more, empty column before a column of a sheet."""
    old = grid.sheets[sheet]
    rows = tuple(
        (*row[:at], one_line(name) if n == old.head else "", *row[at:])
        for n, row in enumerate(old.rows)
    )
    return grid.with_sheet(sheet, replace(old, rows=rows))


def delete_column(grid: Grid, sheet: str, column: int) -> Grid:
    """The grid without a column of a sheet; the last one stays."""
    old = grid.sheets[sheet]
    if old.width == 1:
        return grid
    rows = tuple((*row[:column], *row[column + 1 :]) for row in old.rows)
    return grid.with_sheet(sheet, replace(old, rows=rows))


def rename_column(grid: Grid, sheet: str, column: int, name: str) -> Grid:
    """The grid with another name of a column, which keeps the role that was chosen for it."""
    head = grid.sheets[sheet].head
    old, new = grid.sheets[sheet].columns[column].strip(), name.strip()
    roles = {
        role: new + chosen.removeprefix(old) if chosen.removesuffix(FORCED) == old else chosen
        for role, chosen in grid.roles.items()
    }
    made = replace(set_cells(grid, sheet, {(head, column): new}), roles=roles)
    if not grid.described or old not in grid.known_roles.values():
        return made
    said = {role: new if name == old else name for role, name in grid.known_roles.items()}
    return with_roles_said(made, said)


def with_roles_said(grid: Grid, roles: Mapping[str, str]) -> Grid:
    """The grid whose *about* says which columns have which roles, and no others.

    Args:
        grid: a grid with a description.
        roles: the name of a column for each role.
    """
    about = grid.sheets[ABOUT]
    rows = [row for row in about.rows if setting_group(row[0].strip()) != COLUMNS]
    said = ((f"{COLUMNS}.{role}", name, what_it_is(COLUMNS)) for role, name in roles.items())
    return grid.with_sheet(ABOUT, sheet_of([*rows, *said], head=about.head))


def add_item(grid: Grid) -> Grid:
    """The grid with one more item at its end, in the form of the last one, without sentences.

    In a table with a row for each condition, the new item has the conditions of the last one, and
    its labels, such as levels of factors, that differ between conditions.
    """
    sheet = grid.items
    item, condition = grid.column("item"), grid.column("condition")
    filled = grid.read_rows()
    last = [*filled[-1:]]
    if item is not None and condition is not None and last:
        last = [n for n in filled if sheet.rows[n][item] == sheet.rows[last[0]][item]]
    fixed = design_columns(sheet, last) if last else []
    number = _next_id(sheet, item, filled)
    rows = [
        [cell if column in fixed else "" for column, cell in enumerate(sheet.rows[n])]
        for n in last or [sheet.head]
    ]
    for row in rows:
        if item is not None:
            row[item] = number
    return insert_rows(grid, ITEMS, (filled[-1] if filled else sheet.head) + 1, rows)


def design_columns(sheet: Sheet, rows: Sequence[int]) -> list[int]:
    """The columns that tell the conditions of an item apart, without those of its sentences."""
    if len(rows) < 2:  # noqa: PLR2004  # one row tells nothing apart
        condition = sheet.column("condition")
        return [] if condition is None else [condition]
    text = sheet.column("text")
    design = []
    for column in range(sheet.width):
        cells = [sheet.rows[n][column] for n in rows]
        if column != text and len(set(cells)) > 1 and all(" " not in cell for cell in cells):
            design.append(column)
    return design


def _next_id(sheet: Sheet, column: int | None, rows: Iterable[int]) -> str:
    """An id that no item has: one more than the largest number at the end of an id."""
    if column is None:
        return ""
    ids = [cell for n in rows if (cell := sheet.rows[n][column].strip())]
    last = re.fullmatch(r"(.*?)(\d*)", ids[-1]) if ids else None
    stem = last[1] if last else ""
    pattern = re.compile(re.escape(stem) + r"(\d{1,12})")
    numbers = [int(match[1]) for id_ in ids if (match := pattern.fullmatch(id_))]
    return f"{stem}{max(numbers, default=0) + 1}"


# --- Paste

_QUOTED = re.compile(r'"((?:[^"]|"")*)"(?=\t|\r?\n|\Z)')
_PLAIN = re.compile(r"[^\t\r\n]*")


def pasted_cells(text: str) -> list[list[str]]:
    """The cells of text that a spreadsheet program put on the clipboard.

    A program quotes only cells with a tab or a break in them. Quotation marks around other cells
    belong to the text: ``"Ciao" disse Anna.``

    Args:
        text: cells with tabs between them, rows with breaks between them.
    """
    rows: list[list[str]] = [[]]
    at = 0
    while True:
        quoted = _QUOTED.match(text, at)
        if quoted and re.search(r"[\t\r\n]", quoted[1]):
            cell, at = quoted[1].replace('""', '"'), quoted.end()
        else:
            plain = _PLAIN.match(text, at)
            cell, at = (plain[0], plain.end()) if plain else ("", at)
        rows[-1].append(one_line(cell))
        if at >= len(text):
            break
        if text[at] == "\t":
            at += 1
            continue
        at += 2 if text.startswith("\r\n", at) else 1
        if at >= len(text):
            break  # a break at the end begins no row
        rows.append([])
    return rows


def paste(grid: Grid, sheet: str, row: int, column: int, text: str) -> Grid:
    """The grid with cells pasted at a place; rows and columns are added where they are needed.

    Args:
        grid: the grid.
        sheet: name of the sheet.
        row: index of the row of the first cell.
        column: index of its column.
        text: the clipboard, see `pasted_cells`.

    Raises:
        ValueError: there are more than `MOST_PASTED` cells.
    """
    if text.count("\t") + text.count("\n") + text.count("\r") >= MOST_PASTED:
        raise ValueError(MOST_PASTED)
    cells = {
        (row + down, column + right): cell
        for down, cells in enumerate(pasted_cells(text))
        for right, cell in enumerate(cells)
    }
    return set_cells(grid, sheet, cells)


# --- Undo


@dataclass(frozen=True, slots=True)
class History:
    """A grid with the grids before it and those that were undone.

    Attributes:
        present: the grid as it is now.
        past: the grids before, the earliest first; at most `MOST_STEPS`.
        future: the grids that can be done again, the next first.
    """

    present: Grid
    past: tuple[Grid, ...] = ()
    future: tuple[Grid, ...] = ()

    def do(self, grid: Grid) -> History:
        """The history after an edit; an edit that changes nothing is none."""
        if grid == self.present:
            return self
        return History(grid, (*self.past, self.present)[-MOST_STEPS:])

    def undo(self) -> History:
        """The history before the last edit; the same if there is none."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redo(self) -> History:
        """The history with an undone edit done again; the same if there is none."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.present), self.future[1:])

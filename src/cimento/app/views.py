"""What the grid shows of a sheet: columns with their roles, and rows with the cells behind them.

A sheet is shown as it is, a row per row, or with a row for each item and a column for each
condition. A cell of a view names the cells of the sheet that an edit writes to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.app.checking import Finding
from cimento.app.editing import (
    Grid,
    Sheet,
    design_columns,
    insert_rows,
    paste,
    pasted_cells,
    set_cells,
)
from cimento.errors import FormulaError, Severity
from cimento.kinds.registry import has_regions
from cimento.suites.formula import parse, references
from cimento.suites.workbook_words import ABOUT, ITEMS, PREDICTIONS

Role: TypeAlias = Literal["id", "choice", "regions", "number", "formula", "text"]
"""What a column holds: an item's id, one of some words, regions with bars, and so on."""

Place: TypeAlias = tuple[int, int]
"""Row and column of a cell in its sheet, as indices from 0."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a view.

    Attributes:
        name: the name in the sheet, or that of a condition.
        role: what it holds.
        choices: the words to choose among, as the sheets *about* and *predictions* give them; those
            of the column itself are offered too, and others are allowed.
        source: index of the column in the sheet.
        condition: the condition whose sentences it shows; empty in a view of rows.
    """

    name: str
    role: Role
    source: int
    choices: tuple[str, ...] = ()
    condition: str = ""


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of a view.

    Attributes:
        rows: indices of the rows of the sheet that it shows.
        cells: the text of each column.
        places: the cells of the sheet behind each column; none where the sheet has no such cell.
    """

    rows: tuple[int, ...]
    cells: tuple[str, ...]
    places: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class View:
    """A sheet as the grid shows it.

    Attributes:
        sheet: name of the sheet.
        columns: the columns.
        rows: the rows.
        wide: whether each row is an item, with a column for each condition.
    """

    sheet: str
    columns: tuple[Column, ...]
    rows: tuple[ViewRow, ...]
    wide: bool = False


def view_of(grid: Grid, sheet: str, *, wide: bool = False) -> View:
    """A view of a sheet.

    Args:
        grid: the grid.
        sheet: name of the sheet.
        wide: whether each row is an item; for a sheet in which it cannot be, rows are shown.
    """
    shown = grid.sheets[sheet]
    columns = _columns(grid, sheet)
    if wide and sheet == ITEMS and has_conditions(grid):
        return _wide_view(shown, columns, grid.read_rows())
    body = _body(grid, sheet)
    rows = tuple(
        ViewRow((n,), shown.rows[n], tuple(((n, column),) for column in range(shown.width)))
        for n in body
    )
    return View(sheet, columns, rows)


def has_conditions(grid: Grid) -> bool:
    """Whether the items are in rows, one for each condition, and so can be shown as columns."""
    columns = [grid.items.column(meaning) for meaning in ("item", "condition", "text")]
    return None not in columns


def region_names(grid: Grid) -> tuple[str, ...]:
    """The names of the regions, as *about* gives them."""
    named = grid.settings().get("regions", "")
    return tuple(name.strip() for name in named.split("|")) if named.strip() else ()


def _body(grid: Grid, sheet: str) -> range:
    """The rows below the names of the columns; a description may begin without any names."""
    shown = grid.sheets[sheet]
    headless = sheet == ABOUT and shown.columns[0].strip().casefold() in {"name", "language"}
    return range(len(shown.rows)) if headless else shown.body


# --- Roles of columns


def _columns(grid: Grid, sheet: str) -> tuple[Column, ...]:
    """The columns of a sheet with their roles."""
    shown = grid.sheets[sheet]
    factors, named = _factors(grid), _named_conditions(grid)
    item, condition, text = (shown.column(meaning) for meaning in ("item", "condition", "text"))
    ratings = {shown.column("rating"), shown.column("ratings")}
    sides = {shown.column("good"), shown.column("bad")} - {None}
    is_cut = has_regions(grid.settings().get("kind"))
    made = []
    for n, name in enumerate(shown.columns):
        role: Role = "text"
        choices: tuple[str, ...] = ()
        if sheet == PREDICTIONS and name.strip() == "formula":
            role = "formula"
        elif sheet == ITEMS:
            if n == item or name.strip() == "story":
                role = "id"
            elif n == condition:
                role, choices = "choice", tuple(named)
            elif name.strip() in factors:
                role, choices = "choice", factors[name.strip()]
            elif n in ratings:
                role = "number"
            elif n in sides or name.strip() in named or (n == text and is_cut):
                role = "regions"
        made.append(Column(name, role, n, choices))
    return tuple(made)


def _factors(grid: Grid) -> dict[str, tuple[str, ...]]:
    """The levels of each factor, as *about* gives them."""
    return {
        name.removeprefix("factors."): tuple(level.strip() for level in levels.split("|"))
        for name, levels in grid.settings().items()
        if name.startswith("factors.")
    }


def _named_conditions(grid: Grid) -> list[str]:
    """The conditions that predictions name."""
    sheet = grid.sheets.get(PREDICTIONS)
    column = sheet.column("formula") if sheet is not None else None
    names: dict[str, None] = {}
    for formula in sheet.values(column) if sheet is not None and column is not None else ():
        try:
            names |= dict.fromkeys(reference.condition for reference in references(parse(formula)))
        except FormulaError:
            continue
    return list(names)


# --- A row for each item


def _wide_view(sheet: Sheet, columns: Sequence[Column], rows_read: Sequence[int]) -> View:
    """Items as rows; columns that differ between the conditions of an item are left out.

    Args:
        sheet: the sheet.
        columns: its columns.
        rows_read: indices of its rows with sentences; headings and sums are not items.
    """
    item, condition, text = _needed(sheet)
    items: dict[str, list[int]] = {}
    for n in rows_read:
        items.setdefault(sheet.rows[n][item].strip(), []).append(n)
    conditions = dict.fromkeys(filter(None, (sheet.rows[n][condition].strip() for n in rows_read)))
    shared = [
        column
        for column in columns
        if column.source not in {item, condition, text}
        and all(len({sheet.rows[n][column.source] for n in rows}) == 1 for rows in items.values())
    ]
    texts = [Column(name, "regions", text, condition=name) for name in conditions]
    shown = (columns[item], *texts, *shared)
    made = []
    for rows in items.values():
        by_condition: dict[str, int] = {}
        for n in rows:
            by_condition.setdefault(sheet.rows[n][condition].strip(), n)
        places: list[tuple[Place, ...]] = []
        for column in shown:
            if column.condition:
                n = by_condition.get(column.condition, -1)
                places.append(((n, text),) if n >= 0 else ())
            else:
                places.append(tuple((n, column.source) for n in rows))
        cells = tuple(sheet.rows[part[0][0]][part[0][1]] if part else "" for part in places)
        made.append(ViewRow(tuple(rows), cells, tuple(places)))
    return View(ITEMS, shown, tuple(made), wide=True)


def _needed(sheet: Sheet) -> tuple[int, int, int]:
    """The columns of items, conditions and texts."""
    item, condition, text = (sheet.column(meaning) for meaning in ("item", "condition", "text"))
    if item is None or condition is None or text is None:
        raise KeyError("condition")
    return item, condition, text


# --- Edits through a view


def edit_cell(grid: Grid, view: View, row: int, column: int, text: str) -> Grid:
    """The grid with another text in a cell of a view.

    A sentence for a condition that an item lacks becomes a row of its own, after its others.
    """
    places = view.rows[row].places[column]
    if places:
        return set_cells(grid, view.sheet, dict.fromkeys(places, text))
    if not text.strip():
        return grid
    sheet = grid.sheets[view.sheet]
    item, condition, source = _needed(sheet)
    last = view.rows[row].rows[-1]
    made = [""] * sheet.width
    made[item], made[condition], made[source] = (
        sheet.rows[last][item], view.columns[column].condition, text
    )  # fmt: skip
    return insert_rows(grid, view.sheet, last + 1, [made])


def paste_cells(grid: Grid, view: View, row: int, column: int, text: str) -> Grid:
    """The grid with cells from a spreadsheet pasted at a place of a view.

    Rows are added where they are needed. In a view of items, a row becomes one for each condition,
    and cells beyond the last column are left out.

    Args:
        grid: the grid.
        view: the view that was shown.
        row: index of a row of the view; that after the last one begins new rows.
        column: index of its column.
        text: the clipboard.

    Raises:
        ValueError: there are too many cells.
    """
    if not view.wide:
        at = view.rows[row].rows[0] if row < len(view.rows) else len(grid.sheets[view.sheet].rows)
        return paste(grid, view.sheet, at, column, text)
    width = len(view.columns)
    pasted = [cells[: width - column] for cells in pasted_cells(text)]
    beyond = [
        ["", *[""] * (column - 1), *cells] if column else cells
        for cells in pasted[max(0, len(view.rows) - row) :]
    ]
    # From below, so that the rows above keep their places when one is added.
    inside = list(enumerate(pasted[: max(0, len(view.rows) - row)], start=row))
    grid = _append_items(grid, view, beyond)
    for n, cells in reversed(inside):
        for right, cell in enumerate(cells):
            grid = edit_cell(grid, view, n, column + right, cell)
    return grid


def _append_items(grid: Grid, view: View, items: Iterable[Sequence[str]]) -> Grid:
    """The grid with more items at its end, given as rows of a view of items."""
    sheet = grid.sheets[view.sheet]
    item, condition, text = _needed(sheet)
    pattern = view.rows[-1].rows if view.rows else ()
    design = {
        sheet.rows[n][condition].strip(): {
            c: sheet.rows[n][c] for c in design_columns(sheet, pattern)
        }
        for n in pattern
    }
    rows = []
    for number, cells in enumerate(items, start=len(view.rows) + 1):
        given = dict(zip(view.columns, cells, strict=False))
        for column in view.columns:
            if not (column.condition and given.get(column, "").strip()):
                continue
            made = [""] * sheet.width
            for source, label in design.get(column.condition, {}).items():
                made[source] = label
            for other, cell in given.items():
                if not other.condition:
                    made[other.source] = cell
            made[item] = made[item] or str(number)
            made[condition], made[text] = column.condition, given[column]
            rows.append(made)
    last = max(grid.read_rows(), default=sheet.head)
    return insert_rows(grid, view.sheet, last + 1, rows) if rows else grid


# --- Findings beside rows


@dataclass(frozen=True, slots=True)
class Mark:
    """What is found about a row of a view.

    Attributes:
        severity: the worse of its findings' severities.
        findings: the findings.
        columns: indices of the columns of the view that are named.
    """

    severity: Severity
    findings: tuple[Finding, ...]
    columns: frozenset[int]


def marks(view: View, findings: Iterable[Finding]) -> dict[int, Mark]:
    """What is found about each row of a view, by the index of the row."""
    by_row: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.sheet == view.sheet:
            for row in finding.rows:
                by_row.setdefault(row, []).append(finding)
    made = {}
    for n, shown in enumerate(view.rows):
        about_row = tuple(
            dict.fromkeys(finding for part in shown.rows for finding in by_row.get(part, ()))
        )
        if not about_row:
            continue
        severe: Severity = "error" if any(e.severity == "error" for e in about_row) else "warning"
        places = {(part, finding.column) for finding in about_row for part in finding.rows}
        named = frozenset(
            column for column, cells in enumerate(shown.places) if places.intersection(cells)
        )
        made[n] = Mark(severe, about_row, named)
    return made


def letters(column: int) -> str:
    """The letters of a column as in a spreadsheet program: A, B ... Z, AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name

"""Which of two conditions should be likelier: the question to a table that predicts nothing."""

from __future__ import annotations

from cimento.app.editing import Grid, Sheet, insert_column, insert_rows, set_cells, sheet_of
from cimento.app.opening import describe
from cimento.paradigms.registry import has_regions
from cimento.suites.formula import is_condition_name, likelier
from cimento.suites.suite_workbook import PREDICTIONS

_FORMULA = ("formula", "fórmula", "формула")


def conditions_of(grid: Grid) -> tuple[str, str] | None:
    """The two conditions of a suite without predictions, one sentence of each for every item.

    None for any other suite.
    """
    sheet = grid.items
    item, condition = sheet.column("item"), sheet.column("condition")
    if item is None or condition is None or sentence_column(sheet) is None:
        return None
    is_rated = sheet.column("rating") is not None or sheet.column("ratings") is not None
    if is_rated or not has_regions(grid.settings().get("kind")) or _predicts(grid):
        return None
    rows = [sheet.rows[n] for n in sheet.body if any(sheet.rows[n])]
    cells = [(row[item].strip(), row[condition].strip()) for row in rows]
    names = tuple(dict.fromkeys(name for _, name in cells))
    if len(names) != 2 or len(set(cells)) < len(cells):  # noqa: PLR2004  # one against the other
        return None
    return (names[0], names[1]) if all(map(is_condition_name, names)) else None


def sentence_column(sheet: Sheet) -> int | None:
    """The column of the sentences of a sheet with a row for each condition."""
    text = sheet.column("text")
    return sheet.column("sentence") if text is None else text


def with_prediction(grid: Grid, better: str, worse: str) -> Grid:
    """The grid with the prediction that sentences of one condition are likelier than of another.

    A table without a description gets one, since it has no place for predictions.

    Args:
        grid: the grid.
        better: name of the condition that should be likelier.
        worse: name of the other.
    """
    if not grid.described:
        grid = describe(grid, language="")
    sheet = grid.sheets.get(PREDICTIONS)
    if sheet is None or not any(map(str.strip, sheet.columns)):
        grid = grid.with_sheet(PREDICTIONS, sheet_of([["name", "formula", "comment"]]))
    elif _formulas(sheet) is None:
        grid = insert_column(grid, PREDICTIONS, sheet.width, _FORMULA[0])
    sheet = grid.sheets[PREDICTIONS]
    row = next((n for n in sheet.body if not any(sheet.rows[n])), len(sheet.rows))
    if row == len(sheet.rows):
        grid = insert_rows(grid, PREDICTIONS, row, [[""]])
    return set_cells(grid, PREDICTIONS, {(row, _formulas(sheet) or 0): likelier(better, worse)})


def _formulas(sheet: Sheet) -> int | None:
    """The column of formulas."""
    names = [name.strip().casefold() for name in sheet.columns]
    return next((names.index(name) for name in _FORMULA if name in names), None)


def _predicts(grid: Grid) -> bool:
    sheet = grid.sheets.get(PREDICTIONS)
    return sheet is not None and any(any(map(str.strip, sheet.rows[n])) for n in sheet.body)

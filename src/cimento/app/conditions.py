"""The conditions of a table: their names, what is predicted of them, and the cells of a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cimento.app.describing import describe
from cimento.app.editing import Grid, Sheet, insert_column, insert_rows, set_cells, sheet_of
from cimento.app.marked import as_read
from cimento.intake.blanks import are_blanked
from cimento.intake.names import meaning
from cimento.intake.numbered import block_of, with_items_numbered
from cimento.intake.roles import chosen_conditions
from cimento.intake.table import Table
from cimento.kinds.registry import has_regions
from cimento.suites.cell_names import condition_of
from cimento.suites.crossed import MOST_LEVELS, crossed_columns, levels_joined, named_by_levels
from cimento.suites.design import N_LEVELS
from cimento.suites.formula import as_condition_name, is_condition_name, likelier
from cimento.suites.level_words import island_factors
from cimento.suites.shapes import condition_columns
from cimento.suites.workbook_words import ITEMS, PREDICTIONS, heading

_MOST_CONDITIONS = 16
_FORMULA = ("formula", "fórmula", "формула")


def conditions_of(grid: Grid) -> tuple[str, str] | None:
    """The two conditions of a suite without predictions, one sentence of each for every item.

    None for any other suite.
    """
    sheet = grid.items
    item, condition = sheet.column("item"), sheet.column("condition")
    text = sentence_column(sheet)
    if item is None or condition is None or text is None or are_blanked(sheet.values(text)):
        return None
    is_rated = sheet.column("rating") is not None or sheet.column("ratings") is not None
    if is_rated or not has_regions(grid.settings().get("kind")) or _predicts(grid):
        return None
    rows = [sheet.rows[n] for n in grid.read_rows()]
    cells = [(row[item].strip(), row[condition].strip()) for row in rows]
    names = tuple(dict.fromkeys(name for _, name in cells))
    if not grid.described and {*map(meaning, names)} == {"good", "bad"}:
        return None  # the reader of tables predicts it
    if len(names) != 2 or len(set(cells)) < len(cells):  # noqa: PLR2004  # one against the other
        return None
    return (names[0], names[1]) if all(map(is_condition_name, names)) else None


def block_in(grid: Grid) -> int:
    """The number of rows of an item where a bare table does not say it, and conditions take turns.

    It has no column of items, or one that gives each row a number of its own; 0 for other tables.
    """
    sheet = grid.items
    item, condition = sheet.column("item"), sheet.column("condition")
    if grid.described or condition is None or sentence_column(sheet) is None:
        return 0
    if item is None and with_items_numbered(named_table(grid)).find("item"):
        return 0
    rows = [sheet.rows[n] for n in grid.read_rows()]
    is_rated = sheet.column("rating") is not None or sheet.column("ratings") is not None
    if is_rated or (item is not None and len({row[item].strip() for row in rows}) < len(rows)):
        return 0
    return block_of([row[condition].strip() for row in rows])


def with_blocks(grid: Grid, size: int) -> Grid:
    """The grid whose rows have the numbers of their items, which are so many rows each."""
    if grid.items.column("item") is None:
        grid = insert_column(grid, ITEMS, 0, heading("item", grid.words))
    column = grid.items.column("item") or 0
    numbers = enumerate(grid.read_rows())
    return set_cells(grid, ITEMS, {(row, column): str(k // size + 1) for k, row in numbers})


def factors_of(grid: Grid) -> dict[str, tuple[str, ...]]:
    """The levels of the two or three factors of a table that is not a design yet.

    They are the columns that are crossed in every item, or the parts of the conditions' names;
    empty for other tables.
    """
    settings, sheet = grid.settings(), as_read(grid)
    is_declared = any(name.startswith(("licensing", "design")) for name in settings)
    is_rated = sheet.column("rating") is not None or sheet.column("ratings") is not None
    if is_declared or is_rated or not has_regions(settings.get("kind")):
        return {}
    table = with_items_numbered(named_table(grid))
    names = crossed_columns(table, besides=table.find("condition") or "")
    levels = {name: tuple(dict.fromkeys(table.stripped(name))) for name in names}
    return levels or island_factors(conditions_named(grid))


def named_table(grid: Grid) -> Table:
    """The columns of a grid's items that have names, in the rows that are read."""
    sheet = as_read(grid)
    cells = {name.strip(): sheet.values(n) for n, name in enumerate(sheet.columns) if name.strip()}
    return Table(grid.name, tuple(cells), tuple(sheet.body), cells)


def cells_in(factors: Mapping[str, tuple[str, ...]]) -> dict[str, dict[str, tuple[str, str]]]:
    """The cells of a design of two factors.

    Args:
        factors: the levels of each factor, see `factors_of`.

    Returns:
        By the levels of a cell in words, the plain and the other level of each factor if that cell
        should be the least acceptable; empty for other tables.
    """
    if [len({*levels}) for levels in factors.values()] != [N_LEVELS] * N_LEVELS:
        return {}  # also while somebody types a level that is still like the other one
    (first, ones), (second, others) = factors.items()
    return {
        f"{one}, {other}": {
            first: (next(level for level in ones if level != one), one),
            second: (next(level for level in others if level != other), other),
        }
        for one in ones
        for other in others
    }


def conditions_named(grid: Grid) -> tuple[str, ...]:
    """The names of the conditions of a suite without predictions; empty for other suites.

    They are in a column of their own, or each heads the column of its sentences.
    """
    sheet = as_read(grid)
    condition = sheet.column("condition")
    if _predicts(grid) or not has_regions(grid.settings().get("kind")):
        return ()
    if condition is not None and sentence_column(sheet) is not None:
        names = tuple(dict.fromkeys(filter(None, map(str.strip, sheet.values(condition)))))
        if cells := levels_joined(names):
            names = tuple(map(condition_of, cells.values()))
    elif sheet.column("item") is not None and (
        two := crossed_columns(t := sheet.table, most=MOST_LEVELS)
    ):
        names = tuple(dict.fromkeys(named_by_levels(t, two).cells["condition"]))
    else:
        table = replace(sheet.table, conditions=chosen_conditions(grid.roles))
        names = tuple(condition_columns(table).values())
    return names if len(names) <= _MOST_CONDITIONS and all(map(is_condition_name, names)) else ()


def first_sentences(grid: Grid) -> dict[str, str]:
    """The first sentence of each condition, whose names are in a column or head columns."""
    sheet = as_read(grid)
    condition, text = sheet.column("condition"), sentence_column(sheet)
    if condition is not None and text is not None:
        rows = zip(sheet.values(condition), sheet.values(text), strict=True)
        return {name.strip(): sentence.strip() for name, sentence in reversed([*rows])}
    table = replace(sheet.table, conditions=chosen_conditions(grid.roles))
    columns = condition_columns(table)
    return {
        name: next(filter(None, table.stripped(column)), "") for column, name in columns.items()
    }


def with_least(grid: Grid, least: str, names: Sequence[str]) -> Grid:
    """The grid with the predictions that one condition is less likely than each other one.

    Args:
        grid: the grid.
        least: name of the condition that should be the least acceptable.
        names: the names of all conditions.
    """
    for name in names:
        grid = with_prediction(grid, name, least) if name != least else grid
    return grid


def renamings(grid: Grid) -> dict[str, str]:
    """The names of conditions that formulas cannot use, each with the nearest that they can.

    Empty where some name has none, or one that another condition has.
    """
    sheet = grid.items
    condition = sheet.column("condition")
    if condition is None or sentence_column(sheet) is None:
        return {}
    names = dict.fromkeys(cell.strip() for cell in sheet.values(condition) if cell.strip())
    new = {name: as_condition_name(name) for name in names}
    if len(names) > _MOST_CONDITIONS or not all(new.values()) or len({*new.values()}) < len(new):
        return {}
    return {name: text for name, text in new.items() if not is_condition_name(name)}


def with_names(grid: Grid) -> Grid:
    """The grid with the names of conditions that formulas can use."""
    new, sheet = renamings(grid), grid.items
    column = sheet.column("condition")
    return set_cells(grid, ITEMS, {
        (row, column): new[name]
        for row in sheet.body
        if column is not None and (name := sheet.rows[row][column].strip()) in new
    })  # fmt: skip


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

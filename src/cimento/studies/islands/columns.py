"""Tables 1 and 2 as the study prints them: models in columns, the best of each row in bold."""

from __future__ import annotations

from collections.abc import Mapping

from cimento.report.cells import Shown
from cimento.report.formatting import number
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell

TABLES_OF_ACCURACY = ("table-1", "table-2")
"""The tables that the study prints with models in columns."""


def models_in_columns(table: Grid) -> Grid:
    """A table with a row for each model as one with a group of columns for each.

    Args:
        table: as `accuracy_table` makes it: phenomenon, sentence form and model, then measures.

    Returns:
        A row for each phenomenon and form, a group for each model with the measures that it has.
        Cells show the value alone; forms for programs have intervals and n too.
    """
    cells: dict[tuple[str, str], dict[tuple[str, str], GridCell]] = {}
    best: dict[tuple[str, str], set[tuple[str, str]]] = {}
    phenomenon = form = BLANK
    for row, (first, second, model, *values) in enumerate(table.rows):
        # Labels are in the first row of their block only.
        if str(first) or str(second):
            phenomenon, form = str(first) or phenomenon, str(second)
        place = phenomenon, form
        for column, (name, cell) in enumerate(zip(table.header[3:], values, strict=True), start=3):
            cells.setdefault(place, {})[str(model), name] = _alone(cell)
            if (row, column) in table.bold:
                best.setdefault(place, set()).add((str(model), name))
    columns = _columns(cells)
    begins = _begins([phenomenon for phenomenon, _ in cells])
    return Grid(
        title=table.title,
        header=("Phenomenon", "Sentence form", *(name for _, name in columns)),
        groups=(BLANK, BLANK, *(model for model, _ in columns)),
        rows=tuple(
            (*place, *(row.get(column, BLANK) for column in columns))
            for place, row in cells.items()
        ),
        bold=frozenset(
            (number, 2 + columns.index(column))
            for number, place in enumerate(cells)
            for column in best.get(place, ())
        ),
        rules=begins,
        labels=2,
        notes=(*table.notes, "Intervals (95%) and n of each value are in the CSV."),
    )


def _columns(
    cells: Mapping[tuple[str, str], Mapping[tuple[str, str], GridCell]],
) -> list[tuple[str, str]]:
    """The columns in which there is a value, models and measures in the order of the table."""
    known = dict.fromkeys(column for row in cells.values() for column in row)
    return [column for column in known if any(str(row.get(column, "")) for row in cells.values())]


def _begins(phenomena: list[str]) -> frozenset[int]:
    """The rows in which another phenomenon begins, but the first."""
    return frozenset(
        row for row in range(1, len(phenomena)) if phenomena[row] != phenomena[row - 1]
    )


def _alone(cell: GridCell) -> GridCell:
    """A cell whose interval and n only programs see."""
    if not isinstance(cell, EstimateCell):
        return cell
    return Shown(number(cell.value, digits=cell.digits, absent=BLANK), cell.parts, cell.unit)

"""A table as an Excel workbook."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from cimento.report.cells import HIGH, LOW, CellValue, Shown
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell

_WIDEST = 60
"""Most characters of a column's width."""
_AMOUNT = re.compile(r"(?P<sign>[+-]?)\d*\.?(?P<decimals>(?<=\.)\d+)?(?P<power>e[+-]?\d+)?")


class _Cell(NamedTuple):
    """A cell of the sheet: what the table shows, and the number behind it; None for a text."""

    text: str
    value: float | None = None


def xlsx(grid: Grid, *, sheet: str = "table") -> bytes:
    """The table as an Excel workbook, in which numbers are numbers and all else is text.

    Estimates and intervals are as precise as they were computed; an estimate has four columns, as
    in CSV, and an interval two. Formats of cells show as many decimals as the table does. A text
    such as ``=1+1`` is not a formula.

    Args:
        grid: the table.
        sheet: the name of its sheet.
    """
    from xlsxwriter import Workbook

    rows = list(_table(grid.filled()))
    buffer = io.BytesIO()
    with Workbook(buffer, {"in_memory": True}) as book:
        page = book.add_worksheet(sheet)
        page.freeze_panes(1, 0)
        formats = {
            form: book.add_format({"num_format": form})
            for form in sorted({_format(cell) for row in rows for cell in row})
        }
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                form = formats[_format(cell)]
                if cell.value is not None:
                    page.write_number(number, column, cell.value, form)
                elif cell.text:
                    page.write_string(number, column, cell.text, form)
        for column, cells in enumerate(zip(*rows, strict=True)):
            longest = max(len(cell.text) for cell in cells)
            page.set_column(column, column, min(longest + 2, _WIDEST))
    return buffer.getvalue()


def _endings(cell: GridCell) -> tuple[str, ...]:
    """What is put behind the name of a column for each number of such a cell."""
    if isinstance(cell, EstimateCell):
        return ("", " low", " high", " n")
    if texts := _texts(cell):
        return ("", *(f" {name.lstrip('_')}" for name in texts))
    return (" low", " high") if _is_interval(cell) else ("",)


def _texts(cell: GridCell) -> dict[str, str]:
    """The texts that programs get beside a cell, such as the sentences of an item."""
    parts = cell.parts if isinstance(cell, Shown) else {}
    return {name: text for name, text in parts.items() if name and isinstance(text, str)}


def _is_interval(cell: GridCell) -> bool:
    return isinstance(cell, Shown) and cell.parts.get(LOW) is not None and HIGH in cell.parts


def _table(grid: Grid) -> Iterator[list[_Cell]]:
    """The names and the rows, with a column for each number of estimates and of intervals."""
    endings = [
        max((_endings(row[column]) for row in grid.rows), key=len, default=("",))
        for column in range(len(grid.header))
    ]
    names = zip(grid.names, endings, strict=True)
    yield [_Cell(f"{name}{ending}") for name, several in names for ending in several]
    for row in grid.rows:
        cells: list[_Cell] = []
        for cell, several in zip(row, endings, strict=True):
            made = _cells(cell)
            cells += [*made, *[_Cell(BLANK)] * (len(several) - len(made))]
        yield cells


def _cells(cell: GridCell) -> list[_Cell]:
    if isinstance(cell, EstimateCell):
        values = (cell.value, cell.low, cell.high, cell.n)
        return [_Cell(text, _finite(v)) for text, v in zip(cell.numbers, values, strict=True)]
    if not isinstance(cell, Shown):
        return [_Cell(cell)]
    if texts := _texts(cell):
        return [_Cell(cell), *map(_Cell, texts.values())]
    if _is_interval(cell):
        shown = cell.strip("[]").split(", ")
        ends = (cell.parts[LOW], cell.parts[HIGH])
        return [_Cell(text, _finite(v)) for text, v in zip(shown, ends, strict=True)]
    # An end of an interval may have a column of its own.
    value = next((cell.parts[name] for name in ("", LOW, HIGH) if name in cell.parts), None)
    return [_Cell(cell, _finite(value))]


def _finite(value: CellValue) -> float | None:
    if isinstance(value, str | bool) or value is None or not math.isfinite(value):
        return None
    return float(value)


def _format(cell: _Cell) -> str:
    """The format of a cell in the notation of Excel, with the decimals and the sign of its text."""
    match = _AMOUNT.fullmatch(cell.text) if cell.value is not None else None
    if match is None:
        return "@"
    decimals = len(match["decimals"] or "")
    form = "0" + f".{'0' * decimals}" * bool(decimals) + "E+00" * bool(match["power"])
    return f"+{form};-{form};{form}" if match["sign"] == "+" else form

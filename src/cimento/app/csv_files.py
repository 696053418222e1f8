"""CSV as the window writes it: as spreadsheet programs of the page's language read it.

Where decimals begin with a comma, such programs take a semicolon for what parts cells, and need a
mark to read the letters as UTF-8. In English files are as programs for statistics expect them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.app.words import USUAL
from cimento.io.files import BOM
from cimento.report.grid import Grid

if TYPE_CHECKING:
    import polars as pl


def has_decimal_comma(language: str) -> bool:
    """Whether decimals begin with a comma in a language of the window."""
    return language != USUAL


def frame_csv(frame: pl.DataFrame, language: str) -> bytes:
    """A data frame as CSV in a language."""
    if not has_decimal_comma(language):
        return frame.write_csv().encode()
    return (BOM + frame.write_csv(separator=";", decimal_comma=True)).encode()


def grid_csv(grid: Grid, language: str) -> bytes:
    """A table of results as CSV in a language, with the digits that its numbers have."""
    if not has_decimal_comma(language):
        return grid.tidy.csv().encode()
    return (BOM + grid.tidy.csv(decimal_comma=True)).encode()

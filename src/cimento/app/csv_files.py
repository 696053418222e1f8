"""CSV as the window writes it: as spreadsheet programs of the page's language read it.

Where decimals begin with a comma, such programs take a semicolon for what parts cells, and need a
mark to read the letters as UTF-8. In English files are as programs for statistics expect them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from typing import TYPE_CHECKING

from cimento.app.words import USUAL
from cimento.io.files import BOM
from cimento.report.grid import Grid

if TYPE_CHECKING:
    import polars as pl


def told_csv(text: str, decimals: Collection[int], language: str) -> bytes:
    """CSV with commas and decimal points as it is in a language.

    Args:
        text: with a line of headings.
        decimals: the places of the columns of numbers with decimals, from 0; in others, such as
            names of items, a point stays.
        language: ISO 639-1 code.
    """
    if language == USUAL:
        return text.encode()
    made = io.StringIO()
    lines = csv.writer(made, delimiter=";", lineterminator="\n")
    head, *rows = csv.reader(io.StringIO(text.removeprefix(BOM), newline=""))
    lines.writerow(head)
    lines.writerows(
        [cell.replace(".", ",") if place in decimals else cell for place, cell in enumerate(row)]
        for row in rows
    )
    return f"{BOM}{made.getvalue()}".encode()


def frame_csv(frame: pl.DataFrame, language: str) -> bytes:
    """A data frame as CSV in a language."""
    return told_csv(frame.write_csv(), decimals_of(frame), language)


def decimals_of(frame: pl.DataFrame) -> frozenset[int]:
    """The places of the columns of a data frame that are numbers with decimals."""
    return frozenset(place for place, kind in enumerate(frame.dtypes) if kind.is_float())


def grid_csv(grid: Grid, language: str) -> bytes:
    """A table of results as CSV in a language, with the digits that its numbers have."""
    tidy = grid.tidy
    decimals = [place for place, one in enumerate(tidy.columns) if one.kind == "number"]
    return told_csv(tidy.csv(), decimals, language)

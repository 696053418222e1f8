"""A table with a good and a bad sentence in each row: TSV, CSV or xlsx, in several dialects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.suites.faults import fault
from cimento.suites.model import NOTHING, Condition, Item, Meta, Region, Suite
from cimento.suites.readers.dialects import PairDialect, dialect_of, unfolded
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.reading import Reading, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Row, Table, read_table

CONDITIONS = ("good", "bad")
PHENOMENON = "phenomenon"


def read_pairs(path: Path) -> Reading:
    """Read a table of pairs; the file's name becomes the suite's.

    The sentences are taken as they are: a bar or a backslash in them is one. All other columns
    become free columns, and the one that names the phenomenon also the column ``phenomenon``.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None:
        raise unusable(path, faults)
    table = unfolded(table)
    dialect = dialect_of(table)
    if dialect is None:
        seen = f"The columns good and bad are missing; there are {', '.join(table.columns)}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    items, more = _items(table, dialect)
    suite = Suite(
        meta=Meta(name=path.stem, language=dialect.language),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=items,
    )
    places = tuple([place for row in table.rows for place in [table.where(row)] * 2])
    return Reading(suite, sha256_of(data), places, (*faults, *more))


def _items(table: Table, dialect: PairDialect) -> tuple[tuple[Item, ...], list[Fault]]:
    faults: list[Fault] = []
    good, bad = table.find(dialect.good) or "", table.find(dialect.bad) or ""
    id_column = _id_column(table, dialect)
    phenomenon = next(filter(None, map(table.find, dialect.phenomena)), None)
    others = [column for column in table.columns if column not in {good, bad, id_column}]
    items = []
    for number, row in enumerate(table.rows, start=1):
        cells = _stripped(table, row, faults)
        free = {column: cells[column] for column in others if cells[column]}
        if phenomenon and cells[phenomenon]:
            free.setdefault(PHENOMENON, cells[phenomenon])
        conditions = tuple(
            [
                Condition(name, (Region(cells[column]),), free or NOTHING)
                for name, column in zip(CONDITIONS, (good, bad), strict=True)
            ]
        )
        items.append(Item(cells[id_column] if id_column else str(number), conditions))
    return tuple(items), faults


def _stripped(table: Table, row: Row, faults: list[Fault]) -> Mapping[str, str]:
    """The cells of a row without blanks at their ends; a fault is added for each that had some."""
    if all(cell == cell.strip() for cell in row.cells.values()):
        return row.cells
    where = table.where(row)
    return {
        column: strip_blanks(cell, what=column, where=where, faults=faults)
        for column, cell in row.cells.items()
    }


def _id_column(table: Table, dialect: PairDialect) -> str | None:
    """The column of ids. In others' tables it is left aside where it does not tell pairs apart."""
    column = next(filter(None, map(table.find, dialect.ids)), None)
    if column is None or dialect.good == CONDITIONS[0]:
        return column
    ids = [row.cells[column].strip() for row in table.rows]
    return column if all(ids) and len(set(ids)) == len(ids) else None

"""A table with a good and a bad sentence in each row: TSV, CSV or xlsx."""

from __future__ import annotations

from pathlib import Path

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.suites.faults import fault
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.suites.readers.items import PAIR_PREDICTION
from cimento.suites.reading import Reading, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Table, read_table

CONDITIONS = ("good", "bad")


def read_pairs(path: Path) -> Reading:
    """Read a table of pairs; the file's name becomes the suite's.

    The sentences are taken as they are: a bar or a backslash in them is one.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None:
        raise unusable(path, faults)
    missing = [name for name in CONDITIONS if table.find(name) is None]
    if missing:
        seen = f"The column {', '.join(missing)} is missing; there are {', '.join(table.columns)}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    items, more = _items(table)
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=items,
    )
    places = tuple(table.where(row) for row in table.rows for _ in CONDITIONS)
    return Reading(suite, sha256_of(data), places, (*faults, *more))


def _items(table: Table) -> tuple[tuple[Item, ...], list[Fault]]:
    faults: list[Fault] = []
    sentences = {name: table.find(name) for name in CONDITIONS}
    id_column = table.find("item") or table.find("id")
    taken = {*sentences.values(), id_column}
    items = []
    for number, row in enumerate(table.rows, start=1):
        cells = {
            column: strip_blanks(cell, what=column, where=table.where(row), faults=faults)
            for column, cell in row.cells.items()
        }
        free = {column: cell for column, cell in cells.items() if cell and column not in taken}
        conditions = tuple(
            Condition(name, (Region(cells[column or name]),), free)
            for name, column in sentences.items()
        )
        items.append(Item(cells[id_column] if id_column else str(number), conditions))
    return tuple(items), faults

"""Factorial suites as a table with one sentence a row (materials as Sprouse et al. share them)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from cimento.errors import Fault, InputError
from cimento.files import read_bytes
from cimento.suites.design import (
    ISLAND_FACTORS,
    island_factors,
    level_columns,
    predictions_of,
    squares,
)
from cimento.suites.faults import fault
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.suites.reading import Reading, sha256_of, strip_blanks, unusable
from cimento.suites.tables import Row, Table, read_table

ID_COLUMNS = ("item_number", "item_in_suite", "item")
"""The first of these that is the same in all conditions of an item is its number."""
GROUP_COLUMNS = ("suite", "dependency", "island", "phenomenon")
"""Columns that, with the number, say which item a sentence belongs to."""


def is_factorial_table(table: Table) -> bool:
    """Whether a table has a sentence and its condition in each row, and the number of its item."""
    return bool(
        table.find("condition")
        and table.find("sentence")
        and any(table.find(name) for name in ID_COLUMNS)
    )


def read_factorial_table(path: Path) -> Reading:
    """Read a table of sentences; the file's name becomes the suite's.

    The phenomenon is what the columns ``dependency`` and ``island`` say (or ``phenomenon``), with
    that of ``suite`` before it where the table holds several suites.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    if table is None:
        raise unusable(path, faults)
    if not is_factorial_table(table):
        seen = f"There is no column condition, sentence or item; there are {table.columns}."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    rows = [_cells(table, row, faults) for row in table.rows]
    if not rows:
        seen = "There is no row below the header."
        raise unusable(path, [*faults, fault("CIM-S005", where=path.name, seen=seen)])
    suite, order = _suite(rows, path.stem)
    places = tuple(table.where(table.rows[index]) for index in order)
    return Reading(with_design(suite), sha256_of(data), places, tuple(faults))


def with_design(suite: Suite) -> Suite:
    """The suite with the predictions that its design makes, where it has none of its own."""
    try:
        found = squares(suite)
    except InputError:
        return suite  # the checks of the suite say what is wrong with the design
    if suite.predictions or any(None in square.conditions for square in found):
        return suite
    predictions = tuple(each for square in found for each in predictions_of(square))
    return dataclasses.replace(suite, predictions=predictions)


def _cells(table: Table, row: Row, faults: list[Fault]) -> dict[str, str]:
    return {
        column: strip_blanks(cell, what=column, where=table.where(row), faults=faults)
        for column, cell in row.cells.items()
    }


def _suite(rows: Sequence[dict[str, str]], name: str) -> tuple[Suite, list[int]]:
    """The suite, and the row of each of its stimuli."""
    id_column = _id_column(rows)
    groups = [column for column in GROUP_COLUMNS if len({row.get(column, "") for row in rows}) > 1]
    several = "suite" in groups
    conditions: dict[str, list[Condition]] = {}
    order: dict[str, list[int]] = {}
    factors = _factors(rows)
    for index, row in enumerate(rows):
        prefix = "_".join(row[column] for column in groups if row.get(column))
        id_ = f"{prefix}-{row[id_column]}" if prefix else row[id_column]
        free = {key: value for key, value in row.items() if key not in _TAKEN and value}
        free.pop(id_column, None)
        levels = {} if set(factors) <= set(free) else level_columns(row["condition"], factors)
        columns = {**free, **levels, "phenomenon": _phenomenon(row, several=several) or name}
        condition = Condition(row["condition"], (Region(row["sentence"]),), columns)
        conditions.setdefault(id_, []).append(condition)
        order.setdefault(id_, []).append(index)
    suite = Suite(
        meta=Meta(name=name),
        region_names=("sentence",),
        predictions=(),
        items=tuple(Item(id_, tuple(each)) for id_, each in conditions.items()),
        factors=factors,
    )
    return suite, [index for indices in order.values() for index in indices]


_TAKEN = ("condition", "sentence")


def _id_column(rows: Sequence[dict[str, str]]) -> str:
    """The column that numbers items and not sentences: the one with the fewest values."""
    present = [name for name in ID_COLUMNS if name in rows[0]]
    return min(present, key=lambda name: len({row[name] for row in rows}))


def _factors(rows: Sequence[dict[str, str]]) -> dict[str, tuple[str, ...]]:
    """The factors: the columns ``distance`` and ``structure``, else what conditions' names tell."""
    if all(name in rows[0] for name in ISLAND_FACTORS):
        levels = {name: {row[name] for row in rows} for name in ISLAND_FACTORS}
        if all(set(known) == levels[name] for name, known in ISLAND_FACTORS.items()):
            return dict(ISLAND_FACTORS)
    return island_factors(tuple(dict.fromkeys(row["condition"] for row in rows)))


def _phenomenon(row: dict[str, str], *, several: bool) -> str:
    named = row.get("phenomenon") or "_".join(
        row[column] for column in ("dependency", "island") if row.get(column)
    )
    parts = (row.get("suite", "") if several else "", named)
    return " ".join(part for part in parts if part)

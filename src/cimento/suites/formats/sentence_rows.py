"""Rows of a sentence each, with its item and condition, as the items of a suite.

Bars in a sentence separate regions. Items have the ids of the table, with their group before them
where numbers begin anew in each group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.table import Table
from cimento.suites import Condition, Meta, Region, Suite
from cimento.suites.crossed import CLUSTER, GROUP_COLUMNS, ID_COLUMNS
from cimento.suites.design import ISLAND_FACTORS
from cimento.suites.formats.gathered import Gathered, stripped_cells
from cimento.suites.formats.items import read_regions
from cimento.suites.formats.levels import TAKEN, Cells, factors_of, phenomenon_of
from cimento.suites.level_words import level_columns
from cimento.suites.plain_levels import plain_first


def rows_of(table: Table, faults: list[Fault]) -> list[tuple[Cells, str]]:
    """The cells of each row, under the names of this module, and its place."""
    known = (*ID_COLUMNS, *TAKEN, *GROUP_COLUMNS, *ISLAND_FACTORS)
    names = {table.find(name): name for name in known}
    placed: list[tuple[Cells, str]] = []
    for row in table.rows:
        cells = stripped_cells(row, table.where(row), faults)
        named = {names.get(column, column): cell for column, cell in cells.items()}
        placed.append((named, table.where(row)))
    return placed


def suite_of_rows(
    placed: Sequence[tuple[Cells, str]], table: Table, faults: list[Fault]
) -> tuple[Suite, Sequence[str]]:
    """The suite, and the place of each of its stimuli.

    Args:
        placed: the result of `rows_of`.
        table: the table, after whose file the suite is named.
        faults: faults found so far.
    """
    rows, name = [row for row, _ in placed], Path(table.name).stem
    id_column, groups = id_columns(rows)
    factors, _ = plain_first(factors_of(placed, faults))
    are_columns = all(
        any(row.get(name) in known for row in rows) for name, known in factors.items()
    )  # a column may happen to be called as the levels are
    items, counts = Gathered(), Counter[int]()
    ids = _item_ids(rows, id_column, groups)
    for (row, where), id_ in zip(placed, ids, strict=True):
        taken = (*TAKEN, id_column)
        free = {key: value for key, value in row.items() if key not in taken and value}
        is_told = are_columns and {*factors} <= {*free}
        levels = {} if is_told else level_columns(row["condition"], factors)
        phenomenon = phenomenon_of(row, several="suite" in groups) or name
        regions = _regions(row["sentence"], where, faults)
        counts[len(regions)] += 1
        columns = {**free, **levels, "phenomenon": phenomenon}
        items.add(id_, Condition(row["condition"], regions, columns), where)
    # Where an item is a pair for each level, a fault says so already.
    if not (CLUSTER in table.cells and any(one.code == "CIM-S063" for one in faults)):
        faults += _renamed(rows, ids, id_column, where=table.name)
    usual = counts.most_common(1)[0][0]
    numbered = tuple(f"region {number}" for number in range(1, usual + 1))
    suite = Suite(
        meta=Meta(name=name),
        region_names=numbered if usual > 1 else ("sentence",),
        predictions=(),
        items=items.items,
        factors=factors,
    )
    return suite, items.places


def _item_ids(rows: Sequence[Cells], id_column: str, groups: Sequence[str]) -> list[str]:
    """The id of each row's item: its number, or its number after its group.

    Numbers have the group before them, all of them, where one is in several groups.
    """
    named = ["_".join(row[column] for column in groups if row.get(column)) for row in rows]
    numbers = [row[id_column] for row in rows]
    if len({*zip(numbers, named, strict=True)}) == len({*numbers}):
        return numbers
    return [f"{group}-{n}" if group else n for group, n in zip(named, numbers, strict=True)]


def _renamed(
    rows: Sequence[Cells], ids: Sequence[str], id_column: str, *, where: str
) -> Iterator[Fault]:
    """What is said of items that have other ids than in the table."""
    other = [(row[id_column], id_) for row, id_ in zip(rows, ids, strict=True)]
    if changed := next((pair for pair in other if pair[0] != pair[1]), None):
        number, id_ = changed
        seen = (
            f"Numbers of items begin anew in each group, so that item {number!r} is called {id_!r}."
        )
        todo = "To keep the ids of the table, number its items on from one group to the next."
        yield fault("CIM-S065", where=where, seen=seen, todo=todo)


def id_columns(rows: Sequence[Cells]) -> tuple[str, list[str]]:
    """The column that numbers the items, and those without which its numbers begin anew."""
    # The column that numbers items rather than sentences is the one with the fewest values.
    id_column = min(
        (column for column in ID_COLUMNS if column in rows[0]),
        key=lambda column: len({row[column] for row in rows}),
    )
    return id_column, [
        column for column in GROUP_COLUMNS if len({row.get(column, "") for row in rows}) > 1
    ]


def _regions(sentence: str, where: str, faults: list[Fault]) -> tuple[Region, ...]:
    if "|" not in sentence:
        return (Region(sentence),)
    regions, doubtful = read_regions(sentence)
    if doubtful:
        seen = f"sentence has a bar with a blank on one side only: {doubtful[0]!r}."
        faults.append(fault("CIM-S047", where=where, seen=seen))
    return tuple(replace(region, text=region.text.strip()) for region in regions)

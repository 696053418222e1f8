"""Conditions that stand several times in an item: in other lists, or with another factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.numbered import with_items_numbered
from cimento.intake.table import Table
from cimento.intake.words import pattern
from cimento.suites.crossed import (
    GROUP_COLUMNS,
    MOST_LEVELS,
    Arranged,
    crossed_columns,
    named_by_levels,
)

_PARTS = pattern("parts")
_MOST_LEVELS = 6
_MOST_COLUMNS = 40
_SHOWN = 5


def without_repeated(table: Table, texts: Sequence[str]) -> tuple[Table, list[Fault]]:
    """A table in which each sentence of an item in a condition stands once, and what is said of it.

    In Latin squares, fillers are in every list, each time in a row of its own that differs in the
    list. Rows that are the same in all columns are a slip, which the checks of items name.

    Args:
        table: a table with a sentence in each row.
        texts: the columns of the sentence, or of its regions.
    """
    item, condition = table.find("item"), table.find("condition")
    if not (item and condition and texts):
        return table, []
    keys = _keys(table, [item, condition, *filter(None, map(table.find, GROUP_COLUMNS)), *texts])
    first: dict[tuple[str, ...], int] = {}
    again = [row for row, key in enumerate(keys) if first.setdefault(key, row) != row]
    if not again:
        return table, []
    columns = [name for name in table.columns if name not in (item, condition, *texts)]
    differ = [
        name
        for name in columns
        if all(table.cells[name][row] != table.cells[name][first[keys[row]]] for row in again)
    ]
    if not differ:
        return table, []
    numbers = [table.numbers[row] for row in again]
    shown = ", ".join(map(str, numbers[:_SHOWN]))
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    seen = (
        f"Rows with a sentence that its item has in its condition already are skipped, since they"
        f" differ in {differ[0]!r}: {shown}{more}."
    )
    places = list(map(table.place, again))
    message = fault("CIM-S009", where=places[0], seen=seen, todo="", places=places)
    return table.without(dict.fromkeys(again, "there already")), [message]


def with_joined_levels(table: Table) -> Arranged | None:
    """A table whose conditions join those of its column and the levels of one other column.

    Each item has every combination in one row: *NPS* and *NPZ*, each *ambiguous* and *unambiguous*.
    None for other tables, and where several columns would do.
    """
    item, condition = table.find("item"), table.find("condition")
    if not (item and condition):
        return None
    groups = list(filter(None, map(table.find, GROUP_COLUMNS)))
    cells = _keys(table, [item, condition, *groups])
    if len({*cells}) == len(cells):
        return None
    ids = _keys(table, [item, *groups])
    levels = table.stripped(condition)
    fitting = list[str]()
    for name in table.columns[:_MOST_COLUMNS]:
        column = table.profile(name)
        is_level = column.kind == "words" and 2 <= column.n_distinct <= _MOST_LEVELS  # noqa: PLR2004
        if not is_level or name in (item, condition, *groups) or _PARTS.search(name):
            continue
        rows = [*zip(levels, table.stripped(name), strict=True)]
        n_cells = len({*levels}) * column.n_distinct
        is_whole = len({*zip(ids, rows, strict=True)}) == len(ids) == n_cells * len({*ids})
        if is_whole:
            fitting.append(name)
    if len(fitting) != 1:
        return None
    both = (condition, fitting[0])
    if table.columns.index(condition) > table.columns.index(fitting[0]):
        both = both[::-1]  # names follow the order of the columns
    return Arranged(named_by_levels(table, both), [], both)


def with_factor_named(table: Table) -> Table:
    """A table in which a factor that somebody has chosen as the condition has its own name again.

    It alone names no condition: each item has every combination of it and another column. The
    conditions join both, and results are told by the names of the two columns.
    """
    own = table.shown("condition")
    if "condition" not in table.chosen or own in table.columns:
        return table
    names = {name: own if name == "condition" else name for name in table.columns}
    restored = replace(
        table,
        columns=tuple(names.values()),
        cells={new: table.cells[name] for name, new in names.items()},
        origin={name: shown for name, shown in table.origin.items() if name != "condition"},
        chosen=table.chosen - {"condition"},
    )
    numbered = with_items_numbered(restored)
    factors = crossed_columns(numbered) or crossed_columns(numbered, most=MOST_LEVELS)
    return restored if own in factors else table


def _keys(table: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*map(table.stripped, names), strict=True))

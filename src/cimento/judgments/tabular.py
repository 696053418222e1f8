"""Tables of answers: long, one answer a row; or wide, one person a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.judgments.mapping import TEXT, ColumnMap, RawRow
from cimento.judgments.places import Places
from cimento.suites.tables import Table, open_table

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds.

    Attributes:
        rows: one for each answer, in order.
        passed: what was passed over, and why, to how often.
    """

    rows: Sequence[RawRow]
    passed: dict[str, int]


def read_long(path: Path) -> Found:
    """A table with one answer in each row.

    Raises:
        InputError: it cannot be read.
    """
    table = open_table(path)
    return Found([RawRow(table.where(row), row.cells) for row in table.rows], {})


def read_wide(path: Path, columns: ColumnMap, places: Places) -> Found:
    """A table with one person in each row, and one item in each column.

    Where the suite is known, the columns that are headed by an id or a text of it are items, also
    where that stands in brackets after a question. Where it is not, all columns are that are mapped
    to no field.

    Args:
        path: of the table.
        columns: which columns are no items but fields.
        places: what the suite asks; may be empty.

    Raises:
        InputError: it cannot be read, or no column is an item.
    """
    table = open_table(path)
    rest = [name for name in table.columns if name not in columns.taken and name.strip()]
    items = [name for name in rest if not places or places.find(name, where=table.name)]
    if not items:
        shown = ", ".join(rest[:SHOWN]) or "none"
        raise InputError(
            where=table.name,
            seen=f"no column is headed by an item of the suite; the first others: {shown}",
            todo="Head columns with ids such as 'e 1/acceptable', or with the sentences.",
        )
    chosen = frozenset(items)
    others = [name for name in rest if name not in chosen]
    return Found(list(_melted(table, items)), {f"column {name!r} is no item": 1 for name in others})


def _melted(table: Table, items: Sequence[str]) -> Iterator[RawRow]:
    chosen = frozenset(items)
    for row in table.rows:
        kept = {name: cell for name, cell in row.cells.items() if name not in chosen}
        for name in items:
            answer = row.cells.get(name, "").strip()
            if answer:
                where = f"{table.where(row)}, column {name!r}"
                # The heading is whatever the suite calls the item: its id or its text.
                yield RawRow(where, {**kept, "item": name, TEXT: name, "value": answer})

"""Faults of the columns of a table: what holds something else than its role needs."""

from __future__ import annotations

from collections.abc import Iterable

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.roles import fits, seen_in
from cimento.intake.table import NotText, Table

_LONGEST = 60


def hold_text(table: Table, columns: Iterable[str | None]) -> bool:
    """Whether columns are there that may hold sentences, or parts of them.

    Args:
        table: the table; if it has no rows, names alone decide.
        columns: names, of which one that a table lacks is None.
    """
    return all(fits(table, name, "sentence") for name in columns)


def wrong_kind(table: Table, columns: Iterable[str | None], role: str = "sentence") -> list[Fault]:
    """The faults of columns that hold something else than their names say.

    Args:
        table: the table.
        columns: the columns that are named as if they had a role; None counts for nothing.
        role: the role.
    """
    return [
        fault("CIM-S081", where=table.name, seen=seen_in(table, name, role))
        for name in filter(None, dict.fromkeys(columns))
        if not fits(table, name, role)
    ]


def not_text(table: Table, columns: Iterable[str | None]) -> list[Fault]:
    """The faults of values of JSON or Parquet that are not text, where a sentence is due.

    Args:
        table: the table.
        columns: the columns of sentences, or of their parts; None counts for nothing.
    """
    faults = []
    for name in filter(None, dict.fromkeys(columns)):
        cells = table.cells[name]
        if {*map(type, cells)} <= {str}:
            continue
        rows = [row for row, cell in enumerate(cells) if isinstance(cell, NotText)]
        if rows:
            shown = cells[rows[0]][:_LONGEST]
            seen = f"The value of {name!r} is not text, but {shown}; there are {len(rows)} like it."
            places = [table.place(row) for row in rows]
            faults.append(fault("CIM-S083", where=places[0], seen=seen, places=places))
    return faults

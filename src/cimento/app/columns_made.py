"""Columns of the rows made of a table that the table itself lacks."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.app.editing import Sheet
from cimento.io.values import grouped


def lacked(own: Sheet, made: Sheet) -> dict[str, Sequence[str]]:
    """The columns of the rows that were made of a table which this lacks, or has with other cells.

    Where an item is one row of the table and several that were made, what differs between these is
    not among them.
    """
    ids = made.column("item")
    has_text = own.column("text") is not None or own.column("sentence") is not None
    new = {name: n for n, name in enumerate(made.columns) if not (has_text and name == "text")}
    rows = [[row] for row in made.rows[1:]]
    if ids is not None and len(rows) != len(own.rows) - 1:
        rows = list(grouped((row[ids], row) for row in made.rows[1:]).values())
    if len(rows) != len(own.rows) - 1:
        return {}
    found = dict[str, Sequence[str]]()
    for name, n in new.items():
        cells = [same[0][n] for same in rows]
        place = own.column(name)
        is_there = place is not None and (
            own.columns[place].strip() == name or [*own.values(place)] == cells
        )
        if not is_there and all(len({row[n] for row in same}) == 1 for same in rows):
            found[name] = cells
    return found

"""What a table was read as, in one line: which column is what, and what is not used or left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cimento.errors import counted
from cimento.intake.shapes import Shape
from cimento.intake.table import Table

READ = "read"
"""Key in the part of a manifest on the suite: what its table was read as, in one line."""
_SHOWN = 12
"""Largest number of columns or rows that the line names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """A table's reading; each column of the file is in `roles` or in `unused`.

    Attributes:
        shape: what the table is: ``pairs``.
        roles: the columns of each role, as the file calls them.
        n_items: number of items that came of it.
        unused: columns that decide nothing; they are kept beside the items.
        left_out: rows that are no part of the table: number, and what it is.
        known: the published data set or program whose form it is; empty for a table of one's own.
        forced: columns whose cells do not fit their role, which somebody chose nevertheless.
        what: what is counted: an item, or an observation.
    """

    shape: str
    roles: Mapping[str, tuple[str, ...]]
    n_items: int
    unused: tuple[str, ...] = ()
    left_out: tuple[tuple[int, str], ...] = ()
    known: str = ""
    forced: tuple[str, ...] = ()
    what: str = "item"

    def said(self) -> str:
        """The reading in one line.

        >>> roles = {"good": ("Giusta",), "bad": ("Sbagliata",)}
        >>> TableReading(shape="pairs", roles=roles, n_items=5, left_out=((7, "a sum"),)).said()
        'Read as pairs: good = "Giusta", bad = "Sbagliata"; 5 items; left out: row 7 (a sum).'
        """
        form = f" in the form of {self.known}" if self.known else ""
        roles = ", ".join(f"{role} = {_quoted(names)}" for role, names in self.roles.items())
        parts = [
            f"Read as {self.shape}{form}: {roles}",
            counted(self.n_items, self.what),
            f"not used: {_quoted(self.unused)}" if self.unused else "",
            f"left out: {_rows(self.left_out)}" if self.left_out else "",
            f"taken as you say, against what it holds: {_quoted(self.forced)}"
            if self.forced
            else "",
        ]
        return f"{'; '.join(filter(None, parts))}."


def reading_of(
    table: Table,
    shape: Shape,
    roles: Mapping[str, str | Sequence[str | None] | None],
    *,
    n_items: int,
    known: str = "",
    own: Collection[str] = (),
) -> TableReading:
    """The reading of a table, in which every column is accounted for.

    Args:
        table: the table as it came from its file.
        shape: what it is.
        roles: the column or columns of each role, by their names in the table; None for a role
            without one, and names that the table lacks count for nothing.
        n_items: number of items.
        known: the published form.
        own: columns that stand for themselves, such as the numbers of rows.
    """
    named = dict[str, tuple[str, ...]]()
    for role, columns in roles.items():
        several = [columns] if isinstance(columns, str) or columns is None else columns
        if there := [name for name in dict.fromkeys(several) if name and name in table.cells]:
            named[role] = tuple(there)
    used = {*own}.union(*named.values())
    order = [*shape.needs, *shape.may]
    named = dict(sorted(named.items(), key=lambda entry: (*order, entry[0]).index(entry[0])))
    return TableReading(
        shape=shape.name,
        roles={role: tuple(map(table.shown, names)) for role, names in named.items()},
        n_items=n_items,
        unused=tuple(table.shown(name) for name in table.columns if name not in used),
        left_out=table.left_out,
        known=known,
        forced=tuple(map(table.shown, sorted(table.forced))),
    )


def with_role(reading: TableReading, role: str, columns: Iterable[str]) -> TableReading:
    """The reading of a table in which a role has those of some columns that had none."""
    named = tuple(name for name in reading.unused if name in {*columns})
    if not named:
        return reading
    rest = tuple(name for name in reading.unused if name not in named)
    return replace(reading, roles={**reading.roles, role: named}, unused=rest)


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _rows(left_out: Sequence[tuple[int, str]]) -> str:
    """Rows that were left out, those of one kind together: ``row 1 (a title), rows 7 and 9 (...)``.

    Rows of one kind that follow each other are named together.
    """
    parts = list[str]()
    for what, rows in groupby(left_out, key=lambda row: row[1]):
        numbers = [str(number) for number, _ in rows]
        shown = ", ".join(numbers[:_SHOWN])
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        parts.append(f"{'rows' if len(numbers) > 1 else 'row'} {shown}{more} ({what})")
    return ", ".join(parts[:_SHOWN]) + (" and more" if len(parts) > _SHOWN else "")

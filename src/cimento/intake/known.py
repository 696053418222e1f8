"""Published sets and programs by the names of their columns: the entries of `known.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cimento.intake.profile import profile
from cimento.intake.roles import fits
from cimento.intake.table import Table

_LEAST = 0.9
"""Least proportion of rows that look as those of a file without names of columns must."""
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A published form of tables.

    Attributes:
        shape: what the table is; see `cimento.intake.shapes`.
        roles: names of the columns of each role, of which the first that a table has is used; of
            ``item`` in a shape of several rows, all of them together.
        source: where it is documented.
        title: what it is called; empty where many others use the same names.
        language: language of all such tables; empty where they differ.
        signature: further columns without which a table is of another form.
        header: names of the columns of a file that has none; empty for files with names.
        holds: what is in these columns.
        good: the label of acceptable sentences; empty where it is a word for them.
    """

    shape: str
    roles: Mapping[str, Sequence[str]]
    source: str
    title: str = ""
    language: str = ""
    signature: Sequence[str] = ()
    header: Sequence[str] = ()
    holds: Sequence[str] = ()
    good: str = ""

    def column(self, table: Table, role: str) -> str | None:
        """The column of a role in a table; None without one whose cells fit."""
        column = table.find(*names) if (names := self.roles.get(role)) else None
        return column if fits(table, column, role) else None


@cache
def known_forms() -> Mapping[str, Known]:
    """All entries, by their names."""
    text = files("cimento.intake").joinpath("known.toml").read_text(encoding="utf-8")
    return {name: Known(**entry) for name, entry in tomllib.loads(text).items()}


def forms_of(table: Table, shape: str, *, needs: Sequence[str]) -> list[Known]:
    """The forms of a shape in which a table may be.

    Args:
        table: the table.
        shape: the shape.
        needs: roles whose columns must be there and fit.
    """
    forms = (form for form in known_forms().values() if form.shape == shape)
    return [
        form
        for form in forms
        if table.has(*form.signature, *form.header)
        and all(form.column(table, role) for role in needs)
    ]


def header_of(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The names of the columns of a file that has none, in a published form; else nothing.

    Args:
        rows: its rows that are not empty.
    """
    for form in known_forms().values():
        width, first = len(form.header), {*map(str.casefold, rows[0])} if rows else set()
        if not (width and rows) or len(rows[0]) != width or first & {*form.header}:
            continue
        looked_at = [row for row in rows[:_LOOKED_AT] if len(row) == width]
        columns = list(zip(*looked_at, strict=True))
        if all(map(_holds, columns, form.holds)):
            return form.header
    return ()


def _holds(cells: Sequence[str], what: str) -> bool:
    """Whether nearly all cells of a column are what a form says."""
    if what == "0 or 1":
        return _share(cells, {"0", "1"})
    if what == "a star or nothing":
        return _share(cells, {"", "*", "?", "??", "*?", "**", "#"})
    kind = profile(cells).kind
    return kind == "sentences" if what == "sentences" else kind in ("codes", "words", "nothing")


def _share(cells: Sequence[str], words: set[str]) -> bool:
    return sum(cell.strip() in words for cell in cells) >= _LEAST * len(cells)

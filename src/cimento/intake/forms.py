"""Programs whose exports have answers of people: the entries of `forms.toml`.

A program is known by the names of its columns, of which it writes most itself. What it writes
around the answers of people is nobody's answer, and rows of previews and tests are nobody's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from cimento.intake.profile import number_of
from cimento.intake.table import Table

_WHOLE_BITS = re.compile(r"[0-9]{1,3}")


_GRID_ROW = re.compile(r"(.*\S)\s*\[([^\[\]]*\w[^\[\]]*)\]\s*")
"""The heading of a column of a grid: the question, and its row in brackets."""


def of_grid(heading: str, *, dash: str = "") -> tuple[str, str]:
    """The question of a grid and its row, in the heading of a column; empty for other headings.

    Args:
        heading: of the column: the row in brackets behind the question.
        dash: the sign between both where there are no brackets; empty where there is none.
    """
    if match := _GRID_ROW.fullmatch(heading):
        return match[1], match[2].strip()
    question, _, row = heading.rpartition(dash) if dash else ("", "", "")
    return question, row


def squashed(name: str) -> str:
    """A heading without capitals, blanks and marks."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _squashed(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(squashed, names))


@dataclass(frozen=True, kw_only=True)
class RowRule:
    """A rule by which rows of an export have no answer of a person; see `forms.toml`.

    Attributes:
        column: the names that the column may have.
        what: what such rows are.
        cells: what its cells are, without capitals.
        pattern: what a part of its cells is like.
        other: beginnings of the cells of all other rows.
        beside: what stands behind the same cell in another row.
        bits: one of these bits is in its cells.
        below: its cells are less.
        unless: a column in which something else stands if a row has an answer.
        submit: whether such rows have answers that were never submitted.
    """

    column: Sequence[str]
    what: str
    cells: Sequence[str] = ()
    pattern: str = ""
    other: Sequence[str] = ()
    beside: str = ""
    bits: int = 0
    below: float | None = None
    unless: str = ""
    submit: bool = False

    def fits(self, cell: str, cells: Collection[str]) -> bool:
        """Whether a cell of the column is one of such a row, beside all its cells."""
        text = cell.strip().casefold()
        if self.beside:
            return bool(text) and text + self.beside in cells
        if self.pattern and re.search(self.pattern, text):
            return True
        if self.other:
            return not text.startswith(tuple(self.other))
        if self.bits:
            return _WHOLE_BITS.fullmatch(text) is not None and bool(int(text) & self.bits)
        if self.below is not None:
            number = number_of(text)
            return number is not None and number < self.below
        return text in self.cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """A program for surveys or experiments; for the attributes see `forms.toml`."""

    name: str
    title: str
    shape: str
    source: str
    least: int = 2
    signature: Sequence[str] = ()
    common: Sequence[str] = ()
    submitted: Sequence[str] = ()
    number: Sequence[str] = ()
    written: Sequence[str] = ()
    roles: Mapping[str, Sequence[str]]
    rows: Sequence[RowRule]
    file: bool = False
    zero: Sequence[str] = ()
    given: Sequence[str] = ()
    coded: str = ""
    components: str = ""
    loops: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """What it calls the columns that it writes, squashed."""
        return _squashed([*self.signature, *self.written])

    def signs(self, known: frozenset[str]) -> int:
        """How many of the names by which it is recognized are there, squashed; 0 for too few."""
        signature = _squashed(self.signature)
        # An id, a name and an address may be those of any table.
        clear = known & (signature - _squashed(self.common))
        n = len(known & signature)
        return n if clear and n >= self.least else 0

    def signs_in(self, columns: Iterable[str]) -> bool:
        """Whether some columns are those of a file that it wrote."""
        return self.signs(_squashed(columns)) > 0

    def writes(self, column: str) -> bool:
        """Whether it fills a column itself."""
        if self.loops and re.search("".join(self.loops.split("\n")), column):
            return True
        return squashed(column) in self.names

    def column(self, table: Table, names: Iterable[str]) -> str:
        """The first column of a table with one of some names; empty if there is none."""
        columns = {squashed(name): name for name in reversed(table.columns)}
        return next((columns[key] for key in map(squashed, names) if key in columns), "")

    def left_out(self, table: Table) -> dict[int, RowRule]:
        """The rows of a table that have no answer of a person, by index, each with its rule."""
        found: dict[int, RowRule] = {}
        for rule in self.rows:
            column = self.column(table, rule.column)
            if not column:
                continue
            other = self.column(table, [rule.unless]) if rule.unless else ""
            said = table.stripped(other) if other else ()
            cells = {*map(str.casefold, table.stripped(column))} if rule.beside else ()
            for row, cell in enumerate(table.cells[column]):
                if row not in found and rule.fits(cell, cells) and not (said and said[row]):
                    found[row] = rule
        return found


@cache
def programs() -> Mapping[str, Program]:
    """All entries, by their names."""
    text = files("cimento.intake").joinpath("forms.toml").read_text(encoding="utf-8")
    return {name: _program(name, entry) for name, entry in tomllib.loads(text).items()}


def _program(name: str, entry: dict[str, Any]) -> Program:
    rows = [RowRule(**rule) for rule in entry.pop("rows", ())]
    return Program(name=name, rows=rows, roles=entry.pop("roles", {}), **entry)


def program_of(table: Table) -> Program | None:
    """The program that wrote a table; None if none is recognized.

    Args:
        table: the table. A column of times must hold times, where it alone is the signature.
    """
    known = _squashed(table.columns)
    signs = {program: program.signs(known) for program in programs().values()}
    best = max(signs, key=lambda program: signs[program])
    if signs[best] == 1:
        column = best.column(table, best.signature)
        return best if table.profile(column).kind in ("moments", "nothing") else None
    return best if signs[best] else None


def is_stamp(column: str) -> bool:
    """Whether a column is called as the times in answers to an online form of Google's."""
    return squashed(column) in _squashed(programs()["google"].signature)

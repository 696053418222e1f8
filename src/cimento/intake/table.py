"""A table: the names of its columns and the cells below them, all as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, pairwise

from cimento.errors import InputError
from cimento.intake.names import short_names
from cimento.intake.profile import Profile, profile
from cimento.intake.words import HEADERS, NUMBERS, SETS, STIMULI

_TEXTS = ("sentence", "text")
_LEAST_TIMES = 4
"""Times that each word of a column is in it, in the mean, if these are levels of a factor."""
_LINE_BREAK = re.compile(r"\s*[\r\n]+\s*")


def place_of_row(name: str, number: int) -> str:
    """The place of a row in a table, for messages."""
    return f"{name} row {number}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        number: number in a spreadsheet program, in which the header line is row 1.
        cells: text of each column, unchanged from the file.
    """

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A table with a header line.

    Attributes:
        name: name of the file.
        columns: names of the columns, from the header.
        numbers: numbers of the rows that are not empty, as in a spreadsheet program.
        cells: the cells of each column in these rows.
        left_out: the rows of the file that are not part of the table: number, and what it is.
        origin: what the file calls the columns that have another name here.
        chosen: the columns here whose role somebody has chosen.
        forced: those of them that have it whatever their cells hold.
        factors: the columns that somebody has chosen as factors, which keep their names.
        conditions: those that somebody has chosen as sentences of a condition each, likewise.
    """

    name: str
    columns: tuple[str, ...]
    numbers: Sequence[int]
    cells: Mapping[str, Sequence[str]]
    left_out: tuple[tuple[int, str], ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()
    forced: frozenset[str] = frozenset()
    factors: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    _profiles: dict[int, tuple[Sequence[str], Profile]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What columns hold, by the identity of their cells, which other tables of the file share."""

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows that are not empty."""
        parts = zip(*(self.cells[name] for name in self.columns), strict=True)
        rows = zip(self.numbers, parts, strict=True)
        return tuple([Row(n, dict(zip(self.columns, cells, strict=True))) for n, cells in rows])

    def where(self, row: Row) -> str:
        """The place of a row, for messages."""
        return place_of_row(self.name, row.number)

    def need(self, *names: str, todo: str) -> None:
        """Refuse a table without one of some columns.

        Args:
            names: the columns.
            todo: the advice of the error.

        Raises:
            InputError: a column is missing.
        """
        for name in names:
            if name not in self.columns:
                seen = f"there is no column {name!r}"
                raise InputError(where=self.name, seen=seen, todo=todo)

    def find(self, *names: str) -> str | None:
        """The column of the first of some names that has one; None if none has.

        Capitals are ignored if no column has exactly the name. Otherwise, a column with the name's
        translation into a language of `HEADERS` counts.
        """
        for name in filter(None, names):
            if name == "text" and "sentence" in self.chosen:
                return "sentence"  # no other column called a text is that of the sentences
            if name in self.columns:
                return name
            folded = short_names(self.columns)
            for word in (name, *HEADERS.get(name, ())):
                if word in folded and self._may_be(folded[word], word, name):
                    return folded[word]
        return None

    def has(self, *names: str) -> bool:
        """Whether there is a column of each of some names."""
        return all(map(self.find, names))

    def stripped(self, column: str) -> list[str]:
        """The cells of a column without surrounding blanks."""
        return [cell.strip() for cell in self.cells[column]]

    def is_mostly(self, column: str, fits: Callable[[str], bool]) -> bool:
        """Whether most cells of a column that are not empty are of a kind."""
        cells = list(filter(None, self.stripped(column)))
        return 2 * sum(map(fits, cells)) > len(cells)

    def profile(self, column: str) -> Profile:
        """What a column holds."""
        cells = self.cells[column]
        known = self._profiles.get(id(cells))
        if known is None:
            known = self._profiles[id(cells)] = (cells, profile(cells))
        return known[1]

    def place(self, row: int) -> str:
        """The place of a row, given by its index, for messages."""
        return place_of_row(self.name, self.numbers[row])

    def with_cells(
        self, cells: Mapping[str, Sequence[str]], numbers: Sequence[int] | None = None
    ) -> Table:
        """A table of the same file with other columns, and perhaps with other rows."""
        numbers = self.numbers if numbers is None else numbers
        return replace(self, columns=tuple(cells), numbers=numbers, cells=cells)

    def beginning(self, n_rows: int, n_columns: int) -> Table:
        """The table with its first rows and columns alone."""
        cells = {name: self.cells[name][:n_rows] for name in self.columns[:n_columns]}
        return self.with_cells(cells, self.numbers[:n_rows])

    def without(self, rows: Mapping[int, str]) -> Table:
        """The table without some of its rows.

        Args:
            rows: what each is, such as ``a sum``, by its index.
        """
        kept = [row not in rows for row in range(len(self.numbers))]
        cells = {name: tuple(compress(self.cells[name], kept)) for name in self.cells}
        gone = [(self.numbers[row], what) for row, what in rows.items()]
        left_out = tuple(sorted([*self.left_out, *gone]))
        numbers = [*compress(self.numbers, kept)]
        return replace(self, numbers=numbers, cells=cells, left_out=left_out)

    def shown(self, column: str) -> str:
        """What the file calls a column."""
        return self.origin.get(column, column)

    def _may_be(self, column: str, word: str, role: str) -> bool:
        """Whether a column is what the word that it is called by says: its cells decide.

        Sets are items only if they are numbered, stimuli are items or sentences, what has numbers
        goes through the items, and the kinds of clauses beside sentences are none.
        """
        if column.casefold() in SETS:
            return all(any(map(str.isdigit, cell)) for cell in self.cells[column] if cell.strip())
        if role in _TEXTS and self._are_levels(column):
            return False
        if word in STIMULI:
            kinds = ("numbers", "codes") if role == "item" else ("words", "sentences")
            return self.profile(column).kind in ("nothing", *kinds)
        return word not in NUMBERS or role != "item" or self._numbers_items(column, word)

    def _are_levels(self, column: str) -> bool:
        """Whether a few words come again and again in a column, beside one of sentences."""
        own = self.profile(column)
        return (
            own.kind == "words"
            and own.n_distinct * _LEAST_TIMES <= own.n
            and any(
                other.kind == "sentences" and other.n_distinct * 2 > other.n
                for other in map(self.profile, self.columns)
            )
        )

    def _numbers_items(self, column: str, word: str) -> bool:
        """Whether the cells of a column go through the items, and are not numbers of people."""
        of_column = self.profile(column)
        if len(word) == 1 and word.isalpha():
            return of_column.kind == "nothing" or of_column.counts
        if of_column.kind != "numbers":
            return True
        cells = self.stripped(column)
        blocks = 1 + sum(before != after for before, after in pairwise(cells))
        in_blocks = blocks == of_column.n_distinct > 1
        is_first = of_column.low in (0, 1)
        is_apart = of_column.n == of_column.n_distinct
        return of_column.whole and (is_first or is_apart or of_column.counts or in_blocks)


class NotText(str):
    """The cell of a value that is not text: a number, true or false, a list or an object."""

    __slots__ = ()


def as_cell(value: object) -> str:
    """A value of JSON or of a data frame as the text of a cell; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return NotText(json.dumps(value, ensure_ascii=False, default=str))


def column_name(cell: str) -> str:
    """The name of a column, in one line."""
    return _LINE_BREAK.sub(" ", cell.strip())

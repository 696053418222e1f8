"""Typed cells of published tables of rated sentences, and of suites of ratings."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import InputError, counted
from cimento.suites.tables import HEADERS, Row, Table

_ABSENT = {"", "na", "nan", "none", "null", "-"}
_TRUE = {"1", "1.0", "true", "yes", "sì", "si", "vero"}
_FALSE = {"0", "0.0", "false", "no", "falso"}
_SHOWN = 3
_LARGEST = 1e100
"""The largest number in a cell, beyond which squares overflow; the limit also excludes NaN."""


def need_columns(table: Table, columns: Sequence[str]) -> None:
    """Refuse a table that lacks columns.

    Raises:
        InputError: columns are missing; all of them are named.
    """
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(
            where=table.name,
            seen=f"the column {', '.join(missing)} is missing;"
            f" there are {', '.join(table.columns)}",
            todo="Is it a file of this format?",
        )


def text_of(row: Row, column: str) -> str:
    """A cell as text, normalized to NFC and stripped; empty if there is no cell."""
    return unicodedata.normalize("NFC", row.cells.get(column, "")).strip()


def number_of(table: Table, row: Row, column: str) -> float | None:
    """A cell as a number; ``3``, ``3.0`` and ``3,0`` are equal. None for an empty cell.

    Raises:
        InputError: the cell is not a number.
    """
    text = text_of(row, column)
    return None if text.casefold() in _ABSENT else _number(text, table, row, column)


def count_of(table: Table, row: Row, column: str) -> int | None:
    """A cell as a whole number, which may be written ``16.0``; None for an empty cell.

    Raises:
        InputError: the cell is not a whole number from 0.
    """
    value = number_of(table, row, column)
    if value is not None and (value < 0 or not value.is_integer()):
        raise _wrong(table, row, column, "a whole number")
    return None if value is None else int(value)


def numbers_of(table: Table, row: Row, column: str) -> list[float]:
    """A cell as a list of numbers, separated by commas, semicolons or spaces.

    Raises:
        InputError: a part of the cell is not a number.
    """
    parts = [part for part in re.split(r"[,;\s]+", text_of(row, column).strip("[]()")) if part]
    return [_number(part, table, row, column) for part in parts]


def flag_of(table: Table, row: Row, column: str) -> bool | None:
    """A cell as yes or no, in any of the usual spellings. None for an empty cell.

    Raises:
        InputError: the cell is neither.
    """
    text = text_of(row, column).casefold()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _ABSENT:
        return None
    raise _wrong(table, row, column, "yes or no, 1 or 0")


def refuse_repeated(ids: Iterable[str], *, where: str) -> None:
    """Refuse repeated ids.

    Raises:
        InputError: ids are repeated; the first ones are named.
    """
    seen: set[str] = set()
    repeated = []
    for name in ids:
        if name in seen:
            repeated.append(name)
        seen.add(name)
    if repeated:
        more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
        raise InputError(
            where=where,
            seen=f"ids are there twice: {', '.join(repeated[:_SHOWN])}{more}",
            todo="Give every sentence an id of its own.",
        )


def not_nfc(table: Table) -> tuple[str, ...]:
    """A warning about cells that were not in NFC and have been normalized, if there are any."""
    count = sum(
        not unicodedata.is_normalized("NFC", cell)
        for row in table.rows
        for cell in row.cells.values()
    )
    if not count:
        return ()
    return (f"{table.name}: {counted(count, 'cell was', 'cells were')} not NFC and normalized",)


def _number(text: str, table: Table, row: Row, column: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = math.nan
    if not abs(value) <= _LARGEST:
        raise _wrong(table, row, column, "a number")
    return value


def _wrong(table: Table, row: Row, column: str, expected: str) -> InputError:
    return InputError(
        where=table.where(row),
        seen=f"{column} is {row.cells.get(column, '')!r} and not {expected}",
        todo="Correct the cell.",
    )


OWN_COLUMNS = (
    "rating",
    "rating_sd",
    "rating_n",
    "ratings",
    "participants",
    "label",
    "grammaticality",
)
"""Columns of a suite that contain ratings and labels; all others are free."""


@dataclass(frozen=True, slots=True)
class ConditionColumns:
    """The free columns of one condition, typed."""

    where: str
    cells: Mapping[str, str]

    def get(self, name: str) -> str:
        """The cell of a column, stripped; empty if there is no such column."""
        return self.cells.get(self.find(name), "").strip()

    def find(self, name: str) -> str:
        """The column with a name, or with its translation into one of the languages of tables."""
        if name in self.cells or name not in HEADERS:
            return name
        folded = {column.casefold(): column for column in self.cells}
        return next((folded[word] for word in HEADERS[name] if word in folded), name)

    @property
    def own(self) -> frozenset[str]:
        """The columns that contain ratings and labels."""
        return frozenset(map(self.find, OWN_COLUMNS))

    def texts(self, name: str) -> list[str]:
        """The parts of a cell, separated by semicolons if it has any, and by commas otherwise."""
        # If semicolons separate numbers, commas are decimal commas: 6,5; 7.
        mark = ";" if ";" in self.get(name) else ","
        return [part.strip() for part in self.get(name).split(mark) if part.strip()]

    def number(self, name: str) -> float | None:
        """A cell as a number; None for an empty one.

        Raises:
            InputError: the cell is not a number.
        """
        return self._number(name, self.get(name)) if self.get(name) else None

    def numbers(self, name: str) -> list[float]:
        """The parts of a cell as numbers.

        Raises:
            InputError: a part is not a number, or there are not as many ratings as participants.
        """
        values = [self._number(name, part) for part in self.texts(name)]
        people = self.texts("participants")
        if name == "ratings" and people and len(people) != len(values):
            raise InputError(
                where=self.where,
                seen=f"there are {len(values)} ratings and {len(people)} participants",
                todo="Give every rating its participant, or leave the participants out.",
            )
        return values

    def whole(self, name: str) -> int | None:
        """A cell as a whole number from 0; None for an empty cell.

        Raises:
            InputError: the cell is not such a number.
        """
        value = self.number(name)
        if value is not None and not (value.is_integer() and value >= 0):
            raise self._wrong(name, self.get(name), "a whole number")
        return None if value is None else int(value)

    def flag(self, name: str) -> bool | None:
        """A cell as yes or no; None for an empty one.

        Raises:
            InputError: the cell is neither.
        """
        text = self.get(name).casefold()
        if text not in {"", "yes", "no"}:
            raise self._wrong(name, self.get(name), "yes or no")
        return text == "yes" if text else None

    def _number(self, name: str, text: str) -> float:
        try:
            return float(text.replace(",", "."))
        except ValueError:
            raise self._wrong(name, text, "a number") from None

    def _wrong(self, name: str, text: str, expected: str) -> InputError:
        return InputError(
            where=self.where, seen=f"the {name} is {text!r}, not {expected}", todo="Correct it."
        )

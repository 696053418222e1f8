"""Typed cells of published tables of rated sentences, and of suites of ratings."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import InputError, counted
from cimento.intake.names import without_noun
from cimento.intake.profile import ABSENT, is_absent
from cimento.intake.table import Row, Table
from cimento.intake.words import HEADERS

_YES_OR_NO = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "sì", "si", "vero"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", "falso"), False),
}
_SHOWN = 3
_RATING_OVER_SCALE = re.compile(r"[0-9.,]+ ?/ ?[0-9]+")
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


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row or condition, typed.

    Attributes:
        where: place of the row, for messages.
        cells: text of each column.
    """

    where: str
    cells: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, row: Row) -> Cells:
        """The cells of a row of a table."""
        return cls(table.where(row), row.cells)

    def find(self, name: str) -> str:
        """The column with a name, or with its translation into one of the languages of tables."""
        if name in self.cells or name not in HEADERS:
            return name
        folded = {without_noun(column): column for column in self.cells}
        folded |= {column.casefold(): column for column in self.cells}
        words = (name, *HEADERS[name])
        return next((folded[word] for word in words if word in folded), name)

    def text(self, name: str) -> str:
        """A cell, normalized to NFC and stripped; empty if there is no such column."""
        return unicodedata.normalize("NFC", self.cells.get(self.find(name), "")).strip()

    def texts(self, name: str) -> list[str]:
        """The parts of a cell, separated by semicolons if it has any, and by commas otherwise."""
        text = self.text(name).strip("[]()")
        # If semicolons separate numbers, commas are decimal commas: 6,5; 7.
        parts = text.split(";" if ";" in text else ",")
        return [part.strip() for part in parts if part.strip()]

    def number(self, name: str) -> float | None:
        """A cell as a number; ``3``, ``3.0``, ``3,0`` and ``3%`` are equal. None for an empty cell.

        Raises:
            InputError: the cell is not a number.
        """
        text = self.text(name)
        return None if text.casefold() in ABSENT else self._number(name, text)

    def answers(self, name: str, who: str = "") -> tuple[list[float], list[str]]:
        """The parts of a cell as numbers, which blanks may separate too, and who gave each.

        Parts such as NA, and the people behind them, are left out.

        Args:
            name: name of the column.
            who: name of the column of the people who gave the numbers; empty without one.

        Returns:
            The numbers, and the people in the same order; nobody if they are unknown.

        Raises:
            InputError: a part is not a number, or there are not as many numbers as people.
        """
        parts = [part for text in self.texts(name) for part in text.split()]
        given = [place for place, part in enumerate(parts) if not is_absent(part)]
        values = [self._number(name, parts[place]) for place in given]
        people = self.texts(who) if who else []
        if people and len(people) != len(parts):
            raise InputError(
                where=self.where,
                seen=f"there are {len(parts)} ratings and {len(people)} participants",
                todo="Give every rating its participant, or leave the participants out.",
            )
        return values, [people[place] for place in given] if people else []

    def whole(self, name: str) -> int | None:
        """A cell as a whole number from 0, which may be written ``16.0``; None for an empty cell.

        Raises:
            InputError: the cell is not such a number.
        """
        value = self.number(name)
        if value is not None and not (value.is_integer() and value >= 0):
            raise self._wrong(name, self.text(name), "a whole number")
        return None if value is None else int(value)

    def flag(self, name: str) -> bool | None:
        """A cell as yes or no, in any of the usual spellings; None for an empty cell.

        Raises:
            InputError: the cell is neither.
        """
        text = self.text(name).casefold()
        if text not in _YES_OR_NO and text not in ABSENT:
            raise self._wrong(name, self.text(name), "yes or no")
        return _YES_OR_NO.get(text)

    def _number(self, name: str, text: str) -> float:
        try:
            value = float(text.removesuffix("%").replace(",", "."))
        except ValueError:
            value = math.nan
        if not abs(value) <= _LARGEST:
            raise self._wrong(name, text, "a number")
        return value

    def _wrong(self, name: str, text: str, expected: str) -> InputError:
        return InputError(
            where=self.where,
            seen=f"the {self.find(name)} is {text!r}, not {expected}",
            todo="Write the number before the slash, and the ends of the scale behind the name of"
            " the column: rating (1-7)."
            if _RATING_OVER_SCALE.fullmatch(text)
            else "Correct it, or leave the cell empty.",
        )


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

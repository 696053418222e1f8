"""Typed cells of the tables that rated sentences are published in."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

from cimento.errors import InputError
from cimento.paradigms.ratings.suite import RatedSentence
from cimento.suites.tables import Row, Table

_ABSENT = {"", "na", "nan", "none", "null", "-"}
_TRUE = {"1", "1.0", "true", "yes", "sì", "si", "vero"}
_FALSE = {"0", "0.0", "false", "no", "falso"}
_SHOWN = 3
_LARGEST = 1e100
"""The largest number in a cell: beyond it squares overflow; it also excludes NaN."""


def need_columns(table: Table, columns: Sequence[str]) -> None:
    """Refuse a table that lacks columns.

    Raises:
        InputError: some are not; all of them are named.
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
    """A cell as text: normalised to NFC, without blanks at its ends; empty where there is none."""
    return unicodedata.normalize("NFC", row.cells.get(column, "")).strip()


def number_of(table: Table, row: Row, column: str) -> float | None:
    """A cell as a number; ``3`` and ``3.0`` and ``3,0`` are the same. None for an empty cell.

    Raises:
        InputError: it is none.
    """
    text = text_of(row, column)
    return None if text.casefold() in _ABSENT else _number(text, table, row, column)


def count_of(table: Table, row: Row, column: str) -> int | None:
    """A cell as a whole number, which may be written ``16.0``.

    Raises:
        InputError: it is none.
    """
    value = number_of(table, row, column)
    if value is not None and (value < 0 or not value.is_integer()):
        raise _wrong(table, row, column, "a whole number")
    return None if value is None else int(value)


def numbers_of(table: Table, row: Row, column: str) -> list[float]:
    """A cell as a list of numbers with commas, semicolons or blanks between them.

    Raises:
        InputError: one of them is none.
    """
    parts = [part for part in re.split(r"[,;\s]+", text_of(row, column).strip("[]()")) if part]
    return [_number(part, table, row, column) for part in parts]


def flag_of(table: Table, row: Row, column: str) -> bool | None:
    """A cell as yes or no, in the ways that people write them. None for an empty cell.

    Raises:
        InputError: it is neither.
    """
    text = text_of(row, column).casefold()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _ABSENT:
        return None
    raise _wrong(table, row, column, "yes or no, 1 or 0")


def refuse_repeated(sentences: Iterable[RatedSentence], *, where: str) -> None:
    """Refuse repeated ids.

    Raises:
        InputError: some are not; the first are named.
    """
    seen: set[str] = set()
    repeated = []
    for sentence in sentences:
        if sentence.id in seen:
            repeated.append(sentence.id)
        seen.add(sentence.id)
    if repeated:
        more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
        raise InputError(
            where=where,
            seen=f"ids are there twice: {', '.join(repeated[:_SHOWN])}{more}",
            todo="Give every sentence an id of its own.",
        )


def not_nfc(table: Table) -> tuple[str, ...]:
    """A warning where letters and their accents are written apart; they were put together."""
    count = sum(
        not unicodedata.is_normalized("NFC", cell)
        for row in table.rows
        for cell in row.cells.values()
    )
    if not count:
        return ()
    return (f"{table.name}: {count} cells were not NFC and have been normalised",)


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

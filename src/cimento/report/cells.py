"""Cells of tables: the text that people see, and the values behind it, which programs read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, TypeAlias

CellValue: TypeAlias = "str | float | bool | None"
"""What programs read: a text, a number, a truth value, or null where nothing is defined."""

LOW, HIGH, N, REASON = "_low", "_high", "_n", "_reason"
"""Endings of the names of columns for both ends of an interval, its n, and why one is null."""
PERCENT = "percent"
MARKS = frozenset({"", "-", "–"})
"""Texts of cells that stand for no value."""

SMALLEST_SHOWN_P = 0.001


class Shown(str):
    """The text of a cell, which keeps the values behind it.

    Attributes:
        parts: the ending of a column's name, mapped to the value in that column; the ending of the
            main value is empty.
        unit: unit of the main value and of its interval, as names of columns have it; or empty.
    """

    __slots__ = ("parts", "unit")
    parts: Mapping[str, CellValue]
    unit: str

    def __new__(
        cls, text: str, parts: Mapping[str, CellValue] | CellValue = None, unit: str = ""
    ) -> Self:
        """The text of a cell with its values.

        Args:
            text: what people see.
            parts: the values by the endings of their columns, or the only value.
            unit: unit of the main value; or empty.
        """
        new = super().__new__(cls, text)
        new.parts = parts if isinstance(parts, Mapping) else {"": parts}
        new.unit = unit
        return new


def shown(value: float | None, text: str, *, absent: str, unit: str = "") -> Shown:
    """A number in a cell; a text in its place, other than a dash, is the reason why it is null.

    Args:
        value: the number; None if it is undefined.
        text: the number as people see it.
        absent: what they see if it is undefined.
        unit: unit of the number; or empty.
    """
    if value is not None:
        return Shown(text, value, unit)
    reason: dict[str, CellValue] = {} if absent in MARKS else {REASON: absent}
    return Shown(absent, {"": None, **reason}, unit)


def count(number: int | None, *, thousands: bool = False, absent: str = "-") -> Shown:
    """A whole number in a cell.

    Args:
        number: the number; None if it is unknown.
        thousands: whether people see commas between thousands.
        absent: what they see if it is unknown.
    """
    text = "" if number is None else f"{number:,}" if thousands else str(number)
    return shown(number, text, absent=absent)


def printed(text: str, *, unit: str = "") -> str:
    """A number as somebody else printed it, with its digits; anything else stays a text.

    Args:
        text: the number as it was printed.
        unit: unit of the number; or empty.
    """
    try:
        return Shown(text, float(text), unit)
    except ValueError:
        return Shown(text, None, unit) if text in MARKS else text


def repeated(cell: str) -> Shown:
    """A label that people see in the row above; programs read it in every row."""
    return Shown("", parts_of(cell))


def label_of(cell: object) -> str:
    """The text of a cell; of a repeated label, the text that people see in the row above."""
    return str(cell) or (str(cell.parts.get("") or "") if isinstance(cell, Shown) else "")


def parts_of(cell: str) -> Mapping[str, CellValue]:
    """The values behind a cell, by the endings of their columns."""
    return cell.parts if isinstance(cell, Shown) else {"": cell}


def ends(low: float, high: float, text: str) -> Shown:
    """Both ends of an interval in one cell; programs read them in two columns."""
    return Shown(text, {LOW: low, HIGH: high})


def lower(end: str) -> Shown:
    """The lower end of the interval of the number to the left, in a column of its own."""
    return Shown(end, {LOW: parts_of(end)[""]})


def upper(end: str) -> Shown:
    """The upper end likewise."""
    return Shown(end, {HIGH: parts_of(end)[""]})


def no_ends(absent: str) -> Shown:
    """The cell of an interval that there is none of; a text other than a dash is the reason."""
    reason: dict[str, CellValue] = {} if absent in MARKS else {REASON: absent}
    return Shown(absent, {LOW: None, HIGH: None, **reason})


class PValue(Shown):
    """A p-value in a column of a table, with two significant digits.

    Attributes:
        p: the value.
        printed: the form in papers: ``.012``, ``< .001``.
    """

    __slots__ = ("p", "printed")
    p: float
    printed: str

    def __new__(cls, p: float) -> Self:
        """The text of a p-value."""
        new = super().__new__(cls, f"{p:.2g}", p)
        new.p = p
        small = p < SMALLEST_SHOWN_P
        new.printed = "< .001" if small else f"{p:.3f}".replace("0.", ".", 1)
        return new

    def __getnewargs__(self) -> tuple[float]:  # type: ignore[override]
        """What copies are made from."""
        return (self.p,)

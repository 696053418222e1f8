"""Dates, times and durations in cells of workbooks, which are numbers in a style."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cimento.errors import Fault
from cimento.faults import fault
from cimento.io.parsing import MOST_FAULTS

_DATES = frozenset({*range(14, 23), *range(45, 48)})
_DURATION = 46
_NOT_SHOWN = re.compile(r'"[^"]*"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]', re.IGNORECASE)
_DATE_MARK = re.compile(r"(?<![_\\])[dmhys]", re.IGNORECASE)
_DURATION_MARK = re.compile(r"\[(?:hh?|mm?|ss?)\]", re.IGNORECASE)


class Moment(str):
    """The parts of a date, a time or a duration, for display."""

    __slots__ = ()


def date_kind(number: int, code: str | None) -> bool | None:
    """Whether a number format is one of durations; None if it is not one of dates."""
    if code is None:
        return number == _DURATION if number in _DATES else None
    first = _NOT_SHOWN.sub("", code.partition(";")[0])
    if _DURATION_MARK.search(first):
        return True
    return False if _DATE_MARK.search(first) else None


def moment_of(days: float, epoch: datetime, *, is_duration: bool) -> Moment:
    """The date, time or duration denoted by a number of days."""
    if is_duration:
        return Moment(timedelta(milliseconds=round(days * 86_400_000)))
    whole, part = divmod(days, 1)
    rest = timedelta(milliseconds=round(part * 86_400_000))
    if 0 <= days < 1 and not rest.days:
        return Moment((epoch + rest).time())
    if 0 < days < 60 and epoch.year == 1899:  # noqa: PLR2004  # Excel has a 29 February 1900
        whole += 1
    return Moment(epoch + timedelta(days=whole) + rest)


@dataclass(slots=True)
class DateCells:
    """The cells of a sheet that hold dates or times.

    In a column of nothing else below its heading they are what was meant, such as the days of
    answers. Among texts, a program has taken something else for a date, such as 3-4.
    """

    _texts: set[int] = field(default_factory=set)
    _mixed: set[int] = field(default_factory=set)
    _dates: dict[int, list[tuple[int, Moment]]] = field(default_factory=dict)

    def add(self, row: int, cells: Mapping[int, str]) -> None:
        """Add the cells of a row, by their columns."""
        for column, value in cells.items():
            if isinstance(value, Moment):
                dates = self._dates.setdefault(column, [])
                if len(dates) < MOST_FAULTS:
                    dates.append((row, value))
            elif column in self._texts:
                self._mixed.add(column)
            else:
                self._texts.add(column)

    def faults(self, name: str) -> list[Fault]:
        """The faults of dates among texts or without a heading, in the order of rows.

        Args:
            name: name of the file.
        """
        plain = self._texts - self._mixed
        mixed = (date for column, dates in self._dates.items() if column not in plain
                 for date in dates)  # fmt: skip
        todo = "Format the column as text and type the cell again."
        return [
            fault(
                "CIM-S003",
                where=f"{name} row {row}",
                seen=f"A cell holds {value}, which is a date or a time and not text.",
                todo=todo,
            )
            for row, value in sorted(mixed)
        ]

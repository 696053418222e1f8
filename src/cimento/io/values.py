"""Values, or the reasons why there are none; groups; sums in a fixed order; ragged columns.

The order of additions decides which sentences tie. All sums here go from left to right.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

    Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    Flags: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

Record = TypeVar("Record")
Key = TypeVar("Key")
Unit: TypeAlias = Literal["bits", "nats"]
"""The unit of information."""

NOT_STATED = "not stated"
"""What is printed for a license, a language or another fact that nobody states."""
BITS_PER_NAT = 1 / math.log(2)


@dataclass(frozen=True, slots=True)
class NoValue:
    """The reason in place of an undefined value."""

    reason: str


Value: TypeAlias = "float | NoValue"
"""A number, or why there is none."""


def surprisal_bits(logprob_nats: float) -> float:
    """Surprisal in bits of a log-probability in nats: ``-log2 P`` (Hale 2001)."""
    return (0.0 - logprob_nats) * BITS_PER_NAT


def total(values: Sequence[float]) -> float:
    """The float64 sum from left to right, each step rounded; 0 for no values.

    The order of additions decides which sentences tie. Python's `sum` (which compensates from 3.12
    on) and numpy's (which adds in pairs) round differently.
    """
    return functools.reduce(operator.add, values, 0.0)


def grouped(pairs: Iterable[tuple[Key, Record]]) -> dict[Key, list[Record]]:
    """The values of each key, both in the order in which they first come.

    Example:
        >>> grouped([("a", 1), ("b", 2), ("a", 3)])
        {'a': [1, 3], 'b': [2]}
    """
    groups: dict[Key, list[Record]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def group_by(records: Iterable[Record], key: Callable[[Record], Key]) -> dict[Key, list[Record]]:
    """The records with each key, in order; the keys in the order of their first records."""
    return grouped((key(record), record) for record in records)


Numbers: TypeAlias = tuple[float, ...]
"""Numbers of one sentence, one per token."""


class UndefinedValueError(Exception):  # it is not an error that a measure is undefined
    """The signal that a measure has no value for a sentence, with the reason as its message."""


def totals(values: Floats, offsets: Integers) -> Floats:
    """The sum of each segment of an array, added in the order of `total`.

    All sums advance together: first the first values of all segments are added, then the second
    ones. So each sum is taken from left to right, which none of numpy's own sums guarantees.

    Args:
        values: the values, one segment after the other.
        offsets: index of each segment's first value, and the number of values at the end.
    """
    import numpy as np

    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    first, descending = offsets[:-1][order], -lengths[order]
    sums = np.zeros(len(lengths))
    for step in range(int(lengths.max(initial=0))):
        longer = int(np.searchsorted(descending, -step))
        sums[:longer] += values[first[:longer] + step]
    in_order = np.empty_like(sums)
    in_order[order] = sums
    return in_order


def stretches(first: Integers, lengths: Integers) -> Integers:
    """The indices of some ranges, one range after the other.

    Args:
        first: first index of each range.
        lengths: number of indices in each range.
    """
    import numpy as np

    before = np.cumsum(lengths) - lengths
    places: Integers = np.arange(int(lengths.sum())) + np.repeat(first - before, lengths)
    return places


class Reasons:
    """The reasons for missing values, numbered by first use; -1 stands for no reason."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        """The number of a reason, which is added if it is new."""
        return self._numbers.setdefault(reason, len(self._numbers))

    def texts(self) -> tuple[str, ...]:
        """The reasons in the order of their numbers."""
        return tuple(self._numbers)

    def after(self, beginning: str, numbers: Integers) -> Integers:
        """The numbers of the same reasons with a text put before them; -1 stays -1."""
        import numpy as np

        texts = self.texts()
        known, places = np.unique(numbers, return_inverse=True)
        longer = [n if n < 0 else self.number(beginning + texts[n]) for n in known.tolist()]
        return np.array(longer, dtype=np.int64)[places]


CellT = TypeVar("CellT")


@dataclass(slots=True)
class FreeCells(Generic[CellT]):
    """The cells of free columns, gathered row by row."""

    _cells: dict[str, list[CellT | None]] = field(default_factory=dict)
    _rows: int = 0

    def add(self, row: Mapping[str, CellT]) -> None:
        """Add the cells of a row, which may lack some columns."""
        cells = self._cells
        if row.keys() != cells.keys():  # nearly all rows have the same columns
            for name in cells.keys() - row.keys():
                cells[name].append(None)
            for name in row:
                if name not in cells:
                    cells[name] = [None] * self._rows
        for name, cell in row.items():
            cells[name].append(cell)
        self._rows += 1

    def extend(self, rows: Sequence[Mapping[str, CellT]]) -> None:
        """Add the cells of some rows, in the columns' order where they have the same ones."""
        if not self._rows and rows:
            self._cells = {name: [] for name in rows[0]}
        if set(map(tuple, rows)) <= {tuple(self._cells)}:
            columns = zip(*[row.values() for row in rows], strict=True)
            for cells, more in zip(self._cells.values(), columns, strict=False):
                cells.extend(more)
            self._rows += len(rows)
        else:
            for row in rows:
                self.add(row)

    def columns(self) -> Mapping[str, Sequence[CellT | None]]:
        """The cells of each column; None in the rows that lack it."""
        return self._cells

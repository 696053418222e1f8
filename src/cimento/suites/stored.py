"""Items that stand in a temporary file instead of memory: a suite may have as many as it likes.

A row is one condition of one item, as in the tables that people write. What is held of the items
are numbers, some twenty bytes each; the file goes when nobody has them any more.
"""

from __future__ import annotations

import json
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import IO, TypeAlias, cast, overload

from cimento.scratch import needing_room
from cimento.suites.model import NOTHING, Condition, Item, JsonValue, Region
from cimento.suites.repeats import Hashes

_TOGETHER = 64
"""Items that are read from the file at once."""
FEW = 2048
"""Items that are better held: a few megabytes, and gone through several times as fast."""
_SMALL = 1 << 16
"""Bytes that are no file yet: a program may have only so many files open, and many suites."""

_Record: TypeAlias = "list[JsonValue]"
_Region: TypeAlias = tuple[str, bool] | tuple[str, bool, dict[str, JsonValue]]
_Row: TypeAlias = tuple[
    str, dict[str, JsonValue], str, list[str | _Region], dict[str, str], dict[str, JsonValue]
]
_Names: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

# Not as ASCII: two halves of a surrogate pair would come back from their escapes as one character.
_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class _Room:
    """A temporary file, closed when nobody has it any more."""

    def __init__(self) -> None:
        # Kept open by whoever reads from it; its room is free again when it is closed.
        spooled = tempfile.SpooledTemporaryFile(_SMALL, prefix="cimento-")  # noqa: SIM115
        self._file = cast("IO[bytes]", spooled)
        weakref.finalize(self, self._file.close)

    def write(self, data: bytes) -> None:
        """Add to its end; only before anything is read."""
        with needing_room():
            self._file.write(data)

    def read(self, begin: int, end: int) -> bytes:
        """What stands there."""
        with needing_room():
            self._file.seek(begin)
            return self._file.read(end - begin)


class StoredItems(Sequence[Item]):
    """Items in a temporary file, in order; made by `ItemStore.items` or `store_items`.

    Going through them reads a few at a time; a slice without steps is as lean as the whole.
    """

    def __init__(
        self,
        room: _Room,
        rows: array[int],
        firsts: array[int],
        *,
        order: Sequence[int] = (),
        names: _Names | None = None,
    ) -> None:
        self._room = room
        self._rows = rows
        self._firsts = firsts
        self._order = order
        self._known = names

    def __len__(self) -> int:
        return len(self._firsts) - 1

    def __iter__(self) -> Iterator[Item]:
        for start in range(0, len(self), _TOGETHER):
            yield from self._read(start, min(start + _TOGETHER, len(self)))

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return tuple(self[number] for number in range(start, stop, step))
            firsts = self._firsts[start : max(start, stop) + 1]
            return StoredItems(self._room, self._rows, firsts, order=self._order)
        number = range(len(self))[index]
        return self._read(number, number + 1)[0]

    @property
    def ids(self) -> Iterator[str]:
        """The ids of the items, in order: quicker than the items."""
        for start in range(0, len(self), _TOGETHER):
            for records in self._records_of(start, min(start + _TOGETHER, len(self))):
                yield cast("str", records[0][0])

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The names of all conditions, in order of first appearance."""
        return self._names[0]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all free columns, in order of first appearance."""
        return self._names[1]

    @property
    def row_order(self) -> Sequence[int]:
        """The numbers of the rows, as they were added from 0 on, in the order of the items."""
        start, stop = self._firsts[0], self._firsts[-1]
        return self._order[start:stop] if self._order else range(start, stop)

    @cached_property
    def _names(self) -> _Names:
        if self._known is not None:
            return self._known
        conditions: dict[str, None] = {}
        columns: dict[str, None] = {}
        for item in self:
            for each in item.conditions:
                conditions[each.name] = None
                columns.update(dict.fromkeys(each.columns))
        return tuple(conditions), tuple(columns)

    def _read(self, start: int, stop: int) -> list[Item]:
        """Some items that follow each other."""
        return [_item(records) for records in self._records_of(start, stop)]

    def _records_of(self, start: int, stop: int) -> Iterator[list[_Record]]:
        """The rows of each of some items that follow each other."""
        first, last = self._firsts[start], self._firsts[stop]
        if self._order:
            records = [self._records(row, row + 1)[0] for row in self._order[first:last]]
        else:
            records = self._records(first, last)
        edges = (number - first for number in self._firsts[start : stop + 1])
        return (records[a:b] for a, b in pairwise(edges))

    def _records(self, first: int, last: int) -> list[_Record]:
        """Some rows that follow each other in the file."""
        data = self._room.read(self._rows[first], self._rows[last])
        # Ends of lines in a text are escapes, so what looks like one is the end of a record.
        lines = data.decode("utf-8", "surrogatepass").removesuffix("\n").replace("\n", ",")
        return cast("list[_Record]", json.loads(f"[{lines}]"))


class ItemStore:
    """Where items are put, a row at a time; rows of one item need not stand together."""

    def __init__(self) -> None:
        self._room = _Room()
        self._rows = array("Q", [0])
        self._firsts = array("Q")
        self._ids = Hashes()
        self._last: str | None = None
        self._conditions: dict[str, None] = {}
        self._columns: dict[str, None] = {}

    def add(
        self, item: str, condition: Condition | None, *, extra: Mapping[str, JsonValue] = NOTHING
    ) -> None:
        """Add a condition to an item; None for an item that has no conditions.

        Args:
            item: id of the item.
            condition: one of its conditions.
            extra: what another format said about the item; added to what was said before.

        Raises:
            StorageError: there is no room for it.
        """
        if item != self._last:
            self._firsts.append(len(self._rows) - 1)
            self._ids.add(item)
            self._last = item
        if condition is not None:
            self._conditions[condition.name] = None
            self._columns.update(dict.fromkeys(condition.columns))
        data = _write(_record(item, condition, extra)).encode("utf-8", "surrogatepass") + b"\n"
        self._room.write(data)
        self._rows.append(self._rows[-1] + len(data))

    def items(self) -> StoredItems:
        """The items, in order of first appearance; nothing is added afterwards."""
        firsts = array("Q", self._firsts)
        firsts.append(len(self._rows) - 1)
        names = tuple(self._conditions), tuple(self._columns)
        found = StoredItems(self._room, self._rows, firsts, names=names)
        if not self._ids.any_repeated():
            return found
        # The names may come in another order where items are put together.
        edges, order = _together(found, self._ids.values, firsts)
        return StoredItems(self._room, self._rows, edges, order=order)


def _together(
    parts: Sequence[Item], hashes: array[int], firsts: array[int]
) -> tuple[array[int], array[int]]:
    """The rows with those of each item together, where an item may be in several parts.

    Args:
        parts: of items, each with rows that follow each other.
        hashes: of the id of each part.
        firsts: the first row of each part, and the number of all rows.

    Returns:
        The number, in the second of the two, of the first row of each item, and the rows.
    """
    import numpy as np

    _, first, own = np.unique(np.asarray(hashes), return_index=True, return_inverse=True)
    leaders = first[own]
    del first, own
    if any(parts[leaders[n]].id != part.id for n, part in enumerate(parts) if leaders[n] != n):
        # Two ids with one hash: rare enough to take room for a table of all ids.
        known: dict[str, int] = {}
        leaders = np.array([known.setdefault(part.id, n) for n, part in enumerate(parts)])
    edges, order = array("Q"), array("Q")
    last = -1
    for part in np.argsort(leaders, kind="stable"):
        if leaders[part] != last:
            edges.append(len(order))
            last = leaders[part]
        order.extend(range(firsts[part], firsts[part + 1]))
    edges.append(len(order))
    return edges, order


def store_items(items: Iterable[Item]) -> StoredItems:
    """Items that are there already, put into a temporary file.

    Two items that follow each other need different ids, as all items of a valid suite have.

    Raises:
        StorageError: there is no room for temporary files.
    """
    store = ItemStore()
    for item in items:
        for number, condition in enumerate(item.conditions or (None,)):
            store.add(item.id, condition, extra=NOTHING if number else item.extra)
    return store.items()


def settled(items: Sequence[Item]) -> Sequence[Item]:
    """Items where they belong: in memory where there are few, else in a temporary file.

    Raises:
        StorageError: there is no room for temporary files.
    """
    if len(items) <= FEW:
        return tuple(items)
    return items if isinstance(items, StoredItems) else store_items(items)


def _record(item: str, condition: Condition | None, extra: Mapping[str, JsonValue]) -> _Record:
    if condition is None:
        return [item, dict(extra)]
    regions: list[JsonValue] = [
        [region.text, region.glued, dict(region.extra)]
        if region.extra
        else [region.text, True]
        if region.glued
        else region.text
        for region in condition.regions
    ]
    columns = cast("JsonValue", dict(condition.columns))
    return [item, dict(extra), condition.name, regions, columns, dict(condition.extra)]


def _item(records: Sequence[_Record]) -> Item:
    extra: dict[str, JsonValue] = {}
    for record in records:
        extra.update(cast("dict[str, JsonValue]", record[1]))
    conditions = tuple(_condition(record) for record in records if len(record) > 2)  # noqa: PLR2004  # id and extra
    return Item(cast("str", records[0][0]), conditions, extra or NOTHING)


def _condition(record: _Record) -> Condition:
    _, _, name, regions, columns, extra = cast("_Row", record)
    return Condition(name, tuple(map(_region, regions)), columns or NOTHING, extra or NOTHING)


@lru_cache(maxsize=1024)
def _plain_region(text: str) -> Region:
    """A region that has nothing but its text; the conditions of an item share most of theirs."""
    return Region(text)


def _region(value: str | _Region) -> Region:
    if isinstance(value, str):
        return _plain_region(value)
    text, glued, *extra = value
    return Region(text, glued, extra[0] if extra else NOTHING)

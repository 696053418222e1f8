r"""The table of items of the native format (docs/suite-format.md).

Bars separate regions, with a blank on each side or none; ``\|``, ``\t``, ``\n``, ``\r`` and ``\\``
stand for characters that a cell cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import TYPE_CHECKING

from cimento.errors import Fault
from cimento.io.parsing import parse_json
from cimento.suites.faults import fault
from cimento.suites.model import NOTHING, Condition, Item, JsonValue, Region
from cimento.suites.reading import place_of_row, strip_blanks
from cimento.suites.tables import Row, Table

if TYPE_CHECKING:
    from cimento.suites.schema import RowExtra


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_MEANINGS = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\|": "|"}
_PIECE = re.compile(r"\\.|\||[^\\|]+|\\$", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)


def escape(text: str) -> str:
    """A text escaped for a cell of a table without quoting."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


def unescape(text: str) -> str:
    """The text of an escaped cell; a backslash that escapes nothing stands for itself."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _MEANINGS.get(found[0], found[0]), text)


def lone_backslash(text: str) -> str:
    """The first backslash that escapes nothing, with the character after it; empty without any."""
    if "\\" not in text:
        return ""
    pieces = (piece for piece in _PIECE.findall(text) if piece.startswith("\\"))
    return next((piece for piece in pieces if piece not in _MEANINGS), "")


def write_regions(regions: Sequence[Region]) -> str:
    """The regions of a condition as one cell."""
    cell = ""
    for index, region in enumerate(regions):
        if index:
            cell += "|" if region.glued else " | "
        cell += escape(region.text).replace("|", "\\|")
    return cell


def read_regions(cell: str) -> tuple[tuple[Region, ...], list[str]]:
    """The regions that a cell holds.

    Args:
        cell: a cell written by hand or by `write_regions`.

    Returns:
        The regions, with any blanks besides those that belong to bars, and the texts around bars
        that have a blank on one side only.
    """
    raw = _between_bars(cell)
    glued = [False]
    doubtful = []
    taken = True  # a bar at the start of the cell needs no blank on its left
    for index in range(len(raw) - 1):
        left, right = raw[index], raw[index + 1]
        last = index == len(raw) - 2
        before, after = left[-1:].isspace(), right[:1].isspace()
        # A single blank between two bars belongs to the second, unless the first has one before.
        lent = after and not before and not last and len(right) == 1
        joined = lent or not (before or after)
        if not joined and before != after:
            edge = (taken and not left) or (last and not right)
            if not edge:
                doubtful.append(f"{left[-12:]}|{right[:12]}")
        if not joined:
            raw[index] = left[:-1] if before else left
            raw[index + 1] = right[1:] if after else right
        taken = not joined and after
        glued.append(joined)
    regions = tuple(
        Region(unescape(text), glued=flag) for text, flag in zip(raw, glued, strict=True)
    )
    return regions, doubtful


def _between_bars(cell: str) -> list[str]:
    """The unchanged texts between unescaped bars."""
    if "\\" not in cell:
        return cell.split("|")
    raw = [""]
    for piece in _PIECE.findall(cell):
        if piece == "|":
            raw.append("")
        else:
            raw[-1] += piece
    return raw


EXTRA = "_extra"
"""The column, and key of suite.toml, with JSON of values that have no other place."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a table by their roles; all others are free columns.

    Attributes:
        item: column of the item's id; None where items are numbered.
        condition: column of the condition's name; None where a row is a pair of sentences.
        texts: columns of regions by condition; the name is empty where the column of conditions
            gives it.
    """

    item: str | None
    condition: str | None
    texts: Mapping[str, str]


@dataclass(slots=True)
class Rows:
    """The conditions of a table, gathered by item.

    Attributes:
        name: name of the table.
        pairs: whether each row is a pair of sentences.
        wide: whether each row is an item, with a column for each condition.
    """

    name: str
    pairs: bool
    wide: bool
    _conditions: dict[str, list[Condition]] = field(default_factory=dict)
    _numbers: dict[str, list[int]] = field(default_factory=dict)
    _extras: dict[str, dict[str, JsonValue]] = field(default_factory=dict)

    def add(
        self, item: str, condition: Condition, *, row: int, extra: Mapping[str, JsonValue] = NOTHING
    ) -> None:
        """Add a condition to an item.

        Args:
            item: id of the item.
            condition: one of its conditions.
            row: number of its row.
            extra: keys of another format about the item.
        """
        self._conditions.setdefault(item, []).append(condition)
        self._numbers.setdefault(item, []).append(row)
        if extra:
            self._extras.setdefault(item, {}).update(extra)

    def items(self) -> tuple[Item, ...]:
        """The items, in order of first appearance."""
        return tuple(
            Item(id=item, conditions=tuple(conditions), extra=self._extras.get(item, NOTHING))
            for item, conditions in self._conditions.items()
        )

    def places(self) -> tuple[str, ...]:
        """The place of each stimulus, in the order of the items and their conditions."""
        return tuple(
            place_of_row(self.name, row) for rows in self._numbers.values() for row in rows
        )


def read_items(table: Table, conditions: Collection[str] = ()) -> tuple[Rows | None, list[Fault]]:
    """The rows of a table with ``item``, ``condition`` and ``text``, or a column per condition.

    Args:
        table: a table of items.
        conditions: names that predictions use; a table may have a column for each of them, as it
            may have ``good`` and ``bad``.

    Returns:
        The rows, None where columns are missing, and the faults found.
    """
    columns, faults = _find_columns(table, conditions)
    if columns is None:
        return None, faults
    wide = columns.condition is None
    rows = Rows(table.name, pairs=columns.texts.keys() == {"good", "bad"}, wide=wide)
    add = _add_stimuli if columns.condition else _add_pairs
    return rows, add(table, columns, rows)


def _find_columns(table: Table, conditions: Collection[str]) -> tuple[_Columns | None, list[Fault]]:
    """The columns of a table by their roles; None, and faults, where some are missing."""
    item = table.find("item")
    name, text = table.find("condition"), table.find("text")
    good, bad = table.find("good"), table.find("bad")
    if not (name and text) and conditions and set(conditions) <= set(table.columns):
        return _Columns(item or table.find("id"), None, {name: name for name in conditions}), []
    if good and bad and not (name and text):
        return _Columns(item or table.find("id"), None, {"good": good, "bad": bad}), []
    if item and name and text:
        return _Columns(item, name, {"": text}), []
    sentence = text or table.find("sentence")
    if sentence and not (name and item) and (table.find("rating") or table.find("ratings")):
        # Each rated sentence is an item, whose only condition needs no column.
        return _Columns(item, None, {"sentence": sentence}), []
    found = {"item": item, "condition": name, "text": text}
    missing = [each for each, column in found.items() if not column]
    lacking = f"columns {', '.join(missing)} are" if len(missing) > 1 else f"column {missing[0]} is"
    seen = f"The {lacking} missing; there are {', '.join(table.columns)}."
    todo = "Name the columns item, condition, text in the first row (or good, bad)."
    return None, [fault("CIM-S004", where=table.name, seen=seen, todo=todo)]


def _add_stimuli(table: Table, columns: _Columns, rows: Rows) -> list[Fault]:
    item, name, text = str(columns.item), str(columns.condition), columns.texts[""]
    faults: list[Fault] = []
    names = {column: unescape(column) for column in table.columns}
    before: Mapping[str, str] = NOTHING
    for row in table.rows:
        cells = _Cells(table, row, names, faults)
        extra = cells.extra()
        id_ = cells.take(item)
        named, regions, free = intern(cells.take(name)), cells.regions(text), cells.rest()
        if free != before:  # the rows of an item mostly share them
            before = free
        condition = Condition(named, regions, before or NOTHING)
        if extra is not None:
            condition = _with_extra(condition, extra)
        own = NOTHING if extra is None else extra.item
        rows.add(id_, condition, row=row.number, extra=own)
    return faults


def _add_pairs(table: Table, columns: _Columns, rows: Rows) -> list[Fault]:
    faults: list[Fault] = []
    names = {column: unescape(column) for column in table.columns}
    for number, row in enumerate(table.rows, start=1):
        cells = _Cells(table, row, names, faults)
        id_ = cells.take(columns.item) if columns.item else str(number)
        regions = {name: cells.regions(column) for name, column in columns.texts.items()}
        free = cells.rest() or NOTHING
        for name, pieces in regions.items():
            rows.add(id_, Condition(name, pieces, free), row=row.number)
    return faults


def _with_extra(condition: Condition, extra: RowExtra) -> Condition:
    kept = extra.regions
    kept = kept + [{}] * (len(condition.regions) - len(kept))
    return replace(
        condition,
        regions=tuple(
            replace(region, extra=each)
            for region, each in zip(condition.regions, kept, strict=False)
        ),
        columns={**condition.columns, **extra.columns},
        extra=extra.condition,
    )


class _Cells:
    """The cells of one row, each read once; those left over are the free columns."""

    def __init__(
        self, table: Table, row: Row, names: Mapping[str, str], faults: list[Fault]
    ) -> None:
        values = list(row.cells.values())
        line = "\t".join(values)
        # Most rows are plain and need no check cell by cell.
        self._plain = not ("\\" in line or '"' in line) and values == list(map(str.strip, values))
        self._left = dict(row.cells)
        self._table, self._row, self._names = table, row, names
        self._unquoted = table.name.endswith(".tsv")
        self._faults = faults

    @property
    def _where(self) -> str:
        return self._table.where(self._row)

    def take(self, column: str) -> str:
        """The text of a cell."""
        cell = self._left.pop(column)
        if self._plain:
            return cell
        self._check(cell, column)
        return unescape(strip_blanks(cell, what=column, where=self._where, faults=self._faults))

    def regions(self, column: str) -> tuple[Region, ...]:
        """The regions in a cell."""
        cell = self._left.pop(column)
        if self._plain and "|" not in cell:
            return (Region(cell),)
        self._check(cell, column)
        regions, doubtful = read_regions(cell)
        if doubtful:
            seen = f"{column} has a bar with a blank on one side only: {doubtful[0]!r}."
            self._faults.append(fault("CIM-S047", where=self._where, seen=seen))
        return tuple(self._stripped(region, number) for number, region in enumerate(regions, 1))

    def extra(self) -> RowExtra | None:
        """The keys of another format about the row."""
        cell = self._left.pop(EXTRA, "").strip()
        if not cell:
            return None
        from cimento.suites.schema import RowExtra, validate

        try:
            parsed = parse_json(cell)
        except ValueError as error:
            seen = f"The column {EXTRA} does not hold JSON: {error}."
            self._faults.append(fault("CIM-S003", where=self._where, seen=seen))
            return None
        extra, faults = validate(RowExtra, parsed, where=f"{self._where}, {EXTRA}")
        self._faults += faults
        return extra

    def rest(self) -> dict[str, str]:
        """The values of the free columns that have one in this row."""
        if self._plain:
            names = self._names
            return {names[column]: cell for column, cell in self._left.items() if cell}
        return {
            self._names[column]: self.take(column)
            for column in list(self._left)
            if self._left[column].strip()
        }

    def _stripped(self, region: Region, number: int) -> Region:
        text = strip_blanks(
            region.text, what=f"Region {number}", where=self._where, faults=self._faults
        )
        return region if text == region.text else replace(region, text=text)

    def _check(self, cell: str, column: str) -> None:
        stray = lone_backslash(cell)
        if stray:
            seen = f"{column} has a backslash that means nothing: {stray!r}."
            self._faults.append(fault("CIM-S048", where=self._where, seen=seen))
        if self._unquoted and len(cell) > 1 and cell[0] == cell[-1] == '"' and '""' in cell[1:-1]:
            seen = f"{column} begins and ends with a quotation mark and has doubled ones inside."
            self._faults.append(fault("CIM-S049", where=self._where, seen=seen))

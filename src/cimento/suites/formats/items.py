r"""The table of items of the native format (docs/formats.md).

Bars separate regions, with a blank on each side or none; ``\|``, ``\t``, ``\n``, ``\r`` and ``\\``
stand for characters that a cell cannot hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import gt, itemgetter
from sys import intern
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.shapes import CELLS, CONDITIONS, PAIRS
from cimento.intake.table import NotText, Table
from cimento.io.parsing import parse_json
from cimento.suites import ItemColumns, JsonValue, Region, ascending
from cimento.suites.reading import RowPlaces, strip_blanks
from cimento.suites.settings import EXTRA
from cimento.suites.shapes import condition_columns

if TYPE_CHECKING:
    from cimento.suites.schema import RowExtra


T = TypeVar("T")

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_MEANINGS = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\|": "|"}
_PIECE = re.compile(r"\\.|\||[^\\|]+|\\$", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_TOGETHER = 1 << 12


def escape(text: str) -> str:
    """A text escaped for a cell of a table without quoting."""
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)


def escaped(texts: Sequence[str]) -> list[str]:
    """Texts escaped like `escape`; most need no change, which is seen sooner of many together."""
    cells: list[str] = []
    for begin in range(0, len(texts), _TOGETHER):
        some = texts[begin : begin + _TOGETHER]
        joined = "".join(some)
        cells += some if joined.isprintable() and "\\" not in joined else map(escape, some)
    return cells


def unescape(text: str) -> str:
    """The text of an escaped cell; a backslash that escapes nothing stands for itself."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: _MEANINGS.get(match[0], match[0]), text)


def lone_backslash(text: str) -> str:
    """The first backslash that escapes nothing, with the character after it; empty without any."""
    if "\\" not in text:
        return ""
    pieces = (piece for piece in _PIECE.findall(text) if piece.startswith("\\"))
    return next((piece for piece in pieces if piece not in _MEANINGS), "")


def write_regions(parts: Iterable[tuple[str, bool]]) -> str:
    """Regions as one cell.

    Args:
        parts: the text of each region, and whether it is glued.
    """
    cell = ""
    for index, (text, glued) in enumerate(parts):
        if index:
            cell += "|" if glued else " | "
        cell += escape(text).replace("|", "\\|")
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


@dataclass(frozen=True, slots=True)
class Rows:
    """The stimuli of a table, gathered by item.

    Attributes:
        items: the items, in order of first appearance.
        places: the place of each stimulus.
        pairs: whether each row is a pair of sentences.
        wide: whether each row is an item, with a column for each condition.
        read: what the table was read as.
    """

    items: ItemColumns
    places: Sequence[str]
    pairs: bool
    wide: bool
    read: TableReading


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
    cells = _Cells(table)
    stimuli = _stimuli(table, columns, cells)
    items = _by_item(stimuli)
    rows = Rows(
        items=items,
        places=RowPlaces(table.name, [table.numbers[row] for row in stimuli.rows]),
        pairs=columns.texts.keys() == {"good", "bad"},
        wide=columns.condition is None,
        read=_read_as(table, columns, n_items=len(items.ids)),
    )
    return rows, cells.faults


def _read_as(table: Table, columns: _Columns, *, n_items: int) -> TableReading:
    """What a table of items was read as."""
    roles = {"item": columns.item, "condition": columns.condition}
    roles["phenomenon"] = table.find("phenomenon")
    if columns.condition or columns.texts.keys() == {"sentence"}:
        roles["sentence"] = next(iter(columns.texts.values()))
        return reading_of(table, CONDITIONS, roles, n_items=n_items)
    if columns.texts.keys() == {"good", "bad"}:
        return reading_of(table, PAIRS, roles | {**columns.texts}, n_items=n_items)
    several = {**roles, "conditions": [*columns.texts.values()]}
    return reading_of(table, CELLS, several, n_items=n_items)


def _labels_sentences(table: Table, item: str, name: str) -> bool:
    """Whether a column called like conditions labels sentences: no item has two of them.

    Items of one sentence, of which some are *good* and some *bad*, are not versions of each other.
    """
    ids = table.stripped(item)
    return len({*ids}) == len(ids) and len({*table.stripped(name)}) > 1


def _find_columns(table: Table, conditions: Collection[str]) -> tuple[_Columns | None, list[Fault]]:
    """The columns of a table by their roles; None, and faults, where some are missing."""
    item, name, text = map(table.find, ("item", "condition", "text"))
    is_rated = bool(table.find("rating", "ratings"))
    if is_rated and "condition" not in table.chosen and item and name:
        name = None if _labels_sentences(table, item, name) else name
    if "sentence" in table.chosen or (item and name and not text):
        text = table.find("sentence")
    good, bad = table.find("good"), table.find("bad")
    are_columns = conditions and set(conditions) <= set(table.columns)
    if are_columns and not (name and text) and not table.conditions:
        return _Columns(table.find("item", "id"), None, {name: name for name in conditions}), []
    if good and bad and not (name and text):
        return _Columns(table.find("item", "id"), None, {"good": good, "bad": bad}), []
    called = {condition: column for column, condition in condition_columns(table).items()}
    sentence = text or table.find("sentence")
    # What predictions name may be columns; without any, all conditions may be.
    is_wide = set(conditions) <= called.keys() if conditions else not (name or sentence)
    if called and is_wide and not (name and text):
        return _Columns(table.find("item", "id"), None, called), []
    if item and name and text:
        return _Columns(item, name, {"": text}), []
    if sentence and not (name and item) and is_rated:
        # Each rated sentence is an item, whose only condition needs no column.
        return _Columns(item, None, {"sentence": sentence}), []
    columns = {"item": item, "condition": name, "text": text}
    missing = [field for field, column in columns.items() if not column]
    lacking = f"columns {', '.join(missing)} are" if len(missing) > 1 else f"column {missing[0]} is"
    seen = f"The {lacking} missing; there are {', '.join(table.columns)}."
    todo = "Name the columns item, condition, text in the first row (or good, bad)."
    return None, [fault("CIM-S004", where=table.name, seen=seen, todo=todo)]


_Piece: TypeAlias = str | tuple[Region, ...]
"""The text of a stimulus of one region, or all regions of another."""


@dataclass(slots=True)
class _Stimuli:
    """The stimuli of a table, as columns.

    Attributes:
        rows: index of each stimulus's row.
        items: id of its item.
        names: name of its condition.
        pieces: its regions.
        free: its cells in the free columns.
        extras: keys of another format, by stimulus.
    """

    rows: Sequence[int]
    items: Sequence[str]
    names: Sequence[str]
    pieces: Sequence[_Piece]
    free: dict[str, list[str | None]]
    extras: Mapping[int, RowExtra]

    def ordered(self, order: Sequence[int]) -> _Stimuli:
        """The stimuli in another order."""
        return _Stimuli(
            rows=[self.rows[n] for n in order],
            items=[self.items[n] for n in order],
            names=[self.names[n] for n in order],
            pieces=[self.pieces[n] for n in order],
            free={name: [cells[n] for n in order] for name, cells in self.free.items()},
            extras={place: self.extras[n] for place, n in enumerate(order) if n in self.extras},
        )


def _stimuli(table: Table, columns: _Columns, cells: _Cells) -> _Stimuli:
    """The stimuli in the order of the rows."""
    with_extras = columns.condition and EXTRA in table.columns
    extras = cells.extras() if with_extras else {}
    numbered = [str(number) for number in range(1, len(table.numbers) + 1)]
    ids = cells.texts(columns.item) if columns.item else numbered
    named = cells.texts(columns.condition) if columns.condition else ()
    pieces = [cells.pieces(column) for column in columns.texts.values()]
    taken = {columns.item, columns.condition, *columns.texts.values()}
    taken |= {EXTRA} if with_extras else set()
    free = {
        unescape(column): cells.values(column) for column in table.columns if column not in taken
    }
    phenomenon = table.find("phenomenon")
    if phenomenon in free:  # in the language of the table; results are broken down by our name
        free.setdefault("phenomenon", [*free[phenomenon]])
    for number, extra in extras.items():
        for name, cell in extra.columns.items():
            free.setdefault(name, [None] * len(table.numbers))[number] = cell
    rows = range(len(table.numbers))
    if columns.condition:
        return _Stimuli(rows, ids, list(map(intern, named)), pieces[0], free, extras)
    several = len(pieces)
    return _Stimuli(
        times(several, rows),
        times(several, ids),
        [*columns.texts] * len(table.numbers),
        [piece for row in zip(*pieces, strict=True) for piece in row],
        {name: times(several, values) for name, values in free.items()},
        {},
    )


def times(count: int, values: Sequence[T]) -> list[T]:
    """Values of which each is repeated."""
    return [value for value in values for _ in range(count)]


def _by_item(stimuli: _Stimuli) -> ItemColumns:
    """The stimuli as items in order of first appearance, whose rows may be apart."""
    known: dict[str, int] = {}
    numbers = [known.setdefault(item, len(known)) for item in stimuli.items]
    if any(map(gt, numbers, numbers[1:])):
        stimuli = stimuli.ordered(sorted(range(len(numbers)), key=numbers.__getitem__))
    sizes = Counter(numbers)
    starts = ascending(accumulate((sizes[number] for number in range(len(known))), initial=0))
    shapes = [tuple(stimuli.names[begin:end]) for begin, end in pairwise(starts)]
    same = {shape: shape for shape in shapes}
    texts, bounds, glued = list[str](), [0], set[int]()
    for piece in stimuli.pieces:
        if isinstance(piece, str):
            texts.append(piece)
        else:
            glued |= {n for n, region in enumerate(piece, start=len(texts)) if region.glued}
            texts += [region.text for region in piece]
        bounds.append(len(texts))
    items: dict[int, dict[str, JsonValue]] = {}
    regions: dict[int, Mapping[str, JsonValue]] = {}
    for number, extra in stimuli.extras.items():
        if extra.item:
            items.setdefault(known[stimuli.items[number]], {}).update(extra.item)
        places = range(bounds[number], bounds[number + 1])
        regions |= {place: kept for place, kept in zip(places, extra.regions, strict=False) if kept}
    return ItemColumns(
        ids=list(known),
        shapes=[same[shape] for shape in shapes],
        starts=starts,
        bounds=ascending(bounds),
        texts=texts,
        free={
            name: cells
            for name, cells in stimuli.free.items()
            if any(cell is not None for cell in cells)
        },
        glued=frozenset(glued),
        item_extras=items,
        condition_extras={
            n: extra.condition for n, extra in stimuli.extras.items() if extra.condition
        },
        region_extras=regions,
    )


class _Cells:
    """The cells of a table, read column by column.

    Args:
        table: a table of items.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._unquoted = table.name.endswith(".tsv")
        self._faults: list[tuple[int, Fault]] = []

    @property
    def faults(self) -> list[Fault]:
        """The faults found so far, row by row."""
        return [fault for _, fault in sorted(self._faults, key=itemgetter(0))]

    def texts(self, column: str) -> Sequence[str]:
        """The text of each cell."""
        cells = self._table.cells[column]
        if self._are_plain(cells):
            return [*map(str, cells)] if any(isinstance(cell, NotText) for cell in cells) else cells
        return [self._text(row, cell, column) for row, cell in enumerate(cells)]

    def values(self, column: str) -> list[str | None]:
        """The text of each cell; None for an empty one."""
        cells = self._table.cells[column]
        if self._are_plain(cells):
            return [
                intern(str(cell)) or None for cell in cells
            ]  # of JSON, cells may be no plain text
        return [
            self._text(row, cell, column) if cell.strip() else None
            for row, cell in enumerate(cells)
        ]

    def pieces(self, column: str) -> Sequence[_Piece]:
        """The regions in each cell."""
        cells = self._table.cells[column]
        if self._are_plain(cells) and not any("|" in cell for cell in cells):
            return cells
        return [self._piece(row, cell, column) for row, cell in enumerate(cells)]

    def extras(self) -> dict[int, RowExtra]:
        """The keys of another format about rows that have some."""
        from cimento.suites.schema import RowExtra, validate

        extras: dict[int, RowExtra] = {}
        for row, cell in enumerate(self._table.cells[EXTRA]):
            if not cell.strip():
                continue
            try:
                parsed = parse_json(cell)
            except ValueError as error:
                seen = f"The column {EXTRA} does not hold JSON: {error}."
                self._add(row, "CIM-S003", seen)
                continue
            extra, faults = validate(RowExtra, parsed, where=f"{self._where(row)}, {EXTRA}")
            self._faults += [(row, fault) for fault in faults]
            if extra is not None:
                extras[row] = extra
        return extras

    def _are_plain(self, cells: Sequence[str]) -> bool:
        """Whether no cell needs a closer look; most columns are so."""
        return not any("\\" in cell or '"' in cell or cell != cell.strip() for cell in cells)

    def _text(self, row: int, cell: str, column: str) -> str:
        self._check(row, cell, column)
        return unescape(self._strip(row, cell, column))

    def _piece(self, row: int, cell: str, column: str) -> _Piece:
        if "|" not in cell and self._are_plain([cell]):
            return cell
        self._check(row, cell, column)
        regions, doubtful = read_regions(cell)
        if doubtful:
            seen = f"{column} has a bar with a blank on one side only: {doubtful[0]!r}."
            self._add(row, "CIM-S047", seen)
        texts = [self._strip(row, r.text, f"Region {k}") for k, r in enumerate(regions, 1)]
        return tuple(
            replace(region, text=text) for region, text in zip(regions, texts, strict=True)
        )

    def _strip(self, row: int, text: str, what: str) -> str:
        faults: list[Fault] = []
        text = strip_blanks(text, what=what, where=self._where(row), faults=faults)
        self._faults += [(row, fault) for fault in faults]
        return text

    def _check(self, row: int, cell: str, column: str) -> None:
        stray = lone_backslash(cell)
        if stray:
            seen = f"{column} has a backslash that means nothing: {stray!r}."
            self._add(row, "CIM-S048", seen)
        if self._unquoted and len(cell) > 1 and cell[0] == cell[-1] == '"' and '""' in cell[1:-1]:
            seen = f"{column} begins and ends with a quotation mark and has doubled ones inside."
            self._add(row, "CIM-S049", seen)

    def _add(self, row: int, code: str, seen: str) -> None:
        self._faults.append((row, fault(code, where=self._where(row), seen=seen)))

    def _where(self, row: int) -> str:
        return self._table.place(row)

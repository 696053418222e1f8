"""Tables of one region or word a row, and rows of SyntaxGym suites on the Hugging Face hub.

The tables are flat SyntaxGym CSV, and those of Wilcox and Kobzeva; they have neither predictions
nor metadata. Surprisals next to the words are results and not part of the suite;
`cimento.studies` and ``replay:`` read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json, unpack_gzip
from cimento.suites import Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.formats.syntaxgym import suite_of
from cimento.suites.reading import (
    Reading,
    decoded,
    errors,
    fault,
    first_line,
    sha256_of,
    strip_blanks,
    unusable,
)
from cimento.suites.tables import Table, read_table

COLUMNS = ("item_number", "condition_name", "region_number", "content")
NAME_COLUMN = "region_name"


def read_syntaxgym_csv(path: Path) -> Reading:
    """Read the flat CSV; the file's name becomes the suite's.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data = read_bytes(path)
    table, faults = read_table(data, path)
    missing = [name for name in COLUMNS if table is None or name not in table.columns]
    if table is not None and missing:
        seen = f"The column {', '.join(missing)} is missing; there are {', '.join(table.columns)}."
        faults.append(fault("CIM-S004", where=path.name, seen=seen))
    if table is None or missing:
        raise unusable(path, faults)
    stimuli = _Stimuli()
    for row in table.rows:
        stimuli.add({**row.cells}, where=table.where(row))
    items = stimuli.items()
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=_region_names(table, items),
        predictions=(),
        items=items,
    )
    return Reading(suite, sha256_of(data), stimuli.places(), (*faults, *stimuli.faults))


class _Stimuli:
    """Regions gathered by item and condition, in order of first appearance."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._regions: dict[str, dict[str, list[Region]]] = {}
        self._places: dict[tuple[str, str], str] = {}

    def add(self, cells: dict[str, str], *, where: str) -> None:
        """Add the region of one row; its number must be the next one."""
        item, condition, number = (
            strip_blanks(cells[column], what=column, where=where, faults=self.faults)
            for column in COLUMNS[:3]
        )
        content = strip_blanks(
            cells["content"], what=f"Region {number}", where=where, faults=self.faults
        )
        regions = self._regions.setdefault(item, {}).setdefault(condition, [])
        self._places.setdefault((item, condition), where)
        regions.append(Region(content))
        if number != str(len(regions)):
            seen = f"Region {number!r} stands where region {len(regions)} is due."
            self.faults.append(fault("CIM-S014", where=where, seen=seen))

    def items(self) -> tuple[Item, ...]:
        """The items."""
        return tuple(
            Item(
                id=item,
                conditions=tuple(
                    Condition(name, tuple(regions)) for name, regions in conditions.items()
                ),
            )
            for item, conditions in self._regions.items()
        )

    def places(self) -> tuple[str, ...]:
        """The place at which each stimulus begins."""
        return tuple(
            self._places[item, condition]
            for item, conditions in self._regions.items()
            for condition in conditions
        )


def _region_names(table: Table, items: Sequence[Item]) -> tuple[str, ...]:
    """The names of the regions in the order of their numbers; the number where there is no name."""
    names: dict[str, str] = {}
    for row in table.rows:
        name = row.cells.get(NAME_COLUMN, "").strip()
        if name:
            names.setdefault(row.cells["region_number"].strip(), name)
    longest = max(
        (len(condition.regions) for item in items for condition in item.conditions), default=0
    )
    return tuple(names.get(str(number), str(number)) for number in range(1, longest + 1))


WORD_COLUMNS = ("sent_index", "word_index", "word", "region", "condition")
SUFFIX = ".csv.gz"
MOST_REGIONS = 200
"""Largest number of regions: every sentence gets all regions, which could fill the memory."""
MOST_EMPTY = 200_000
"""Largest number of empty regions in all sentences, for the same reason."""
_EMPTY = Region("")
_MARKS = frozenset({"<eos>", "<bos>", "<s>", "</s>", "<|endoftext|>", "[CLS]", "[SEP]"})
"""Special tokens that models put around a sentence, which are not part of the text."""


def is_words_table(table: Table) -> bool:
    """Whether a table has one word of a sentence in each row."""
    return all(table.find(name) for name in WORD_COLUMNS)


def open_words(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """The table in a file, which may be packed with gzip, and the faults found.

    Raises:
        InputError: the file is damaged, or grows too large.
    """
    if path.suffix.lower() != ".gz":
        return read_table(data, path)
    content = unpack_gzip(data, where=str(path))
    return read_table(content, path.with_suffix(""), packed_bytes=len(data))


def read_words(path: Path) -> Reading:
    """Read a table of words; the file's name becomes the suite's.

    ``sent_index`` is the item, whose sentences follow one another and are distinguished by
    ``condition``. The regions of the suite are all that occur, in an order that fits every
    sentence; a region that a sentence lacks is empty, as at a gap.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data = read_bytes(path)
    table, faults = open_words(data, path)
    if table is None:
        raise unusable(path, faults)
    stimuli = _WordRows(table, faults)
    if not stimuli.words:
        seen = f"One of the columns {', '.join(WORD_COLUMNS)} is missing, or there are no rows."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    names = dict.fromkeys(name for order in stimuli.region_order() for name in order)
    if len(names) > MOST_REGIONS:
        seen = f"The table has {len(names):,} regions; a suite may have {MOST_REGIONS:,}."
        todo = "The column region says which part of its sentence a word is in."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen, todo=todo)])
    empty = stimuli.count_empty(len(names))
    if empty > MOST_EMPTY:
        seen = f"Sentences lack {empty:,} of the {len(names)} regions of the table."
        todo = "Are regions named alike in all sentences? Or put each kind into its own file."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen, todo=todo)])
    regions = merged(stimuli.region_order())
    suite = Suite(
        meta=Meta(name=path.name.split(".")[0], language=stimuli.language()),
        region_names=regions,
        predictions=(),
        items=stimuli.items(regions),
        join="detok",
    )
    return Reading(suite, sha256_of(data), stimuli.places(), tuple(faults))


def merged(orders: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """An order of names that agrees with all given orders, as far as they agree with each other.

    A new name comes before the next known name of its order, or last.
    """
    result: list[str] = []
    for order in orders:
        for position, name in enumerate(order):
            if name not in result:
                known = (other for other in order[position + 1 :] if other in result)
                following = next(known, None)
                at = result.index(following) if following else len(result)
                result.insert(at, name)
    return tuple(result)


class _WordRows:
    """Words gathered by item, condition and region, in order of first appearance."""

    def __init__(self, table: Table, faults: list[Fault]) -> None:
        self._table = table
        self._faults = faults
        self.words: dict[str, dict[str, dict[str, list[str]]]] = {}
        self._places: dict[tuple[str, str], str] = {}
        if is_words_table(table):
            for number in range(len(table.rows)):
                self._add(number)

    def _add(self, number: int) -> None:
        row = self._table.rows[number]
        cells = {name: row.cells[self._table.find(name) or name].strip() for name in WORD_COLUMNS}
        item, condition = cells["sent_index"], cells["condition"]
        regions = self.words.setdefault(item, {}).setdefault(condition, {})
        self._places.setdefault((item, condition), self._table.where(row))
        words = regions.setdefault(cells["region"], [])
        if next(reversed(regions)) != cells["region"]:
            seen = f"The region {cells['region']!r} comes back after another one."
            todo = "Words of one region must stand together; give the second one its own name."
            where = self._table.where(row)
            self._faults.append(fault("CIM-S014", where=where, seen=seen, todo=todo))
        if cells["word"] not in _MARKS:
            words.append(cells["word"])

    def count_empty(self, names: int) -> int:
        """The number of regions that sentences lack in all, if each should have a given number."""
        return sum(
            names - len(regions) for item in self.words.values() for regions in item.values()
        )

    def region_order(self) -> list[tuple[str, ...]]:
        """The orders of regions in sentences, without repeats."""
        orders = (tuple(regions) for item in self.words.values() for regions in item.values())
        return list(dict.fromkeys(orders))

    def items(self, names: Sequence[str]) -> tuple[Item, ...]:
        """The items, each sentence with a region for every name."""
        return tuple(
            Item(
                item,
                tuple(
                    Condition(
                        condition,
                        tuple(
                            Region(" ".join(regions[name])) if name in regions else _EMPTY
                            for name in names
                        ),
                    )
                    for condition, regions in conditions.items()
                ),
            )
            for item, conditions in self.words.items()
        )

    def places(self) -> tuple[str, ...]:
        """The place at which each sentence begins."""
        return tuple(
            self._places[item, condition]
            for item, conditions in self.words.items()
            for condition in conditions
        )

    def language(self) -> str:
        """The value of the column ``language`` if it has only one; else empty."""
        column = self._table.find("language")
        values = {row.cells[column].strip() for row in self._table.rows} if column else set()
        return values.pop() if len(values) == 1 else ""


NAME, PREDICTIONS = "suite_name", "predictions"


def is_rows(data: bytes) -> bool:
    """Whether the first line is a row with its suite's name and conditions."""
    first = first_line(data)
    return b'"suite_name"' in first and b'"conditions"' in first


def read_syntaxgym_rows(path: Path) -> Reading:
    """Read the rows of one suite: suite_name, item_number, conditions, predictions.

    The predictions are those of the first row; the metric is the sum.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file does not hold such rows, or holds the rows of several suites.
    """
    data, text, faults = decoded(path)
    rows = _rows(text, path.name, faults)
    names = list(dict.fromkeys(str(row.get(NAME, path.stem)) for row in rows))
    if len(names) > 1:
        seen = f"The rows are of {len(names)} suites: {', '.join(names[:8])}."
        todo = "Write the rows of each suite to a file of its own."
        faults.append(fault("CIM-S002", where=path.name, seen=seen, todo=todo))
    if errors(faults) or not rows:
        raise unusable(path, faults)
    suite, more = suite_of(_document_of_rows(names[0], rows), name=path.name)
    faults += more
    if suite is None:
        raise unusable(path, faults)
    places = (path.name,) * len(suite.columns.names)
    return Reading(suite, sha256_of(data), places, tuple(faults))


def _rows(text: str, name: str, faults: list[Fault]) -> list[dict[str, JsonValue]]:
    rows: list[dict[str, JsonValue]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as error:
            where = f"{name} line {number}"
            faults.append(fault("CIM-S002", where=where, seen=f"Not JSON: {error}."))
            break
        if not isinstance(row, dict):
            where = f"{name} line {number}"
            faults.append(fault("CIM-S003", where=where, seen="The line is no JSON object."))
            break
        rows.append(row)
    return rows


def _document_of_rows(name: str, rows: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """Rows converted to a SyntaxGym document."""
    formulas = rows[0].get(PREDICTIONS)
    items: list[JsonValue] = [
        {key: value for key, value in row.items() if key not in (NAME, PREDICTIONS)} for row in rows
    ]
    return {
        "meta": {"name": name, "metric": "sum"},
        "region_meta": _region_meta(rows[0]),
        "predictions": [
            {"type": "formula", "formula": formula}
            for formula in (formulas if isinstance(formulas, list) else [])
        ],
        "items": items,
    }


def _region_meta(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The metadata of regions, which are numbered here and have no names."""
    conditions = row.get("conditions")
    first = conditions[0] if isinstance(conditions, list) and conditions else None
    regions = first.get("regions") if isinstance(first, dict) else None
    count = len(regions) if isinstance(regions, list) else 0
    return {str(number): str(number) for number in range(1, count + 1)}

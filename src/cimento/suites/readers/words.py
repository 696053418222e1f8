"""Tables with one word a row and its region, as Wilcox et al. and Kobzeva et al. share suites.

The surprisals that such files often have are results and not part of the suite: they are left
where they are, and `cimento.studies` or ``replay:`` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.files import read_bytes
from cimento.parsing import unpack_gzip
from cimento.suites.faults import fault
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.suites.reading import Reading, sha256_of, unusable
from cimento.suites.tables import Table, read_table

COLUMNS = ("sent_index", "word_index", "word", "region", "condition")
SUFFIX = ".csv.gz"
MOST_REGIONS = 200
"""All sentences get all regions, so that a file of many would fill the memory."""
MOST_EMPTY = 200_000
"""Regions without a word, in all sentences together, for the same reason."""
_EMPTY = Region("")
_MARKS = frozenset({"<eos>", "<bos>", "<s>", "</s>", "<|endoftext|>", "[CLS]", "[SEP]"})
"""What models put around a sentence, which no reader of it sees."""


def is_words_table(table: Table) -> bool:
    """Whether a table has one word of a sentence in each row."""
    return all(table.find(name) for name in COLUMNS)


def open_words(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """The table in a file that may be packed with gzip, and the faults found.

    Raises:
        InputError: it is damaged, or grows too large.
    """
    if path.suffix.lower() != ".gz":
        return read_table(data, path)
    content = unpack_gzip(data, where=str(path))
    return read_table(content, path.with_suffix(""), packed_bytes=len(data))


def read_words(path: Path) -> Reading:
    """Read a table of words; the file's name becomes the suite's.

    ``sent_index`` is the item; within one, sentences follow each other and ``condition`` tells
    them apart. The regions of the suite are all that occur, in an order that fits every
    sentence; a sentence without one of them has it empty, as at a gap.

    Raises:
        InputError: the file may not be read.
        SuiteError: it is no such table.
    """
    data = read_bytes(path)
    table, faults = open_words(data, path)
    if table is None:
        raise unusable(path, faults)
    stimuli = _Stimuli(table, faults)
    if not stimuli.words:
        seen = f"One of the columns {', '.join(COLUMNS)} is missing, or there are no rows."
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
    """One order of names that fits each of some orders, as far as they fit each other.

    A name that is new comes before the next known one of its order, or last.
    """
    result: list[str] = []
    for order in orders:
        for position, name in enumerate(order):
            if name not in result:
                known = (each for each in order[position + 1 :] if each in result)
                following = next(known, None)
                at = result.index(following) if following else len(result)
                result.insert(at, name)
    return tuple(result)


class _Stimuli:
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
        cells = {name: row.cells[self._table.find(name) or name].strip() for name in COLUMNS}
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
        """How many regions sentences lack, where each should have so many."""
        return sum(
            names - len(regions) for item in self.words.values() for regions in item.values()
        )

    def region_order(self) -> list[tuple[str, ...]]:
        """The regions of each sentence, in order; each order once."""
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
                            Region(" ".join(regions[each])) if each in regions else _EMPTY
                            for each in names
                        ),
                    )
                    for condition, regions in conditions.items()
                ),
            )
            for item, conditions in self.words.items()
        )

    def places(self) -> tuple[str, ...]:
        """Where each sentence begins."""
        return tuple(
            self._places[item, condition]
            for item, conditions in self.words.items()
            for condition in conditions
        )

    def language(self) -> str:
        """What the column ``language`` says, where it says one thing."""
        column = self._table.find("language")
        values = {row.cells[column].strip() for row in self._table.rows} if column else set()
        return values.pop() if len(values) == 1 else ""

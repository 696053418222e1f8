"""Tables of one region or word a row, and rows of SyntaxGym suites on the Hugging Face hub.

The tables are flat SyntaxGym CSV, and those of Wilcox and Kobzeva; they have neither predictions
nor metadata. Surprisals next to the words are results and not part of the suite;
`cimento.studies` and ``replay:`` read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import decoded, first_line, unusable
from cimento.intake.misfits import wrong_kind
from cimento.intake.reading import TableReading, reading_of
from cimento.intake.roles import find
from cimento.intake.shapes import REGION_ROWS, WORD_ROWS
from cimento.intake.table import Table
from cimento.intake.tables import read_suite_table
from cimento.intake.words import NAMES
from cimento.io.files import read_bytes
from cimento.io.parsing import unpack_gzip
from cimento.io.values import group_by
from cimento.suites import Condition, JsonValue, Meta, Region
from cimento.suites.formats.gathered import Gathered, json_lines
from cimento.suites.formats.syntaxgym import suite_from_document
from cimento.suites.reading import Reading, sha256_of, strip_blanks

COLUMNS = ("item_number", "condition_name", "region_number", "content")
NAME_COLUMN = "region_name"
_DIGITS = 6
"""Most digits of the number of a region."""


def is_region_rows(table: Table) -> bool:
    """Whether a table has a region of a sentence in each row.

    Tables with the columns of SyntaxGym's have; others if most sentences have several rows, each
    with a region of another number or name.
    """
    if "condition_name" in table.columns:
        return True
    columns = _columns(table)
    if columns is None or table.find("sentence"):
        return False
    item, condition, region, _ = map(table.stripped, columns)
    sentences = group_by(range(len(region)), lambda row: (item[row], condition[row]))
    several = [rows for rows in sentences.values() if len(rows) > 1]
    return 2 * len(several) > len(sentences) and all(
        len({region[row] for row in rows}) == len(rows) for rows in several
    )


def _columns(table: Table) -> tuple[str, str, str, str] | None:
    """The columns of item, condition, region and content; None without one that fits its role."""
    item = find(table, "item", "item_number", "item")
    condition = find(table, "condition", "condition_name", "condition")
    region = find(table, "region", "region_number", "region", *NAMES["region"])
    content = find(table, "content", "content", *NAMES["content"])
    return (item, condition, region, content) if item and condition and region and content else None


def read_region_rows(path: Path) -> Reading:
    """Read a table with a region in each row, as SyntaxGym's; the file's name becomes the suite's.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    columns = table and _columns(table)
    if table is not None and not columns:
        missing = [name for name in COLUMNS if name not in table.columns]
        seen = f"The column {', '.join(missing)} is missing; there are {', '.join(table.columns)}."
        wrong = wrong_kind(table, [table.find("content")], "content")
        faults += wrong or [fault("CIM-S004", where=path.name, seen=seen)]
    if table is None or not columns:
        raise unusable(path, faults)
    regions: dict[tuple[str, str], list[Region]] = {}
    places: dict[tuple[str, str], str] = {}
    names = _region_names(table, columns)
    for row in table.rows:
        where = table.where(row)
        item, condition, number = (
            strip_blanks(row.cells[column], what=column, where=where, faults=faults)
            for column in columns[:3]
        )
        what = f"Region {number}"
        content = strip_blanks(row.cells[columns[3]], what=what, where=where, faults=faults)
        there = regions.setdefault((item, condition), [])
        places.setdefault((item, condition), where)
        there.append(Region(content))
        if (due := [*names, ""][min(len(there) - 1, len(names))]) != number:
            seen = f"Region {number!r} stands where region {due or len(there)} is due."
            faults.append(fault("CIM-S014", where=where, seen=seen))
    items = Gathered()
    for (item, condition), texts in regions.items():
        items.add(item, Condition(condition, tuple(texts)), places[item, condition])
    longest = max(map(len, regions.values()), default=0)
    shown = tuple([*names.values()][:longest])
    meta = Meta(name=path.stem)
    reading = items.reading(path, data, faults, meta=meta, region_names=shown, predictions=())
    roles = {
        "region name": table.find(NAME_COLUMN),
        **dict(zip(REGION_ROWS.needs, columns, strict=True)),
    }
    n_items = len(reading.suite.items)
    return replace(reading, table=reading_of(table, REGION_ROWS, roles, n_items=n_items))


def _region_names(table: Table, columns: Sequence[str]) -> dict[str, str]:
    """The names of the regions by their numbers, in order.

    Regions that are numbered have the names of another column, if there is one, and are in the
    order of the numbers from 1, or from 0 where that is the lowest; others are in the order of the
    rows.
    """
    numbers, name = table.stripped(columns[2]), table.find(NAME_COLUMN)
    if not all(number.isdecimal() and len(number) <= _DIGITS for number in numbers):
        return {number: number for number in numbers}
    texts = table.stripped(name) if name else numbers
    names = {n: text for n, text in zip(numbers[::-1], texts[::-1], strict=True) if text}
    last = min(max(map(int, numbers), default=0), len(numbers))
    return {str(n): names.get(str(n), str(n)) for n in range("0" not in numbers, last + 1)}


WORD_COLUMNS = ("sent_index", "word_index", "word", "region", "condition")
_WORD_ROLES = ("item", "position", "word", "region", "condition")
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
    return table.has(*WORD_COLUMNS)


def open_words(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """The table in a file, which may be packed with gzip, and the faults found.

    Raises:
        InputError: the file is damaged, or grows too large.
    """
    if path.suffix.lower() != ".gz":
        return read_suite_table(data, path)
    content = unpack_gzip(data, where=str(path))
    return read_suite_table(content, path.with_suffix(""), packed_bytes=len(data))


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
    if is_words_table(table) and (stacked := _stacked(table)):
        raise unusable(path, [*faults, stacked])
    sentences = _sentences(table, faults) if is_words_table(table) else []
    if not sentences:
        seen = f"One of the columns {', '.join(WORD_COLUMNS)} is missing, or there are no rows."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen)])
    orders = list(dict.fromkeys(tuple(sentence.words) for sentence in sentences))
    names = dict.fromkeys(name for order in orders for name in order)
    if len(names) > MOST_REGIONS:
        seen = f"The table has {len(names):,} regions; a suite may have {MOST_REGIONS:,}."
        todo = "The column region says which part of its sentence a word is in."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen, todo=todo)])
    empty = sum(len(names) - len(sentence.words) for sentence in sentences)
    if empty > MOST_EMPTY:
        seen = f"Sentences lack {empty:,} of the {len(names)} regions of the table."
        todo = "Are regions named the same in all sentences? Or put each kind into its own file."
        raise unusable(path, [*faults, fault("CIM-S004", where=path.name, seen=seen, todo=todo)])
    regions, items = merged(orders), Gathered()
    for sentence in sentences:
        texts = (sentence.words.get(name) for name in regions)
        parts = tuple(_EMPTY if text is None else Region(" ".join(text)) for text in texts)
        items.add(sentence.item, Condition(sentence.condition, parts), sentence.where)
    column = table.find("language")
    languages = {*table.stripped(column)} if column else set()
    meta = Meta(
        name=path.name.split(".")[0], language=languages.pop() if len(languages) == 1 else ""
    )
    reading = items.reading(
        path, data, faults, meta=meta, region_names=regions, predictions=(), join="detok"
    )
    return replace(reading, table=_words_read_as(table, n_items=len(items.items)))


def _words_read_as(table: Table, *, n_items: int) -> TableReading:
    """What a table of words was read as."""
    roles = dict(zip(_WORD_ROLES, map(table.find, WORD_COLUMNS), strict=True))
    roles["language"] = table.find("language")
    return reading_of(table, WORD_ROWS, roles, n_items=n_items, own={"row"})


def _stacked(table: Table) -> Fault | None:
    """The fault of a table in which most words are there several times, as for several models."""
    known = [table.find(name) or "" for name in WORD_COLUMNS]
    columns, others = map(table.stripped, known), {*table.columns} - {*known, "language", "row"}
    places_of = [*zip(*columns, strict=True)]
    rows = group_by(range(len(table.numbers)), places_of.__getitem__)
    repeated = [group for group in rows.values() if len(group) > 1]
    if 2 * len(repeated) <= len(rows):
        return None
    places = [table.place(row) for row in repeated[0]]
    telling = [
        name
        for name in table.columns
        if name in others
        and all(len({table.cells[name][row] for row in group}) == len(group) for group in repeated)
    ]
    fewest = min(telling, key=lambda name: len({*table.cells[name]}), default="")
    seen = "Most words are there several times."
    todo = (
        f"Keep the rows of one value of {fewest!r}, which tells them apart."
        if fewest
        else "Keep each word once."
    )
    return fault("CIM-S011", where=places[-1], seen=seen, todo=todo, places=places)


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


class _Sentence(NamedTuple):
    """A sentence: the place at which it begins, and the words of each region in order."""

    item: str
    condition: str
    where: str
    words: dict[str, list[str]]


def _sentences(table: Table, faults: list[Fault]) -> list[_Sentence]:
    """The sentences of a table of words by item and condition, in order of first appearance."""
    found: dict[str, dict[str, _Sentence]] = {}
    columns = [table.find(name) or "" for name in WORD_COLUMNS]
    for row in table.rows:
        where = table.where(row)
        item, _, word, region, condition = (row.cells[column].strip() for column in columns)
        new = _Sentence(item, condition, where, {})
        sentence = found.setdefault(item, {}).setdefault(condition, new)
        words = sentence.words.setdefault(region, [])
        if next(reversed(sentence.words)) != region:
            seen = f"The region {region!r} comes back after another one."
            todo = "Words of one region must be together; give the second one its own name."
            faults.append(fault("CIM-S014", where=where, seen=seen, todo=todo))
        if word not in _MARKS:
            words.append(word)
    return [sentence for conditions in found.values() for sentence in conditions.values()]


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
    data, text, remarks = decoded(path)
    rows: list[dict[str, JsonValue]] = []
    faults: list[Fault] = []
    for where, row in json_lines(text, path.name, faults):
        if faults:
            break
        if not isinstance(row, dict):
            seen = "The line is not a JSON object."
            faults.append(fault("CIM-S003", where=where, seen=seen))
            break
        rows.append(row)
    del faults[1:]  # after the first line that cannot be read, others may be anything
    names = list(dict.fromkeys(str(row.get(NAME, path.stem)) for row in rows))
    if len(names) > 1:
        seen = f"The rows are of {len(names)} suites: {', '.join(names[:8])}."
        todo = "Write the rows of each suite to a file of its own."
        faults.append(fault("CIM-S002", where=path.name, seen=seen, todo=todo))
    if errors(faults) or not rows:
        raise unusable(path, faults)
    suite, more = suite_from_document(_document_of_rows(names[0], rows), name=path.name)
    faults += more
    if suite is None:
        raise unusable(path, faults)
    places = (path.name,) * len(suite.columns.names)
    return Reading(suite, sha256_of(data), places, (*remarks, *faults))


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

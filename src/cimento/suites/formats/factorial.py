"""Factorial suites in JSON or tables, in which an item has one sentence for each condition.

Three forms of JSON are read: one item a line; the same with a first line that gives the conditions,
the factors and the phenomenon; and one document with ``sentences``. Tables have one sentence per
row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import decoded, first_line, unusable
from cimento.intake.misfits import not_text, wrong_kind
from cimento.intake.numbered import (
    item_in_rows,
    numbered_apart,
    numbering_said,
    with_items_numbered,
)
from cimento.intake.reading import TableReading, reading_of, reading_of_keys
from cimento.intake.shapes import CELLS, CONDITIONS, REGIONS
from cimento.intake.sheets import tabulated, unread_columns
from cimento.intake.table import Table
from cimento.intake.words import pattern
from cimento.io.parsing import parse_json
from cimento.suites import Condition, Item, JsonValue, Meta, Region, Suite
from cimento.suites.crossed import (
    CLUSTER,
    GROUP_COLUMNS,
    ID_COLUMNS,
    MOST_LEVELS,
    Arranged,
    arranged,
    crossed_columns,
    filled_down,
    nearly_crossed,
    paired,
)
from cimento.suites.design import ISLAND_CONDITIONS, with_design
from cimento.suites.filler_rows import without_fillers
from cimento.suites.formats.gathered import json_lines
from cimento.suites.formats.levels import (
    Cells,
    with_island_factor,
    with_plain_levels,
)
from cimento.suites.formats.sentence_rows import id_columns, rows_of, suite_of_rows
from cimento.suites.formats.sprouse import COLUMNS, from_sprouse, is_of_sprouse
from cimento.suites.level_words import island_factors, level_columns
from cimento.suites.plain_levels import plain_first, with_known_design
from cimento.suites.reading import Reading, sha256_of, strip_blanks
from cimento.suites.repeated import with_factor_named, with_joined_levels, without_repeated
from cimento.suites.shapes import condition_columns, region_column_names, with_sentences
from cimento.suites.stimuli import WITHOUT_BLANKS

HEADER_KEYS = ("conditions", "factorial_properties_and_levels", "phenomenon_properties")
ID_KEYS = ("item", "id", "sentence_id", "pairID")
ABOUT_KEYS = ("field", "linguistics_term", "UID", "island_subcategory", "phenomenon", "language")
"""Keys of an item that do not hold a sentence."""
FEWEST_CONDITIONS = 3
MOST_CELLS = 1_000_000
"""Largest number of cells: keys of items, counted for every condition that has them as columns."""

Record = Mapping[str, JsonValue]


def is_factorial(data: bytes) -> bool:
    """Whether the content of a JSON or JSONL file looks like a factorial suite."""
    record: JsonValue = None
    # SyntaxGym's key is found without parsing a long document.
    for part in (first_line(data), b"" if b'"region_meta"' in data else data):
        with suppress(ValueError):
            record = parse_json(part.decode("utf-8-sig", "ignore"))
            break
    if isinstance(record, dict) and isinstance(listed := record.get("sentences"), list):
        record = next(iter(listed), None)
    if isinstance(record, dict) and len(_inner(record)) >= FEWEST_CONDITIONS:
        return True
    if not isinstance(record, dict) or {"sentence_good", "sentence_bad"} & record.keys():
        return False
    if set(HEADER_KEYS) & record.keys() or set(ISLAND_CONDITIONS) & record.keys():
        return "items" not in record
    return bool(set(ID_KEYS) & record.keys()) and len(_sentence_keys(record)) >= FEWEST_CONDITIONS


def read_factorial(path: Path) -> Reading:
    """Read a factorial suite in JSON; the file's name becomes the suite's.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not a factorial suite.
    """
    data, text, faults = decoded(path)
    records = list(_records(text, name=path.name, faults=faults))
    if errors(faults):
        raise unusable(path, faults)
    is_headed = records and set(HEADER_KEYS) & records[0][1].keys()
    stated: Record = records.pop(0)[1] if is_headed else {}
    listed, levels, about = (stated.get(key) for key in HEADER_KEYS)
    conditions = tuple(dict.fromkeys(map(str, listed))) if isinstance(listed, list) else ()
    conditions = conditions or _conditions([record for _, record in records])
    if not conditions:
        seen = "No item has sentences under the names of conditions."
        todo = f"Write one key for each condition, such as {', '.join(ISLAND_CONDITIONS)}."
        raise unusable(path, [*faults, fault("CIM-S003", where=path.name, seen=seen, todo=todo)])
    factors = {
        name: tuple(map(str, known))
        for name, known in (levels if isinstance(levels, dict) else {}).items()
        if isinstance(known, list)
    }
    is_stated = bool(factors)
    factors = factors or plain_first(island_factors(conditions))[0]
    items, places = _items(records, conditions, factors, faults)
    suite = Suite(
        meta=_meta(about if isinstance(about, dict) else {}, path.stem),
        region_names=("sentence",),
        predictions=(),
        items=items,
        factors=factors,
    )
    keys, roles = chain(*(record for _, record in records)), {"item": ID_KEYS}
    read = reading_of_keys(keys, CELLS, {**roles, "conditions": conditions}, n_items=len(items))
    if is_stated:  # the order of the levels says which is plain; that of the keys says nothing
        suite, more = with_design(suite), list[Fault]()
    else:
        suite, more = with_known_design(suite, where=path.name)
    return Reading(suite, sha256_of(data), places, (*faults, *more), read)


def _records(text: str, *, name: str, faults: list[Fault]) -> Iterator[tuple[str, Record]]:
    """The objects of a file, each with its place."""
    for number, (where, value) in enumerate(_values(text, name=name, faults=faults), start=1):
        if isinstance(value, dict):
            if number == 1 and (inner := _inner(value)):
                yield name, {HEADER_KEYS[0]: list(inner)}
            yield where or f"{name} sentence {number}", _unnested(value)
        else:
            seen = f"There is {type(value).__name__!r} where an item is due."
            faults.append(fault("CIM-S003", where=where or name, seen=seen))


def _values(text: str, *, name: str, faults: list[Fault]) -> Iterator[tuple[str, JsonValue]]:
    try:
        whole = parse_json(text)
    except ValueError:
        todo = "Each line must be one JSON object; was the file cut short?"
        yield from json_lines(text, name, faults, todo=todo)
        return
    if isinstance(whole, dict) and isinstance(whole.get("sentences"), list):
        rest = {key: value for key, value in whole.items() if key in HEADER_KEYS}
        if rest:
            yield name, rest
        yield from (("", row) for row in whole["sentences"])
    elif isinstance(whole, list):
        yield from (("", row) for row in whole)
    else:
        yield f"{name} line 1", whole


def _inner(record: Record) -> Record:
    """The sentences of an item that are in an object of their own; empty for other items."""
    inner = record.get("sentences")
    if not isinstance(inner, dict) or len(inner) == 1 or inner.keys() & record.keys():
        return {}
    return inner if all(isinstance(text, str) and " " in text for text in inner.values()) else {}


def _unnested(record: Record) -> Record:
    """An item with its sentences among its other keys."""
    inner = _inner(record)
    return {
        **{key: value for key, value in record.items() if not inner or key != "sentences"},
        **inner,
    }


_BESIDE = pattern("beside")
_CODE = re.compile(r"[\w.-]*\w", re.ASCII)
"""One word without a final mark, such as a type, which is not a sentence of any condition."""


def _sentence_keys(record: Record) -> list[str]:
    texts = {key: value for key, value in record.items() if isinstance(value, str)}
    known = {*ID_KEYS, *ABOUT_KEYS, *(key for key in texts if _CODE.fullmatch(texts[key]))}
    return [key for key in texts if key not in known and not _BESIDE.fullmatch(key)]


def _conditions(records: Sequence[Record]) -> tuple[str, ...]:
    """The keys that hold sentences: the usual four if present, else all with text."""
    keys = tuple(dict.fromkeys(key for record in records for key in _sentence_keys(record)))
    usual = tuple(name for name in ISLAND_CONDITIONS if any(name in record for record in records))
    return usual or keys


def _items(
    records: Sequence[tuple[str, Record]],
    conditions: Sequence[str],
    factors: Mapping[str, tuple[str, ...]],
    faults: list[Fault],
) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    items: list[Item] = []
    places: list[str] = []
    place_of = {name: place for place, name in enumerate(conditions)}
    cells = 0
    for number, (where, record) in enumerate(records, start=1):
        id_ = next((str(record[key]) for key in ID_KEYS if key in record), str(number))
        rest = {
            key: value
            for key, value in record.items()
            if key not in place_of and key not in ID_KEYS and value is not None
        }
        nested = {key: value for key, value in rest.items() if isinstance(value, list | dict)}
        columns = {key: str(value) for key, value in rest.items() if key not in nested}
        # Only existing keys are visited, since thousands of conditions in thousands of items would
        # take minutes. The check of the design reports missing ones with the item's place.
        there = sorted(place_of.keys() & record.keys(), key=place_of.__getitem__)
        cells += len(there) * len(columns)
        if cells > MOST_CELLS:
            seen = f"The items have {len(conditions):,} conditions, and too many other keys."
            faults.append(fault("CIM-S003", where=where, seen=seen, todo="Is it a suite?"))
            break
        made = []
        for name in there:
            text = record[name]
            if text is None:
                continue
            if not isinstance(text, str):
                seen = f"{name} is {type(text).__name__!r} and not a sentence."
                faults.append(fault("CIM-S003", where=where, seen=seen))
                continue
            sentence = strip_blanks(text, what=name, where=where, faults=faults)
            levels = level_columns(name, factors)
            made.append(Condition(name, (Region(sentence),), {**columns, **levels}))
            places.append(where)
        items.append(Item(id_, tuple(made), extra=nested))
    return tuple(items), tuple(places)


def _meta(stated: Record, name: str) -> Meta:
    about = {key: value for key, value in stated.items() if value is not None}
    language = about.pop("language", "")
    phenomenon = about.pop("name", about.pop("phenomenon_name", ""))
    return Meta(
        name=name,
        language=str(language).strip(),
        phenomenon=str(phenomenon).strip() or name,
        extra=about,
    )


def _prepared(table: Table) -> Table:
    """The table with its levels in one spelling, a factor that is named, and items in numbers."""
    return with_items_numbered(with_factor_named(with_plain_levels(table)))


def is_factorial_table(table: Table) -> bool:
    """Whether each row has a sentence, the number of its item, and its condition or its levels.

    The sentence may be in several columns, one for each region.
    """
    table = _prepared(table)
    if is_of_sprouse(table) or region_column_names(table):
        return True
    return bool(
        table.find("sentence")
        and table.find(*ID_COLUMNS)
        and (
            table.find("condition")
            or crossed_columns(filled := filled_down(table))
            or paired(filled)
            or nearly_crossed(filled)
            or crossed_columns(filled, most=MOST_LEVELS)
        )
    )


def read_factorial_table(path: Path) -> Reading:
    """Read a table of sentences; the file's name becomes the suite's.

    Each row has a sentence, or an item with a column for each condition (`condition_columns`). Bars
    separate regions, as in the native format, or columns do (`region_column_names`). The factors
    are two columns that tell the four conditions apart, or the parts of the conditions' names;
    without a column of conditions, two columns that are crossed in every item make them. The
    phenomenon is taken from the columns ``dependency`` and ``island`` (or ``phenomenon``), with the
    value of ``suite`` before it if the table holds several suites.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data, whole, faults = tabulated(path)
    whole, fillers = without_fillers(_prepared(whole))
    for role in ("item", "condition", "phenomenon"):
        faults += wrong_kind(whole, [whole.find(role)], role)
    faults += [*fillers, *numbering_said(whole), *numbered_apart(whole)]
    if errors(faults):
        raise unusable(path, faults)
    regions = region_column_names(table := filled_down(whole))
    table, more = without_repeated(table, regions or [*filter(None, [table.find("sentence")])])
    faults += more
    whole = replace(whole, left_out=table.left_out)
    if regions:
        table, more = with_sentences(table, regions)
        faults += more
    table, more, makers = _with_conditions(table)
    faults += more
    if errors(more):
        raise unusable(path, faults)
    rows = rows_of(table, faults)
    wrong = not_text(table, [table.find("sentence")])
    if not rows:
        seen = "There is no row below the header."
        wrong = [fault("CIM-S005", where=path.name, seen=seen)]
    wrong = wrong or wrong_kind(table, [table.find("sentence")])
    if wrong:
        raise unusable(path, [*faults, *wrong])
    suite, places = suite_of_rows(rows, table, faults)
    if any(fault.code == "CIM-S063" for fault in faults) and CLUSTER in table.cells:
        suite = replace(suite, cluster=CLUSTER)
    if regions:
        glued = 2 * sum(map(_has_no_blanks, table.cells["sentence"])) > len(rows)
        suite = replace(suite, region_names=regions, join="none" if glued else suite.join)
    suite, more = with_known_design(suite, where=path.name)
    faults += [*more, *unread_columns(table, factors=suite.factors)]
    read = _read_as(whole, suite, [row for row, _ in rows], regions=regions, makers=makers)
    return Reading(suite, sha256_of(data), places, tuple(faults), read)


def _has_no_blanks(text: str) -> bool:
    return WITHOUT_BLANKS.search(text) is not None


def _with_conditions(table: Table) -> Arranged:
    """A table with a sentence and its condition in each row, made of one of the known forms."""
    if is_of_sprouse(table):
        return Arranged(from_sprouse(table), [])
    if not table.conditions and is_factorial_table(table):
        return paired(table) or with_joined_levels(table) or arranged(with_island_factor(table))
    if condition_columns(table):
        return Arranged(_with_a_sentence_a_row(table), [])
    seen = f"There is no column condition, sentence or item; there are {table.columns}."
    return Arranged(table, [fault("CIM-S004", where=table.name, seen=seen)])


def _read_as(
    whole: Table,
    suite: Suite,
    rows: Sequence[Cells],
    *,
    regions: Sequence[str],
    makers: Sequence[str],
) -> TableReading:
    """What a table was read as.

    Args:
        whole: the table of the file.
        suite: what came of it.
        rows: the cells of each sentence, under the names of this module.
        regions: the columns of regions, if there are any.
        makers: the columns that make the conditions; none where the table has no such columns.
    """
    id_column, groups = id_columns(rows)
    shape, find = CONDITIONS, whole.find
    factors = [find(name) for name in suite.factors]
    if None in factors and "structure" in suite.factors:  # as `with_island_factor` calls it
        factors.append(find("island"))
    if len(makers) > 1:  # the conditions have no column of their own
        factors, makers = [*makers, *factors], ()
    roles: dict[str, str | Sequence[str | None] | None] = {
        "item": find(id_column),
        "group": [find(name) for name in groups if name == "suite"],
        "condition": makers,
        "factors": [name for name in factors if name not in makers],
        "phenomenon": [find(name) for name in GROUP_COLUMNS[1:] if rows[0].get(name)],
    }
    if is_of_sprouse(whole):
        island, dependency, *two, item, sentence = COLUMNS.values()
        roles = {"item": item, "phenomenon": [dependency, island], "factors": two}
        roles["sentence"] = sentence
    elif regions:
        shape, roles["regions"] = REGIONS, regions
    elif makers or (not whole.conditions and is_factorial_table(whole)):
        roles["sentence"] = find("sentence")
    else:
        shape, roles["conditions"] = CELLS, [*condition_columns(whole)]
        roles["item"] = item_in_rows(whole)
    return reading_of(whole, shape, roles, n_items=len(suite.items), own={"row"})


def _with_a_sentence_a_row(table: Table) -> Table:
    """A table with a column for each condition, as one with a row for each sentence."""
    named = condition_columns(table)
    item = item_in_rows(table)
    ids = table.cells[item] if item else [str(n + 1) for n in range(len(table.numbers))]
    places = [
        (row, name)
        for row in range(len(table.numbers))
        for name in named
        if table.cells[name][row].strip()
    ]
    cells = {
        "item": [ids[row] for row, _ in places],
        "condition": [named[name] for _, name in places],
        "sentence": [table.cells[name][row] for row, name in places],
    }
    for column in table.columns:
        if column not in (item, *named):
            cells.setdefault(column, [table.cells[column][row] for row, _ in places])
    return table.with_cells(cells, [table.numbers[row] for row, _ in places])

"""Minimal pairs as tables, as pairs of lines, and as JSONL with a choice.

The names of columns differ between dialects of tables. CLAMS (Mueller et al. 2020,
doi:10.18653/v1/2020.acl-main.490) begins each line with ``True`` or ``False``. Zorro (Huebner et
al. 2021, doi:10.18653/v1/2021.conll-1.49) has no labels and the ungrammatical sentence first; such
files are read only if the user names their format. QFrBLiMP's release has two sentences and a label
for the grammatical one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import NamedTuple

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import decoded, first_line, unusable
from cimento.intake.known import known_forms
from cimento.intake.marks import is_judgments
from cimento.intake.misfits import hold_text, not_text, wrong_kind
from cimento.intake.names import begins_capital, name_of_levels, split_side
from cimento.intake.profile import is_absent, profile
from cimento.intake.reading import TableReading, reading_of, reading_of_keys
from cimento.intake.roles import find
from cimento.intake.shapes import KEYED, PAIRS, Pair, both_fit, pairs_in
from cimento.intake.sheets import tabulated, unread_columns
from cimento.intake.table import Table, as_cell
from cimento.intake.words import CONTEXTS, ITEMS, PREFIXES
from cimento.suites import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    ItemColumns,
    JsonValue,
    Meta,
    Region,
    Suite,
    pair_columns,
)
from cimento.suites.crossed import CLUSTER, pairs_by_level
from cimento.suites.formats.gathered import Gathered, json_lines
from cimento.suites.formats.items import times
from cimento.suites.reading import Reading, RowPlaces, name_from, sha256_of, strip_blanks, stripped
from cimento.suites.shapes import key_of, with_key_read


def is_pair_table(table: Table) -> bool:
    """Whether each row of a table has one pair or two."""
    return pair_of(_unfolded_pairs(table)) is not None


def _unfolded_pairs(table: Table) -> Table:
    """A table with several pairs in each row, unfolded to one pair a row; others are unchanged.

    The names of its columns join good or bad with a level, such as ``Plural agramatical``. The
    level becomes a column, and the phenomenon if no other column names that; pairs of a row are a
    cluster.

    The tables of Wang, Hu, Levy and Qian 2021 (doi:10.18653/v1/2021.emnlp-main.454) have the
    columns ``Grammatical_1``, ``Ungrammatical_1``, ``Grammatical_2`` and ``Ungrammatical_2``. The
    pairs get the row's ID with -1 or -2.
    """
    sides = _sides(table)
    if not sides:
        return table
    id_column = table.find("item", "id")
    n_rows, levels = len(table.numbers), list(sides)
    ids = table.cells[id_column] if id_column else [str(n + 1) for n in range(n_rows)]
    cells: dict[str, Sequence[str]] = {"item": [f"{id_}-{level}" for id_ in ids for level in sides]}
    for name in (GOOD, BAD):
        both = (table.cells[sides[level][name]] for level in sides)
        cells[name] = [text for texts in zip(*both, strict=True) for text in texts]
    taken = {id_column, *(column for both in sides.values() for column in both.values())}
    for name in table.columns:
        if name not in taken:
            cells[name] = times(len(sides), table.cells[name])
    if not all(map(str.isdigit, levels)):
        cells[CLUSTER] = times(len(sides), ids)
        cells.setdefault(name_of_levels(levels), levels * n_rows)
        if table.find(PHENOMENON) is None:
            cells[PHENOMENON] = levels * n_rows
    return table.with_cells(cells, times(len(sides), table.numbers))


def _sides(table: Table) -> dict[str, dict[str, str]]:
    """The columns of the good and the bad sentences of each level; empty for other tables."""
    levels = {} if pair_of(table) else _levels(table)
    return levels if len(levels) > 1 else {}


def _levels(table: Table) -> dict[str, dict[str, str]]:
    """The two columns of each level whose names join it with good and bad.

    Columns of numbers, such as the ratings of both sentences, are none, nor are those of ids, or of
    *true* and *false*. Empty where a level has one side alone, unless there is a prefix.
    """
    sides: dict[str, dict[str, str]] = {}
    for column in table.columns:
        side, level = split_side(column) or ("", "")
        is_level = level not in _PARTS and level.casefold() not in ITEMS
        if side and is_level and _may_be_text(table, column):
            sides.setdefault(level, {}).setdefault(side, column)
    whole = {level: both for level, both in sides.items() if len(both) == len((GOOD, BAD))}
    # After a prefix, other columns may say more of one of the continuations.
    is_begun = len(whole) == 1 and table.find(*PREFIXES)
    return whole if is_begun or len(whole) == len(sides) else {}


def _may_be_text(table: Table, column: str) -> bool:
    return hold_text(table, [column]) and not is_judgments(table.profile(column).two)


def pair_of(table: Table) -> Pair | None:
    """The columns of the one pair in each row; None for other tables.

    Columns such as *good_stimulus* and *bad_stimulus* are one if they hold whole sentences.
    """
    if known := pairs_in(table):
        return known[0]
    if len(levels := _levels(table)) == 1:
        [both] = levels.values()
        if all(table.is_mostly(name, _is_whole) for name in both.values()):
            return Pair(both[GOOD], both[BAD])
    return None


def _is_whole(cell: str) -> bool:
    """Whether a cell looks like a whole sentence: several words, of which the first is capital."""
    return " " in cell and begins_capital(cell)


def pair_in_row(table: Table) -> dict[str, str]:
    """The columns of the two sides of the one pair in each row, or of their parts after a prefix.

    Empty for other tables.
    """
    if pair := pair_of(table):
        return {GOOD: pair.good, BAD: pair.bad}
    levels = _levels(table)
    return dict(*levels.values()) if len(levels) == 1 else {}


def depends_on_cells(table: Table) -> bool:
    """Whether the cells decide if a table with these columns has pairs, and which they are."""
    has_levels = pair_of(table) is None and any(map(split_side, table.columns))
    return has_levels or table.find(*PREFIXES, *CONTEXTS) is not None


PHENOMENON = "phenomenon"
_PARTS = ("prefix", "stimulus")
"""Parts of a sentence in the tables of minicons, which are not levels."""
_AS_DESIGN = (
    "If the interaction of the two counts, read it as a design: `cimento suites convert {} --from"
    " factorial-table -o NAME`."
)


def read_pairs(path: Path) -> Reading:
    """Read a table of pairs; the file's name becomes the suite's.

    The sentences are taken literally: bars and backslashes have no special meaning. All other
    columns become free columns, and the one that names the phenomenon also becomes the column
    ``phenomenon``.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file is not such a table.
    """
    data, whole, faults = tabulated(path)
    given, more = with_key_read(whole)
    if errors(more := [*more, *_rival_pairs(given)]):
        raise unusable(path, [*faults, *more])
    faults += [*more, *unread_columns(given)]
    table = _unfolded_pairs(given)
    pair = pair_of(table)
    if pair is None:
        seen = f"The columns good and bad are missing; there are {', '.join(table.columns)}."
        wrong = _misnamed(table) or [fault("CIM-S004", where=path.name, seen=seen)]
        raise unusable(path, [*faults, *wrong])
    items, more = _items(table, pair)
    faults += not_text(table, [pair.good, pair.bad])
    suite = Suite(
        meta=Meta(name=name_from(path), language=pair.form.language if pair.form else ""),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=items,
    )
    if table is not given and CLUSTER in table.cells:
        suite = replace(suite, cluster=CLUSTER)
        todo = _AS_DESIGN.format(path.name)
        faults.append(pairs_by_level(_sides(given), where=path.name, todo=todo))
    places = RowPlaces(table.name, times(2, table.numbers))
    read = _read_as(whole, given, table, pair, n_items=len(table.numbers))
    return Reading(suite, sha256_of(data), places, (*faults, *more), read)


def _read_as(whole: Table, given: Table, table: Table, pair: Pair, *, n_items: int) -> TableReading:
    """What a table of pairs was read as.

    Args:
        whole: the table of the file.
        given: the table with the sentences that a key names in place of both and the key.
        table: the table with one pair in each row.
        pair: its columns.
        n_items: number of pairs.
    """
    shape, roles = PAIRS, dict[str, str | list[str] | None]()
    if key := key_of(whole):
        shape, both = KEYED, dict.fromkeys(key.options.values())
        roles = dict(zip(KEYED.needs, (*both, key.column), strict=True))
    elif sides := _sides(given):
        roles = {side: [both[side] for both in sides.values()] for side in (GOOD, BAD)}
    else:
        roles = {GOOD: pair.good, BAD: pair.bad}
    roles["item"] = _id_column(table, pair) if table is given else given.find("item", "id")
    roles[PHENOMENON] = _phenomenon_column(given, pair)
    known = pair.form.title if pair.form else ""
    return reading_of(whole, shape, roles, n_items=n_items, known=known, own={"row"})


def _rival_pairs(table: Table) -> list[Fault]:
    """The fault of a table with two pairs of columns that may be meant; none for other tables."""
    pairs = pairs_in(table)
    if len(pairs) < 2 or any(_same_cells(table, pairs[0], other) for other in pairs[1:]):  # noqa: PLR2004
        return []
    readings = [(f"pairs of {pair.good!r} and {pair.bad!r}", pair.choice) for pair in pairs]
    seen, todo = both_fit(readings)
    return [fault("CIM-S004", where=table.name, seen=seen, todo=todo)]


def _same_cells(table: Table, one: Pair, other: Pair) -> bool:
    both = ((one.good, other.good), (one.bad, other.bad))
    return all(table.stripped(first) == table.stripped(second) for first, second in both)


def _misnamed(table: Table) -> list[Fault]:
    """The faults of columns that are named as the sentences of a pair and hold none."""
    named = [[table.find(GOOD), table.find(BAD)]]
    forms = (form for form in known_forms().values() if form.shape == PAIRS.name)
    named += [[table.find(*form.roles[side]) for side in (GOOD, BAD)] for form in forms]
    return wrong_kind(table, next(filter(all, named), ()))


def _items(table: Table, pair: Pair) -> tuple[ItemColumns, list[Fault]]:
    good, bad = pair.good, pair.bad
    id_column = _id_column(table, pair)
    phenomenon = _phenomenon_column(table, pair)
    others = [column for column in table.columns if column not in {good, bad, id_column}]
    cells, faults = stripped(table.cells, RowPlaces(table.name, table.numbers))
    free = {column: [intern(cell) or None for cell in _free(cells, column)] for column in others}
    if phenomenon:
        named = free.get(PHENOMENON) or [None] * len(table.numbers)
        both = zip(named, cells[phenomenon], strict=True)
        free[PHENOMENON] = [first or second or None for first, second in both]
    ids = (
        cells[id_column] if id_column else [str(number + 1) for number in range(len(table.numbers))]
    )
    faults += _bars([*cells[good], *cells[bad]], RowPlaces(table.name, table.numbers))
    return pair_columns(ids, cells[good], cells[bad], free), faults


def _free(cells: Mapping[str, Sequence[str]], column: str) -> Sequence[str]:
    """The cells of a free column, empty where a number is missing, as R writes it."""
    if not any(map(is_absent, filter(None, {*cells[column]}))):
        return cells[column]
    is_numeric = profile(cells[column]).kind == "numbers"
    return ["" if is_numeric and is_absent(cell) else cell for cell in cells[column]]


def _bars(sentences: Sequence[str], rows: Sequence[str]) -> list[Fault]:
    """The fault of bars in sentences, the good ones first: they are characters like any other."""
    barred = [number for number, text in enumerate(sentences) if "|" in text]
    if not barred:
        return []
    places = [rows[number] for number in sorted({number % len(rows) for number in barred})]
    seen = (
        f"{sentences[barred[0]]!r} has a bar, which the model would read too. Bars are in"
        f" {len(barred)} of {len(sentences)} sentences."
    )
    return [fault("CIM-S064", where=places[0], seen=seen, places=places)]


def _id_column(table: Table, pair: Pair) -> str | None:
    """The chosen column of ids; in published tables, one whose values distinguish the pairs."""
    if pair.form is None or "item" in table.chosen:
        return find(table, "item", "item", "id")
    column = pair.form.column(table, "item")
    ids = table.stripped(column) if column else []
    return column if ids and all(ids) and len({*ids}) == len(ids) else None


def _phenomenon_column(table: Table, pair: Pair) -> str | None:
    """The column that names the phenomenon."""
    if pair.form is None or PHENOMENON in table.chosen:
        return table.find(PHENOMENON)
    return table.find(*pair.form.roles[PHENOMENON])


SUFFIX = ".txt"
_LABELS = {"True": GOOD, "False": BAD}
_LABELED = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:True|False)\t")


class _Line(NamedTuple):
    where: str
    label: str
    text: str


def is_clams(data: bytes) -> bool:
    """Whether the first line begins with a label and a tab."""
    return _LABELED.match(data) is not None


def read_clams(path: Path) -> Reading:
    """Read CLAMS: each line ``True`` or ``False``, a tab and a sentence; two lines make a pair.

    Raises:
        InputError: the file may not be read.
        SuiteError: a line has no label, or the labels do not alternate.
    """
    return _read(path, labels=None)


def read_zorro(path: Path) -> Reading:
    """Read Zorro: two lines make a pair, the ungrammatical sentence first.

    Raises:
        InputError: the file may not be read.
        SuiteError: the number of lines is odd.
    """
    return _read(path, labels=(BAD, GOOD))


def read_good_first(path: Path) -> Reading:
    """Read two lines as a pair, the grammatical sentence first (CLiMP).

    Raises:
        InputError: the file may not be read.
        SuiteError: the number of lines is odd.
    """
    return _read(path, labels=(GOOD, BAD))


def _read(path: Path, *, labels: tuple[str, str] | None) -> Reading:
    data, text, faults = decoded(path)
    lines = _lines(text, path.name, labels, faults)
    pairs = Gathered()
    for start in range(0, len(lines), 2):
        pair = lines[start : start + 2]
        if sorted(line.label for line in pair) != [BAD, GOOD]:
            seen = "This line and the next are not one grammatical and one ungrammatical sentence."
            faults.append(fault("CIM-S002", where=pair[0].where, seen=seen))
            break
        for line in pair:
            condition = Condition(line.label, (Region(line.text),))
            pairs.add(str(start // 2 + 1), condition, line.where)
    if errors(faults):
        raise unusable(path, faults)
    return pairs.reading(path, data, faults)


def _lines(
    text: str, name: str, labels: tuple[str, str] | None, faults: list[Fault]
) -> list[_Line]:
    lines: list[_Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{name} line {number}"
        if not line.strip():
            continue
        if labels is not None:
            lines.append(_Line(where, labels[len(lines) % 2], line.strip()))
            continue
        label, tab, sentence = line.strip().partition("\t")
        if label not in _LABELS or not tab:
            seen = f"The line does not begin with True or False and a tab: {line[:40]!r}."
            faults.append(fault("CIM-S002", where=where, seen=seen))
            break
        lines.append(_Line(where, _LABELS[label], sentence.strip()))
    return lines


FIRST, SECOND, LABEL = "sentence_a", "sentence_b", "label"
ID_KEYS = ("id", "pairID")
PHENOMENON_KEYS = ("phenomenon", "type", "category")


def is_choices(data: bytes) -> bool:
    """Whether the first line has two sentences and a label."""
    first = first_line(data)
    return all(f'"{key}"'.encode() in first for key in (FIRST, SECOND, LABEL))


def read_choices(path: Path) -> Reading:
    """Read pairs whose ``label`` is 0 if ``sentence_a`` is grammatical and 1 if ``sentence_b`` is.

    Raises:
        InputError: the file may not be read.
        SuiteError: the file does not hold such pairs.
    """
    data, text, faults = decoded(path)
    pairs, names = Gathered(), dict[str, None]()
    # A row with a fault has no number, but then nothing is read.
    for number, (where, row) in enumerate(json_lines(text, path.name, faults), start=1):
        names |= dict.fromkeys(row if isinstance(row, dict) else ())
        for id_, condition in _choice(row, where=where, number=number, faults=faults):
            pairs.add(id_, condition, where, key=where)
    if errors(faults):
        raise unusable(path, faults)
    roles = {"sentence A": FIRST, "sentence B": SECOND, "key": LABEL, "item": ID_KEYS}
    roles = {**roles, "phenomenon": ["phenomenon", *PHENOMENON_KEYS]}
    read = reading_of_keys(names, KEYED, roles, n_items=len(pairs.items))
    return replace(pairs.reading(path, data, faults), table=read)


def _choice(
    row: JsonValue, *, where: str, number: int, faults: list[Fault]
) -> list[tuple[str, Condition]]:
    """The conditions of a line, each with the id of its item; none, and a fault, for others."""
    if not isinstance(row, dict) or not all(isinstance(row.get(k), str) for k in (FIRST, SECOND)):
        seen = f"{FIRST} and {SECOND} are not both texts."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return []
    label = row.get(LABEL)
    # Programs for numeric tables write the choices as 0.0 and 1.0.
    if isinstance(label, bool) or label not in (0, 1):
        seen = f"{LABEL} is {label!r}; 0 says that {FIRST} is grammatical, 1 that {SECOND} is."
        faults.append(fault("CIM-S003", where=where, seen=seen))
        return []
    id_ = next((str(row[key]) for key in ID_KEYS if row.get(key) is not None), str(number))
    columns, keys = _columns(row), (FIRST, SECOND) if label == 0 else (SECOND, FIRST)
    texts = [strip_blanks(str(row[key]), what=key, where=where, faults=faults) for key in keys]
    sides = zip((GOOD, BAD), texts, strict=True)
    return [(id_, Condition(side, (Region(text),), columns)) for side, text in sides]


def _columns(row: Mapping[str, JsonValue]) -> dict[str, str]:
    """All other keys as text; the phenomenon also under that name."""
    taken = {FIRST, SECOND, LABEL, *ID_KEYS}
    columns = {
        key: as_cell(value) for key, value in row.items() if key not in taken and value is not None
    }
    named = next((columns[key] for key in PHENOMENON_KEYS if key in columns), None)
    if named is not None:
        columns.setdefault("phenomenon", named)
    return columns

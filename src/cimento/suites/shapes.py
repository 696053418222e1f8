"""Tables in other shapes: sentences A and B with a key, a column for each region or condition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.marks import names_judgments
from cimento.intake.misfits import hold_text
from cimento.intake.names import begins_capital, ends_sentence, has_letter, is_negative
from cimento.intake.roles import find
from cimento.intake.table import Table
from cimento.intake.words import CONTEXTS, NAMES, PREFIXES, SIDES
from cimento.suites import BAD, GOOD
from cimento.suites.cell_names import cells_among, cells_named, condition_of

_KEYS = {*NAMES["key"], *SIDES[GOOD]}
_LETTERED = {"label", *NAMES["label"]}
"""Names of keys only where letters stand for the sentences: numbers may label anything."""
_OPTION = re.compile(r"(?P<stem>.*?)[\s_.(-]*(?P<label>[a-f1-6])\)?", re.IGNORECASE)
_LABELS = (("a", "b"), ("1", "2"))
_MOST_PAIRS = 8
"""Pairs of columns that are tried; tables made to exhaust have thousands."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column that says which of two others has the good sentence.

    Attributes:
        column: its name.
        options: the columns of the two sentences, by the cells that stand for them.
    """

    column: str
    options: Mapping[str, str]


def key_of(table: Table) -> Key | None:
    """The key of a table, and the columns between which it chooses; None without them."""
    pairs = [options for options in _options(table) if tuple(sorted(options)) in _LABELS]
    keys = _keys_of(table) if pairs else []
    for options in pairs[:_MOST_PAIRS]:
        both = {**options, **{name.casefold(): name for name in options.values()}}
        is_lettered = not any(map(str.isdigit, options))
        columns = [
            name
            for name in keys
            if name not in options.values() and (is_lettered or not _is_lettered(name))
        ]
        if column := _filled(table, columns, {*both}):
            return Key(column, both)
    return None


def _options(table: Table) -> list[dict[str, str]]:
    """The columns of texts whose names differ in a letter or number alone, by that label."""
    named: dict[str, dict[str, str]] = {}
    for name in table.columns:
        if match := _OPTION.fullmatch(name.strip()):
            named.setdefault(match["stem"].casefold(), {})[match["label"].casefold()] = name
    several = [labels for labels in named.values() if len(labels) > 1]
    texts = [
        {label: name for label, name in labels.items() if hold_text(table, [name])}
        for labels in several
    ]
    return [labels for labels in texts if labels]


def choice_of(table: Table) -> Key | None:
    """The key of a table with several options in each row; None for other tables.

    The options are called A, B, C and so on, or 1, 2, 3, and the key has these labels. Two options
    are a pair of sentences, unless a column of beginnings comes before both.
    """
    context = find(table, "context", *CONTEXTS, *PREFIXES)
    is_begun = context is not None and not table.is_mostly(context, ends_sentence)
    least = len(_LABELS[0]) + (not is_begun)
    for options in _options(table)[:_MOST_PAIRS]:
        labels = sorted(options)
        is_row = labels in (list("abcdef")[: len(labels)], list("123456")[: len(labels)])
        if is_row and len(labels) >= least:
            columns = [name for name in _keys_of(table) if name not in options.values()]
            if column := _filled(table, columns, {*options}):
                return Key(column, options)
    return None


def with_key_read(table: Table) -> tuple[Table, list[Fault]]:
    """A table with the columns good and bad in place of two sentences and their key.

    A fault says how the key was read. It is an error if a cell chooses neither sentence, or if the
    two columns are called good and bad already, which the key contradicts.
    """
    if (key := key_of(table)) is None:
        return table, _contradicted(table)
    sides: dict[str, list[str]] = {GOOD: [], BAD: []}
    first, second = dict.fromkeys(key.options.values())
    for row, cell in enumerate(table.stripped(key.column)):
        if cell.casefold() not in key.options:
            seen = f"The column {key.column!r} has {cell!r} and names neither sentence."
            todo = f"Write {' or '.join(map(str.upper, [*key.options][:2]))} there."
            return table, [fault("CIM-S003", where=table.place(row), seen=seen, todo=todo)]
        texts = table.cells[first][row], table.cells[second][row]
        is_swapped = (key.options[cell.casefold()] == second) is not is_negative(key.column)
        sides[GOOD].append(texts[is_swapped])
        sides[BAD].append(texts[not is_swapped])
    taken = (first, second, key.column)
    cells = {name: table.cells[name] for name in table.columns if name not in taken} | sides
    what = BAD if is_negative(key.column) else GOOD
    seen = f"The column {key.column!r} is read as the key: it names the {what} sentence of a pair."
    message = fault("CIM-S063", where=table.name, seen=seen, todo="")
    return table.with_cells(cells), [message]


def _keys_of(table: Table) -> list[str]:
    """The columns that may say which of two sentences is good, by their names."""
    return [
        name for name in table.columns if _word(name) in _KEYS | _LETTERED or names_judgments(name)
    ]


def _is_lettered(name: str) -> bool:
    return _word(name) in _LETTERED and not names_judgments(name)


def _word(name: str) -> str:
    return name.casefold().replace("_", " ").strip(" ?¿:")


def _filled(table: Table, columns: Iterable[str], words: set[str]) -> str:
    """The first of some columns most of whose cells are some words; empty if there is none."""
    for name in columns:
        cells = list(map(str.casefold, table.stripped(name)))
        if 2 * sum(map(words.__contains__, cells)) > len(cells):
            return name
    return ""


def _contradicted(table: Table) -> list[Fault]:
    """The fault of pairs whose good sentences another column would choose, A or B."""
    good, bad = table.find(GOOD), table.find(BAD)
    columns = [name for name in _keys_of(table) if name not in (good, bad)] if good and bad else []
    column = _filled(table, columns, {*_LABELS[0]})
    if not column or {*map(str.casefold, table.stripped(column))} != {*_LABELS[0]}:
        return []
    seen = f"The column {column!r} says A or B, but {good!r} is read as good in every row."
    todo = (
        "If it says which of the two sentences is good, call their columns sentence A and sentence"
        " B; if not, delete it."
    )
    return [fault("CIM-S003", where=table.name, seen=seen, todo=todo)]


_NUMBERED = re.compile(r"(?P<stem>.*?)\W*(?P<number>[0-9]+)(?:\s*[/(:].*)?")
_CHOSEN = re.compile(r"region[0-9]+")
_FEWEST_WORDS = 3
_FEWEST_ROWS = 3


def condition_columns(table: Table) -> dict[str, str]:
    """The columns of sentences that are a condition each, and the conditions that they are.

    Somebody has chosen them, or they are named after the cells of a design: *No isla, corta*, see
    `cells_among`. Columns of other texts may have such names too, if their cells are not sentences.
    """
    if table.conditions:
        cells = cells_named(table.conditions)
        return {
            name: condition_of(cells.get(name, (name.replace("_", " "),)))
            for name in table.conditions
        }
    cells = cells_among(table.columns)
    if not (cells and hold_text(table, [*cells])):
        texts = [name for name in table.columns if hold_text(table, [name])]
        cells = cells_among(texts) or cells_among(
            [name for name in texts if table.profile(name).kind == "sentences"]
        )
    return {name: condition_of(levels) for name, levels in cells.items()}


def region_column_names(table: Table) -> tuple[str, ...]:
    """The columns whose cells, in order, are the regions of one sentence; empty for other tables.

    The table has a column of items and one of conditions, and none of sentences. A sentence begins
    with the first region and ends with the last; no other region does either. Columns with one name
    and numbers behind it are regions only together.
    """
    item, condition = find(table, "item"), find(table, "condition")
    if not (item and condition) or table.find("sentence", "text", "good"):
        return ()
    if chosen := sorted(filter(_CHOSEN.fullmatch, table.chosen), key=_number_in):
        return tuple(chosen)
    known = {item, condition, table.find("phenomenon"), table.find("rating")}
    others = [name for name in table.columns if name not in known]
    numbered = list(_numbered(table, others))
    whole = [names for names in numbered if _make_sentences(table, names)]
    if numbered:
        return tuple(whole[0]) if len(whole) == 1 else ()
    texts = [name for name in others if _is_region(table, name)]
    ends = [place for place, name in enumerate(texts) if table.is_mostly(name, ends_sentence)]
    run = texts[: ends[0] + 1] if len(ends) == 1 else [] if ends else _unended(table, texts)
    begins = [place for place, name in enumerate(run) if table.is_mostly(name, begins_capital)]
    run = run[begins[0] :] if len(begins) == 1 else run
    places = list(map(table.columns.index, run))
    is_run = (
        len(run) > 1
        and places == [*range(places[0], places[-1] + 1)]
        and (
            table.is_mostly(run[0], begins_capital) and not table.is_mostly(run[1], begins_capital)
        )
    )
    return tuple(run) if is_run and (not ends or _make_sentences(table, run)) else ()


def _unended(table: Table, texts: Sequence[str]) -> list[str]:
    """The columns of texts that are regions of sentences without a mark at the end, or none.

    The first and the last are called so, such as *prefix* and *continuation*; the first alone
    begins with a capital, some are of several words, and no item has one text twice.
    """
    named = [name.casefold() for name in texts]
    begins = [place for place, name in enumerate(named) if name in PREFIXES]
    ends = [place for place, name in enumerate(named) if name in NAMES["suffix"]]
    if not (len(begins) == len(ends) == 1 and ends[0] - begins[0] >= _FEWEST_UNENDED - 1):
        return []
    run = texts[begins[0] : ends[0] + 1]
    rows = [" ".join(filter(None, map(str.strip, cells))) for cells in _rows(table, run)]
    ids = table.stripped(find(table, "item") or "")
    is_told = len({*zip(ids, rows, strict=True)}) == len(rows)
    n_words = sum(len(row.split()) for row in rows)
    is_long = n_words >= (len(run) / 2 + 1) * len(rows)
    capitals = [name for name in run[1:] if table.is_mostly(name, begins_capital)]
    return list(run) if is_told and is_long and not capitals else []


_FEWEST_UNENDED = 4


def _is_region(table: Table, name: str) -> bool:
    """Whether the cells of a column are words, and no letters for lists or groups."""
    is_word = hold_text(table, [name]) and table.is_mostly(name, has_letter)
    return is_word and not _is_label(table, name)


def _is_label(table: Table, name: str) -> bool:
    """Whether a column has capital letters alone, as those of lists are."""
    return table.is_mostly(name, lambda cell: len(cell) == 1 and cell.isupper())


def _number_in(name: str) -> int:
    """The number behind the name of a column."""
    match = _NUMBERED.fullmatch(name)
    return int(match["number"]) if match else 0


def _numbered(table: Table, columns: Iterable[str]) -> Iterable[list[str]]:
    """The columns of each name with the numbers behind it in steps of one, all of texts."""
    named = dict[str, list[str]]()
    for name in columns:
        if match := _NUMBERED.fullmatch(name):
            named.setdefault(match["stem"], []).append(name)
    for names in named.values():
        numbers = list(map(_number_in, names))
        is_row = numbers == [*range(numbers[0], numbers[0] + len(names))]
        if len(names) > 1 and is_row and hold_text(table, names):
            yield names


def _make_sentences(table: Table, regions: Sequence[str]) -> bool:
    """Whether the cells of regions make whole sentences, and no fewer of them do."""
    joined = [" ".join(cells).strip() for cells in _rows(table, regions)]
    whole = [ends_sentence(text) and len(text.split()) >= _FEWEST_WORDS for text in joined]
    ends = any(table.is_mostly(name, ends_sentence) for name in regions[:-1])
    return 2 * sum(whole) > len(whole) and not (ends and _are_long(table, regions))


def _are_long(table: Table, regions: Sequence[str]) -> bool:
    """Whether regions have several words each; a text in words has the end of each sentence."""
    cells = [cell for name in regions for cell in filter(None, table.cells[name])]
    return sum(len(cell.split()) for cell in cells) > _FEWEST_LONG * len(cells)


_FEWEST_LONG = 1.5
"""Words in a region, in the mean of a table, from which its regions are not words."""


def with_sentences(table: Table, regions: tuple[str, ...]) -> tuple[Table, list[Fault]]:
    """The table with the regions in one column of sentences, and faults that say so.

    They also name cells that are empty in one row of a condition only.
    """
    from cimento.suites.formats.items import write_regions  # which formats import with this

    cells = {name: table.cells[name] for name in table.columns if name not in regions}
    cells["sentence"] = [
        write_regions((cell.strip(), False) for cell in row).strip() if "".join(row).strip() else ""
        for row in _rows(table, regions)
    ]
    seen = f"These columns are read as the regions of one sentence: {', '.join(regions)}."
    is_guess = not table.chosen.issuperset(regions)
    faults = [fault("CIM-S065", where=table.name, seen=seen)] if is_guess else []
    return table.with_cells(cells), [*faults, *_left_empty(table, regions)]


def _left_empty(table: Table, regions: Iterable[str]) -> list[Fault]:
    """The faults of regions that one row alone of a condition lacks."""
    conditions = table.stripped(table.find("condition") or "")
    counts = Counter(conditions)
    faults = list[Fault]()
    for name in regions:
        empty = [row for row, cell in enumerate(table.stripped(name)) if not cell]
        times = Counter(conditions[row] for row in empty)
        for row in empty:
            if times[conditions[row]] == 1 and counts[conditions[row]] >= _FEWEST_ROWS:
                seen = f"{name!r} is empty here, unlike in all other rows of its condition."
                todo, where = "Fill in the cell.", table.place(row)
                faults.append(fault("CIM-S065", where=where, seen=seen, todo=todo))
    return faults


def _rows(table: Table, names: Iterable[str]) -> list[tuple[str, ...]]:
    return list(zip(*(table.cells[name] for name in names), strict=True))

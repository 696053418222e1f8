"""Tables in which factors are crossed: a design, or pairs for each level of one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import NamedTuple

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.intake.marks import sides_of
from cimento.intake.names import meaning, name_of_levels, without_noun
from cimento.intake.numbered import USUAL, in_twos_and_threes, nearly_within, usual_levels
from cimento.intake.roles import FACTORS
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.suites import BAD, GOOD
from cimento.suites.cell_names import cells_named, condition_of, level_name
from cimento.suites.design import N_LEVELS
from cimento.suites.formula import is_condition_name
from cimento.suites.level_words import island_factors

CLUSTER = "cluster"
"""The column that groups the pairs of one row, or of one item."""

ID_COLUMNS = ("item_number", "item_in_suite", "item")
"""Columns of an item's number: the first that is the same in all conditions of an item counts."""
GROUP_COLUMNS = ("suite", "dependency", "island", "phenomenon")
"""Columns that, with the number, identify the item of a sentence."""


def crossed_columns(table: Table, besides: str = "", *, most: int = N_LEVELS) -> tuple[str, ...]:
    """The two or three columns of a table whose levels are crossed in every item; else empty.

    Each has two levels, and each item has every combination of them in one row. A column may be
    left out.

    Args:
        table: the table.
        besides: a column that is none of them.
        most: the largest number of levels of one of them; more than two leave no one cell to be the
            worst.
    """
    for ids in _numberings(table):
        columns = {
            name: n_levels
            for name in table.factors or numbers_last(table)
            if name not in (table.find("item"), besides) and all(table.cells[name])
            and N_LEVELS <= (n_levels := len({*table.cells[name]})) <= most
            and all(len(rows) == len({*rows}) * (len(rows) // n_levels) and len(rows) > n_levels
                    for rows in _by_item(ids, table.cells[name]))
        }  # fmt: skip
        for factors in in_twos_and_threes([*columns]):
            items = _by_item(ids, *map(table.cells.__getitem__, factors))
            n_cells = prod(map(columns.__getitem__, factors))
            if all(len(cells) == len(set(cells)) == n_cells for cells in items):
                return factors
    return ()


MOST_LEVELS = 4
"""Levels of a factor in a design of more than four cells, beyond which a column is not a factor."""


def _numberings(table: Table) -> Iterator[Sequence[str]]:
    """The item of each row: by its number, and by its number within its group."""
    item = table.find("item")
    if item is not None and table.cells[item]:
        yield table.cells[item]
        if any(map(table.find, GROUP_COLUMNS)):
            yield ["\n".join(parts) for parts in _ids(table)]


def numbers_last(table: Table) -> list[str]:
    """The columns of a table, those of codes after all others, and those of numbers and dates last.

    Levels of factors are mostly words; a count that happens to have two values is then none.
    """
    kinds = {name: table.profile(name) for name in table.cells}
    return sorted(kinds, key=lambda name: (not kinds[name].may_be_levels, kinds[name].is_codes))


def _by_item(*columns: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """The levels of factors in the rows of each item; the first column is that of the items."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for id_, *levels in zip(*columns, strict=True):
        rows.setdefault(id_, []).append(tuple(levels))
    return list(rows.values())


def nearly_crossed(table: Table) -> tuple[str, ...]:
    """The columns whose levels are crossed in all but a few items; empty without such.

    In the others a row is missing, or a level is misspelled; the checks name them.
    """
    item = table.find("item")
    if item is None or table.find("condition") or crossed_columns(table):
        return ()
    usual = {
        name: two
        for name in table.factors or numbers_last(table)
        if name != item and (two := usual_levels(table.cells[name]))
    }
    cells = {name: table.stripped(name) for name in usual}
    return next(filter(None, (nearly_within(ids, cells, usual) for ids in _numberings(table))), ())


class Arranged(NamedTuple):
    """A table with a column of conditions.

    Attributes:
        table: the table.
        faults: what is to be said of it; errors if rows of an item cannot be told apart.
        makers: the columns whose cells make the conditions.
    """

    table: Table
    faults: list[Fault]
    makers: tuple[str, ...] = ()


def arranged(table: Table) -> Arranged:
    """A table with the conditions that its other columns make.

    One column may say which sentences are good: these are pairs. Otherwise two factors that are
    crossed in every item make a design.
    """
    if pairs := paired(table):
        return pairs
    condition = table.find("condition")
    repeated = _repeated(table, condition) if condition else []
    own = (condition,) if condition else ()
    if condition and (lettered := _lettered(table, condition)):
        return Arranged(table, [lettered])
    if condition and not repeated:
        return Arranged(*_with_good_and_bad(table, condition), own)
    if factors := crossed_columns(table) or crossed_columns(table, most=MOST_LEVELS):
        alike = _agreement(table, factors)
        return Arranged(named_by_levels(table, factors), [alike] if alike else [], factors)
    factors = nearly_crossed(table)
    if factors or not condition or len(repeated) * 2 <= len({*_ids(table)}):
        named = named_by_levels(table, factors) if factors else table
        return Arranged(named, [], factors or own)  # checks name the rows
    return Arranged(table, [_untold(table, condition, repeated)])


def _agreement(table: Table, factors: Sequence[str]) -> Fault | None:
    """The fault of two factors of number, which agree or do not: no cell of these is the worst."""
    if len(factors) > N_LEVELS:
        return None
    first, second = ({*table.stripped(factor)} for factor in factors)
    if first != second or name_of_levels(first) != "number":
        return None
    seen = (
        f"The columns {factors[0]!r} and {factors[1]!r} have the same levels, and nothing says"
        " which sentences are good."
    )
    todo = (
        "Give each pair of a good and a bad sentence a number of its own in the column of items, as"
        " in 1, 1, 2, 2, and add a column condition, with good and bad."
    )
    return fault("CIM-S003", where=table.name, seen=seen, todo=todo)


def paired(table: Table) -> Arranged | None:
    """A table in which one column judges the sentences, with the conditions good and bad.

    An item holds one pair, or one for each level of another column, which joins the items' ids.

    Returns:
        The table, with an error if it is not clear which sentences are a pair. None for a table
        with conditions of its own, or with one sentence in most items, or where somebody has chosen
        factors that are crossed.
    """
    if (judging := _judging(table)) is None or (table.factors and crossed_columns(table)):
        return None
    column, sides = judging
    columns = table.cells
    judged = [sides[cell] for cell in table.stripped(column)]
    ways = _apart(table, column, judged)
    if not ways and (joined := _joined(table, column, judged)):
        table, ways = joined, [joined.columns[-1]]
    if not ways and crossed_columns(table, besides=column):
        return None
    if len(ways) != 1:
        return Arranged(table, [_untold(table, column, _repeated(table, column), ways)])
    [apart] = ways
    made = {**table.cells, "condition": judged}
    if apart:
        message = _by_levels(table, column, apart, sides)
        levels, item = table.stripped(apart), table.find("item") or ""
        made[CLUSTER] = table.cells[item]
        if table.find("phenomenon"):
            both = zip(levels, table.cells[item], strict=True)
            made[item] = [f"{level}-{id_}" for level, id_ in both]
        else:  # the phenomenon is part of an item's name
            made["phenomenon"] = levels
    else:
        seen = "The two sentences of an item are read as a pair."
        marks = _sides_named(column, sides)
        todo = "To correlate with the ratings, give each sentence the number of an item of its own."
        if column not in (table.find("rating"), table.find("ratings")):
            todo = ""
        message = fault("CIM-S063", where=table.name, seen=f"{seen} {marks}", todo=todo)
    telling = [apart] if apart in columns else filter(None, apart.split(JOINED))
    makers = (column, *telling)
    return Arranged(table.with_cells(made), [message], makers)


def _judging(table: Table) -> tuple[str, dict[str, str]] | None:
    """The one column that judges the sentences of most items, and what its cells stand for."""
    item, sentence, condition = map(table.find, ("item", "sentence", "condition"))
    if not (item and sentence) or (condition and not _repeated(table, condition)):
        return None
    judged = {
        name: sides
        for name in table.columns
        if name not in (item, sentence)
        and (sides := sides_of(name, table.cells[name], abbreviates=name == condition))
    }
    if len(judged) != 1:
        return None
    [(column, sides)] = judged.items()
    both = {*zip(_ids(table), table.stripped(column), strict=True)}
    n_items = len({id_ for id_, _ in both})
    return (column, sides) if (len(both) - n_items) * 2 >= n_items else None


AS_DESIGN = "If the interaction of the two counts, read it as a design"
"""How advice begins on pairs that may be a design."""


def _by_levels(table: Table, column: str, other: str, sides: Mapping[str, str]) -> Fault:
    """The fault that says that an item has a pair for each level of another column."""
    levels = dict.fromkeys(table.stripped(other))
    both = [table.shown(name) for name in table.columns if name in (column, other)]
    chosen = as_option(dict(zip((FACTORS, f"{FACTORS} 2"), both, strict=False)))
    todo = f"{AS_DESIGN}: {chosen}."
    if len(levels) != N_LEVELS:
        todo = ""
    more = f" {_sides_named(column, sides)}"
    return pairs_by_level(levels, where=table.name, todo=todo, more=more)


def _with_good_and_bad(table: Table, condition: str) -> tuple[Table, list[Fault]]:
    """The table with two conditions called good and bad if formulas cannot use what means that.

    A fault tells of abbreviations. Names that join the levels of factors are called by these.
    """
    cells = table.stripped(condition)
    if of_cells := levels_joined(dict.fromkeys(cells)):
        renamed = {**table.cells, condition: [condition_of(of_cells[cell]) for cell in cells]}
        return replace(table, cells=renamed), []
    sides, faults = {name: meaning(without_noun(name)) for name in cells}, list[Fault]()
    if all(map(is_condition_name, sides)):
        return table, []
    if sorted(sides.values()) != [BAD, GOOD] and (sides := sides_of("", cells, abbreviates=True)):
        seen = _sides_named(condition, sides)
        todo = "If they are other conditions, write their names out."
        faults.append(fault("CIM-S063", where=table.name, seen=seen, todo=todo))
    named = {name: level_name(name) for name in cells}  # Active Control: Active-Control
    sides = sides or (named if N_LEVELS < len({*named.values()}) == len(named) else {})
    renamed = {**table.cells, condition: [sides.get(cell, cell) for cell in cells]}
    return replace(table, cells=renamed), faults


def levels_joined(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The levels in the names of conditions that formulas could not tell them from; else empty.

    They are in *isla/corta* and *no-isla-corta*; *corta_isla* needs no other name.
    """
    names = [*names]
    is_told = all(map(is_condition_name, names)) and island_factors(names)
    return {} if is_told else cells_named(names)


def _sides_named(column: str, sides: Mapping[str, str]) -> str:
    """The sentence that says which of two marks is the good one."""
    marks = {side: repr(mark) if mark else "an empty cell" for mark, side in sides.items()}
    return f"In the column {column!r}, {marks[GOOD]} stands for good and {marks[BAD]} for bad."


def _ids(table: Table) -> list[tuple[str, ...]]:
    """The item of each row, whose number may begin anew in each group of items."""
    item = table.find("item") or ""
    names = [item, *filter(None, map(table.find, GROUP_COLUMNS))]
    return list(zip(*(table.cells[name] for name in names), strict=True))


def _repeated(table: Table, column: str) -> list[int]:
    """The first row of each item in which a cell of a column stands several times."""
    if not table.find("item"):
        return []
    firsts: dict[tuple[tuple[str, ...], str], int] = {}
    repeated: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(zip(_ids(table), table.stripped(column), strict=True)):
        if firsts.setdefault(key, row) != row:
            repeated.setdefault(key[0], firsts[key])
    return list(repeated.values())


LEAST_PAIRED = 1.75
"""Least mean number of sentences in what may be pairs, of which a few may lack one."""


def _apart(table: Table, column: str, sides: Sequence[str]) -> list[str]:
    """The columns beside the judging one that say which good and bad sentence are a pair.

    Returns:
        One for each way to pair the sentences, that of the fewest levels; an empty name where each
        item is one pair.
    """
    known = {column, table.find("item"), table.find("sentence")}
    others = [name for name in table.columns if name not in known]
    words = [name for name in others if table.profile(name).may_be_levels]
    return _ways(table, sides, words) or _ways(table, sides, others)


def _ways(table: Table, sides: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The ways to pair the sentences by some columns; see `_apart`."""
    ways: dict[frozenset[tuple[int, ...]], str] = {}
    by_levels = sorted(columns, key=lambda name: len({*table.cells[name]}))
    for name in ("", *by_levels[:_MOST_TELLING]):
        cells = table.cells[name] if name else [""] * len(sides)
        pairs: dict[tuple[tuple[str, ...], str], list[int]] = {}
        for row, key in enumerate(zip(_ids(table), cells, strict=True)):
            pairs.setdefault(key, []).append(row)
        is_told = all(len({sides[row] for row in rows}) == len(rows) for rows in pairs.values())
        if is_told and len(sides) >= LEAST_PAIRED * len(pairs):
            if not name:
                return [""]
            ways.setdefault(frozenset(map(tuple, pairs.values())), name)
    return list(ways.values())


JOINED = " x "
"""What is between the names of two columns that are joined."""
_MOST_TELLING = 200
_MOST_LEVELS = 6
_MOST_FACTORS = 8
"""Limits on the columns that are tried, and joined two by two."""


def _joined(table: Table, column: str, judged: Sequence[str]) -> Table | None:
    """The table with one more column that joins the only two which tell the pairs apart together.

    An item has a good and a bad sentence for each combination of their levels, as of the head and
    the attractor. None for other tables.
    """
    known = {column, table.find("item"), table.find("sentence")}
    factors = [
        name
        for name in numbers_last(table)
        if name not in known and all(table.cells[name])
        and N_LEVELS <= len({*table.cells[name]}) <= _MOST_LEVELS
    ]  # fmt: skip
    fitting = list[Table]()
    for two in combinations(factors[:_MOST_FACTORS], 2):
        levels = map("-".join, zip(*map(table.stripped, two), strict=True))
        with_both = table.with_cells({**table.cells, JOINED.join(two): [*levels]})
        if with_both.columns[-1] in _ways(with_both, judged, with_both.columns[-1:]):
            fitting.append(with_both)
    return fitting[0] if len(fitting) == 1 else None


_LETTERED = re.compile(r"(.*\d)[ ._-]?([a-z])", re.IGNORECASE)


def _lettered(table: Table, condition: str) -> Fault | None:
    """The fault of a table whose sentences of one item are 1a and 1b; None for other tables."""
    ids, names = table.stripped(table.find("item") or ""), table.stripped(condition)
    parts = [_LETTERED.fullmatch(id_) for id_ in ids]
    if not ids or len({*ids}) < len(ids) or not all(parts):
        return None
    items: dict[str, list[str]] = {}
    for part, name in zip(filter(None, parts), names, strict=True):
        items.setdefault(part[1], []).append(name)
    if any(sorted(both) != sorted({*names}) or len(both) < N_LEVELS for both in items.values()):
        return None
    item = next(iter(items))
    first, second, *_ = (part[0] for part in filter(None, parts) if part[1] == item)
    seen = f"The sentences {first!r} and {second!r} count as two items, so nothing compares them."
    todo = f"Sentences of one item share its number: write {item} for both, and so on."
    return _at_rows("CIM-S012", table, range(len(items[item])), seen, todo)


def _lone(table: Table) -> Fault | None:
    """The fault of the few items of one sentence, as after a slip in an item's number."""
    ids = [id_ for id_, *_ in _ids(table)]
    counts = Counter(ids)
    rows = [row for row, id_ in enumerate(ids) if counts[id_] == 1]
    if not rows or len(rows) > (1 - USUAL) * len(ids):
        return None
    seen = (
        f"Items of one sentence: {', '.join(repr(ids[row]) for row in rows)} in rows"
        f" {_numbers(table, rows)}; nearly all others have two."
    )
    todo = "Correct the number of the item, or add the other sentence."
    return _at_rows("CIM-S012", table, rows, seen, todo)


def _numbers(table: Table, rows: Iterable[int]) -> str:
    return ", ".join(str(table.numbers[row]) for row in rows)


def _at_rows(
    code: str, table: Table, rows: Iterable[int], seen: str, todo: str, *, odd: int = 0
) -> Fault:
    """The fault of some rows; `odd` is the index of the one at which it is reported."""
    places = list(map(table.place, rows))
    return fault(code, where=places[odd], seen=seen, todo=todo, places=places)


def _untold(table: Table, column: str, repeated: Sequence[int], ways: Sequence[str] = ()) -> Fault:
    """The fault of a table that does not say which sentences of an item belong together."""
    ids, cells = _ids(table), table.stripped(column)
    first = repeated[0] if repeated else 0
    if not repeated and not ways and (lone := _lone(table)):
        return lone
    rows = [row for row, id_ in enumerate(ids) if id_ == ids[first]]
    alike = [row for row in rows if cells[row] == cells[first]]
    item, cell = ids[first][0], cells[first]
    if repeated and not ways and len(repeated) <= (1 - USUAL) * len({*ids}):
        seen = (
            f"In the column {column!r}, item {item!r} has {cell!r} in rows"
            f" {_numbers(table, alike)}, unlike nearly all other items."
        )
        todo = "Correct one of these cells, or delete a row that is there twice."
        return _at_rows("CIM-S011", table, alike, seen, todo, odd=-1)
    seen = (
        f"The table does not say which sentences of an item belong together: in the column"
        f" {column!r}, item {item!r} has {cell!r} {counted(len(alike), 'time')}."
        if not ways
        else f"The columns {ways[0]!r} and {ways[1]!r} pair the sentences of an item differently."
    )
    todo = (
        "Give each pair a number of its own in the column of items, as in 1, 1, 2, 2; or add a"
        " column that differs from pair to pair, such as number, with singular, singular, plural,"
        " plural."
        if len(repeated) * 2 > len({*ids}) and not ways
        else "Give each pair a number of its own in the column of items, as in 1, 1, 2, 2."
    )
    return _at_rows("CIM-S011", table, rows, seen, todo)


def pairs_by_level(levels: Iterable[str], *, where: str, todo: str, more: str = "") -> Fault:
    """The fault that says that an item has a pair for each of some levels, and perhaps more."""
    seen = (
        "Each item is read as one pair of a good and a bad sentence for each of"
        f" {', '.join(levels)}, by which results are broken down."
    )
    return fault("CIM-S063", where=where, seen=f"{seen}{more}", todo=todo)


def named_by_levels(table: Table, factors: Sequence[str]) -> Table:
    """The table with a column ``condition`` that joins the levels of factors."""
    rows = zip(*(table.cells[factor] for factor in factors), strict=True)
    names = [*map(condition_of, rows)]
    return table.with_cells({**table.cells, "condition": names})


def filled_down(table: Table) -> Table:
    """The table with the number of the item above in rows of a sentence without a number.

    These are rows with a condition, or those of two factors that are crossed once they are filled.
    """
    item, condition = table.find("item") or "", table.find("condition") or ""
    with_cells = condition or table.find("sentence") or ""
    if not (item and with_cells and "" in table.cells[item]):
        return table
    ids = list[str]()
    for id_, name in zip(table.cells[item], table.cells[with_cells], strict=True):
        ids.append(ids[-1] if ids and name.strip() and not id_.strip() else id_)
    filled = replace(table, cells={**table.cells, item: ids})
    return filled if condition or crossed_columns(filled) or paired(filled) else table

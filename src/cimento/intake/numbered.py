"""The column that numbers the items where its name does not say so: its cells propose it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.roles import find, fits
from cimento.intake.table import Table
from cimento.intake.words import pattern

_PARTS = pattern("parts")
"""Names of columns that part the rows, such as lists, each of which has all conditions too."""
_FEWEST = 3
"""Number of different cells from which a column may number the items."""
_LEAST_CROSSED = 0.9
_MOST_COLUMNS = 200


def with_items_numbered(table: Table) -> Table:
    """A table whose one column that is crossed with its conditions is called ``item``.

    Each of its cells, or nearly each, is beside every condition, and beside one condition with
    one text only: *SentenceFrame* and *story_id* are such columns. Without a column of conditions,
    it is the one that numbers the sets of two crossed factors, see `sets_of`. The table is
    unchanged where a column with a name for items groups rows already, and where no column or
    several ways to group them are left.
    """
    condition, item = find(table, "condition"), find(table, "item")
    if not (item is None or _is_own(table, item)):
        return table
    if not condition:
        sets = sets_of(table) if find(table, "sentence") else []
        return _called(table, sets[0].column) if len(sets) == 1 else table
    levels = table.stripped(condition)
    if len({*levels}) < 2 or "" in levels:  # noqa: PLR2004  # a condition alone is crossed with all
        return table
    texts = [*zip(*_texts(table, condition), strict=True)] or [()] * len(levels)
    ways: dict[tuple[int, ...], str] = {}
    for name in table.columns[:_MOST_COLUMNS]:
        if name in (condition, item) or not _may_number(table, name):
            continue
        ids = table.stripped(name)
        if _is_crossed(ids, levels, texts):
            first = {id_: row for row, id_ in reversed([*enumerate(ids)])}
            ways.setdefault(tuple(first[id_] for id_ in ids), name)
    return _called(table, next(iter(ways.values()))) if len(ways) == 1 else table


@dataclass(frozen=True, slots=True)
class Sets:
    """A column that numbers the sets of a design.

    Attributes:
        column: its name.
        factors: the two columns every combination of whose levels is once in each set.
    """

    column: str
    factors: tuple[str, str]

    @property
    def said(self) -> str:
        """What shows that the column numbers sets, as a sentence."""
        first, second = self.factors
        return (
            f"The column {self.column!r} numbers sets: in each, every combination of {first!r} and"
            f" {second!r} is there once."
        )


def sets_of(table: Table) -> list[Sets]:
    """The ways to part the rows of a table into sets of two crossed factors, of the smallest sets.

    The cells show it, whatever the columns are called. Levels are words, or two numbers. Lists and
    groups count where nothing else parts the rows so.
    """
    others = [name for name in table.columns[:_MOST_COLUMNS] if not _has_own_texts(table, name)]
    levels = [name for name in table.factors or others if _may_be_factor(table, name)]
    ways: dict[tuple[int, ...], Sets] = {}
    for name in others:
        ids = table.stripped(name)
        if name in table.factors:
            continue
        few = 2 if table.profile(name).kind == "numbers" else _FEWEST
        if "" in ids or not (few <= len({*ids}) < len(ids) and fits(table, name, "item")):
            continue
        rest = [level for level in levels if level != name]
        if factors := _crossed_within(table, ids, rest):
            first = {id_: row for row, id_ in reversed([*enumerate(ids)])}
            ways.setdefault(tuple(first[id_] for id_ in ids), Sets(name, factors))
    most = max((len({*table.stripped(way.column)}) for way in ways.values()), default=0)
    finest = [way for way in ways.values() if len({*table.stripped(way.column)}) == most]
    return [way for way in finest if not _PARTS.search(way.column)] or finest


def sets_numbered_by(table: Table, column: str) -> Sets | None:
    """The sets that a column numbers; None where its cells part the rows into none."""
    return next((way for way in sets_of(table) if way.column == column), None)


def numbering_said(table: Table) -> list[Fault]:
    """What is said of a design whose column of items was found by its cells; nothing for others."""
    if "item" not in table.origin or "item" in table.chosen or find(table, "condition"):
        return []
    if (sets := sets_numbered_by(table, "item")) is None:
        return []
    seen = replace(sets, column=table.shown("item")).said
    return [fault("CIM-S065", where=table.name, seen=seen, todo="")]


def _has_own_texts(table: Table, name: str) -> bool:
    column = table.profile(name)
    return column.kind == "sentences" and 2 * column.n_distinct > column.n


def _may_be_factor(table: Table, name: str) -> bool:
    column, cells = table.profile(name), table.stripped(name)
    n_levels = len({*cells})
    is_few = 1 < n_levels <= (_MOST_LEVELS if column.may_be_levels else 2)
    return is_few and "" not in cells and len(cells) > n_levels


_MOST_LEVELS = 4
"""Levels of a factor, beyond which a column is not one."""
_MOST_FACTORS = 12
"""Columns that are tried as factors."""


def _crossed_within(
    table: Table, ids: Sequence[str], columns: Sequence[str]
) -> tuple[str, str] | None:
    """The first two columns every combination of whose levels is once beside each id."""
    size, rest = divmod(len(ids), len({*ids}))
    if rest:
        return None
    cells = {name: table.stripped(name) for name in columns[:_MOST_FACTORS]}
    for first, second in combinations(cells, 2):
        told = {*zip(ids, cells[first], cells[second], strict=True)}
        n_cells = prod(len({*cells[name]}) for name in (first, second))
        if n_cells == size and len(told) == len(ids):
            return first, second
    return None


def _is_own(table: Table, item: str) -> bool:
    """Whether each row has a number of its own, so that no item has two conditions."""
    column = table.profile(item)
    return column.n == column.n_distinct == len(table.numbers) and item not in table.chosen


def _may_number(table: Table, name: str) -> bool:
    column = table.profile(name)
    return (
        fits(table, name, "item")
        and column.kind != "sentences"
        and _FEWEST <= column.n_distinct < column.n == len(table.numbers)
        and not _PARTS.search(name)
    )


def _texts(table: Table, condition: str) -> list[Sequence[str]]:
    """The columns of sentences, or of words where no column has sentences."""
    kinds = {name: table.profile(name).kind for name in table.columns if name != condition}
    wanted = "sentences" if "sentences" in kinds.values() else "words"
    return [table.stripped(name) for name, kind in kinds.items() if kind == wanted]


def _is_crossed(ids: Sequence[str], levels: Sequence[str], texts: Iterable[object]) -> bool:
    """Whether nearly all ids have every level, each with one text."""
    told: dict[tuple[str, str], object] = {}
    for id_, level, text in zip(ids, levels, texts, strict=True):
        if told.setdefault((id_, level), text) != text:
            return False
    n_levels = len({*levels})
    counts: dict[str, int] = {}
    for id_, _ in told:
        counts[id_] = counts.get(id_, 0) + 1
    whole = sum(count == n_levels for count in counts.values())
    return whole >= _LEAST_CROSSED * len(counts)


_MOST_CONDITIONS = 16


def block_of(levels: Sequence[str]) -> int:
    """The number of rows of each item where the conditions come round in turn; 0 otherwise.

    >>> block_of(["good", "bad", "good", "bad"]), block_of(["good", "good", "bad", "bad"])
    (2, 0)

    Args:
        levels: the condition of each row.
    """
    size = len({*levels})
    if not 1 < size <= _MOST_CONDITIONS or len(levels) % size or len(levels) == size:
        return 0
    blocks = (levels[first : first + size] for first in range(0, len(levels), size))
    return size if all(len({*block}) == size for block in blocks) else 0


def numbered_apart(table: Table) -> list[Fault]:
    """The fault of a column of items that gives each row a number of its own, beside conditions."""
    item, condition = find(table, "item"), find(table, "condition")
    has_text = table.find("sentence", "text") is not None
    if not (item and condition and has_text and _is_own(table, item)):
        return []
    levels = table.stripped(condition)
    is_numbered = table.profile(item).kind == "numbers"
    is_pairs = table.find("good") or table.find("bad")
    if not is_numbered or is_pairs or not 1 < len({*levels}) < len(levels):
        return []
    seen = (
        f"The column {table.shown(item)!r} gives each row a number of its own, so that no item has"
        " two conditions."
    )
    todo = "Give the sentences of one item the same number, in every row of it."
    if size := block_of(levels):
        first, last = table.numbers[0], table.numbers[size - 1]
        todo += f" If the conditions come in turn, rows {first} to {last} are the first item."
    return [fault("CIM-S012", where=table.name, seen=seen, todo=todo)]


def _called(table: Table, item: str) -> Table:
    """The table whose column of items is called so, and no other one."""
    names = {
        name: "item" if name == item else "item (2)" if name == "item" else name
        for name in table.columns
    }
    return replace(
        table,
        columns=tuple(names.values()),
        cells={new: table.cells[old] for old, new in names.items()},
        origin={
            **table.origin,
            **{new: table.shown(old) for old, new in names.items() if new != old},
        },
    )

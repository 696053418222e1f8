"""The column that numbers the items where its name does not say so: its cells propose it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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
    one text only: *SentenceFrame* and *story_id* are such columns. The table is unchanged where a
    column with a name for items groups rows already, and where no column or several ways to group
    them are left.
    """
    condition, item = find(table, "condition"), find(table, "item")
    if not condition or not (item is None or _is_own(table, item)):
        return table
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

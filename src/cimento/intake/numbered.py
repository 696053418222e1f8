"""The column that numbers the items where its name does not say so: its cells propose it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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

"""The column that numbers the items where its name does not say so: its cells propose it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from cimento.errors import Fault, counted
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
    it is the one that numbers the sets of crossed factors, see `sets_of` and `nearly_sets_of`. The
    table is unchanged where a column with a name for items groups rows already, and where no column
    or several ways to group them are left.
    """
    condition, item = find(table, "condition"), find(table, "item")
    if not (item is None or _is_own(table, item)):
        return table
    if not condition:
        sets = sets_of(table) or nearly_sets_of(table) if find(table, "sentence") else []
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
    # A list or group that has each condition once numbers the items too.
    told = [name for name in ways.values() if not _PARTS.search(name)] or [*ways.values()]
    return _called(table, told[0]) if len(told) == 1 else table


@dataclass(frozen=True, slots=True)
class Sets:
    """A column that numbers the sets of a design.

    Attributes:
        column: its name.
        factors: two or three columns, every combination of whose levels is once in each set.
        n: number of sets.
        n_whole: number of those that hold every combination once; others have a slip.
    """

    column: str
    factors: tuple[str, ...]
    n: int
    n_whole: int

    @property
    def said(self) -> str:
        """What shows that the column numbers sets, as a sentence."""
        *before, last = (repr(name) for name in self.factors)
        among = "each"
        if self.n_whole < self.n:
            among = f"{self.n_whole} of {counted(self.n, 'set')}"
        return (
            f"The column {self.column!r} numbers sets: in {among}, every combination of"
            f" {', '.join(before)} and {last} is there once."
        )


def sets_of(table: Table) -> list[Sets]:
    """The ways to part the rows of a table into sets of crossed factors, of the smallest sets.

    The cells show it, whatever the columns are called. Levels are words, or two numbers. Lists and
    groups count where nothing else parts the rows so.
    """
    numbering, rest = _may_be_sets(table)
    ways: dict[tuple[int, ...], Sets] = {}
    for name, ids in numbering.items():
        levels = [level for level in rest if level != name]
        if factors := _crossed_within(table, ids, levels):
            ways.setdefault(_parted(ids), Sets(name, factors, n := len({*ids}), n))
    return _finest(ways.values())


def nearly_sets_of(table: Table) -> list[Sets]:
    """The ways to part the rows into sets of crossed factors, nearly all of which are whole.

    The others lack a row, have one of another set, or a level that is misspelled.
    """
    numbering, rest = _may_be_sets(table)
    usual = {name: two for name in rest if (two := usual_levels(table.cells[name]))}
    ways: dict[tuple[int, ...], Sets] = {}
    for name, ids in numbering.items():
        levels = {level: two for level, two in usual.items() if level != name}
        if factors := nearly_within(ids, {n: table.stripped(n) for n in levels}, levels):
            rows = zip(ids, zip(*map(table.stripped, factors), strict=True), strict=True)
            n_whole = _n_whole(rows, {*product(*(levels[one] for one in factors))})
            ways.setdefault(_parted(ids), Sets(name, factors, len({*ids}), n_whole))
    return _finest(ways.values())


def _may_be_sets(table: Table) -> tuple[dict[str, list[str]], list[str]]:
    """The cells of the columns that may number sets, and the columns that may be factors."""
    others = [name for name in table.columns[:_MOST_COLUMNS] if not _has_own_texts(table, name)]
    numbering = dict[str, list[str]]()
    for name in others:
        ids = table.stripped(name)
        few = 2 if table.profile(name).kind == "numbers" else _FEWEST
        is_some = name not in table.factors and "" not in ids and few <= len({*ids}) < len(ids)
        if is_some and fits(table, name, "item"):
            numbering[name] = ids
    return numbering, [one for one in table.factors or others if _may_be_factor(table, one)]


def _parted(ids: Sequence[str]) -> tuple[int, ...]:
    """The first row of each row's set, which is the same however sets are called."""
    first = {id_: row for row, id_ in reversed([*enumerate(ids)])}
    return tuple(first[id_] for id_ in ids)


def _finest(ways: Iterable[Sets]) -> list[Sets]:
    """The ways of the most sets; those of lists and groups count where there are no others."""
    known = [*ways]
    finest = [way for way in known if way.n == max(one.n for one in known)]
    return [way for way in finest if not _PARTS.search(way.column)] or finest


USUAL = 0.75
"""Least part of items that show what a table means; others may have a mistake."""


def usual_levels(cells: Sequence[str]) -> set[str]:
    """The two levels that nearly all cells of a column have; empty where there are no such two."""
    common = Counter(filter(None, map(str.strip, cells))).most_common(2)
    least = min((count for _, count in common), default=0)
    is_factor = len(common) == 2 and least * 4 > len(cells)  # noqa: PLR2004  # of two levels
    n_usual = sum(count for _, count in common)
    return {level for level, _ in common} if is_factor and n_usual >= USUAL * len(cells) else set()


def nearly_within(
    ids: Sequence[str], cells: Mapping[str, Sequence[str]], usual: Mapping[str, Collection[str]]
) -> tuple[str, ...]:
    """The columns whose usual levels are crossed in all but a few items; empty without such.

    Args:
        ids: the item of each row.
        cells: the levels of the columns that may be factors.
        usual: the two usual levels of each of them.
    """
    n = len({*ids})
    halved = [name for name in usual if _is_halved(ids, cells[name], usual[name])]
    for factors in in_twos_and_threes(halved):
        if not n <= 2 * len(ids) / 2 ** len(factors) <= 3 * n:
            continue  # so many rows are not nearly all sets
        rows = zip(ids, zip(*(cells[name] for name in factors), strict=True), strict=True)
        n_whole = _n_whole(rows, {*product(*(usual[name] for name in factors))})
        # One wrong number spoils two items: that which lacks the row, and that which has it.
        if 1 < n_whole < n and n_whole >= min(USUAL * n, max(n - 2, n / 2)):
            return factors
    return ()


def _is_halved(ids: Sequence[str], cells: Sequence[str], usual: Collection[str]) -> bool:
    """Whether at least half of the items have the two usual levels of a column equally often."""
    first, _ = usual
    more = dict.fromkeys(ids, 0)
    for id_, level in zip(ids, cells, strict=True):
        more[id_] += 1 if level == first else -1
    return 2 * sum(difference == 0 for difference in more.values()) >= len(more)


def in_twos_and_threes(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Two and three of some columns, three of the first few."""
    yield from combinations(names[:MOST_FACTORS], 2)
    yield from combinations(names[:_MOST_FACTORS], 3)


def _n_whole(
    rows: Iterable[tuple[str, tuple[str, ...]]], whole: Collection[tuple[str, ...]]
) -> int:
    """The number of items that have each of some combinations of levels once, and no others."""
    items: dict[str, list[tuple[str, ...]]] = {}
    for id_, levels in rows:
        items.setdefault(id_, []).append(levels)
    return sum({*there} == {*whole} and len(there) == len(whole) for there in items.values())


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
MOST_FACTORS = 40
"""Columns that are tried as factors: as one of three, and as one of two, since tables made to
exhaust have thousands."""


def _crossed_within(table: Table, ids: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The first two or three columns every combination of whose levels is once beside each id."""
    size, rest = divmod(len(ids), len({*ids}))
    if rest:
        return ()
    cells = {name: table.stripped(name) for name in columns[:_MOST_FACTORS]}
    for factors in in_twos_and_threes([*cells]):
        told = {*zip(ids, *(cells[name] for name in factors), strict=True)}
        n_cells = prod(len({*cells[name]}) for name in factors)
        if n_cells == size and len(told) == len(ids):
            return factors
    return ()


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
    )


def item_in_rows(table: Table) -> str | None:
    """The column that names the item of each row, where a row has all conditions of one.

    It is called so, or it counts the rows, or it is one of groups that has a cell of its own in
    each row. None without such a column.
    """
    if named := table.find("item", "id"):
        return named
    apart = [
        name
        for name in table.columns[:_MOST_COLUMNS]
        if fits(table, name, "item")
        and (column := table.profile(name)).n == column.n_distinct == len(table.numbers)
        and column.kind not in ("sentences", "nothing")
    ]
    counting = [name for name in apart if table.profile(name).counts]
    return next(iter([*counting, *filter(_PARTS.search, apart)]), None)


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

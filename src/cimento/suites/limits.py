"""Parts of suites for a first look, with some items of every phenomenon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.suites.cells import Cells

if TYPE_CHECKING:
    from cimento.suites import Suite

PHENOMENA = ("phenomenon", "UID", "template")
"""Columns that say what an item is about, the most general first; BLiMP's paradigms are UIDs."""

_CONNECTIVE = "connective"
"""The column that says what items of the form of the connectives resource are about."""
_RATING, _MOST_RATINGS = "rating", 7
"""The column of ratings, and the largest number of values that are steps or labels: without some
of each, a few sentences say nothing about ratings."""


@dataclass(frozen=True, slots=True)
class ItemGroups:
    """The items of a suite by what they are about.

    Attributes:
        ids: ids of the items, in the order of the suite.
        columns: the cells of all items by the name of the column, the most general first.
    """

    ids: Sequence[str]
    columns: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the columns in which items differ."""
        return tuple(name for name, cells in self.columns.items() if len({*cells}) > 1)

    def first(self, limit: int) -> list[str]:
        """The ids of the first items of each group, then of the second ones, in suite order.

        Within a phenomenon its paradigms take turns, and so on. A higher limit keeps all of them
        and adds others. Without groups they are the first ones.

        Args:
            limit: largest number of items that are left.
        """
        turns: Sequence[int] = range(len(self.ids))
        labels = list(zip(*(self.columns[name] for name in self.by), strict=True))
        for depth in range(len(self.by), 0, -1):
            seen: Counter[Hashable] = Counter()
            rounds: dict[int, int] = {}
            for place in turns:
                group = labels[place][:depth]
                rounds[place] = seen[group]
                seen[group] += 1
            turns = sorted(turns, key=rounds.__getitem__)
        return [self.ids[place] for place in sorted(turns[:limit])]


def sentence_groups(suite: Suite) -> ItemGroups:
    """The items of a suite of sentences by rating, phenomenon, connective and conditions."""
    columns, free = suite.columns, suite.columns.free
    names = [*PHENOMENA, _CONNECTIVE]
    rating = Cells("", dict.fromkeys(free, "")).find(_RATING)
    if len({*free.get(rating, ())}) <= _MOST_RATINGS:
        names.insert(0, rating)
    first = columns.starts[:-1]
    cells = {name: [free[name][row] for row in first] for name in names if name in free}
    return ItemGroups(columns.ids, {**cells, "set of conditions": columns.shapes})

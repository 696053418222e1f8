"""Parts of suites for a first look, with some items of every phenomenon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.suites import Suite

PHENOMENA = ("phenomenon", "template")
"""Columns that say what an item is about."""

_LABELS, _N_LABELS = "rating", 2
"""The column of ratings; of so many values they are labels, as of acceptable sentences."""


def groups_of(suite: Suite) -> list[Hashable]:
    """The group of each item of a suite of sentences: its phenomenon, label and conditions."""
    columns = suite.columns
    free = columns.free
    cells = [free[name] for name in PHENOMENA if name in free]
    if len(set(free.get(_LABELS, ()))) == _N_LABELS:
        cells.append(free[_LABELS])
    return [
        (shape, *(column[first] for column in cells))
        for first, shape in zip(columns.starts[:-1], columns.shapes, strict=True)
    ]


def of_each(groups: Sequence[Hashable], limit: int) -> list[int]:
    """The places of the first items of each group, then of the second ones; ascending.

    A higher limit keeps all of them and adds others. Items of one group are the first ones.

    Args:
        groups: the group of each item, such as its phenomenon.
        limit: how many items are left, at most.
    """
    seen: Counter[Hashable] = Counter()
    turns = []
    for place, group in enumerate(groups):
        turns.append((seen[group], place))
        seen[group] += 1
    return sorted(place for _, place in sorted(turns)[:limit])

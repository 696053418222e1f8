"""Parts of suites for a first look, with some items of every phenomenon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cimento.suites import Suite
from cimento.suites.derived import PHENOMENON


def of_each_phenomenon(suite: Suite, limit: int) -> Suite:
    """A suite with the first items of each phenomenon in turn; the suite itself if it has no more.

    Args:
        suite: the suite; without a column of phenomena its first items are left.
        limit: how many items are left, at most.
    """
    if limit >= len(suite.items):
        return suite
    columns = suite.columns
    cells = columns.free.get(PHENOMENON, [""] * len(columns.bounds))
    places = _first_of_each([cells[first] or "" for first in columns.starts[:-1]], limit)
    return replace(suite, items=tuple(suite.items[place] for place in places))


def _first_of_each(phenomena: Sequence[str], limit: int) -> list[int]:
    """The places of the first items of each phenomenon, then of the second ones; ascending.

    A higher limit keeps all of them and adds others.
    """
    seen: Counter[str] = Counter()
    turns = []
    for place, phenomenon in enumerate(phenomena):
        turns.append((seen[phenomenon], place))
        seen[phenomenon] += 1
    return sorted(place for _, place in sorted(turns)[:limit])

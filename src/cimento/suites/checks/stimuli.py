"""The stimuli of a suite as columns, which checks go over; names for messages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from cimento.errors import Fault
from cimento.suites.model import Item, Suite
from cimento.suites.sentences import sentence

_MOST_LISTED = 6


class Stimuli:
    """Every condition of every item, one after the other; those of an item follow each other.

    Args:
        suite: that they are of.
        places: file and row of each stimulus, as far as they are known.

    Attributes:
        suite: that they are of.
        conditions: as the suite has them.
        texts: the sentence that the regions of each make.
        starts: the number of each item's first stimulus, and last how many there are.
    """

    def __init__(self, suite: Suite, places: Sequence[str] = ()) -> None:
        self.suite = suite
        self.conditions = [condition for item in suite.items for condition in item.conditions]
        self.texts = [sentence(condition, rule=suite.join) for condition in self.conditions]
        counts = (len(item.conditions) for item in suite.items)
        self.starts = list(accumulate(counts, initial=0))
        self._places = places

    @cached_property
    def shapes(self) -> list[tuple[str, ...]]:
        """The names of each item's conditions."""
        return [tuple([each.name for each in item.conditions]) for item in self.suite.items]

    @cached_property
    def names(self) -> dict[str, None]:
        """The names of all conditions, in order of first appearance."""
        return {name: None for shape in dict.fromkeys(self.shapes) for name in shape}

    def of(self, item: int) -> range:
        """The numbers of an item's stimuli."""
        return range(self.starts[item], self.starts[item + 1])

    def item(self, number: int) -> Item:
        """The item of a stimulus."""
        return self.suite.items[bisect_right(self.starts, number) - 1]

    def where(self, number: int) -> str:
        """File and row of a stimulus where they are known, item and condition."""
        where = f"item {self.item(number).id}, condition {self.conditions[number].name}"
        return f"{self._places[number]}, {where}" if number < len(self._places) else where


Check: TypeAlias = Callable[[Stimuli], Iterable[Fault]]
"""What looks for faults of one kind, and gives them in the order of the stimuli."""


class Listing:
    """Names for a message, the first few of very many.

    Attributes:
        names: the first few.
        count: how many there are.
    """

    __slots__ = ("count", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self.count = 0
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add a name."""
        self.count += 1
        if len(self.names) < _MOST_LISTED:
            self.names.append(name)

    def __str__(self) -> str:
        """The names, or the first few of them and how many more there are."""
        shown, more = ", ".join(self.names), self.count - len(self.names)
        return f"{shown} and {more} more" if more else shown

"""Items as checks go through them: one after the other, each with its stimuli and their places.

Checks see every item once, hold numbers, and look again only at what they report: nothing is held
of the many items in which there is nothing wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from cimento.errors import Fault
from cimento.suites.model import Condition, Item, Suite
from cimento.suites.sentences import sentence

_MOST_LISTED = 6


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One condition of one item.

    Attributes:
        item: the item.
        condition: the condition.
        text: the sentence that its regions make.
        place: file and row; empty where they are not known.
    """

    item: Item
    condition: Condition
    text: str
    place: str

    @property
    def where(self) -> str:
        """File and row where they are known, item and condition."""
        where = f"item {self.item.id}, condition {self.condition.name}"
        return f"{self.place}, {where}" if self.place else where


@dataclass(frozen=True, slots=True)
class Located:
    """An item and where it stands.

    Attributes:
        item: the item.
        number: its place among the items, from 0.
        first: the place of its first stimulus among all stimuli, from 0.
        stimuli: its conditions.
    """

    item: Item
    number: int
    first: int
    stimuli: tuple[Stimulus, ...]


class Check(Protocol):
    """What looks for faults of one kind; sees every item of a suite, in order, and then tells."""

    def see(self, located: Located) -> None:
        """Look at an item."""

    def faults(self) -> Iterable[Fault]:
        """The faults, when all items have been seen."""


class Told:
    """Faults for which no item has to be seen."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults = faults

    def see(self, located: Located) -> None:
        """Nothing to look at."""

    def faults(self) -> Iterable[Fault]:
        """The faults."""
        return self._faults


class Each:
    """A check that needs no more than one item to find a fault.

    Args:
        look: finds the faults of an item.
    """

    def __init__(self, look: Callable[[Located], Iterable[Fault]]) -> None:
        self._look = look
        self._found: list[Fault] = []

    def see(self, located: Located) -> None:
        """Look at an item."""
        self._found.extend(self._look(located))

    def faults(self) -> Iterable[Fault]:
        """The faults, in the order of the items."""
        return self._found


def locate(suite: Suite, places: Sequence[str]) -> Iterator[Located]:
    """Every item with its stimuli and their places."""
    first = 0
    for number, item in enumerate(suite.items):
        yield locate_item(suite, places, item, number=number, first=first)
        first += len(item.conditions)


def locate_item(
    suite: Suite, places: Sequence[str], item: Item, *, number: int, first: int
) -> Located:
    """An item with its stimuli and their places.

    Args:
        suite: that it is of.
        places: where each stimulus of the suite stands, as far as that is known.
        item: the item.
        number: its place among the items.
        first: the place of its first stimulus among all stimuli.
    """
    rule, known = suite.join, len(places)
    stimuli = tuple(
        Stimulus(item, each, sentence(each, rule=rule), places[index] if index < known else "")
        for index, each in enumerate(item.conditions, start=first)
    )
    return Located(item, number, first, stimuli)


class Listing:
    """Names for a message, the first few of very many.

    Attributes:
        names: the first few.
        count: how many there are.
    """

    __slots__ = ("count", "names")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.count = 0

    def add(self, name: str) -> None:
        """Add a name."""
        self.count += 1
        if len(self.names) < _MOST_LISTED:
            self.names.append(name)

    def __str__(self) -> str:
        """The names, or the first few of them and how many more there are."""
        shown, more = ", ".join(self.names), self.count - len(self.names)
        return f"{shown} and {more} more" if more else shown


def listed(names: Iterable[str]) -> str:
    """The names, or the first few of them and how many more there are."""
    listing = Listing()
    for name in names:
        listing.add(name)
    return str(listing)

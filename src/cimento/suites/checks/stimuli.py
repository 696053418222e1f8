"""Stimuli with the place they stand at, as checks go through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cimento.suites.model import Condition, Item, Suite


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One condition of one item.

    Attributes:
        item: the item.
        condition: the condition.
        where: file and row where they are known, item and condition.
    """

    item: Item
    condition: Condition
    where: str


def locate(suite: Suite, places: Sequence[str]) -> list[Stimulus]:
    """Every stimulus with its place."""
    stimuli = []
    for index, (item, condition) in enumerate(suite.stimuli()):
        where = f"item {item.id}, condition {condition.name}"
        if index < len(places):
            where = f"{places[index]}, {where}"
        stimuli.append(Stimulus(item, condition, where))
    return stimuli


def listed(names: Sequence[str], *, most: int = 6) -> str:
    """The names, or the first few of them and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown

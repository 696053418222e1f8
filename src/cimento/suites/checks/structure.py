"""Checks of items, conditions and regions: is everything there, once, under a usable name."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Each, Listing, Located, Stimulus, Told, listed
from cimento.suites.faults import fault
from cimento.suites.model import Suite
from cimento.suites.repeats import Hashes

_CONDITION_NAME = re.compile(r"[A-Za-z0-9_-]+")


def structure_checks(suite: Suite) -> list[Check]:
    """Codes CIM-S005 and CIM-S010 to CIM-S017."""
    return [
        Each(_filled),
        _Ids(suite),
        Each(_conditions),
        Told(_names(suite)),
        _ConditionSets(suite),
        Each(partial(_regions, suite.region_names)),
    ]


def _filled(located: Located) -> Iterator[Fault]:
    item = located.item
    if not item.id:
        where = f"item {located.number + 1}"
        yield fault("CIM-S016", where=where, seen="The item has no id.")
    if not item.conditions:
        yield fault("CIM-S005", where=f"item {item.id}", seen="The item has no conditions.")


class _Ids:
    """Are there items, and has each an id of its own."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._ids = Hashes()

    def see(self, located: Located) -> None:
        self._ids.add(located.item.id)

    def faults(self) -> Iterator[Fault]:
        if not len(self._ids):
            yield fault("CIM-S005", where=self._suite.name, seen="There is not a single item.")
        positions: dict[str, Listing] = {}
        for number in self._ids.repeated():
            id_ = self._suite.items[number].id
            positions.setdefault(id_, Listing()).add(str(number + 1))
        for id_, found in positions.items():
            if found.count > 1:
                seen = f"Items {found} of the suite all have the id {id_!r}."
                yield fault("CIM-S010", where=f"item {id_}", seen=seen)


def _conditions(located: Located) -> Iterator[Fault]:
    before: dict[str, Stimulus] = {}
    for stimulus in located.stimuli:
        name = stimulus.condition.name
        first = before.setdefault(name, stimulus)
        if not name:
            yield fault("CIM-S016", where=stimulus.where, seen="The condition has no name.")
        elif first is not stimulus:
            seen = f"The item has the condition {name!r} already ({first.where})."
            yield fault("CIM-S011", where=stimulus.where, seen=seen)


def _names(suite: Suite) -> Iterator[Fault]:
    for name in suite.condition_names:
        if name and not _CONDITION_NAME.fullmatch(name):
            seen = "No formula can write this name."
            yield fault("CIM-S015", where=f"condition {name!r}", seen=seen)


class _ConditionSets:
    """Items whose conditions are not those that most items have."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._sets: dict[frozenset[str], int] = {}
        self._own = array("Q")

    def see(self, located: Located) -> None:
        names = frozenset(each.name for each in located.item.conditions)
        self._own.append(self._sets.setdefault(names, len(self._sets)))

    def faults(self) -> Iterator[Fault]:
        if len(self._sets) < 2:  # noqa: PLR2004 - one set is what should be
            return
        sets = list(self._sets)
        [(most, count)] = Counter(self._own).most_common(1)
        for number, own in enumerate(self._own):
            if own == most:
                continue
            lacking = sorted(sets[most] - sets[own])
            extra = sorted(sets[own] - sets[most])
            parts = [f"lacks {', '.join(lacking)}"] if lacking else []
            parts += [f"has {', '.join(extra)}"] if extra else []
            seen = f"The item {' and '.join(parts)}, unlike {count} of {len(self._own)} items."
            where = f"item {self._suite.items[number].id}"
            yield fault("CIM-S012", where=where, seen=seen)


def _regions(region_names: Sequence[str], located: Located) -> Iterator[Fault]:
    wanted = len(region_names)
    for stimulus in located.stimuli:
        regions = stimulus.condition.regions
        if len(regions) != wanted:
            names = listed(region_names)
            seen = f"There are {len(regions)} regions; the suite names {wanted}: {names}."
            yield fault("CIM-S013", where=stimulus.where, seen=seen)
        if not any(region.text.strip() for region in regions):
            yield fault("CIM-S017", where=stimulus.where, seen="There is no text.")

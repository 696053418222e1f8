"""Checks of items, conditions and regions: is everything there, once, under a usable name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Stimulus, listed
from cimento.suites.faults import fault
from cimento.suites.model import Suite

_CONDITION_NAME = re.compile(r"[A-Za-z0-9_-]+")


def check_structure(suite: Suite, stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    """Codes CIM-S005 and CIM-S010 to CIM-S017."""
    if not suite.items:
        yield fault("CIM-S005", where=suite.name, seen="There is not a single item.")
    yield from _ids(suite)
    yield from _conditions(suite, stimuli)
    yield from _condition_sets(suite)
    yield from _regions(suite, stimuli)


def _ids(suite: Suite) -> Iterator[Fault]:
    positions: dict[str, list[str]] = {}
    for position, item in enumerate(suite.items, start=1):
        positions.setdefault(item.id, []).append(str(position))
        if not item.id:
            yield fault("CIM-S016", where=f"item {position}", seen="The item has no id.")
        if not item.conditions:
            yield fault("CIM-S005", where=f"item {item.id}", seen="The item has no conditions.")
    for id_, found in positions.items():
        if len(found) > 1:
            seen = f"Items {listed(found)} of the suite all have the id {id_!r}."
            yield fault("CIM-S010", where=f"item {id_}", seen=seen)


def _conditions(suite: Suite, stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    before: dict[tuple[int, str], Stimulus] = {}
    for stimulus in stimuli:
        name = stimulus.condition.name
        first = before.setdefault((id(stimulus.item), name), stimulus)
        if not name:
            yield fault("CIM-S016", where=stimulus.where, seen="The condition has no name.")
        elif first is not stimulus:
            seen = f"The item has the condition {name!r} already ({first.where})."
            yield fault("CIM-S011", where=stimulus.where, seen=seen)
    for name in suite.condition_names:
        if name and not _CONDITION_NAME.fullmatch(name):
            seen = "No formula can write this name."
            yield fault("CIM-S015", where=f"condition {name!r}", seen=seen)


def _condition_sets(suite: Suite) -> Iterator[Fault]:
    """Items whose conditions are not those that most items have."""
    sets = {id(item): frozenset(each.name for each in item.conditions) for item in suite.items}
    if len(set(sets.values())) < 2:  # noqa: PLR2004 - one set is what should be
        return
    [(usual, count)] = Counter(sets.values()).most_common(1)
    for item in suite.items:
        lacking = sorted(usual - sets[id(item)])
        extra = sorted(sets[id(item)] - usual)
        if lacking or extra:
            parts = [f"lacks {', '.join(lacking)}"] if lacking else []
            parts += [f"has {', '.join(extra)}"] if extra else []
            seen = f"The item {' and '.join(parts)}, unlike {count} of {len(suite.items)} items."
            yield fault("CIM-S012", where=f"item {item.id}", seen=seen)


def _regions(suite: Suite, stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    wanted = len(suite.region_names)
    for stimulus in stimuli:
        regions = stimulus.condition.regions
        if len(regions) != wanted:
            names = listed(suite.region_names)
            seen = f"There are {len(regions)} regions; the suite names {wanted}: {names}."
            yield fault("CIM-S013", where=stimulus.where, seen=seen)
        if not any(region.text.strip() for region in regions):
            yield fault("CIM-S017", where=stimulus.where, seen="There is no text.")

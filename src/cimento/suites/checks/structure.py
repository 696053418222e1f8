"""Checks of items, conditions and regions: is everything there, once, under a usable name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Listing, Stimuli
from cimento.suites.faults import fault

_CONDITION_NAME = re.compile(r"[A-Za-z0-9_-]+")


def _filled(stimuli: Stimuli) -> Iterator[Fault]:
    items = stimuli.suite.items
    if not items:
        yield fault("CIM-S005", where=stimuli.suite.name, seen="There is not a single item.")
    for number, item in enumerate(items, start=1):
        if not item.id:
            yield fault("CIM-S016", where=f"item {number}", seen="The item has no id.")
        if not item.conditions:
            yield fault("CIM-S005", where=f"item {item.id}", seen="The item has no conditions.")


def _ids(stimuli: Stimuli) -> Iterator[Fault]:
    """Items under the id of another one."""
    ids = list(stimuli.suite.item_ids())
    if len(set(ids)) == len(ids):
        return
    positions: dict[str, Listing] = {}
    for number, id_ in enumerate(ids, start=1):
        positions.setdefault(id_, Listing()).add(str(number))
    for id_, found in positions.items():
        if found.count > 1:
            seen = f"Items {found} of the suite all have the id {id_!r}."
            yield fault("CIM-S010", where=f"item {id_}", seen=seen)


def _conditions(stimuli: Stimuli) -> Iterator[Fault]:
    """Conditions without a name, or with one that the item has already."""
    unusual = {s for s in set(stimuli.shapes) if "" in s or len(set(s)) < len(s)}
    for item, shape in enumerate(stimuli.shapes):
        if shape not in unusual:
            continue
        before: dict[str, int] = {}
        for number, name in zip(stimuli.of(item), shape, strict=True):
            first = before.setdefault(name, number)
            where = stimuli.where(number)
            if not name:
                yield fault("CIM-S016", where=where, seen="The condition has no name.")
            elif first != number:
                seen = f"The item has the condition {name!r} already ({stimuli.where(first)})."
                yield fault("CIM-S011", where=where, seen=seen)


def _names(stimuli: Stimuli) -> Iterator[Fault]:
    for name in stimuli.names:
        if name and not _CONDITION_NAME.fullmatch(name):
            seen = "No formula can write this name."
            yield fault("CIM-S015", where=f"condition {name!r}", seen=seen)


def _condition_sets(stimuli: Stimuli) -> Iterator[Fault]:
    """Items whose conditions are not those that most items have."""
    known = {shape: frozenset(shape) for shape in set(stimuli.shapes)}
    if len(set(known.values())) < 2:  # noqa: PLR2004 - one set is what should be
        return
    sets = [known[shape] for shape in stimuli.shapes]
    [(most, count)] = Counter(sets).most_common(1)
    for item, names in zip(stimuli.suite.items, sets, strict=True):
        if names == most:
            continue
        parts = [f"lacks {', '.join(sorted(most - names))}"] if most - names else []
        parts += [f"has {', '.join(sorted(names - most))}"] if names - most else []
        seen = f"The item {' and '.join(parts)}, unlike {count} of {len(sets)} items."
        yield fault("CIM-S012", where=f"item {item.id}", seen=seen)


def _regions(stimuli: Stimuli) -> Iterator[Fault]:
    names = stimuli.suite.region_names
    for number, condition in enumerate(stimuli.conditions):
        count = len(condition.regions)
        if count != len(names):
            seen = f"There are {count} regions; the suite names {len(names)}: {Listing(names)}."
            yield fault("CIM-S013", where=stimuli.where(number), seen=seen)


def _texts(stimuli: Stimuli) -> Iterator[Fault]:
    for number, text in enumerate(stimuli.texts):
        if not text:
            yield fault("CIM-S017", where=stimuli.where(number), seen="There is no text.")


STRUCTURE_CHECKS: tuple[Check, ...] = (
    _filled, _ids, _conditions, _names, _condition_sets, _regions, _texts,
)  # fmt: skip
"""Codes CIM-S005 and CIM-S010 to CIM-S017."""

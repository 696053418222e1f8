"""The remarks of a run on its suite: how much of it was asked, and what was wrong with that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cimento.errors import Fault, counted
from cimento.faults import warnings
from cimento.kinds.partial import taken_items
from cimento.kinds.stopped import AdaptiveRecord
from cimento.suites.published_results import blimp_names
from cimento.suites.sources import source_of

if TYPE_CHECKING:
    from cimento.io.tables import Rows
    from cimento.kinds.base import SuiteReading
    from cimento.records.store import Manifest


def about_suite(
    reading: SuiteReading[Any], *, limit: int | None, entries: Manifest, asked: Rows
) -> Iterator[str]:
    """The remarks on a suite of which all or some items were asked.

    Args:
        reading: the suite with the faults of all its items.
        limit: the largest number of items; None for all.
        entries: entries of the run's manifest.
        asked: the table of requests.
    """
    went, items = AdaptiveRecord.of(entries), None
    if limit is not None:
        taken = taken_items(entries, f"{counted(limit, 'item')} of the suite")
        yield f"With --limit {limit} the run has only {taken}."
    if went is not None:
        yield went.sentence
    if limit is not None or went is not None:
        items = {*asked.lazy().select("item").collect()["item"]}
    name = "" if reading.suite is None else reading.suite.name
    released = bool(source_of(reading.path)) or name in blimp_names()
    yield from _about_faults(warnings(reading.faults), asked=items, released=released)


def _about_faults(
    faults: Iterable[Fault], *, asked: Collection[str] | None, released: bool
) -> Iterator[str]:
    """The remarks that a run makes about the warnings of its suite.

    Warnings about items that were not asked, or that nobody may edit, are counted in a line.

    Args:
        faults: the warnings of the whole suite.
        asked: ids of the items that were asked; None for all.
        released: whether the suite is used as somebody else has released it.
    """
    others = 0
    as_released = []
    for fault in faults:
        if fault.item and asked is not None and fault.item not in asked:
            others += 1
        elif fault.item and released:
            as_released.append(fault.code)
        else:
            yield str(fault)
    listing = "`cimento suites check SUITE` lists them."
    if as_released:
        yield (
            f"{counted(len(as_released), 'warning')} ({', '.join(sorted({*as_released}))}) about"
            f" items that were asked as they were released: {listing}"
        )
    if others:
        yield f"{counted(others, 'warning')} about items that were not asked: {listing}"

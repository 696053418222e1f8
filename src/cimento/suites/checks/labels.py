"""A check of labels: names in one column that differ only in capitals or blanks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cimento.errors import Fault
from cimento.faults import fault
from cimento.io.values import grouped
from cimento.suites.checks.structure import Check, Stimuli

_ITEMS_PER_LABEL = 2
"""Items with one label on average, from which the cells of a column are labels of items."""


def _spelled_twice(stimuli: Stimuli) -> Iterator[Fault]:
    """Labels that recur and are spelled in two ways, which tables would show as two groups."""
    suite = stimuli.suite
    # A column may be there under two names, that of the file and that of a role.
    columns = {tuple(suite.item_cells(name)): name for name in reversed(suite.column_names)}
    for cells, name in columns.items():
        counts = Counter(cell for cell in cells if cell)
        if _ITEMS_PER_LABEL * len(counts) > counts.total():
            continue
        for spellings in grouped((_folded(cell), cell) for cell in counts).values():
            usual, *others = sorted(spellings, key=lambda cell: -counts[cell])
            for other in others:
                seen = (
                    f"In the column {name!r}, {other!r} (items: {counts[other]}) and {usual!r}"
                    f" (items: {counts[usual]}) are two groups."
                )
                ids = zip(suite.columns.ids, cells, strict=True)
                places = [f"item {id_}" for id_, cell in ids if cell == other]
                yield fault("CIM-S087", where=places[0], seen=seen, places=places)


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


LABEL_CHECKS: tuple[Check, ...] = (_spelled_twice,)
"""The check of code CIM-S087, which is a warning."""

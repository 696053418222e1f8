"""Checks of the clusters of cloze suites: columns that items lack, and columns that they share."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.errors import Fault, counted
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.suites.checks.repeated_words import are_words, second_factors
from cimento.suites.cloze import EXPRESSION, ClozeSuite, expand_suite

_SHOWN = 5
"""Items that a fault names."""


def second_cloze_factors(suite: ClozeSuite) -> Iterator[Fault]:
    """Columns whose words recur in the texts, as a second factor that may be missing."""
    items = expand_suite(suite).items
    names = dict.fromkeys(name for item in items for name in item.columns)
    columns = {name: [item.columns.get(name) for item in items] for name in names}
    declared = {name: columns[name] for name in suite.cluster if name in columns}
    texts = [(item.text,) for item in items] if declared else []
    others = {
        name: cells
        for name, cells in columns.items()
        if declared and name not in declared and are_words(texts, cells)
    }
    yield from second_factors(declared, others)


def cluster_faults(suite: ClozeSuite) -> Iterator[Fault]:
    """Items that have nothing in a cluster column."""
    # Beside expressions, items with one blank stand alone.
    whole = suite.multiwords and suite.cluster == (EXPRESSION,)
    for column in () if whole else suite.cluster:
        without = [item.id for item in expand_suite(suite).items if column not in item.columns]
        if without:
            shown = ", ".join(map(repr, without[:_SHOWN]))
            seen = f"The column {column!r} is missing in {counted(len(without), 'item')}: {shown}."
            yield cloze_fault("CIM-C014", where="suite.toml [options] cluster", seen=seen)

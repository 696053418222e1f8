"""A check of designs: words of one column that recur in many items, as in crossed designs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cimento.errors import Fault
from cimento.faults import fault
from cimento.suites.checks.structure import Check, Stimuli
from cimento.suites.reading import TOML

_FEWEST_LEVELS = 5
"""Fewer values than an interval needs of clusters are levels of a factor, not a sample of words."""
_ITEMS_PER_LEVEL = 2


def _repeated_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Columns whose words are in the sentences and recur in two items or more on average.

    The words decide, not the name of the column: a phenomenon or a source that no sentence holds
    is not a word of its items.
    """
    suite = stimuli.suite
    if not suite.cluster:  # that items belong together is for their author to say
        return
    declared = [suite.item_cells(name) for name in suite.cluster]
    for name in suite.column_names:
        if name in suite.cluster or name in suite.factors:
            continue
        cells = suite.item_cells(name)
        n_levels = len(set(cells))
        if not _FEWEST_LEVELS <= n_levels <= len(cells) / _ITEMS_PER_LEVEL:
            continue
        if not _are_words(stimuli, cells) or any(_decides(cells, other) for other in declared):
            continue
        seen = f"The words of the column {name!r} recur: {n_levels} in {len(cells)} items."
        columns = ", ".join(f'"{column}"' for column in (*suite.cluster, name))
        value = f"[{columns}]"
        todo = f"If items with one word may behave alike, write cluster = {value} under [options]."
        yield fault("CIM-S086", where=TOML, seen=seen, todo=todo)


def _are_words(stimuli: Stimuli, cells: Sequence[str | None]) -> bool:
    """Whether the cell of every item is a word, or words, of one of its sentences."""
    return all(
        cell
        and any(
            re.search(rf"(?<!\w){re.escape(cell.casefold())}(?!\w)", text.casefold())
            for text in stimuli.texts[stimuli.starts[item] : stimuli.starts[item + 1]]
        )
        for item, cell in enumerate(cells)
    )


def _decides(cells: Sequence[str | None], declared: Sequence[str | None]) -> bool:
    """Whether a declared cluster is known from the column, or the column from the cluster.

    Then one is inside the other, and two factors say no more than the larger clusters.
    """
    together = len(set(zip(cells, declared, strict=True)))
    return together in (len(set(cells)), len(set(declared)))


WORD_CHECKS: tuple[Check, ...] = (_repeated_words,)
"""The check of code CIM-S086, which is a warning."""

"""A check of designs: words of one column that recur in many items, as in crossed designs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from cimento.errors import Fault
from cimento.faults import fault
from cimento.suites.checks.structure import Check, Stimuli
from cimento.suites.reading import TOML

_FEWEST_LEVELS = 5
"""Fewer values than an interval needs of clusters are levels of a factor, not a sample of words."""
_ITEMS_PER_LEVEL = 2
_CELLS_PER_LEVEL = 1.25
"""Mean number of levels of another factor that a level meets at least where the two are crossed."""

Cells: TypeAlias = "Sequence[str | None]"


def _repeated_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Columns whose words are in the sentences and recur in two items or more on average.

    The words decide, not the name of the column: a phenomenon or a source that no sentence holds
    is not a word of its items.
    """
    suite = stimuli.suite
    if not suite.cluster:
        return
    columns = {name: suite.item_cells(name) for name in suite.column_names}
    others = {
        name: cells
        for name, cells in columns.items()
        if name not in suite.cluster and name not in suite.factors
        and len(set(cells)) >= _FEWEST_LEVELS and are_words(_texts_by_item(stimuli), cells)
    }  # fmt: skip
    yield from second_factors({name: suite.item_cells(name) for name in suite.cluster}, others)


def second_factors(
    declared: Mapping[str, Cells],
    others: Mapping[str, Cells],
    *,
    what: Literal["words", "values"] = "words",
) -> Iterator[Fault]:
    """The faults of columns that may be one more factor beside the clusters that are declared.

    Their values recur, in two items or more on average, and are neither inside the clusters nor
    around them. Nothing is offered where no cluster is declared: that items belong together is for
    their author to say.

    Args:
        declared: the cells of each cluster column, one an item.
        others: those of columns that items may share.
        what: what the cells of these are.
    """
    for name, cells in others.items() if declared else ():
        n_levels = len(set(cells))
        if not _FEWEST_LEVELS <= n_levels <= len(cells) / _ITEMS_PER_LEVEL:
            continue
        if any(_decides(cells, column) for column in declared.values()):
            continue
        columns = ", ".join(f'"{column}"' for column in (*declared, name))
        value, n_items = f"[{columns}]", len(cells)
        if what == "words":
            seen = f"The words of the column {name!r} recur: {n_levels} in {n_items} items."
            todo = (
                f"If items with one word may behave alike, write cluster = {value} under [options]."
            )
        else:
            seen = f"The values of the column {name!r} recur: {n_levels} in {n_items} items."
            todo = (
                f"If items with one value may behave alike, write cluster = {value} under"
                " [options]."
            )
        yield fault("CIM-S086", where=TOML, seen=seen, todo=todo)


def _texts_by_item(stimuli: Stimuli) -> Iterator[Sequence[str]]:
    for begin, end in pairwise(stimuli.starts):
        yield stimuli.texts[begin:end]


def are_words(texts: Iterable[Sequence[str]], cells: Cells) -> bool:
    """Whether the cell of every item is a word, or words, of one of its sentences.

    Args:
        texts: the sentences of each item.
        cells: of the items, in a column.
    """
    return all(
        cell
        and any(
            re.search(rf"(?<!\w){re.escape(cell.casefold())}(?!\w)", text.casefold())
            for text in sentences
        )
        for sentences, cell in zip(texts, cells, strict=True)
    )


def _decides(cells: Cells, declared: Cells) -> bool:
    """Whether a declared cluster is known from the column, or the column from the cluster.

    Then one is inside the other, but for a few exceptions, and two factors say hardly more than the
    larger clusters.
    """
    together = len(set(zip(cells, declared, strict=True)))
    return together < _CELLS_PER_LEVEL * max(len(set(cells)), len(set(declared)))


WORD_CHECKS: tuple[Check, ...] = (_repeated_words,)
"""The check of code CIM-S086, which is a warning."""

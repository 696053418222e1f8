"""Accuracy on items whose critical words no other item of the suite has: a held-out lexicon.

Critical are the words that some sentences of an item have and others lack. Where they recur from
item to item, a suite has fewer words than items, and a model that knows these words is right often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paradigms.regions.covariates import (
    EVERY,
    PartRate,
    part_rates,
    parts_grid,
    passed_items,
)
from cimento.paradigms.regions.exposure import words_of
from cimento.paradigms.regions.judging import suite_of
from cimento.suites import sentence

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.report.grid import Grid
    from cimento.suites import Suite

ALONE, SHARED = "critical words in no other item", "critical words in other items"
SAME_WORDS = "no critical words"
_ABOUT = (
    "Critical are the words that some sentences of an item have and others lack, compared in lower"
    " case; one in any sentence of another item is enough."
)


def critical_words(suite: Suite) -> dict[str, frozenset[str]]:
    """The words that some sentences of each item have and others lack, in lower case.

    Args:
        suite: a suite of sentences.
    """
    words = grouped(
        (item.id, frozenset(words_of(sentence(condition, rule=suite.join))))
        for item, condition in suite.stimuli()
    )
    return {
        item: frozenset[str]().union(*several) - several[0].intersection(*several)
        for item, several in words.items()
    }


def lexicon_parts(suite: Suite) -> dict[str, set[str]]:
    """The items of each part: those whose critical words are theirs alone, and the others.

    Args:
        suite: a suite of sentences.

    Returns:
        Ids of items: none of whose critical words is in any sentence of another item; one of
        whose is; without critical words, as where words only change their order.
    """
    words: dict[str, set[str]] = {}
    for item, condition in suite.stimuli():
        words.setdefault(item.id, set()).update(words_of(sentence(condition, rule=suite.join)))
    items_with = Counter(word for of_item in words.values() for word in of_item)
    parts: dict[str, set[str]] = {ALONE: set(), SHARED: set(), SAME_WORDS: set()}
    for name, critical in critical_words(suite).items():
        shared = any(items_with[word] > 1 for word in critical)
        parts[(SHARED if shared else ALONE) if critical else SAME_WORDS].add(name)
    return parts


def lexicon_rates(run: Run) -> list[PartRate]:
    """The accuracy of a run on all items, and on those of each part.

    Args:
        run: of a suite that is judged by formulas.
    """
    right = passed_items(run)
    if not right:
        return []
    parts = lexicon_parts(suite_of(run))
    shown = {EVERY: set(right), ALONE: parts[ALONE], SHARED: parts[SHARED]}
    if parts[SAME_WORDS]:
        shown[SAME_WORDS] = parts[SAME_WORDS]
    return list(part_rates(run, right, shown))


def lexicon_grid(rates: Sequence[PartRate]) -> Grid:
    """A table of accuracies on items by whether their critical words recur.

    Args:
        rates: of all runs.
    """
    return parts_grid(
        rates,
        title="Accuracy on items whose critical words are, or are not, in other items.",
        notes=(_ABOUT,),
    )

"""A check of wording: suites whose items are mostly one sentence with a word or two exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.errors import Fault
from cimento.faults import fault
from cimento.suites.checks.structure import Check, Stimuli
from cimento.suites.diversity import FEWEST_ITEMS, mostly_alike, templates, words_of

_MOST_BY_HAND = 500
"""Larger suites are known to be made by rule; `cimento suites audit` looks at them too."""


def _alike(stimuli: Stimuli) -> Iterator[Fault]:
    """Items that differ from another one in a quarter of the words or fewer, where most do.

    Where clusters are declared, the author has said which items belong together.
    """
    ids = stimuli.suite.columns.ids
    if stimuli.suite.cluster or not FEWEST_ITEMS <= len(ids) <= _MOST_BY_HAND:
        return
    if () in stimuli.shapes:
        return
    texts = [words_of(stimuli.texts[start]) for start in stimuli.starts[:-1]]
    groups = templates(ids, texts)
    if said := mostly_alike(groups, len(ids)):
        places = [f"item {id_}" for id_ in groups[0]]
        yield fault("CIM-S076", where=places[0], seen=said, places=places)


ALIKE_REMARKS: tuple[Check, ...] = (_alike,)
"""The check of code CIM-S076, which is a warning."""

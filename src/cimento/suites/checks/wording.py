"""Checks of wording: what differs from the rest of the suite and looks like a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Stimulus, listed
from cimento.suites.faults import fault
from cimento.suites.model import Item, Suite
from cimento.suites.sentences import sentence

MOST = 0.5
"""Share of stimuli above which a habit is the suite's, and what departs from it is reported."""
DISTINCT = 0.8
"""Share of items with words in common of their own above which a repetition is reported."""
_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_FINAL = re.compile(r"[.?!…:;][\"'’”»)\]]*$")


def check_wording(suite: Suite, stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    """Codes CIM-S053 to CIM-S057; the last two only for suites that declare factors."""
    texts = [sentence(each.condition, rule=suite.join) for each in stimuli]
    yield from _final_marks(stimuli, texts)
    yield from _small_letters(stimuli, texts)
    yield from _doubled(stimuli, texts)
    if suite.factors:
        yield from _shared_words(suite)
        yield from _shared_sentences(stimuli, texts)


def _final_marks(stimuli: Sequence[Stimulus], texts: Sequence[str]) -> Iterator[Fault]:
    marked = [bool(_FINAL.search(text)) for text in texts]
    if sum(marked) <= MOST * len(texts):
        return
    for stimulus, text, has in zip(stimuli, texts, marked, strict=True):
        if text and not has:
            seen = f"{text!r} has no final mark, unlike {sum(marked)} of {len(texts)} stimuli."
            yield fault("CIM-S053", where=stimulus.where, seen=seen)


def _small_letters(stimuli: Sequence[Stimulus], texts: Sequence[str]) -> Iterator[Fault]:
    small = [text[:1].islower() for text in texts]
    if sum(small) >= (1 - MOST) * len(texts):
        return
    where = [each.where for each, is_small in zip(stimuli, small, strict=True) if is_small]
    if where:
        first = next(text for text, is_small in zip(texts, small, strict=True) if is_small)
        seen = (
            f"{first.split()[0]!r} begins with a small letter, as {len(where)} of {len(texts)} "
            "stimuli do."
        )
        yield fault("CIM-S054", where=listed(where), seen=seen)


def _doubled(stimuli: Sequence[Stimulus], texts: Sequence[str]) -> Iterator[Fault]:
    for stimulus, text in zip(stimuli, texts, strict=True):
        found = _DOUBLED.search(text)
        if found:
            yield fault("CIM-S055", where=stimulus.where, seen=f"{found[0]!r} in {text!r}.")


def _shared_words(suite: Suite) -> Iterator[Fault]:
    """Items that have the same words in common to all their conditions, where most have not."""
    groups: dict[frozenset[str], list[str]] = {}
    for item in suite.items:
        words = _common_words(item, suite)
        if words:
            groups.setdefault(words, []).append(item.id)
    alone = sum(len(ids) == 1 for ids in groups.values())
    if not groups or alone < DISTINCT * len(suite.items):
        return
    for words, ids in groups.items():
        if len(ids) > 1:
            seen = (
                f"Items {listed(ids)} have the same words in all their conditions: "
                f"{', '.join(sorted(words))}."
            )
            yield fault("CIM-S056", where=f"item {ids[1]}", seen=seen)


def _common_words(item: Item, suite: Suite) -> frozenset[str]:
    sets = [
        frozenset(word.lower() for word in _WORD.findall(sentence(each, rule=suite.join)))
        for each in item.conditions
    ]
    return frozenset.intersection(*sets) if sets else frozenset()


def _shared_sentences(stimuli: Sequence[Stimulus], texts: Sequence[str]) -> Iterator[Fault]:
    """One sentence in several items: a placeholder, or a copy that makes items depend."""
    groups: dict[tuple[str, str], list[str]] = {}
    for stimulus, text in zip(stimuli, texts, strict=True):
        groups.setdefault((stimulus.condition.name, text), []).append(stimulus.item.id)
    for (name, text), ids in groups.items():
        if text and len(ids) > 1:
            seen = f"{text!r} is the sentence of {name} in items {listed(ids)}."
            yield fault("CIM-S057", where=f"item {ids[1]}, condition {name}", seen=seen)

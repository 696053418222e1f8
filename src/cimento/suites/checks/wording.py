"""Checks of wording: what differs from the rest of the suite and looks like a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import eq

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Listing, Stimuli
from cimento.suites.faults import fault

MOST = 0.5
"""Share of stimuli above which a habit is the suite's, and what departs from it is reported."""
DISTINCT = 0.8
"""Share of items with words in common of their own above which a repetition is reported."""
_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_FINAL = (".", "?", "!", "…", ":", ";")
_CLOSING = "\"'’”»)]"
_APART = bytes(
    ord(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " ")
    for code in range(128)
) + bytes(128)
"""Takes the words of an ASCII text apart from the marks around them, in small letters."""


def _final_marks(stimuli: Stimuli) -> Iterator[Fault]:
    """Sentences without a final mark, where most have one."""
    bare = [n for n, text in enumerate(stimuli.texts) if not _has_final_mark(text)]
    marked, count = len(stimuli.texts) - len(bare), len(stimuli.texts)
    if marked <= MOST * count:
        return
    for number in bare:
        if text := stimuli.texts[number]:
            seen = f"{text!r} has no final mark, unlike {marked} of {count} stimuli."
            yield fault("CIM-S053", where=stimuli.where(number), seen=seen)


def _has_final_mark(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_FINAL)


def _small_letters(stimuli: Stimuli) -> Iterator[Fault]:
    """Sentences that begin with a small letter, where most do not."""
    small = [n for n, text in enumerate(stimuli.texts) if text[:1].islower()]
    if small and len(small) < (1 - MOST) * len(stimuli.texts):
        seen = (
            f"{stimuli.texts[small[0]].split()[0]!r} begins with a small letter, as {len(small)}"
            f" of {len(stimuli.texts)} stimuli do."
        )
        yield fault("CIM-S054", where=str(Listing(map(stimuli.where, small))), seen=seen)


def _doubled(stimuli: Stimuli) -> Iterator[Fault]:
    for number, text in enumerate(stimuli.texts):
        found = _DOUBLED.search(text) if _may_double(text) else None
        if found:
            seen = f"{found[0]!r} in {text!r}."
            yield fault("CIM-S055", where=stimuli.where(number), seen=seen)


def _may_double(text: str) -> bool:
    """Whether a word may stand twice in a row: most texts can be told quickly that none does."""
    if not text.isascii():
        return True
    words = text.encode().translate(_APART).split()
    return any(map(eq, words, words[1:]))


def _shared_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Items that have the same words in common to all their conditions, where most have not."""
    items = stimuli.suite.items
    if not stimuli.suite.factors:
        return
    groups: dict[frozenset[str], Listing] = {}
    for number, item in enumerate(items):
        words = _common_words([stimuli.texts[each] for each in stimuli.of(number)])
        if words:
            groups.setdefault(words, Listing()).add(item.id)
    distinct = sum(1 for ids in groups.values() if ids.count == 1)
    if distinct < DISTINCT * len(items):
        return
    for words, ids in groups.items():
        if ids.count > 1:
            seen = (
                f"Items {ids} have the same words in all their conditions: "
                f"{', '.join(sorted(words))}."
            )
            yield fault("CIM-S056", where=f"item {ids.names[1]}", seen=seen)


def _common_words(texts: Sequence[str]) -> frozenset[str]:
    sets = [frozenset(word.lower() for word in _WORD.findall(text)) for text in texts]
    return frozenset.intersection(*sets) if sets else frozenset()


def _shared_sentences(stimuli: Stimuli) -> Iterator[Fault]:
    """One sentence in several items: a placeholder, or a copy that makes items depend."""
    if not stimuli.suite.factors:
        return
    groups: dict[tuple[str, str], Listing] = {}
    for number, (condition, text) in enumerate(zip(stimuli.conditions, stimuli.texts, strict=True)):
        if text:
            groups.setdefault((condition.name, text), Listing()).add(stimuli.item(number).id)
    for (name, text), ids in groups.items():
        if ids.count > 1:
            seen = f"{text!r} is the sentence of {name} in items {ids}."
            yield fault("CIM-S057", where=f"item {ids.names[1]}, condition {name}", seen=seen)


WORDING_CHECKS: tuple[Check, ...] = (
    _final_marks, _small_letters, _doubled, _shared_words, _shared_sentences,
)  # fmt: skip
"""Codes CIM-S053 to CIM-S057; the last two only for suites that declare factors."""

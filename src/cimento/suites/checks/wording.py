"""Checks of wording: what differs from the rest of the suite and looks like a slip of the pen."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Each, Listing, Located, locate_item
from cimento.suites.faults import fault
from cimento.suites.model import Item, Suite
from cimento.suites.repeats import Hashes
from cimento.suites.sentences import sentence

MOST = 0.5
"""Share of stimuli above which a habit is the suite's, and what departs from it is reported."""
DISTINCT = 0.8
"""Share of items with words in common of their own above which a repetition is reported."""
_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_FINAL = re.compile(r"[.?!…:;][\"'’”»)\]]*$")


def wording_checks(suite: Suite, places: Sequence[str]) -> list[Check]:
    """Codes CIM-S053 to CIM-S057; the last two only for suites that declare factors."""
    checks: list[Check] = [_FinalMarks(suite, places), _SmallLetters(), Each(_doubled)]
    return [*checks, _SharedWords(suite), _SharedSentences(suite)] if suite.factors else checks


class _FinalMarks:
    """Sentences without a final mark, where most have one."""

    def __init__(self, suite: Suite, places: Sequence[str]) -> None:
        self._suite, self._places = suite, places
        self._count = self._marked = 0
        self._numbers, self._firsts = array("Q"), array("Q")

    def see(self, located: Located) -> None:
        marked = sum(1 for each in located.stimuli if _FINAL.search(each.text))
        self._count += len(located.stimuli)
        self._marked += marked
        if marked < len(located.stimuli):
            self._numbers.append(located.number)
            self._firsts.append(located.first)

    def faults(self) -> Iterator[Fault]:
        if self._marked <= MOST * self._count:
            return
        for number, first in zip(self._numbers, self._firsts, strict=True):
            item = self._suite.items[number]
            located = locate_item(self._suite, self._places, item, number=number, first=first)
            for each in located.stimuli:
                if each.text and not _FINAL.search(each.text):
                    share = f"{self._marked} of {self._count} stimuli"
                    seen = f"{each.text!r} has no final mark, unlike {share}."
                    yield fault("CIM-S053", where=each.where, seen=seen)


class _SmallLetters:
    """Sentences that begin with a small letter, where most do not."""

    def __init__(self) -> None:
        self._count = 0
        self._small = Listing()
        self._first = ""

    def see(self, located: Located) -> None:
        for stimulus in located.stimuli:
            self._count += 1
            if stimulus.text[:1].islower():
                self._first = self._first or stimulus.text
                self._small.add(stimulus.where)

    def faults(self) -> Iterator[Fault]:
        small = self._small.count
        if small and small < (1 - MOST) * self._count:
            seen = (
                f"{self._first.split()[0]!r} begins with a small letter, as {small} of"
                f" {self._count} stimuli do."
            )
            yield fault("CIM-S054", where=str(self._small), seen=seen)


def _doubled(located: Located) -> Iterator[Fault]:
    for stimulus in located.stimuli:
        found = _DOUBLED.search(stimulus.text)
        if found:
            seen = f"{found[0]!r} in {stimulus.text!r}."
            yield fault("CIM-S055", where=stimulus.where, seen=seen)


class _SharedWords:
    """Items that have the same words in common to all their conditions, where most have not."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._numbers = array("Q")
        self._words = Hashes()

    def see(self, located: Located) -> None:
        words = _common_words([each.text for each in located.stimuli])
        if words:
            self._numbers.append(located.number)
            self._words.add(words)

    def faults(self) -> Iterator[Fault]:
        repeated = sum(1 for _ in self._words.repeated())
        if not len(self._words) or len(self._words) - repeated < DISTINCT * len(self._suite.items):
            return
        groups: dict[frozenset[str], Listing] = {}
        for index in self._words.repeated():
            item = self._suite.items[self._numbers[index]]
            groups.setdefault(self._words_of(item), Listing()).add(item.id)
        for words, ids in groups.items():
            if ids.count > 1:
                seen = (
                    f"Items {ids} have the same words in all their conditions: "
                    f"{', '.join(sorted(words))}."
                )
                yield fault("CIM-S056", where=f"item {ids.names[1]}", seen=seen)

    def _words_of(self, item: Item) -> frozenset[str]:
        return _common_words([sentence(each, rule=self._suite.join) for each in item.conditions])


def _common_words(texts: Sequence[str]) -> frozenset[str]:
    sets = [frozenset(word.lower() for word in _WORD.findall(text)) for text in texts]
    return frozenset.intersection(*sets) if sets else frozenset()


class _SharedSentences:
    """One sentence in several items: a placeholder, or a copy that makes items depend."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._numbers = array("Q")
        self._sentences = Hashes()

    def see(self, located: Located) -> None:
        for stimulus in located.stimuli:
            if stimulus.text:
                self._numbers.append(located.number)
                self._sentences.add((stimulus.condition.name, stimulus.text))

    def faults(self) -> Iterator[Fault]:
        groups: dict[tuple[str, str], Listing] = {}
        numbers = (self._numbers[index] for index in self._sentences.repeated())
        # Once for each item, for the numbers of its stimuli follow each other.
        for number, _ in groupby(numbers):
            item = self._suite.items[number]
            for each in item.conditions:
                text = sentence(each, rule=self._suite.join)
                if text:
                    groups.setdefault((each.name, text), Listing()).add(item.id)
        for (name, text), ids in groups.items():
            if ids.count > 1:
                seen = f"{text!r} is the sentence of {name} in items {ids}."
                where = f"item {ids.names[1]}, condition {name}"
                yield fault("CIM-S057", where=where, seen=seen)

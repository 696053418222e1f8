"""Checks of what is compared: identical conditions, unequal lengths, items that repeat others."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from statistics import fmean

from cimento.errors import Fault, FormulaError
from cimento.suites.checks.stimuli import Check, Each, Listing, Located, Stimulus
from cimento.suites.faults import fault
from cimento.suites.formula import (
    Comparison,
    Number,
    Quantity,
    Reference,
    canonical,
    comparisons,
    parse,
    references,
)
from cimento.suites.model import Condition, Item, Suite
from cimento.suites.repeats import Hashes
from cimento.suites.sentences import sentence

FEWEST_ITEMS = 5
"""Below this many items no difference in length is called systematic."""
WORD_SHARE = 0.5
"""Net share of items in which one side has more words, from which on it is reported."""
CHARACTER_SHARE = 0.75
"""The same for characters, where the words are equal in number."""
CHARACTER_DIFFERENCE = 0.1
"""Mean difference in characters, relative to the longer side, from which on it is reported."""


def comparison_checks(suite: Suite) -> list[Check]:
    """Codes CIM-S050 to CIM-S052."""
    return [
        Each(partial(_identical, _compared_conditions(suite))),
        *_length_checks(suite),
        _Repeated(suite),
    ]


def _identical(compared: Collection[frozenset[str]] | None, located: Located) -> Iterator[Fault]:
    """Two conditions of an item that are the same sentence, among those that are compared."""
    first: dict[str, Stimulus] = {}
    for stimulus in located.stimuli:
        name, text = stimulus.condition.name, stimulus.text
        before = first.setdefault(text, stimulus)
        other = before.condition.name
        if name != other and (compared is None or frozenset((name, other)) in compared):
            seen = f"The sentence is that of condition {other!r}: {text!r}."
            yield fault("CIM-S050", where=stimulus.where, seen=seen)


def _compared_conditions(suite: Suite) -> set[frozenset[str]] | None:
    """The pairs of conditions that stand in one comparison; None where nothing is predicted."""
    if not suite.predictions:
        return None
    groups = [[each.condition for each in references(part)] for _, part in _parts(suite)]
    return {frozenset((a, b)) for group in groups for a in group for b in group if a != b}


def _parts(suite: Suite) -> Iterator[tuple[int, Comparison]]:
    """The comparisons of each prediction that can be read, with its number."""
    for number, prediction in enumerate(suite.predictions):
        try:
            parts = comparisons(parse(prediction.formula))
        except FormulaError:
            continue
        for part in dict.fromkeys(parts):
            yield number, part


def _length_checks(suite: Suite) -> Iterator[Check]:
    """One for each comparison of sums of regions; suites whose metric is no sum are left alone.

    A difference of differences is there to take effects of length out.
    """
    if suite.metric != "sum":
        return
    for number, part in _parts(suite):
        if part.operator != "=":
            low, high = (part.left, part.right) if part.operator == "<" else (part.right, part.left)
            if _summed(low) and _summed(high):
                yield _Lengths(low, high, where=f"prediction {number}")


class _Difference:
    """How much longer one side of a comparison is than the other, item by item."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.count = self.more = self.less = self.total = 0
        self._relative = array("d")

    def add(self, low: int, high: int) -> None:
        """Add the lengths of the two sides in one item."""
        difference = high - low
        self.count += 1
        self.more += difference > 0
        self.less += difference < 0
        self.total += difference
        self._relative.append(difference / max(low, high, 1))

    @property
    def share(self) -> float:
        """Share of items that have more, less that of those that have less."""
        return (self.more - self.less) / self.count

    @property
    def mean(self) -> float:
        """What an item has more, on average."""
        return self.total / self.count

    @property
    def relative(self) -> float:
        """What an item has more, relative to its longer side, on average."""
        return fmean(self._relative)


class _Lengths:
    """A side that is longer in most items: its surprisal is a sum, and grows with the length."""

    def __init__(self, low: Quantity, high: Quantity, *, where: str) -> None:
        self._low, self._high, self._where = low, high, where
        self._sides = _summed(low), _summed(high)
        self._conditions = {each.condition for side in self._sides for each in side}
        self._words, self._characters = _Difference("words"), _Difference("characters")

    def see(self, located: Located) -> None:
        texts = self._texts(located.item)
        if texts is not None:
            low, high = texts
            self._words.add(sum(map(_words, low)), sum(map(_words, high)))
            self._characters.add(sum(map(len, low)), sum(map(len, high)))

    def faults(self) -> Iterator[Fault]:
        longer = self._longer()
        if longer is None:
            return
        more = longer.share > 0
        side, role = (self._high, "more") if more else (self._low, "less")
        seen = (
            f"{canonical(side)}, which should be {role} surprising, has more {longer.unit} than the"
            f" other side in {longer.more if more else longer.less} of {longer.count} items"
            f" ({abs(longer.mean):.1f} on average)."
        )
        yield fault("CIM-S051", where=self._where, seen=seen)

    def _longer(self) -> _Difference | None:
        """What one side has more of; None where the two are balanced."""
        words, characters = self._words, self._characters
        if words.count < FEWEST_ITEMS:
            return None
        if abs(words.share) >= WORD_SHARE:
            return words
        systematic = abs(characters.share) >= CHARACTER_SHARE
        return (
            characters if systematic and abs(characters.relative) >= CHARACTER_DIFFERENCE else None
        )

    def _texts(self, item: Item) -> tuple[list[str], list[str]] | None:
        """The texts of both sides; None where the item lacks a condition."""
        # From the end, so that the first of several with one name is taken.
        own = {each.name: each for each in reversed(item.conditions)}
        if not self._conditions <= own.keys():
            return None
        low, high = (
            [text for each in side for text in _regions(own, each)] for side in self._sides
        )
        return low, high


def _words(text: str) -> int:
    return len(text.split())


def _summed(quantity: Quantity) -> tuple[Reference, ...]:
    """The references that a quantity adds up; none where it does anything else."""
    if isinstance(quantity, Reference):
        return (quantity,)
    if isinstance(quantity, Number) or quantity.operator == "-":
        return ()
    left, right = _summed(quantity.left), _summed(quantity.right)
    return left + right if left and right else ()


def _regions(conditions: Mapping[str, Condition], reference: Reference) -> list[str]:
    regions = conditions[reference.condition].regions
    if reference.region == "*":
        return [region.text for region in regions]
    return [region.text for region in regions[reference.region - 1 : reference.region]]


class _Repeated:
    """Items that have the same sentences in the same conditions."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._sentences = Hashes()

    def see(self, located: Located) -> None:
        self._sentences.add(frozenset((each.condition.name, each.text) for each in located.stimuli))

    def faults(self) -> Iterator[Fault]:
        groups: dict[frozenset[tuple[str, str]], Listing] = {}
        for number in self._sentences.repeated():
            item = self._suite.items[number]
            key = frozenset(
                (each.name, sentence(each, rule=self._suite.join)) for each in item.conditions
            )
            groups.setdefault(key, Listing()).add(item.id)
        for ids in groups.values():
            if ids.count > 1:
                seen = f"Items {ids} have the same sentences."
                yield fault("CIM-S052", where=f"item {ids.names[1]}", seen=seen)

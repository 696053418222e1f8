"""Checks of what is compared: identical conditions, unequal lengths, items that repeat others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from cimento.errors import Fault, FormulaError
from cimento.suites.checks.stimuli import Stimulus, listed
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
from cimento.suites.model import Item, Suite
from cimento.suites.sentences import sentence

FEWEST_ITEMS = 5
"""Below this many items no difference in length is called systematic."""
WORD_SHARE = 0.5
"""Net share of items in which one side has more words, from which on it is reported."""
CHARACTER_SHARE = 0.75
"""The same for characters, where the words are equal in number."""
CHARACTER_DIFFERENCE = 0.1
"""Mean difference in characters, relative to the longer side, from which on it is reported."""


def check_comparisons(suite: Suite, stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    """Codes CIM-S050 to CIM-S052."""
    texts = {id(each.condition): sentence(each.condition, rule=suite.join) for each in stimuli}
    yield from _identical(suite, stimuli, texts)
    for number, prediction in enumerate(suite.predictions):
        try:
            parts = comparisons(parse(prediction.formula))
        except FormulaError:
            continue
        for part in dict.fromkeys(parts):
            yield from _lengths(suite, part, where=f"prediction {number}")
    yield from _repeated(suite, texts)


def _identical(suite: Suite, stimuli: Sequence[Stimulus], texts: dict[int, str]) -> Iterator[Fault]:
    """Two conditions of an item that are the same sentence, among those that are compared."""
    compared = _compared_conditions(suite)
    first: dict[tuple[int, str], Stimulus] = {}
    for stimulus in stimuli:
        name, text = stimulus.condition.name, texts[id(stimulus.condition)]
        before = first.setdefault((id(stimulus.item), text), stimulus)
        other = before.condition.name
        if before is not stimulus and name != other and frozenset((name, other)) in compared:
            seen = f"The sentence is that of condition {other!r}: {text!r}."
            yield fault("CIM-S050", where=stimulus.where, seen=seen)


def _compared_conditions(suite: Suite) -> set[frozenset[str]]:
    """The pairs of conditions that stand in one comparison; every pair if nothing is predicted."""
    groups = []
    for prediction in suite.predictions:
        try:
            parts = comparisons(parse(prediction.formula))
        except FormulaError:
            continue
        groups += [[each.condition for each in references(part)] for part in parts]
    if not suite.predictions:
        groups = [list(suite.condition_names)]
    return {frozenset((a, b)) for group in groups for a in group for b in group if a != b}


@dataclass(frozen=True, slots=True)
class _Length:
    """How long one side of a comparison is in one item."""

    words: int
    characters: int


def _lengths(suite: Suite, part: Comparison, *, where: str) -> Iterator[Fault]:
    """A side that is longer in most items: its surprisal is a sum, and grows with the length.

    Only comparisons of sums of regions are looked at; a difference of differences is there to
    take such effects out. Suites whose metric is not the sum are left alone.
    """
    if suite.metric != "sum" or part.operator == "=":
        return
    low, high = (part.left, part.right) if part.operator == "<" else (part.right, part.left)
    low_references, high_references = _summed(low), _summed(high)
    if not low_references or not high_references:
        return
    conditions = {each.condition for each in (*low_references, *high_references)}
    measured = [
        (_length(item, low_references), _length(item, high_references))
        for item in suite.items
        if conditions <= {each.name for each in item.conditions}
    ]
    if len(measured) < FEWEST_ITEMS:
        return
    seen = _imbalance(measured, low=canonical(low), high=canonical(high))
    if seen:
        yield fault("CIM-S051", where=where, seen=seen)


def _imbalance(measured: Sequence[tuple[_Length, _Length]], *, low: str, high: str) -> str:
    """What to say of the lengths of the low and the high side; empty where they are balanced."""
    words = [b.words - a.words for a, b in measured]
    share = _net_share(words)
    if abs(share) >= WORD_SHARE:
        return _longer(words, share, unit="words", low=low, high=high)
    characters = [b.characters - a.characters for a, b in measured]
    share = _net_share(characters)
    relative = fmean(
        (b.characters - a.characters) / max(a.characters, b.characters, 1) for a, b in measured
    )
    if abs(share) >= CHARACTER_SHARE and abs(relative) >= CHARACTER_DIFFERENCE:
        return _longer(characters, share, unit="characters", low=low, high=high)
    return ""


def _longer(differences: Sequence[int], share: float, *, unit: str, low: str, high: str) -> str:
    longer, role = (high, "more") if share > 0 else (low, "less")
    count = sum((each > 0) == (share > 0) and each != 0 for each in differences)
    return (
        f"{longer}, which should be {role} surprising, has more {unit} than the other side in "
        f"{count} of {len(differences)} items ({abs(fmean(differences)):.1f} on average)."
    )


def _net_share(differences: Sequence[int]) -> float:
    """Share of items where the first is longer, less that where the second is."""
    return fmean((each > 0) - (each < 0) for each in differences)


def _summed(quantity: Quantity) -> tuple[Reference, ...]:
    """The references that a quantity adds up; none where it does anything else."""
    if isinstance(quantity, Reference):
        return (quantity,)
    if isinstance(quantity, Number) or quantity.operator == "-":
        return ()
    left, right = _summed(quantity.left), _summed(quantity.right)
    return left + right if left and right else ()


def _regions(item: Item, reference: Reference) -> list[str]:
    regions = item.condition(reference.condition).regions
    if reference.region == "*":
        return [region.text for region in regions]
    return [region.text for region in regions[reference.region - 1 : reference.region]]


def _length(item: Item, side: Sequence[Reference]) -> _Length:
    texts = [text for reference in side for text in _regions(item, reference)]
    return _Length(sum(len(text.split()) for text in texts), sum(len(text) for text in texts))


def _repeated(suite: Suite, texts: dict[int, str]) -> Iterator[Fault]:
    """Items that have the same sentences in the same conditions."""
    groups: dict[frozenset[tuple[str, str]], list[str]] = {}
    for item in suite.items:
        key = frozenset((each.name, texts[id(each)]) for each in item.conditions)
        groups.setdefault(key, []).append(item.id)
    for ids in groups.values():
        if len(ids) > 1:
            seen = f"Items {listed(ids)} have the same sentences."
            yield fault("CIM-S052", where=f"item {ids[1]}", seen=seen)

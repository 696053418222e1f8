"""Checks of comparisons: identical conditions, unequal lengths, items that repeat others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, repeat
from operator import gt, lt, sub, truediv
from statistics import fmean
from typing import TypeVar

from cimento.errors import Fault, FormulaError, InputError, counted
from cimento.faults import fault
from cimento.suites import Suite
from cimento.suites.checks.structure import (
    TOGETHER,
    WORDS_APART,
    Check,
    Listing,
    Stimuli,
    names_by_key,
)
from cimento.suites.design import squares
from cimento.suites.formula import (
    Comparison,
    Quantity,
    Reference,
    canonical,
    comparisons,
    parse,
    references,
    signed_values,
)
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import count_words

FEWEST_ITEMS = 5
"""Least number of items for a difference in length to count as systematic."""
WORD_SHARE = 0.5
"""Least net proportion of items with more words on one side that is reported."""
CHARACTER_SHARE = 0.75
"""The same for characters, where the numbers of words are balanced."""
CHARACTER_DIFFERENCE = 0.1
"""Least mean difference in characters, relative to the longer side, that is reported."""

MOST_UNLIKE = 0.25
"""Greatest proportion of items that differ in a region for the difference to be reported."""
FEWEST_ALIKE = 3
"""Least number of items among which a single differing one is reported, whatever its share."""
MOST_SLIPS, FEW_SLIPS = 0.03, 0.1
"""Largest part of pairs that may differ in more words by mistake; the second is of two at most."""
MOST_USUAL = 2
"""Most words in which nearly all pairs may differ for a pair with more to be a mistake."""


def _identical(stimuli: Stimuli) -> Iterator[Fault]:
    """Pairs of compared conditions of an item that are the same sentence."""
    if not stimuli.repeated:
        return
    compared = _compared_conditions(stimuli.suite)
    for item in range(len(stimuli.shapes)):
        numbers = stimuli.of(item)
        if len(set(stimuli.texts[numbers.start : numbers.stop])) == len(numbers):
            continue
        first: dict[str, str] = {}
        for number in numbers:
            name, text = stimuli.conditions[number], stimuli.texts[number]
            other = first.setdefault(text, name)
            if name != other and (compared is None or frozenset((name, other)) in compared):
                seen = f"The sentence is that of condition {other!r}: {text!r}."
                yield fault("CIM-S050", where=stimuli.where(number), seen=seen)


def _compared_conditions(suite: Suite) -> set[frozenset[str]] | None:
    """The pairs of conditions in the same comparison; None for a suite without predictions."""
    if not suite.predictions:
        return None
    groups = [[reference.condition for reference in references(part)] for _, part in _parts(suite)]
    return {frozenset((a, b)) for group in groups for a in group for b in group if a != b}


def _compared_pairs(stimuli: Stimuli) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The stimuli of every two conditions that are compared, with the name of the first."""
    for first, second in sorted(map(sorted, _compared_conditions(stimuli.suite) or ())):
        yield first, stimuli.pairs(first, second)


def _parts(suite: Suite) -> Iterator[tuple[int, Comparison]]:
    """The comparisons of each prediction that can be read, with its number."""
    for number, prediction in enumerate(suite.predictions):
        try:
            parts = comparisons(parse(prediction.formula))
        except FormulaError:
            continue
        for part in dict.fromkeys(parts):
            yield number, part


def _lengths(stimuli: Stimuli) -> Iterator[Fault]:
    """Sides that are longer in most items, whose summed surprisal grows with the length.

    Suites with a metric other than the sum are not checked, nor are comparisons of anything but
    sums of regions: a difference of differences is meant to remove effects of length.
    """
    if stimuli.suite.metric != "sum":
        return
    alike: dict[tuple[str, str, str], list[tuple[str, str, _Difference]]] = {}
    for number, part in _parts(stimuli.suite):
        if part.operator == "=":
            continue
        low, high = (part.left, part.right) if part.operator == "<" else (part.right, part.left)
        longer = _longer(stimuli, _summed(low), _summed(high))
        if longer is None:
            continue
        more = longer.share > 0
        side, other, role = (high, low, "more") if more else (low, high, "less")
        name = str(stimuli.suite.predictions[number].name or number)
        compared = name, _side_said(other), longer
        alike.setdefault((_side_said(side), role, longer.unit), []).append(compared)
    for (side_said, role, unit), longest in alike.items():
        yield _longer_side(side_said, role, unit, longest)


def _side_said(side: Quantity) -> str:
    """A side in words: its conditions, each with the region that is compared."""
    parts = [
        one.condition if one.region == "*" else f"region {one.region} of {one.condition}"
        for one in _summed(side)
    ]
    return " + ".join(parts) or canonical(side)


def _longer_side(
    side: str, role: str, unit: str, longest: Sequence[tuple[str, str, _Difference]]
) -> Fault:
    """The fault of a side that is longer than those with which predictions compare it.

    Args:
        side: the side in words.
        role: whether it should be ``more`` or ``less`` surprising.
        unit: what it has more of.
        longest: names of the predictions and of the other sides, with the differences.
    """
    counts = [(one.more if role == "more" else one.less, one.count) for *_, one in longest]
    fewest, count = min(counts, key=lambda pair: pair[0] / pair[1])
    mean = min(abs(one.mean) for *_, one in longest)
    others = Listing(dict.fromkeys(other for _, other, _ in longest))
    if len(longest) == 1:
        where = f"prediction {longest[0][0]}"
        seen = (
            f"{side}, which should be {role} surprising, has more {unit} than {others} in"
            f" {fewest} of {count} items ({mean:.1f} on average)."
        )
    else:
        *before, last = (name for name, *_ in longest)
        where = f"predictions {', '.join(before)} and {last}"
        seen = (
            f"{side}, which should be {role} surprising, has more {unit} than {others} in"
            f" at least {fewest} of {count} items ({mean:.1f} or more on average)."
        )
    return fault("CIM-S051", where=where, seen=seen)


class _Difference:
    """The difference in length between the sides of a comparison, item by item."""

    def __init__(self, unit: str, low: Sequence[int], high: Sequence[int]) -> None:
        self.unit = unit
        self.count = len(low)
        self.more: int = sum(map(lt, low, high))
        self.less: int = sum(map(gt, low, high))
        self._low, self._high = low, high

    @property
    def share(self) -> float:
        """The proportion of items with more on the high side minus that of those with less."""
        return (self.more - self.less) / self.count

    @property
    def mean(self) -> float:
        """The mean difference over items."""
        return (sum(self._high) - sum(self._low)) / self.count

    @property
    def relative(self) -> float:
        """The mean difference over items, relative to the longer side of each item."""
        differences = map(sub, self._high, self._low)
        return fmean(map(truediv, differences, map(max, self._low, self._high, repeat(1))))


def _longer(
    stimuli: Stimuli, low: Sequence[Reference], high: Sequence[Reference]
) -> _Difference | None:
    """The difference in words or characters; None where the sides are balanced or not sums."""
    if not low or not high:
        return None
    named = {reference.condition for reference in (*low, *high)}
    whole = {shape for shape in set(stimuli.shapes) if named <= set(shape)}
    items = [number for number, shape in enumerate(stimuli.shapes) if shape in whole]
    if len(items) < FEWEST_ITEMS:
        return None
    sides, lengths = zip(*(_texts(stimuli, items, side) for side in (low, high)), strict=True)
    # Between the words of a plain text there is one blank.
    if stimuli.is_plain and stimuli.suite.columns.is_whole and all(stimuli.lines):
        counts = [[text.count(" ") + 1 for text in texts] for texts in sides]
    else:
        counts = [list(map(count_words, texts)) for texts in sides]
    words = _Difference("words", *counts)
    if abs(words.share) >= WORD_SHARE:
        return words
    characters = _Difference("characters", *lengths)
    systematic = abs(characters.share) >= CHARACTER_SHARE
    return characters if systematic and abs(characters.relative) >= CHARACTER_DIFFERENCE else None


def _summed(quantity: Quantity) -> tuple[Reference, ...]:
    """The references that a quantity adds up; none if it is not a plain sum of them."""
    leaves = list(signed_values(quantity))
    plain = tuple(leaf for sign, leaf in leaves if sign > 0 and isinstance(leaf, Reference))
    return plain if len(plain) == len(leaves) else ()


def _texts(
    stimuli: Stimuli, items: Sequence[int], references: Sequence[Reference]
) -> tuple[list[str], list[int]]:
    """The texts of the referenced regions, for each of some items, and their characters.

    The blanks between the regions of a text are not counted.
    """
    starts, shapes = stimuli.starts, stimuli.shapes
    of_condition = [stimuli.places(reference.condition) for reference in references]
    if stimuli.suite.columns.is_whole and len(references) == 1:
        [places], lines = of_condition, stimuli.lines
        texts = [lines[starts[item] + places[shapes[item]]] for item in items]
        return texts, list(map(len, texts))
    parts = [  # regions are counted from 1
        slice(None) if reference.region == "*" else slice(reference.region - 1, reference.region)
        for reference in references
    ]
    several = [
        [
            text
            for places, part in zip(of_condition, parts, strict=True)
            for text in stimuli.regions(starts[item] + places[shapes[item]])[part]
        ]
        for item in items
    ]
    return list(map(" ".join, several)), [sum(map(len, texts)) for texts in several]


def _repeated(stimuli: Stimuli) -> Iterator[Fault]:
    """Items with the same sentences in the same conditions as another item."""
    repeated, ids = stimuli.repeated, stimuli.suite.columns.ids
    if not repeated and () not in stimuli.shapes:
        return
    of_items = [stimuli.texts[begin:end] for begin, end in pairwise(stimuli.starts)]
    keyed = (
        (frozenset(zip(shape, texts, strict=True)), id_)
        for id_, shape, texts in zip(ids, stimuli.shapes, of_items, strict=True)
        if repeated.issuperset(texts)
    )
    for alike in names_by_key(keyed).values():
        if len(alike) > 1:
            seen = f"Items {alike} have the same sentences."
            places = [f"item {name}" for name in alike]
            yield fault("CIM-S052", where=places[1], seen=seen, places=places)


def _elsewhere(stimuli: Stimuli) -> Iterator[Fault]:
    """Compared conditions that differ in words outside the compared regions.

    A region that differs in many items is meant to differ; one that differs in a few is a slip.
    """
    suite = stimuli.suite
    named = {reference.region for _, part in _parts(suite) for reference in references(part)}
    others = [] if "*" in named else sorted({*range(1, len(suite.region_names) + 1)} - named)
    found = dict[tuple[int, int, int], str]()
    for _, pairs in _compared_pairs(stimuli):
        for region in others:
            unlike = [pair for pair in pairs if len({*_region_texts(stimuli, pair, region)}) > 1]
            # Among at least three items, a single one is the odd one out; among fewer, it is
            # undecidable.
            most = max(MOST_UNLIKE * len(pairs), len(pairs) >= FEWEST_ALIKE)
            if 0 < len(unlike) <= most:
                alike = f"{len(pairs) - len(unlike)} of {counted(len(pairs), 'item')}"
                found |= {(*pair, region): alike for pair in unlike}
    odd = _odd_ones(stimuli, [(left, right) for left, right, _ in found])
    for (left, right, region), alike in found.items():
        usual, one = (right, left) if left in odd else (left, right)
        text, other = (_region_texts(stimuli, (n, n), region)[0] for n in (one, usual))
        seen = (
            f"Region {region} is {text!r}, and in condition {stimuli.conditions[usual]!r} it is"
            f" {other!r}; {alike} have it alike."
        )
        yield fault("CIM-S058", where=stimuli.where(one), seen=seen)


def _odd_ones(stimuli: Stimuli, pairs: Collection[tuple[int, int]]) -> set[int]:
    """Of each two stimuli that should be alike, the one to look at.

    It is the one that is unlike several others, or else that of the condition which should be more
    surprising: in a pair, a slip is looked for in the bad sentence first.
    """
    times = Counter(number for pair in pairs for number in pair)
    worse = set[tuple[str, str]]()
    for _, part in _parts(stimuli.suite):
        low, high = (part.left, part.right) if part.operator == "<" else (part.right, part.left)
        if isinstance(low, Reference) and isinstance(high, Reference) and part.operator != "=":
            worse.add((low.condition, high.condition))
    odd = set[int]()
    for left, right in pairs:
        names = stimuli.conditions[left], stimuli.conditions[right]
        is_left = times[left] > times[right] or (
            times[left] == times[right] and names[::-1] in worse
        )
        odd.add(left if is_left else right)
    return odd


LEAST_COMMON = 0.35
"""Proportion of the shorter sentence's words below which two sentences have little in common."""
_FEWEST_WORDS = 3
WordT = TypeVar("WordT", str, bytes)


def have_little_in_common(first: str, second: str) -> bool:
    """Whether two sentences have so few words in common that they may be from two pairs.

    Sentences of one or two words, and texts without blanks, are never reported.
    """
    if first.isascii() and second.isascii():
        # This finds the same words several times as fast.
        return _have_few_in_common(
            first.encode().translate(WORDS_APART).split(),
            second.encode().translate(WORDS_APART).split(),
        )
    words, others = (re.findall(r"\w+", one_spelling(text).casefold()) for text in (first, second))
    return _have_few_in_common(words, others)


def _have_few_in_common(words: Sequence[WordT], others: Sequence[WordT]) -> bool:
    distinct = {*words}
    common = len(distinct.intersection(others))
    # Enough in common even if no word appears twice: so it is in most pairs.
    if common >= LEAST_COMMON * min(len(words), len(others)):
        return False
    fewest = min(len(distinct), len({*others}))
    return fewest >= _FEWEST_WORDS and common < LEAST_COMMON * fewest


def _unlike_pairs(
    texts: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The pairs of sentences that have little in common, of pairs of numbers of sentences."""
    for start in range(0, len(pairs), TOGETHER):
        some = pairs[start : start + TOGETHER]
        lines = "\n".join([texts[number] for pair in some for number in pair])
        if lines.isascii() and lines.count("\n") == 2 * len(some) - 1:
            every = lines.encode().translate(_WORDS_IN_LINES).split(b"\n")
            for pair, left, right in zip(some, every[::2], every[1::2], strict=True):
                if not _share_half(left, right) and _have_few_in_common(
                    left.split(), right.split()
                ):
                    yield pair
        else:
            yield from (
                (left, right)
                for left, right in some
                if have_little_in_common(texts[left], texts[right])
            )


def _share_half(first: bytes, second: bytes) -> bool:
    """Whether two sentences share one half, and in it enough words, as most minimal pairs do.

    This takes a third of the time of a look at all words.
    """
    needed = LEAST_COMMON * (1 + first.count(b" "))  # the shorter one has at most as many words
    half = len(first) // 2
    start, end = first[:half], first[half:]
    shared = start if second.startswith(start) else end if second.endswith(end) else b""
    return len({*shared.split()}) - 1 >= needed  # one word may be cut


_LINE_BREAK = ord("\n")
_WORDS_IN_LINES = WORDS_APART[:_LINE_BREAK] + b"\n" + WORDS_APART[_LINE_BREAK + 1 :]


def _unlike(stimuli: Stimuli) -> Iterator[Fault]:
    """Pairs of sentences with hardly a word in common, as after a column slipped by a row."""
    pairs = [
        (part.left.condition, part.right.condition)
        for _, part in _parts(stimuli.suite)
        if isinstance(part.left, Reference) and isinstance(part.right, Reference)
    ]
    # Opposite cells of a design differ in both factors, and may well share few words.
    opposite = [{cells[0], cells[3]} for cells in _cells(stimuli.suite)]
    for first, second in dict.fromkeys(pairs):
        if {first, second} in opposite:
            continue
        both, texts = stimuli.pairs(first, second), stimuli.texts
        unlike = list(_unlike_pairs(texts, both))
        if unlike:
            left, right = unlike[0]
            seen = f"{texts[left]!r} and {texts[right]!r} are compared."
            if len(unlike) > 1:
                seen += f" {len(unlike)} of {counted(len(both), 'pair')} are like this."
            yield fault("CIM-S060", where=stimuli.where(left), seen=seen)


def _cells(suite: Suite) -> list[tuple[str | None, ...]]:
    """The conditions of each two by two design; none if the design has a fault."""
    try:
        return [square.conditions for square in squares(suite)]
    except InputError:
        return []


MOST_BY_HAND = 500
"""Pairs of a suite that somebody may have written, so that a slip is worth looking for."""


def _other_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Pairs of whole sentences that differ in more words than nearly all others of their suite."""
    suite = stimuli.suite
    whole = len(suite.region_names) < 2  # noqa: PLR2004  # else regions are compared
    if not whole or len(suite.items) > MOST_BY_HAND:
        return
    found = dict[tuple[int, int], tuple[list[tuple[str, str]], int]]()
    for _, pairs in _compared_pairs(stimuli):
        changed: dict[tuple[int, int], list[tuple[str, str]]] = {}
        for left, right in pairs:
            words = [re.findall(r"\w+", stimuli.texts[number]) for number in (left, right)]
            if len(words[0]) == len(words[1]):
                changed[left, right] = [two for two in zip(*words, strict=True) if len({*two}) > 1]
        usual = max((len(unlike) for unlike in _but_few(changed.values())), default=0)
        if 0 < usual <= MOST_USUAL:
            more = {
                pair: (unlike, usual) for pair, unlike in changed.items() if len(unlike) > usual
            }
            found |= more
    odd = _odd_ones(stimuli, found)
    for (left, right), (unlike, usual) in found.items():
        other, one = (right, left) if left in odd else (left, right)
        listed = ", ".join(f"{b}/{a}" if one == left else f"{a}/{b}" for a, b in unlike)
        seen = (
            f"{counted(len(unlike), 'word differs', 'words differ')} from condition"
            f" {stimuli.conditions[other]!r} ({listed}); in nearly all items {usual} at most."
        )
        yield fault("CIM-S058", where=stimuli.where(one), seen=seen)


def _but_few(changes: Collection[list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """The changes, without the few largest that may be slips."""
    count = len(changes)
    few = int(max(MOST_SLIPS * count, min(FEW_SLIPS * count, 2), count >= FEWEST_ALIKE))
    return sorted(changes, key=len)[: count - few]


def _region_texts(stimuli: Stimuli, pair: tuple[int, int], region: int) -> tuple[str, ...]:
    regions = map(stimuli.regions, pair)
    return tuple(texts[region - 1] if region <= len(texts) else "" for texts in regions)


COMPARISON_REMARKS: tuple[Check, ...] = (
    _identical, _lengths, _repeated, _elsewhere, _other_words, _unlike,
)  # fmt: skip
"""The checks of codes CIM-S050 to CIM-S052, CIM-S058 and CIM-S060, which are all warnings."""

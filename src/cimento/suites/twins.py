"""Suites that are made of the same items, such as a suite and its twin with attractors.

What decides is what the sentences say: in each condition of each item, those of the one have all
words of those of the other. The names of suites decide nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cimento.io.values import grouped
from cimento.suites import Suite
from cimento.suites.letters import one_spelling

_LEAST_SHARE = 0.8
"""The least proportion of items that have a partner with the same words."""
_FEWEST = 3
"""Fewest items of which it can be said."""
_PUNCTUATION = ".,;:!?\"'()[]«»“”¿¡"


def units_of(suites: Sequence[object]) -> dict[str, str]:
    """The name of each suite, mapped to that of the first one that is made of the same items.

    Args:
        suites: of any kind; those without regions are units of their own.
    """
    units = {str(getattr(suite, "name", "")): str(getattr(suite, "name", "")) for suite in suites}
    with_regions = [suite for suite in suites if isinstance(suite, Suite)]
    alike = grouped(((s.meta.language, s.meta.phenomenon), s) for s in with_regions)
    for group in alike.values():
        for number, suite in enumerate(group):
            for earlier in group[:number]:
                if earlier.name != suite.name and _are_twins(earlier, suite):
                    units[suite.name] = units[earlier.name]
                    break
    return units


def _are_twins(one: Suite, other: Suite) -> bool:
    """Whether most items of one have all words of those of the other, under the same ids."""
    first, second = one.columns, other.columns
    places = {item: number for number, item in enumerate(second.ids)}
    n = max(len(first.ids), len(second.ids))
    if n < _FEWEST:
        return False
    left = (1 - _LEAST_SHARE) * n - (n - len(first.ids))
    missing = 0
    for number, item in enumerate(first.ids):
        place = places.get(item)
        if place is None or not _same(one, number, other, place):
            missing += 1
            if missing > left:
                return False
    return left >= 0


def _same(one: Suite, number: int, other: Suite, place: int) -> bool:
    """Whether each condition of one item has all words of that of the other, or the reverse."""
    first, second = dict(_words(one, number)), dict(_words(other, place))
    if not first or first.keys() != second.keys():
        return False
    pairs = [(words, second[name]) for name, words in first.items()]
    return all(a <= b for a, b in pairs) or all(b <= a for a, b in pairs)


def _words(suite: Suite, number: int) -> Iterator[tuple[str, Counter[str]]]:
    """The conditions of an item, each with its words."""
    columns = suite.columns
    start = columns.starts[number]
    for place, name in enumerate(columns.shapes[number], start=start):
        regions = columns.texts[columns.bounds[place] : columns.bounds[place + 1]]
        words = one_spelling(" ".join(regions)).casefold().split()
        yield name, Counter(filter(None, (word.strip(_PUNCTUATION) for word in words)))

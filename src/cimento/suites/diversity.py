"""How varied the words of a suite are: types, repeated words, and items made after one template.

A suite of many items says little if they are a few sentences in which one word changes. Each item
is looked at through one sentence, so that the repetition among its conditions does not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import word_spans

EQUAL_ITEMS = 20
"""Number of items at which suites of different sizes are compared."""

NEAR = 0.25
"""Greatest edit distance, as a proportion of the longer sentence's words, of one template."""

FEWEST_ITEMS, MOSTLY = 10, 0.5
"""Least number of items, and least proportion with another of their template, to be reported."""

MOST_ITEMS = 5000
"""Largest suite whose items are compared with each other; beyond, it could take minutes."""


_MOST_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedWords:
    """Words of one region that recur.

    Attributes:
        region: name of the region.
        n_forms: number of different texts of the region.
        repeated: each text that is in several items, with these; the most frequent first.
    """

    region: str
    n_forms: int
    repeated: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """The lexical diversity of a suite, from one sentence of each item.

    Attributes:
        n_types: number of different words, ignoring case.
        n_tokens: number of words.
        types_of_equal: expected number of types among 20 items; None for fewer items.
        ratio_of_equal: ratio divided by the expected number of tokens; None likewise.
        regions: the words of each region that recur.
        templates: groups of items made after one template, the largest first; None for more than
            5,000 items.
    """

    n_types: int
    n_tokens: int
    types_of_equal: float | None
    ratio_of_equal: float | None
    regions: tuple[RepeatedWords, ...]
    templates: tuple[tuple[str, ...], ...] | None


def words_of(text: str) -> list[str]:
    """The words of a sentence without marks, ignoring case and how letters are encoded."""
    plain = one_spelling(text).casefold()
    words = (plain[start:end] for start, end in word_spans(plain))
    return [word for word in words if any(map(str.isalnum, word))]


def diversity(
    ids: Sequence[str], sentences: Sequence[str], regions: Sequence[tuple[str, Sequence[str]]] = ()
) -> Diversity:
    """Describe how varied the words of some items are.

    Args:
        ids: of the items.
        sentences: one of each item, in the same order.
        regions: names of regions, each with its text in every item.
    """
    texts = list(map(words_of, sentences))
    counts = Counter(word for words in texts for word in words)
    types = expected_types(texts, EQUAL_ITEMS)
    tokens = EQUAL_ITEMS * counts.total() / len(texts) if texts else 0
    return Diversity(
        n_types=len(counts),
        n_tokens=counts.total(),
        types_of_equal=types,
        ratio_of_equal=types / tokens if types is not None and tokens else None,
        regions=tuple(_repeated(name, ids, column) for name, column in regions),
        templates=templates(ids, texts) if len(ids) <= MOST_ITEMS else None,
    )


def expected_types(texts: Sequence[Sequence[str]], n_items: int) -> float | None:
    """The expected number of types in a random sample of items.

    The sum over types of 1 - C(N - m, n) / C(N, n), for N items of which m have the type: the
    rarefaction of Hurlbert 1971, doi:10.2307/1934145, with items as samples. The number of types
    grows with the number of items, so that only samples of equal size can be compared.

    Args:
        texts: the words of each item.
        n_items: size of the sample.

    Returns:
        The number; None if there are fewer items.
    """
    total = len(texts)
    if total < n_items:
        return None
    items_of = Counter(word for words in texts for word in set(words))
    all_samples = math.comb(total, n_items)
    return math.fsum(1 - math.comb(total - m, n_items) / all_samples for m in items_of.values())


def _repeated(name: str, ids: Sequence[str], column: Sequence[str]) -> RepeatedWords:
    items_of: dict[str, list[str]] = {}
    for id_, text in zip(ids, column, strict=True):
        if words := " ".join(words_of(text)):
            items_of.setdefault(words, []).append(id_)
    repeated = [(text, tuple(items)) for text, items in items_of.items() if len(items) > 1]
    repeated.sort(key=lambda pair: -len(pair[1]))
    return RepeatedWords(region=name, n_forms=len(items_of), repeated=tuple(repeated))


def templates(
    ids: Sequence[str], texts: Sequence[Sequence[str]], *, near: float = NEAR
) -> tuple[tuple[str, ...], ...]:
    """Groups of items that are made after one template.

    Two items are if their edit distance over words (Levenshtein 1966: insertions, deletions and
    replacements, each 1) is at most `near` of the longer one's words; an item belongs to a group
    if it is so near to any of its items.

    Args:
        ids: of the items.
        texts: the words of each.
        near: greatest distance, as a proportion of the words of the longer text.
    """
    group = list(range(len(texts)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = place = group[group[place]]
        return place

    for one, other in _candidates(texts, near):
        first, second = root(one), root(other)
        if first != second and is_near(texts[one], texts[other], near):
            group[max(first, second)] = min(first, second)
    members: dict[int, list[str]] = {}
    for place, id_ in enumerate(ids):
        members.setdefault(root(place), []).append(id_)
    several = [tuple(items) for items in members.values() if len(items) > 1]
    return tuple(sorted(several, key=lambda items: -len(items)))


def mostly_alike(groups: Sequence[Sequence[str]], n_items: int) -> str:
    """A sentence on the items that share a template, if most of a suite's do; else empty.

    Args:
        groups: what `templates` found.
        n_items: number of items of the suite.
    """
    n_alike = sum(map(len, groups))
    if n_items < FEWEST_ITEMS or n_alike < MOSTLY * n_items:
        return ""
    shown = ", ".join(groups[0][:_MOST_NAMED]) + (" ..." if len(groups[0]) > _MOST_NAMED else "")
    return (
        f"{n_alike} of {n_items} items differ from another one in a quarter of the words or fewer;"
        f" the largest group has {len(groups[0])}: {shown}."
    )


def is_near(one: Sequence[str], other: Sequence[str], near: float = NEAR) -> bool:
    """Whether the edit distance of two texts is within a proportion of the longer one's words."""
    return edit_distance(one, other) <= near * max(len(one), len(other))


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The least number of insertions, deletions and replacements of words between two texts."""
    row = list(range(len(other) + 1))
    for number, word in enumerate(one, start=1):
        diagonal, row[0] = row[0], number
        for place, same in enumerate(other, start=1):
            change = diagonal + (word != same)
            diagonal, row[place] = row[place], min(change, row[place] + 1, row[place - 1] + 1)
    return row[-1]


def _candidates(texts: Sequence[Sequence[str]], near: float) -> Iterator[tuple[int, int]]:
    """Pairs of texts that may be near each other; all others differ in too many words.

    Near texts of n words or more share n - near * n of them at least, and so one of the
    near * n + 1 rarest words of each: the prefix filter of Chaudhuri, Ganti and Kaushik 2006,
    doi:10.1109/ICDE.2006.9. The second *la* of a text is a word of its own.
    """
    words = [_numbered(text) for text in texts]
    times = Counter(chain.from_iterable(words))
    having: dict[tuple[str, int], list[int]] = {}
    for place, elements in enumerate(words):
        rarest = sorted(elements, key=lambda element: (times[element], element))
        rarest = rarest[: math.floor(near * len(elements)) + 1]
        for other in sorted({one for element in rarest for one in having.get(element, ())}):
            yield other, place
        for element in rarest:
            having.setdefault(element, []).append(place)


def _numbered(words: Sequence[str]) -> list[tuple[str, int]]:
    """Each word with the number of times that it came before."""
    times: Counter[str] = Counter()
    elements = []
    for word in words:
        elements.append((word, times[word]))
        times[word] += 1
    return elements

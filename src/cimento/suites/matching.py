"""Matched copies of a suite, with items whose conditions are alike in length and words.

The class of the first word of a region comes from lists of closed classes, not from a tagger.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from statistics import fmean

from cimento.errors import UsageError, counted, did_you_mean
from cimento.suites.model import Item, JsonValue, Suite, sentence

NOTHING = "nothing"
"""The class of an empty region."""

OTHER = "another word"
"""The class of words that are in no list: nouns, verbs, names."""

_FIRST_WORD = re.compile(r"\w+")
_AT_START = ("wh-word", "preposition", "determiner", "complementizer")
_WITHIN = ("complementizer", "preposition", "determiner", "wh-word")


def first_word(text: str) -> str:
    """The first word of a text in lower case, without punctuation; empty without words."""
    found = _FIRST_WORD.search(text)
    return found.group().casefold() if found else ""


def kind_of(word: str, language: str, *, initial: bool) -> str | None:
    """The closed class of a word; `OTHER` for an open one, `NOTHING` for none.

    Args:
        word: a word in lower case.
        language: ISO 639-1 code.
        initial: whether the word begins a sentence; *che* is then a wh-word.

    Returns:
        The class; None if there are no lists for the language.
    """
    if not word:
        return NOTHING
    lists = _lists().get(language.partition("-")[0])
    if lists is None:
        return None
    order = _AT_START if initial else _WITHIN
    return next((kind for kind in order if word in lists[kind]), OTHER)


@functools.cache
def _lists() -> Mapping[str, Mapping[str, frozenset[str]]]:
    path = resources.files("cimento") / "data" / "function_words.toml"
    text = path.read_text(encoding="utf-8")
    return {
        language: {kind: frozenset(words.split()) for kind, words in kinds.items()}
        for language, kinds in tomllib.loads(text).items()
    }


Frequency = Callable[[str], float]
"""A function from a word to its Zipf frequency: log10 of occurrences in 10^9 words."""

PROVENANCE = "provenance"
_WORD = re.compile(r"[^\W\d_]+(?:['’])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest allowed differences between the conditions of an item; None for no limit.

    Attributes:
        words: largest difference between conditions in number of words.
        characters: largest difference in number of characters.
        frequency: largest difference in mean Zipf frequency of the words.
        overlap: smallest ratio of words in all conditions to words in any (Jaccard).
    """

    words: int | None = None
    characters: int | None = None
    frequency: float | None = None
    overlap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The differences between the conditions of an item, or their means over items.

    Attributes:
        words: difference in words between the longest and the shortest condition.
        characters: the same difference in characters.
        overlap: ratio of words in all conditions to words in any.
        frequency: difference between the highest and the lowest mean Zipf frequency; None if not
            requested.
    """

    words: float
    characters: float
    overlap: float
    frequency: float | None = None

    def is_within(self, limits: Limits) -> bool:
        """Whether all limits are kept."""
        return (
            (limits.words is None or self.words <= limits.words)
            and (limits.characters is None or self.characters <= limits.characters)
            and (limits.overlap is None or self.overlap >= limits.overlap)
            and (
                limits.frequency is None
                or (self.frequency is not None and self.frequency <= limits.frequency)
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """A matched copy with its balance before and after matching.

    Attributes:
        suite: the copy; its items keep their ids.
        before: mean balance of all items.
        after: mean balance of the items that were kept.
        dropped: ids of the other items.
    """

    suite: Suite
    before: Balance
    after: Balance
    dropped: tuple[str, ...]


def match_items(
    suite: Suite,
    limits: Limits,
    *,
    conditions: Sequence[str] = (),
    frequency: Frequency | None = None,
    sha256: str = "",
) -> Matched:
    """A copy of a suite with the items whose conditions are within the limits.

    Args:
        suite: the suite.
        limits: the limits on differences.
        conditions: names of the compared conditions; empty for all.
        frequency: the frequency of words, for a limit on it.
        sha256: digest of the suite, for the provenance.

    Raises:
        UsageError: no item is left, there is no such condition, or frequencies are missing.
    """
    _check(suite, limits, conditions, frequency)
    balances = {
        item.id: balance(item, suite, conditions=conditions, frequency=frequency)
        for item in suite.items
    }
    kept = [item for item in suite.items if balances[item.id].is_within(limits)]
    if not kept:
        closest = mean_balance(list(balances.values()))
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"none of its {counted(len(suite.items), 'item')} is within the limits",
            todo=f"On average the conditions differ by {closest.words:.1f} words and "
            f"{closest.characters:.1f} characters, and share {closest.overlap:.2f} of their words.",
        )
    said = _provenance(suite, limits, conditions, sha256, kept=len(kept))
    extra: dict[str, JsonValue] = {**suite.extra, PROVENANCE: said}
    meta = dataclasses.replace(suite.meta, name=f"{suite.name}-matched")
    ids = {item.id for item in kept}
    return Matched(
        suite=dataclasses.replace(suite, meta=meta, items=tuple(kept), extra=extra),
        before=mean_balance(list(balances.values())),
        after=mean_balance([balances[item.id] for item in kept]),
        dropped=tuple(item.id for item in suite.items if item.id not in ids),
    )


def _check(
    suite: Suite, limits: Limits, conditions: Sequence[str], frequency: Frequency | None
) -> None:
    for name in conditions:
        if name not in suite.condition_names:
            raise UsageError(
                where=f"condition {name!r}",
                seen=f"the suite {suite.name!r} has no such condition",
                todo=did_you_mean(name, suite.condition_names),
            )
    if limits.frequency is not None and frequency is None:
        raise UsageError(where="frequency limit", seen="there are no frequencies of words")


def _provenance(
    suite: Suite, limits: Limits, conditions: Sequence[str], sha256: str, *, kept: int
) -> dict[str, JsonValue]:
    limit: dict[str, JsonValue] = {
        key: value for key, value in dataclasses.asdict(limits).items() if value is not None
    }
    return {
        "suite": suite.name,
        "version": suite.meta.version,
        "sha256": sha256,
        "limits": limit,
        "conditions": list(conditions),
        "items": f"{kept} of {len(suite.items)}",
    }


def balance(
    item: Item,
    suite: Suite,
    *,
    conditions: Sequence[str] = (),
    frequency: Frequency | None = None,
) -> Balance:
    """The balance of the conditions of an item.

    Args:
        item: an item of the suite.
        suite: the suite, which determines how regions are joined.
        conditions: names of the compared conditions; empty for all.
        frequency: the frequency of words; None leaves it out.
    """
    texts = [
        sentence(condition, rule=suite.join)
        for condition in item.conditions
        if not conditions or condition.name in conditions
    ]
    words = [[word.lower() for word in _WORD.findall(text)] for text in texts]
    lengths, characters = [len(text.split()) for text in texts], [len(text) for text in texts]
    sets = [set(word) for word in words]
    union = set.union(*sets) if sets else set()
    means = []
    if frequency is not None:
        means = [fmean(map(frequency, word)) for word in words if word]
    return Balance(
        words=float(max(lengths) - min(lengths)) if lengths else 0.0,
        characters=float(max(characters) - min(characters)) if characters else 0.0,
        overlap=len(set.intersection(*sets)) / len(union) if union else 0.0,
        frequency=max(means) - min(means) if means else None,
    )


def mean_balance(balances: Sequence[Balance]) -> Balance:
    """The mean of one or more balances."""
    frequencies = [each.frequency for each in balances if each.frequency is not None]
    return Balance(
        words=fmean(each.words for each in balances),
        characters=fmean(each.characters for each in balances),
        overlap=fmean(each.overlap for each in balances),
        frequency=fmean(frequencies) if frequencies else None,
    )

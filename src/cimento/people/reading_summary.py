"""Reading times of a survey in short: the mean at each region or word, beside a model's surprisals.

Means are over observations, with intervals over participants and items. Surprisals predict reading
times (Smith and Levy 2013, doi:10.1016/j.cognition.2013.02.013). So do length and frequency, which
`cimento.people.reading_gains` takes into account and a correlation does not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.clusters import Crossing
from cimento.people.reading_times import REASON
from cimento.people.surveys.times import ReadWord
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of

if TYPE_CHECKING:
    import polars as pl

SURPRISAL = "surprisal_bits"

WordKey: TypeAlias = tuple[str, int]
"""A word: the text that it is in, and its number there, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTimes:
    """The reading times at one place of the sentences of a condition.

    Attributes:
        condition: of the suite; empty where there is none.
        place: a region, or the number of a word where regions are not known.
        time: mean milliseconds of a word, over observations; the interval is over people and items.
        people: number of participants.
        items: number of items.
        left_out: times that rules left out, or that were not read.
        bits: mean surprisal of a word, over the words that were read; None where it is not known of
            each of them.
    """

    condition: str
    place: str
    time: Mean
    people: int
    items: int
    left_out: int
    bits: float | None = None


def times_by_place(
    words: Sequence[ReadWord], bits: Mapping[WordKey, float | None] | None = None
) -> list[PlaceTimes]:
    """The mean reading time at each place, in the order of places, and there of conditions.

    Args:
        words: from `cimento.people.surveys.times.word_times`.
        bits: surprisal of each word in bits, of `surprisals_of`; None where no model was asked.
    """
    groups: dict[tuple[str, str], list[ReadWord]] = {}
    first: dict[str, int] = {}
    has_regions = all(word.region for word in words)
    for word in words:
        place = word.region if has_regions else str(word.position)
        groups.setdefault((place, word.condition), []).append(word)
        first[place] = min(first.get(place, word.position), word.position)
    conditions = list(dict.fromkeys(word.condition for word in words))
    ordered = sorted(groups, key=lambda key: (first[key[0]], key[0], conditions.index(key[1])))
    return [_at(place, condition, groups[place, condition], bits) for place, condition in ordered]


def _at(
    place: str,
    condition: str,
    words: Sequence[ReadWord],
    bits: Mapping[WordKey, float | None] | None,
) -> PlaceTimes:
    """The times at one place of one condition."""
    kept = [(word, word.rt) for word in words if word.rt is not None]
    design = Design(
        tuple((word.participant, word.text, word.position) for word, _ in kept),
        tuple(Crossing((word.participant, word.item)) for word, _ in kept),
    )
    known = [bits.get(_key(word)) for word in words] if bits is not None else []
    numbers = [one for one in known if one is not None]
    return PlaceTimes(
        condition=condition,
        place=place,
        time=mean_of([ms for _, ms in kept], design, seed=0),
        people=len({word.participant for word, _ in kept}),
        items=len({word.item for word, _ in kept}),
        left_out=len(words) - len(kept),
        bits=math.fsum(numbers) / len(numbers) if numbers and len(numbers) == len(known) else None,
    )


def _key(word: ReadWord) -> WordKey:
    return word.text, word.position


def surprisals_of(table: pl.DataFrame) -> dict[WordKey, float | None]:
    """The surprisal of each word in bits; None where the model gives none.

    Args:
        table: of `cimento.people.reading_times.join_surprisals`.
    """
    rows = table.select("text", "position", SURPRISAL).iter_rows()
    return {(str(text), position): bits for text, position, bits in rows}


def unscored(table: pl.DataFrame) -> Counter[str]:
    """Why words have no surprisal, each reason with the number of words.

    Args:
        table: of `cimento.people.reading_times.join_surprisals`.
    """
    rows = table.select("text", "position", REASON).unique(maintain_order=True).iter_rows()
    return Counter(reason for _, _, reason in rows if reason)


def times_with_surprisal(
    words: Sequence[ReadWord], bits: Mapping[WordKey, float | None]
) -> Correlation:
    """Spearman's correlation of the mean reading times of words with their surprisals.

    Words of one item belong together. Words without a time, or without a surprisal, are left out.

    Args:
        words: from `cimento.people.surveys.times.word_times`.
        bits: of `surprisals_of`.
    """
    times: dict[tuple[WordKey, str], list[float]] = {}
    for word in words:
        if word.rt is not None:
            times.setdefault((_key(word), word.item), []).append(word.rt)
    rows = [
        (key, item, math.fsum(ms) / len(ms), surprisal)
        for (key, item), ms in times.items()
        if (surprisal := bits.get(key)) is not None
    ]
    design = Design(tuple(row[0] for row in rows), tuple(row[1] for row in rows))
    return correlate([row[2] for row in rows], [row[3] for row in rows], design=design)

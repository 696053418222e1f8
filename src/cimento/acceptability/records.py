"""What people said about sentences: frozen records, no reading or writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Label: TypeAlias = Literal["acceptable", "unacceptable", ""]
"""What the authors of a set say of a sentence; empty where they say nothing."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The ends of a rating scale, the low one being the worst.

    Attributes:
        low: the lowest rating that could be given.
        high: the highest.
    """

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a rating is on the scale."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said of one sentence.

    Attributes:
        value: on the set's scale.
        participant: who said it; empty where a set does not tell.
    """

    value: float
    participant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSentence:
    """A sentence with what people said of it: single ratings, or what was published of them.

    Attributes:
        id: unique in its set.
        text: the sentence.
        ratings: the single ratings; empty where only their mean was published.
        mean: of the ratings.
        sd: of the ratings, with n - 1; None where there are fewer than two.
        n: how many people rated it.
        label: what the authors of the set say of it.
        pair: what the two members of a minimal pair share; empty where it is in none.
        cluster: what it belongs to besides, where the suite has a cluster column; else empty.
        grammatical: whether it is grammatical, where the authors tell this from acceptable.
        columns: anything else, as text.
    """

    id: str
    text: str
    ratings: tuple[Rating, ...] = ()
    mean: float | None = None
    sd: float | None = None
    n: int | None = None
    label: Label = ""
    pair: str = ""
    cluster: str = ""
    grammatical: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSet:
    """Sentences that were rated on one scale.

    Attributes:
        name: of the set, such as its file's.
        sentences: in file order.
        scale: None where the sentences were only labelled.
        language: ISO 639-1 code; empty where it is not known.
        warnings: what was noticed while reading.
    """

    name: str
    sentences: tuple[RatedSentence, ...]
    scale: Scale | None = None
    language: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def means(self) -> list[float | None]:
        """The mean rating of each sentence."""
        return [sentence.mean for sentence in self.sentences]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedChoice:
    """What one person answered when asked which of two sentences is better.

    Attributes:
        sheet: the set of questions that was answered in one go.
        annotator: who answered.
        paradigm: what the pair is about.
        good: the sentence that should be preferred.
        bad: the other one.
        chose_good: the answer; None where there is none.
        attention: whether the question only checks that the annotator reads.
        seconds: the time taken for the whole sheet.
    """

    sheet: str
    annotator: str
    paradigm: str
    good: str
    bad: str
    chose_good: bool | None
    attention: bool = False
    seconds: float | None = None


def with_ratings(
    values: Sequence[float], participants: Sequence[str] = ()
) -> tuple[tuple[Rating, ...], float | None, float | None, int]:
    """Single ratings with their mean, standard deviation (n - 1) and number.

    Args:
        values: the ratings of one sentence.
        participants: who gave each; empty where that is not known.
    """
    import math

    n = len(values)
    names = participants or [""] * n
    ratings = tuple(Rating(value, name) for value, name in zip(values, names, strict=True))
    if n == 0:
        return ratings, None, None, 0
    mean = math.fsum(values) / n
    if n == 1:
        return ratings, mean, None, n
    squares = math.fsum((value - mean) ** 2 for value in values)
    return ratings, mean, math.sqrt(squares / (n - 1)), n


def plain(value: float) -> str:
    """A rating as people write it: ``3`` for 3.0, every digit of anything else."""
    return str(int(value)) if float(value).is_integer() else repr(value)

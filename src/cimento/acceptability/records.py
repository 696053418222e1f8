"""What people said about sentences: frozen records, no reading or writing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from cimento.errors import InputError

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
    sentence: RatedSentence, values: Sequence[float], participants: Sequence[str] = ()
) -> RatedSentence:
    """A sentence with single ratings, their mean, standard deviation (n - 1) and number.

    Args:
        sentence: that was rated.
        values: the ratings.
        participants: who gave each; empty where that is not known.
    """
    n = len(values)
    names = participants or [""] * n
    ratings = tuple(Rating(value, name) for value, name in zip(values, names, strict=True))
    mean = math.fsum(values) / n if n else None
    sd = None
    if mean is not None and n > 1:
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return replace(sentence, ratings=ratings, mean=mean, sd=sd, n=n)


def plain(value: float) -> str:
    """A rating as people write it: ``3`` for 3.0, every digit of anything else."""
    return str(int(value)) if float(value).is_integer() else repr(value)


_SHOWN = 3
"""Of wrong ratings, so many are named."""


def refuse_off_scale(sentences: Iterable[RatedSentence], scale: Scale, *, where: str) -> None:
    """See that every rating and every mean is on the scale.

    Raises:
        InputError: some are not; the first are named.
    """
    wrong = [
        f"{each.id}: {value:g}"
        for each in sentences
        for value in (*(rating.value for rating in each.ratings), each.mean)
        if value is not None and not scale.holds(value)
    ]
    if wrong:
        shown = "; ".join(dict.fromkeys(wrong[:_SHOWN]))
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise InputError(
            where=where,
            seen=f"ratings are off the scale from {scale.low:g} to {scale.high:g} ({shown}{more})",
            todo="Correct them, or say on which scale they are.",
        )

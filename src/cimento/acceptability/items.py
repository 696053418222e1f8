"""Ratings and measures described: over all sentences, and for each label apart and together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.acceptability.records import RatedSentence
from cimento.measures.sentence import Missing, Value

Of: TypeAlias = Callable[[RatedSentence], "Value | None"]
"""What is known of a sentence: a number, why there is none, or None."""

NO_VALUE = "no sentence has a value"
ONE_VALUE = "a standard deviation needs two values"

ACCEPTABLE = "acceptable"
UNACCEPTABLE = "unacceptable"
GRAMMATICAL = "unacceptable, grammatical"
UNGRAMMATICAL = "unacceptable, ungrammatical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Some values, described.

    Attributes:
        name: of the group.
        n: sentences that have a value.
        without: sentences that have none; they are in no other number.
        mean: None where no sentence has a value.
        sd: of the values, with n - 1.
        low: the smallest value.
        high: the largest.
        sd_within: mean of the standard deviations (n - 1) of the single ratings of each sentence;
            None where single ratings or their deviations are not known, and for measures.
        reasons: for each of the fields that is None, why.
    """

    name: str
    n: int
    without: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    sd_within: float | None
    reasons: Mapping[str, str]


def rating(sentence: RatedSentence) -> float | None:
    """The mean rating of a sentence."""
    return sentence.mean


def describe(name: str, sentences: Sequence[RatedSentence], of: Of = rating) -> Described:
    """Number, mean, standard deviation and range of a value over some sentences.

    Args:
        name: of the group.
        sentences: of the group.
        of: gives the value of a sentence.
    """
    values = [
        value
        for each in sentences
        if (value := of(each)) is not None and not isinstance(value, Missing)
    ]
    deviations = [each.sd for each in sentences if each.sd is not None] if of is rating else []
    n = len(values)
    reasons = dict.fromkeys(("mean", "low", "high"), NO_VALUE) if not values else {}
    if n < 2:  # noqa: PLR2004  # two values are needed for a deviation
        reasons["sd"] = ONE_VALUE
    if not deviations:
        reasons["sd_within"] = "no sentence has a standard deviation of its ratings"
    return Described(
        name=name,
        n=n,
        without=len(sentences) - n,
        mean=math.fsum(values) / n if values else None,
        sd=statistics.stdev(values) if "sd" not in reasons else None,
        low=min(values, default=None),
        high=max(values, default=None),
        sd_within=math.fsum(deviations) / len(deviations) if deviations else None,
        reasons=reasons,
    )


def by_label(sentences: Sequence[RatedSentence]) -> dict[str, list[RatedSentence]]:
    """Sentences by what their authors say of them.

    The unacceptable ones are given as two groups that share nothing, the grammatical and the
    ungrammatical, and all together: a table that leaves open which of them its rows are cannot be
    compared with another. Groups without a sentence are left out.
    """
    bad = [each for each in sentences if each.label == UNACCEPTABLE]
    groups = {
        ACCEPTABLE: [each for each in sentences if each.label == ACCEPTABLE],
        GRAMMATICAL: [each for each in bad if each.grammatical is True],
        UNGRAMMATICAL: [each for each in bad if each.grammatical is False],
        UNACCEPTABLE: bad,
    }
    return {name: group for name, group in groups.items() if group}


def describe_labels(sentences: Sequence[RatedSentence], of: Of = rating) -> list[Described]:
    """A value described for each group of `by_label`.

    With ratings this is the layout of Table 2, with perplexities that of Table 4 of Albertin,
    Miaschi and Brunato 2021 (ceur-ws.org/Vol-3033).
    """
    return [describe(name, group, of) for name, group in by_label(sentences).items()]

"""Judging by dictionary: a candidate fits where one of its readings is what the item expects.

An expectation is written as parts of speech with features of Universal Dependencies, joined by
``or``: ``ADJ Gender=Fem|Number=Plur or VERB VerbForm=Part|Gender=Fem|Number=Plur``. ``*`` stands
for any part of speech. With ``not`` in front a candidate fits where one of its readings is none
of these. All readings count, since a dictionary does not know which one is meant; a candidate
without a reading does not fit. How far such judgments can stand in for a person's is measured by
`compare_judgments`, and has to be, phenomenon by phenomenon.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.judging.precision import Share
from cimento.cloze.templates import JOINT
from cimento.corpus.morphology.model import Morphology, WordReading, parse_features
from cimento.errors import InputError, UsageError
from cimento.io.parsing import filled

if TYPE_CHECKING:
    from cimento.statistics.agreement import Agreement

EXPECTED = "expected"
"""The column that holds an item's expectation."""

PIECE = "##"
"""What a piece that continues a word begins with in vocabularies of the WordPiece kind."""

_OR = " or "
_NOT = "not "
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind of reading.

    Attributes:
        pos: part of speech; empty for any.
        features: what it must have.
    """

    pos: str
    features: Mapping[str, str]

    def matches(self, reading: WordReading) -> bool:
        """Whether a reading is of this kind."""
        return self.pos in ("", reading.pos) and reading.has(self.features)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an item expects in its blank.

    Attributes:
        alternatives: kinds of readings.
        negated: whether a reading must be none of them, instead of one of them.
    """

    alternatives: tuple[Wanted, ...]
    negated: bool = False

    def met_by(self, readings: Iterable[WordReading]) -> bool:
        """Whether one of the readings is what is expected."""
        return any(
            any(each.matches(reading) for each in self.alternatives) != self.negated
            for reading in readings
        )


def parse_expectation(text: str) -> Expectation:
    """An expectation as it is written.

    Raises:
        InputError: a part is neither a part of speech nor features.
    """
    negated = text.startswith(_NOT)
    alternatives = []
    # A seed of several categories has the expectations of them all.
    for part in text.removeprefix(_NOT).replace(JOINT, _OR).split(_OR):
        pos, _, features = part.strip().partition(" ")
        if not pos or "=" in pos or not (pos == _ANY or pos.isupper()):
            raise InputError(
                where=f"expectation {text!r}",
                seen=f"{part.strip()!r} does not begin with a part of speech",
                todo="Write it as in: ADJ Gender=Fem|Number=Plur or VERB VerbForm=Part.",
            )
        try:
            wanted = parse_features(features.strip())
        except UsageError as error:
            raise InputError(
                where=f"expectation {text!r}", seen=error.seen, todo=error.todo
            ) from error
        alternatives.append(Wanted("" if pos == _ANY else pos, wanted))
    return Expectation(tuple(alternatives), negated)


def expectations(columns: Mapping[str, Mapping[str, str]]) -> dict[str, Expectation]:
    """The expectation of each item that has one.

    Args:
        columns: id of an item to its columns; those of `EXPECTED` may name other columns in
            braces, ``ADJ Gender={gender}``.

    Raises:
        InputError: an expectation cannot be read, or names a column that is not there.
    """
    found = {}
    for item, own in columns.items():
        if not own.get(EXPECTED):
            continue
        try:
            found[item] = parse_expectation(filled(own[EXPECTED], own))
        except (KeyError, ValueError) as error:
            raise InputError(
                where=f"item {item!r}",
                seen=f"its expectation {own[EXPECTED]!r} names a column it has not ({error})",
                todo="Add the column, or write the feature out.",
            ) from error
    return found


def dictionary_readings(morphology: Morphology) -> Callable[[Candidate], tuple[WordReading, ...]]:
    """From a candidate to its readings in a dictionary.

    Punctuation is read as ``PUNCT``; a piece of a word has no reading.
    """

    def readings(candidate: Candidate) -> tuple[WordReading, ...]:
        text = candidate.text.strip()
        if not text or text.startswith(PIECE):
            return ()
        if all(unicodedata.category(character)[0] in "PS" for character in text):
            return (WordReading(text, text, "PUNCT", "", "punct"),)
        return morphology.analyse(text)

    return readings


def judge_expected(
    candidates: Iterable[Candidate],
    wanted: Mapping[str, Expectation],
    readings: Callable[[Candidate], Sequence[WordReading]],
) -> list[Candidate]:
    """The candidates, judged by their items' expectations; None where an item has none."""
    return [
        replace(
            each,
            fits=wanted[each.item].met_by(readings(each)) if each.item in wanted else None,
        )
        for each in candidates
    ]


@dataclass(frozen=True, slots=True)
class JudgmentComparison:
    """Judgments by rule beside those of a person, on the candidates that both judged.

    Attributes:
        both: fit by both.
        rule_only: fit by the rule alone.
        person_only: fit by the person alone.
        neither: fit by neither.
        kappa: Cohen's, with its interval.
    """

    both: int
    rule_only: int
    person_only: int
    neither: int
    kappa: Agreement

    @property
    def agreement(self) -> Share:
        """The share of candidates on which they agree."""
        return Share(self.both + self.neither, self.n)

    @property
    def n(self) -> int:
        """How many candidates both judged."""
        return self.both + self.rule_only + self.person_only + self.neither


def compare_judgments(
    rule: Iterable[Candidate],
    person: Iterable[Candidate],
    *,
    cluster_of: Callable[[Candidate], Hashable] = attrgetter("item"),
) -> JudgmentComparison:
    """How far a rule agrees with a person, candidate by candidate (same item, same rank).

    Args:
        rule: judged by the rule.
        person: judged by the person.
        cluster_of: what a candidate belongs to: its item, or what its item was made from.
    """
    from cimento.statistics.agreement import cohen_kappa
    from cimento.statistics.design import Design

    said = {(each.item, each.rank): each.fits for each in person if each.fits is not None}
    both = [
        candidate
        for candidate in rule
        if candidate.fits is not None and (candidate.item, candidate.rank) in said
    ]
    mine = [candidate.fits for candidate in both]
    theirs = [said[candidate.item, candidate.rank] for candidate in both]
    pairs = list(zip(mine, theirs, strict=True))
    clusters = tuple(map(cluster_of, both))
    return JudgmentComparison(
        both=pairs.count((True, True)),
        rule_only=pairs.count((True, False)),
        person_only=pairs.count((False, True)),
        neither=pairs.count((False, False)),
        kappa=cohen_kappa(mine, theirs, design=Design(clusters, clusters)),
    )

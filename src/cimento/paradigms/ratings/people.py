"""The people who rated or chose: agreement, z-scores, forced choices, correlations, their table.

Correlations are those of values of sentences with ratings. The sentences of a pair, or of a cluster
that the suite declares, are not independent. They are left out together in the jackknife.
"""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.io.clusters import cluster_label
from cimento.io.values import NoValue, Value, total
from cimento.measures.scores import ScoredSentence
from cimento.statistics.design import Design
from cimento.suites.cells import Cells, need_columns, text_of
from cimento.suites.ratings import (
    ForcedChoice,
    RatedSentence,
    with_ratings,
)

if TYPE_CHECKING:
    from cimento.statistics.correlation import Correlation

LEVELS = ("nominal", "ordinal", "interval")

_PLACES = range(1, 6)
"""Choices on a sheet of BLiMP's."""

_CHOICE_COLUMNS = (
    "WorkTimeInSeconds", "anonCode",
    *(f"Input.item_{place}_condition" for place in _PLACES),
    *(f"Input.field_{place}_{option}" for place in _PLACES for option in (1, 2)),
    *(f"Answer.Choice{place}" for place in _PLACES),
)  # fmt: skip
_CONDITION = re.compile(r"(?P<paradigm>.+)ans(?P<correct>[12])")
_ATTENTION = "attnchk"
_NO_ANSWER = {"", "{}", "NA"}

UNNAMED = "it is not known who gave which rating"


def z_scores(
    sentences: Sequence[RatedSentence],
    *,
    ddof: int = 1,
    base: Collection[str] | None = None,
) -> dict[str, dict[str, Value]]:
    """Each rating as its distance from its participant's mean, in standard deviations.

    This makes participants comparable who use the scale differently (Cowart 1997, Experimental
    Syntax; Schütze and Sprouse 2014, doi:10.1017/CBO9781139013734.004).

    Args:
        sentences: sentences with single ratings; a rating without participant has no z-score.
        ddof: 1 for a standard deviation with n - 1, 0 for n; publications use either.
        base: ids of the sentences over which means and deviations are taken, with or without the
            fillers, as in the publication; None for all sentences.

    Returns:
        The z-scores, or the reasons for none, by sentence and participant.
    """
    given: dict[str, list[float]] = {}
    for sentence in sentences:
        if base is None or sentence.id in base:
            for rating in sentence.ratings:
                given.setdefault(rating.participant, []).append(rating.value)
    moments = {name: _moments(values, ddof) for name, values in given.items() if name}
    return {
        sentence.id: {
            rating.participant: _z(rating.value, moments.get(rating.participant))
            for rating in sentence.ratings
            if rating.participant
        }
        for sentence in sentences
    }


def standardized(sentences: Sequence[RatedSentence]) -> tuple[RatedSentence, ...]:
    """The sentences with z-scores in place of their ratings, and with the mean of these.

    A rating without a z-score is left out; a sentence without any has no mean.

    Raises:
        UsageError: no ratings can be standardized, because participants are unknown or because
            ratings do not vary.
    """
    scores = z_scores(sentences)
    known = {
        name: {who: z for who, z in ratings.items() if not isinstance(z, NoValue)}
        for name, ratings in scores.items()
    }
    if not any(known.values()):
        raise UsageError(
            where="--set ratings=z",
            seen="no rating has a z-score",
            todo="Give each rating its participant, who rated several sentences differently.",
        )
    return tuple(
        with_ratings(sentence, [*z.values()], [*z])
        for sentence, z in zip(sentences, known.values(), strict=True)
    )


def read_forced_choices(path: Path) -> tuple[ForcedChoice, ...]:
    """All answers in BLiMP's human validation (Warstadt et al. 2020, doi:10.1162/tacl_a_00321).

    The file is ``blimp_human_validation_rawMTurk.csv`` as it was released: a row is a sheet of five
    choices, each with a condition such as ``passive_2ans1``, whose last digit is the good option.
    Which of two sentences comes first differs between sheets, so that the sentences name the item
    and not the option.

    Raises:
        InputError: the file cannot be read, lacks a column, or has an invalid cell.
    """
    table = open_table(path)
    need_columns(table, _CHOICE_COLUMNS)
    return tuple(
        _choice(table, row, sheet=str(sheet), place=place)
        for sheet, row in enumerate(table.rows)
        for place in _PLACES
    )


def _choice(table: Table, row: Row, *, sheet: str, place: int) -> ForcedChoice:
    condition = _CONDITION.fullmatch(text_of(row, f"Input.item_{place}_condition"))
    chosen = text_of(row, f"Answer.Choice{place}")
    if condition is None or (chosen not in _NO_ANSWER and not chosen.startswith(("1.", "2."))):
        raise InputError(
            where=table.where(row),
            seen=f"item_{place}_condition does not end in ans1 or ans2, or Choice{place} does not"
            " begin with 1. or 2.",
            todo="Give the file as it was released.",
        )
    options = [text_of(row, f"Input.field_{place}_{option}") for option in (1, 2)]
    correct = int(condition["correct"]) - 1
    return ForcedChoice(
        sheet=sheet,
        annotator=text_of(row, "anonCode"),
        paradigm=condition["paradigm"],
        good=options[correct],
        bad=options[1 - correct],
        chose_good=None if chosen in _NO_ANSWER else int(chosen[0]) - 1 == correct,
        attention=condition["paradigm"] == _ATTENTION,
        seconds=Cells.of(table, row).number("WorkTimeInSeconds"),
    )


def attentive(choices: Sequence[ForcedChoice]) -> list[ForcedChoice]:
    """The answers on sheets whose attention checks were all answered as instructed."""
    failed = {
        choice.sheet for choice in choices if choice.attention and choice.chose_good is not True
    }
    return [choice for choice in choices if not choice.attention and choice.sheet not in failed]


def preference_by_paradigm(choices: Sequence[ForcedChoice]) -> dict[str, float]:
    """The proportion of preferences for the good sentence: a mean over pairs, by paradigm.

    This is the count in BLiMP's validation (Warstadt et al. 2020, doi:10.1162/tacl_a_00321);
    missing answers are ignored.
    """
    answers: dict[str, dict[tuple[str, str], list[bool]]] = {}
    for choice in choices:
        if choice.chose_good is not None:
            pairs = answers.setdefault(choice.paradigm, {})
            pairs.setdefault((choice.good, choice.bad), []).append(choice.chose_good)
    return {
        paradigm: math.fsum(sum(given) / len(given) for given in pairs.values()) / len(pairs)
        for paradigm, pairs in answers.items()
    }


def _moments(values: Sequence[float], ddof: int) -> tuple[float, float] | NoValue:
    if len(values) <= ddof or len(set(values)) == 1:
        return NoValue("the participant's ratings do not vary")
    deviation = statistics.stdev(values) if ddof else statistics.pstdev(values)
    return math.fsum(values) / len(values), deviation


def _z(value: float, moments: tuple[float, float] | NoValue | None) -> Value:
    if moments is None:
        return NoValue("the participant rated no sentence that the mean is taken over")
    return moments if isinstance(moments, NoValue) else (value - moments[0]) / moments[1]


def _by_person(sentences: Sequence[RatedSentence]) -> dict[str, dict[str, float]]:
    """The ratings by participant and sentence, for ratings with a participant."""
    people: dict[str, dict[str, float]] = {}
    for sentence in sentences:
        for rating in sentence.ratings:
            if rating.participant:
                people.setdefault(rating.participant, {}).setdefault(sentence.id, rating.value)
    return people


def correlations_with_rest(sentences: Sequence[RatedSentence]) -> list[float]:
    """The correlations of each person with the mean of the others."""
    from cimento.statistics.agreement import correlation_with_rest

    people = _by_person(sentences)
    ids = list(dict.fromkeys(item for ratings in people.values() for item in ratings))
    table = [[ratings.get(item) for ratings in people.values()] for item in ids]
    return [person.r for person in correlation_with_rest(table) if person.r is not None]


KINDS = ("spearman", "pearson", "kendall")
DRAWS = 1000
MISSES = 5

NO_RATINGS = "no sentence has both a rating and a score"

WORDS = "length in words"
FREQUENCY = "mean log frequency"
"""The covariates of partial correlations."""


@dataclass(frozen=True, slots=True)
class RatedValue:
    """A sentence with a rating and a value.

    Attributes:
        sentence: the sentence, with its label, pair and cluster.
        rating: mean rating of the sentence, or its mean z-score.
        value: value of a measure.
        covariates: values that are held constant in a partial correlation.
    """

    sentence: RatedSentence
    rating: float
    value: float
    covariates: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        """Id of the sentence."""
        return self.sentence.id


def sentence_design(sentences: Sequence[RatedSentence]) -> Design:
    """The design of sentences: clusters are the suite's clusters, or else its pairs."""
    return Design.of(
        (sentence.id for sentence in sentences),
        {sentence.id: belongs_to(sentence) for sentence in sentences},
    )


def belongs_to(sentence: RatedSentence) -> Hashable:
    """The unit that a sentence belongs to: its cluster or clusters, its pair, or itself."""
    if sentence.cluster:
        return cluster_label(sentence.id, sentence.cluster)
    return ("pair", sentence.pair) if sentence.pair else ("id", sentence.id)


def correlation(rows: Sequence[RatedValue], kind: str, design: Design) -> Correlation:
    """A coefficient of values and ratings, with a jackknife interval over the design.

    Args:
        rows: sentences with a rating and a value.
        kind: ``spearman``, ``pearson`` or ``kendall``.
        design: which of the sentences belong together.
    """
    from cimento.statistics.correlation import correlate

    ratings, values = [row.rating for row in rows], [row.value for row in rows]
    return _in_words(correlate(ratings, values, kind=kind, design=design), rows)


def partial_spearman(rows: Sequence[RatedValue], design: Design) -> Correlation:
    """Spearman's coefficient, with the covariates of the rows held constant.

    Args:
        rows: sentences with a rating and a value.
        design: which of the sentences belong together.
    """
    from cimento.statistics import correlation as statistics

    if not rows:
        return statistics.Correlation(kind="spearman", r=None, n=0, reason=NO_RATINGS)
    correlation = statistics.partial_correlation(
        [row.rating for row in rows],
        [row.value for row in rows],
        [row.covariates for row in rows],
        design=design,
    )
    return _in_words(correlation, rows)


def _in_words(correlation: Correlation, rows: Sequence[RatedValue]) -> Correlation:
    """The coefficient, with a reason worded for ratings and scores."""
    if correlation.reason is None:
        return correlation
    reason = correlation.reason.replace("values of x", "ratings").replace("values of y", "scores")
    return dataclasses.replace(correlation, reason=reason if rows else NO_RATINGS)


def mean_log_frequency(scored: ScoredSentence) -> Value:
    """The mean log relative frequency of a sentence's words or tokens, or the reason for none."""
    if isinstance(scored.sentence, NoValue):
        return scored.sentence
    unigrams = scored.sentence.unigram_logprobs_nats
    if isinstance(unigrams, NoValue):
        return unigrams
    return total(unigrams) / len(unigrams) if unigrams else NoValue("it has no words")

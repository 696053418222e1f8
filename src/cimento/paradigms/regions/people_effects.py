"""DD of people: ratings of a factorial design, z-scored within participants, as effects over items.

People use a scale differently, so each rating is first its distance from its participant's mean, in
standard deviations (n - 1) of all that this participant rated in the suite (Schütze and Sprouse
2014, doi:10.1017/CBO9781139013734.004). The score of a sentence is the mean of these, and DD is
that of a model's scores: within items, tested over them. A second interval is for other people too,
with items and people crossed. Where nobody is named, ratings are taken as they are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cimento.errors import counted
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, Judgment
from cimento.judgments.summaries import once
from cimento.kinds.surveyor import answers_about, refuse_nothing
from cimento.measures.normalizing import Scope
from cimento.measures.participants import z_by_participant
from cimento.paradigms.regions.estimates import dd_estimate
from cimento.paradigms.regions.factorial import (
    DDTest,
    Factorial,
    PhenomenonEffects,
    dd_tests,
    factorial,
)
from cimento.paradigms.regions.factorial_tables import OTHERS, interval_methods
from cimento.paradigms.regions.given_answers import ratings_by_condition
from cimento.records.effects import DesignEffect
from cimento.statistics.means import Mean
from cimento.statistics.raters import contrast_for_others
from cimento.suites import Suite
from cimento.suites.design import squares
from cimento.suites.ratings import AUTHOR, Rating, rated_of, ratings_by
from cimento.suites.stimuli import stimulus_texts

PEOPLE = "people"
GIVEN, BY_PARTICIPANT = "rating", "rating, z by participant"
"""The measures of people: ratings as they are given, and z-scores of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleEffects:
    """The effects of a design in people's ratings.

    Attributes:
        result: effects by phenomenon, as a model has them; z-scores are the same on every scale.
        tests: DD of each phenomenon, over items, and over items and people if these are named.
        n_people: number of participants with a z-score; None where none is named.
        left_out: number of ratings without z-score, by reason.
    """

    result: Factorial
    tests: tuple[DDTest, ...]
    n_people: int | None
    left_out: Mapping[str, int]

    @property
    def said(self) -> tuple[DesignEffect, ...]:
        """The DDs as sentences and overviews have them, beside a model's."""
        return tuple(
            DesignEffect(
                dd_estimate(test, model=PEOPLE), test.clusters, test.expected, test.worst,
                test.means, _ends(test.others),
            )
            for test in self.tests
        )  # fmt: skip

    @property
    def scaled(self) -> str:
        """How ratings were scaled for DD, as the end of a sentence of a paper."""
        if self.n_people is None:
            return "; people's DD is that of the ratings as given"
        return "; for people's DD, ratings were z-scored within participants [@schutze2014]"

    @property
    def methods(self) -> str:
        """The sentences of a methods section on these effects."""
        tested = "It was tested over items like a model's"
        if self.n_people is None:
            return f"People's DD is that of the ratings as given. {tested}."
        return (
            "People's DD is that of their ratings as z-scores within participants [@schutze2014],"
            f" over all that each of {counted(self.n_people, 'participant')} rated in the suite."
            f" {tested}; the interval for other people takes items and people as crossed clusters"
            " [@cameron2011], with CR2 standard errors [@bell2002] and Student's t with the degrees"
            " of freedom of the smaller factor, and is never narrower than that for these people."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Whose ratings these are, how they are scaled, and what their intervals are about."""
        if self.n_people is None:
            scaled = "no participant is named, so that ratings are taken as given"
        else:
            people = counted(self.n_people, "participant")
            scaled = f"z within each of {people}, over all that this person rated in the suite"
        both = [test.others for test in self.tests if test.others is not None]
        others = f"{OTHERS}: for other items and other people; {interval_methods(both)}."
        return (
            f"People: {scaled}. Intervals are over items, for these people.",
            *([others] if both else []),
            *dict.fromkeys(f"{OTHERS}: none, as {one.reason}." for one in both if one.reason),
            *(f"Left out: {counted(n, 'rating')}, as {why}." for why, n in self.left_out.items()),
        )


def _ends(interval: Mean | None) -> tuple[float, float] | None:
    """The ends of an interval, if it has any."""
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high


Ratings: TypeAlias = Mapping[tuple[str, str], Sequence[Rating]]
"""The ratings of each sentence, by item and condition."""

_SIGNS = (-1.0, 1.0, 1.0, -1.0)
"""Of the scores of plain, first changed, second changed and both changed, in DD."""


def effects_of_people(
    suite: Suite,
    ratings: Ratings,
    *,
    scope: Scope = "suite",
    seed: int = 0,
) -> PeopleEffects:
    """The effects of a design in ratings.

    Args:
        suite: suite that crosses two factors.
        ratings: the ratings of each sentence, by item and condition.
        scope: what is pooled for the scales of ratings without participants.
        seed: seed of the resampling for intervals.

    Raises:
        UsageError: the suite is not factorial.
        InputError: its declaration of factors cannot be used.
    """
    named = any(rating.participant for given in ratings.values() for rating in given)
    scaled, left_out, n_people = z_by_participant(ratings)
    used: Ratings = scaled if named else ratings
    phenomena = factorial(suite, _means_of(used), scope=scope)
    if named:
        # z-scores of people are neither binned nor scaled again.
        phenomena = tuple(
            replace(one, effects=dict.fromkeys(one.effects, one.effects["raw"]))
            for one in phenomena
        )
    result = Factorial(
        suite=suite.name,
        model=PEOPLE,
        measure=BY_PARTICIPANT if named else GIVEN,
        unit="z" if named else "",
        phenomena=phenomena,
    )
    tests = dd_tests([result], seed=seed)
    if named:
        tests = tuple(
            replace(test, others=_for_others(phenomenon, used, seed=seed))
            for test, phenomenon in zip(tests, phenomena, strict=True)
        )
    return PeopleEffects(
        result=result,
        tests=tests,
        n_people=n_people if named else None,
        left_out=left_out if named else {},
    )


def _means_of(ratings: Ratings) -> dict[str, dict[str, float]]:
    """The mean rating of each sentence that has one, by item and condition."""
    means: dict[str, dict[str, float]] = {}
    for (item, condition), given in ratings.items():
        if given:
            mean = math.fsum(rating.value for rating in given) / len(given)
            means.setdefault(item, {})[condition] = mean
    return means


def _for_others(phenomenon: PhenomenonEffects, ratings: Ratings, *, seed: int) -> Mean:
    """The DD of a phenomenon for other items and other people, over items that have one."""
    places = [
        [(one.item, str(condition)) for condition in phenomenon.square.conditions]
        for one in phenomenon.effects["raw"].items
        if one.dd is not None
    ]
    given = [[ratings[place] for place in item] for item in places]
    return contrast_for_others(
        [[[one.value for one in some] for some in item] for item in given],
        [[[one.participant or None for one in some] for some in item] for item in given],
        _SIGNS,
        design=phenomenon.design("raw"),
        seed=seed,
    )


def people_of_suite(suite: Suite, *, scope: Scope = "suite", seed: int = 0) -> PeopleEffects | None:
    """The effects of a design in the ratings that the suite itself has; None without any.

    Args:
        suite: suite of any kind.
        scope: what is pooled for the scales of ratings without participants.
        seed: seed of the resampling for intervals.

    Raises:
        InputError: ratings, or the declaration of factors, cannot be used.
    """
    if not squares(suite) or ratings_by(suite) == AUTHOR:
        return None
    places = [(item.id, condition.name) for item, condition in suite.stimuli()]
    sentences = rated_of(suite).sentences
    ratings = {
        place: sentence.ratings or (() if sentence.mean is None else (Rating(sentence.mean),))
        for place, sentence in zip(places, sentences, strict=True)
    }
    if not any(ratings.values()):
        return None
    return effects_of_people(suite, ratings, scope=scope, seed=seed)


def people_in_judgments(
    suite: Suite, judgments: Iterable[Judgment], *, scope: Scope = "suite", seed: int = 0
) -> PeopleEffects:
    """The effects of a design in a table of judgments, such as ``annotate import`` writes.

    Of repeated answers of one person to a question the first counts.

    Args:
        suite: the suite that people were asked about.
        judgments: those of other suites and attention checks are ignored.
        scope: what is pooled for the scales of ratings without participants.
        seed: seed of the resampling for intervals.

    Raises:
        InputError: no rating is about the suite.
        UsageError: the suite is not factorial.
    """
    questions = (ACCEPTABILITY, ACCEPTABLE)
    about, passed = answers_about(once(judgments), suite.name, questions)
    yes_no = not any(judgment.question == ACCEPTABILITY for judgment in about)
    texts, _ = ratings_by_condition(about, stimulus_texts(suite), passed, yes_no=yes_no)
    refuse_nothing(sum(map(len, texts.values())), suite.name, passed)
    ratings = {
        place: [Rating(float(value), who) for value, who in given] for place, given in texts.items()
    }
    return effects_of_people(suite, ratings, scope=scope, seed=seed)


def notes_of(several: Iterable[PeopleEffects]) -> Iterator[str]:
    """The notes on people's effects, each once."""
    yield from dict.fromkeys(note for one in several for note in one.notes)

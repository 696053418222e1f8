"""DD of people: ratings of a factorial design, z-scored within participants, as effects over items.

People use a scale differently, so each rating is first its distance from its participant's mean, in
standard deviations (n - 1) of all that this participant rated in the suite (Schütze and Sprouse
2014, doi:10.1017/CBO9781139013734.004). The score of a sentence is the mean of these, and DD is
that of a model's scores: within items, tested over them. Where nobody is named, the ratings are
taken as they are given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cimento.errors import counted
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, Judgment
from cimento.judgments.summaries import once
from cimento.kinds.surveyor import answers_about, refuse_nothing
from cimento.measures.normalizing import Scope
from cimento.measures.participants import z_by_participant
from cimento.paradigms.regions.factorial import DDTest, Factorial, dd_tests, factorial
from cimento.paradigms.regions.given_answers import ratings_by_condition
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
        tests: DD of each phenomenon, over items.
        n_people: number of participants with a z-score; None where none is named.
        left_out: number of ratings without z-score, by reason.
    """

    result: Factorial
    tests: tuple[DDTest, ...]
    n_people: int | None
    left_out: Mapping[str, int]

    @property
    def notes(self) -> tuple[str, ...]:
        """Whose ratings these are, how they are scaled, and what their intervals are about."""
        if self.n_people is None:
            scaled = "no participant is named, so that ratings are taken as given"
        else:
            people = counted(self.n_people, "participant")
            scaled = f"z within each of {people}, over all that this person rated in the suite"
        return (
            f"People: {scaled}. Intervals are over items, for these people.",
            *(f"Left out: {counted(n, 'rating')}, as {why}." for why, n in self.left_out.items()),
        )


def effects_of_people(
    suite: Suite,
    ratings: Mapping[tuple[str, str], Sequence[Rating]],
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
    used, left_out, n_people = z_by_participant(ratings)
    if not named:
        used = {place: [rating.value for rating in given] for place, given in ratings.items()}
    scores: dict[str, dict[str, float]] = {}
    for (item, condition), values in used.items():
        if values:
            scores.setdefault(item, {})[condition] = math.fsum(values) / len(values)
    phenomena = factorial(suite, scores, scope=scope)
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
    return PeopleEffects(
        result=result,
        tests=dd_tests([result], seed=seed),
        n_people=n_people if named else None,
        left_out=left_out if named else {},
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

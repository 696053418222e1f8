"""The ratings of sentences: each as a z-score within its participant, and the mean of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TypeAlias

from cimento.judgments import Judgment
from cimento.judgments.summaries import is_rated, once, rating_of
from cimento.measures.participants import z_by_participant
from cimento.people.surveys import SurveyDesign
from cimento.suites.ratings import Rating


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMean:
    """The ratings of one sentence, described.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item.
        sentence: the text; empty if the answers do not have it.
        n: number of people who rated it.
        mean: mean rating.
        sd: standard deviation (n - 1); None for a single rating.
        n_z: number of people in the mean of z-scores.
        z: mean of the z-scores, each within all that its participant rated; None where no
            participant has any.
    """

    suite: str
    item: str
    condition: str
    sentence: str
    n: int
    mean: float
    sd: float | None
    n_z: int
    z: float | None


_Place: TypeAlias = tuple[str, str, str, str]


def _ratings(judgments: Sequence[Judgment]) -> dict[_Place, list[Rating]]:
    """The ratings of each sentence, by suite, item, condition and text."""
    ratings: dict[_Place, list[Rating]] = {}
    for one in once(judgments):
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None:
            place = (one.suite, one.item, one.condition, one.candidate or "")
            ratings.setdefault(place, []).append(Rating(value, one.annotator or ""))
    return ratings


def z_scores(judgments: Sequence[Judgment]) -> list[float | None]:
    """The z-score of each answer within what its participant rated; None where it has none.

    Args:
        judgments: the answers, as for `sentence_means`.
    """
    rated = {
        one: [Rating(value, one.annotator or "")]
        for one in once(judgments)
        if is_rated(one.question) and one.counts and (value := rating_of(one)) is not None
    }
    scaled, _, _ = z_by_participant(rated)
    return [scaled[one][0].value if one in scaled else None for one in judgments]


def people_without_z(judgments: Sequence[Judgment]) -> list[str]:
    """The participants who have no z-scores, as all their ratings are equal.

    Args:
        judgments: the answers, as for `sentence_means`.
    """
    ratings = _ratings(judgments)
    z, _, _ = z_by_participant(ratings)
    with_z = {one.participant for given in z.values() for one in given}
    people = dict.fromkeys(one.participant for given in ratings.values() for one in given)
    return [name for name in people if name and name not in with_z]


def sentence_means(
    judgments: Sequence[Judgment], design: SurveyDesign | None = None
) -> list[SentenceMean]:
    """The mean ratings of sentences.

    Args:
        judgments: the answers; those that are not ratings are left out, and of repeated ones of one
            person all but the first.
        design: of the survey, whose order the sentences are in; without one they are in that of
            the answers.
    """
    ratings = _ratings(judgments)
    asked = {} if design is None else _order(design)
    z, _, _ = z_by_participant(ratings)
    means = []
    for place in sorted(ratings, key=lambda place: asked.get(place[1:3], len(asked))):
        given = ratings[place]
        values = [rating.value for rating in given]
        suite, item, condition, sentence = place
        means.append(
            SentenceMean(
                suite=suite, item=item, condition=condition, sentence=sentence, n=len(values),
                mean=fmean(values), sd=stdev(values) if values[1:] else None,
                n_z=len(z.get(place, ())),
                z=fmean([one.value for one in z[place]]) if place in z else None,
            )
        )  # fmt: skip
    return means


def _order(design: SurveyDesign) -> dict[tuple[str, str], int]:
    """The places of a survey's items and conditions, as its author wrote them."""
    places = dict.fromkeys((asked.item, asked.condition) for asked in design.questions)
    return {place: number for number, place in enumerate(places)}

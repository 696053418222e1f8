"""People's ratings as verdicts on predictions: the rates of one person, and of mean ratings.

Each prediction is evaluated with ratings in place of surprisals: the surprisal of a sentence is
minus its rating, so that the best rated one has the lowest. A person has a verdict on an item of
which they rated every sentence that the prediction names; a tie is one of equal ratings. Where
people saw one sentence of an item each, as in a Latin square, only mean ratings have a verdict.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.paradigms.regions.judging import judged_suite, questions
from cimento.paradigms.regions.people_rates import (
    PeopleRate,
    kind_of_votes,
    passing,
    rate_of_model,
    rate_of_verdicts,
    undecidable,
)
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.report import MEANS, ONE_PERSON
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.raters import UNKNOWN_PEOPLE, for_others
from cimento.suites.builtin import RATED
from cimento.suites.formula import Formula, Junction, references
from cimento.suites.ratings import AUTHOR, rated_of, ratings_by

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import VerdictName
    from cimento.suites import Suite
    from cimento.suites.ratings import RatedSentence

NOBODY_BOTH = "nobody rated every sentence of an item: compare mean ratings"
VERDICTS_OF_THESE = "other people would have other mean ratings: see one person"


@dataclass(frozen=True, slots=True)
class RatedItem:
    """People's ratings of an item, as verdicts on a prediction.

    Attributes:
        item: its id.
        means: condition to its mean rating.
        n_ratings: ratings of the sentences that the prediction names.
        verdict: of the mean ratings.
        people: participant to the verdict of their own ratings.
        reason: why no participant has one; empty where some have.
    """

    item: str
    means: Mapping[str, float]
    n_ratings: int
    verdict: VerdictName
    people: Mapping[str, VerdictName]
    reason: str = ""

    def share(self, passes: Collection[VerdictName]) -> float | None:
        """The proportion of people for whom the prediction holds; None without people.

        Args:
            passes: the verdicts by which it holds.
        """
        if not self.people:
            return None
        return sum(verdict in passes for verdict in self.people.values()) / len(self.people)


def is_rated_by_people(suite: Suite) -> bool:
    """Whether a suite has people's ratings of sentences that predictions compare.

    Raises:
        InputError: the scale is invalid.
    """
    kinds = (RATED, "ratings")
    return (
        bool(suite.predictions) and suite.extra.get("kind") in kinds and ratings_by(suite) != AUTHOR
    )


def rated_items(suite: Suite, formula: Formula) -> list[RatedItem]:
    """The items whose sentences people rated, with verdicts on a prediction.

    Of several ratings of a sentence by one person the first one is that person's.

    Args:
        suite: suite with ratings.
        formula: the prediction.

    Raises:
        InputError: the scale or a rating is invalid, or a rating is off the scale.
    """
    needed = {reference.condition for reference in references(formula)}
    of_item: dict[str, dict[str, RatedSentence]] = {}
    for (item, condition), sentence in zip(suite.stimuli(), rated_of(suite).sentences, strict=True):
        if sentence.mean is not None:
            of_item.setdefault(item.id, {})[condition.name] = sentence
    return [
        _rated_item(item, formula, {name: rated[name] for name in rated if name in needed})
        for item, rated in of_item.items()
        if needed <= rated.keys()
    ]


def _rated_item(item: str, formula: Formula, rated: Mapping[str, RatedSentence]) -> RatedItem:
    by_person: dict[str, dict[str, float]] = {}
    unnamed = 0
    for condition, sentence in rated.items():
        for rating in sentence.ratings:
            unnamed += not rating.participant
            if rating.participant:
                by_person.setdefault(rating.participant, {}).setdefault(condition, rating.value)
    people = {
        name: kind_of_votes(formula, given)
        for name, given in by_person.items()
        if given.keys() == rated.keys()
    }
    means = {name: sentence.mean or 0.0 for name, sentence in rated.items()}
    known = bool(by_person) and not unnamed
    return RatedItem(
        item=item,
        means=means,
        n_ratings=sum(sentence.n or 0 for sentence in rated.values()),
        verdict=kind_of_votes(formula, means),
        people=people,
        reason="" if people else NOBODY_BOTH if known else UNKNOWN_PEOPLE,
    )


def rates_of_ratings(run: Run) -> Iterator[PeopleRate]:
    """The rates at which people's ratings agree with the predictions, and the model's rates.

    Args:
        run: of a suite; without people's ratings there are none.

    Returns:
        Three rates for each prediction and for the conjunction of all, of mean ratings, of one
        person and of the model; only one, with a reason, for a prediction that ratings of
        sentences cannot decide.

    Raises:
        FormulaError: a prediction cannot be read.
        InputError: the scale or a rating is invalid, or a rating is off the scale.
    """
    suite = judged_suite(run)
    if not is_rated_by_people(suite):
        return
    trees = parse_predictions(suite)
    whole = functools.reduce(functools.partial(Junction, "&"), trees)
    for question, formula in zip(questions(run), (*trees, whole), strict=False):
        like = PeopleRate(
            suite=suite.name, question=question, who=MEANS, of_people=True, given="rating", n=0
        )
        reason = undecidable(formula, whole_sentence=len(suite.region_names) == 1)
        items = [] if reason else rated_items(suite, formula)
        if items:
            yield from _rates(run, suite, items, like)
        elif reason:
            yield replace(like, reason=reason)


def _rates(
    run: Run, suite: Suite, items: Sequence[RatedItem], like: PeopleRate
) -> Iterator[PeopleRate]:
    passes = passing(run)
    clusters = suite.clusters() if suite.cluster else None
    known = {one.item: one.verdict for one in items if one.verdict != "unscored"}
    made = sum(one.n_ratings for one in items)
    means = rate_of_verdicts(known, passes, clusters, replace(like, answers=made))
    yield replace(means, others=Interval(None, None, None, VERDICTS_OF_THESE))
    yield _one_person(items, passes, suite.clusters(), replace(like, who=ONE_PERSON))
    shares = {one.item: share for one in items if (share := one.share(passes)) is not None}
    yield rate_of_model(run, like, known, shares, passes, clusters)


def _one_person(
    items: Sequence[RatedItem],
    passes: Collection[VerdictName],
    clusters: Mapping[str, Hashable],
    like: PeopleRate,
) -> PeopleRate:
    """The proportion of comparisons of single people by which the prediction holds.

    Its interval is that of `share_interval`: for these people with the comparisons of an item, or
    of its clusters, together; for others that of `for_others`.
    """
    rows = [(one.item, who, verdict) for one in items for who, verdict in one.people.items()]
    if not rows:
        return replace(like, reason=items[0].reason)
    held = [verdict in passes for *_, verdict in rows]
    design = Design(tuple(range(len(rows))), tuple(clusters[item] for item, *_ in rows))
    these = share_interval(held, design)
    people = [who for _, who, _ in rows]
    return replace(
        like,
        n=len({item for item, *_ in rows}),
        tied=sum(verdict == "tie" for *_, verdict in rows),
        answers=len(rows),
        rate=math.fsum(held) / len(held),
        low=these.low,
        high=these.high,
        reason=these.reason,
        others=for_others(functools.partial(share_interval, held), design, people),
    )

"""Judgments in a few numbers: means and agreement by question, attention by participant."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from cimento.errors import counted
from cimento.io.clusters import Crossing
from cimento.judgments import ACCEPTABILITY, BETTER, TIMED, Judgment, finite
from cimento.judgments.chosen import UNKNOWN_SIDES, preferred
from cimento.statistics.agreement import (
    Agreement,
    alpha_for_others,
    cohen_kappa,
    krippendorff_alpha,
)
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval

QuestionKey: TypeAlias = tuple[str, str, str, str]

ItemClusters: TypeAlias = Mapping[tuple[str, str], Hashable]
"""What items belong to, by suite and id; an item that is not there stands alone."""

EACH_ALONE: ItemClusters = MappingProxyType({})

_FEWEST_RATINGS = 2
"""Ratings that a standard deviation needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSummary:
    """The answers to one question, described.

    Attributes:
        question: which.
        people: who answered it.
        places: sentences, pairs or blanks that it was asked about.
        judgments: answers; ratings are those that are numbers.
        fewest: answers to the place that has the fewest.
        most: answers to the place that has the most.
        mean: of the means of all places; None where answers are not numbers.
        sd: mean of the standard deviations (n - 1) of the answers to one place.
        by_condition: condition to the mean of its places' means; empty where answers are not
            numbers.
        alpha: Krippendorff's; for numbers with interval differences, else nominal; its interval
            is for other items and these people.
        alpha_others: the interval of alpha for other items and other people like these.
    """

    question: str
    people: int
    places: int
    judgments: int
    fewest: int
    most: int
    mean: float | None
    sd: float | None
    by_condition: Mapping[str, float]
    alpha: Agreement
    alpha_others: Interval


def once(judgments: Iterable[Judgment]) -> list[Judgment]:
    """Some judgments with the first answer of each person to each question.

    Coefficients of agreement and means over people take answers of one place as those of different
    people: who answers again is one of them still (Krippendorff 2019, Content Analysis, 4th ed.,
    chapter 12, where reliability data have one value of each observer and unit). The first answer
    is the one that no other answer to the same question came before. Answers of nobody in
    particular all stay, and so do checks of attention.
    """
    answered: set[tuple[str, str, str, str, str]] = set()
    kept = []
    for judgment in judgments:
        if judgment.annotator is not None and judgment.counts:
            key = (judgment.annotator, *judgment.key)
            if key in answered:
                continue
            answered.add(key)
        kept.append(judgment)
    return kept


def summarize(
    judgments: Sequence[Judgment], *, clusters: ItemClusters = EACH_ALONE
) -> tuple[QuestionSummary, ...]:
    """Every question of some judgments, described; checks of attention and times are left out.

    Of repeated answers of one person the first counts (`once`).

    Args:
        judgments: of any questions.
        clusters: what their items belong to.
    """
    by_question: dict[str, list[Judgment]] = {}
    for judgment in once(judgment for judgment in judgments if judgment.counts):
        if judgment.question not in TIMED:
            by_question.setdefault(judgment.question, []).append(judgment)
    return tuple(
        _described(question, answers, clusters) for question, answers in by_question.items()
    )


def mean_ratings(judgments: Sequence[Judgment]) -> dict[QuestionKey, float]:
    """The mean rating of each rated place; of repeated answers of one person the first counts."""
    return {
        place: math.fsum(ratings) / len(ratings)
        for place, ratings in _ratings(once(judgments)).items()
    }


def is_rated(question: str) -> bool:
    """Whether answers to a question are numbers on a scale."""
    return question == ACCEPTABILITY


def rating_of(judgment: Judgment) -> float | None:
    """The answer as a number, with a decimal point or comma; None if it is not one."""
    return finite((judgment.value or "").replace(",", "."))


def comparable_answer(judgment: Judgment) -> Hashable | None:
    """A rating as a number; of a choice the condition, None where it is unknown; else the answer.

    Sentences differ from item to item, so that as labels no two people would agree by chance.
    """
    if is_rated(judgment.question):
        return rating_of(judgment)
    if judgment.question == BETTER:
        return preferred(judgment)
    return judgment.value


def main_question(judgments: Sequence[Judgment]) -> str:
    """The question with the most answers; the first of several."""
    counts = Counter(judgment.question for judgment in judgments if not judgment.is_check)
    return max(counts, key=lambda name: counts[name]) if counts else ""


def _described(
    question: str, judgments: Sequence[Judgment], clusters: ItemClusters
) -> QuestionSummary:
    rated = is_rated(question)
    answers: dict[QuestionKey, list[Hashable]] = {}
    people: dict[QuestionKey, list[str | None]] = {}
    of_unknown = Counter[QuestionKey]()
    for judgment in judgments:
        value = comparable_answer(judgment)
        if value is None and not rated:
            of_unknown[judgment.key] += 1
        elif value is not None:
            answers.setdefault(judgment.key, []).append(value)
            people.setdefault(judgment.key, []).append(judgment.annotator)
    means = mean_ratings(judgments) if rated else {}
    n_answers = of_unknown + Counter({place: len(got) for place, got in answers.items()})
    if of_unknown:  # sentences as labels would agree beyond chance wherever anybody agrees
        answers, people = {}, {}
    deviations = [
        statistics.stdev(got) for got in _ratings(judgments).values() if len(got) >= _FEWEST_RATINGS
    ]
    level, design = "interval" if rated else "nominal", place_design(list(answers), clusters)
    alpha = krippendorff_alpha(list(answers.values()), scale=level, design=design)
    others = alpha_for_others(
        list(answers.values()), list(people.values()), scale=level, design=design
    )
    conditions: dict[str, list[float]] = {}
    for (_, _, condition, _), mean in means.items():
        conditions.setdefault(condition, []).append(mean)
    return QuestionSummary(
        question=question,
        people=len({judgment.annotator for judgment in judgments}),
        places=len(n_answers),
        judgments=n_answers.total(),
        fewest=min(n_answers.values(), default=0),
        most=max(n_answers.values(), default=0),
        mean=_mean(list(means.values())),
        sd=_mean(deviations) if rated else None,
        by_condition={name: math.fsum(got) / len(got) for name, got in conditions.items()},
        alpha=replace(alpha, reason=UNKNOWN_SIDES) if of_unknown else alpha,
        alpha_others=replace(others, reason=UNKNOWN_SIDES) if of_unknown else others,
    )


def place_design(places: Sequence[QuestionKey], clusters: ItemClusters = EACH_ALONE) -> Design:
    """The design of some places: those of one item, or of its clusters, belong together."""
    items = [(suite, item) for suite, item, *_ in places]
    return Design(tuple(places), labels_of(items, clusters))


def labels_of(items: Iterable[tuple[str, str]], clusters: ItemClusters) -> tuple[Hashable, ...]:
    """What some items belong to; one of another suite stands alone, in each factor if crossed."""
    known = next(iter(clusters.values()), None)
    factors = len(known.labels) if isinstance(known, Crossing) else 0
    return tuple(
        clusters.get(item, Crossing((item,) * factors) if factors else item) for item in items
    )


def _ratings(judgments: Sequence[Judgment]) -> dict[QuestionKey, list[float]]:
    ratings: dict[QuestionKey, list[float]] = {}
    for judgment in judgments:
        if is_rated(judgment.question) and not judgment.is_check:
            value = rating_of(judgment)
            if value is not None:
                ratings.setdefault(judgment.key, []).append(value)
    return ratings


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """The agreement of two columns of answers to one question.

    Attributes:
        question: which.
        first: whose the one column is.
        second: whose the other.
        n: places that are in both.
        equal: that have the same answer.
        kappa: Cohen's; of ratings with quadratic weights.
        alpha: Krippendorff's; of ratings with interval differences.
    """

    question: str
    first: str
    second: str
    n: int
    equal: int
    kappa: Agreement
    alpha: Agreement


def pair_agreement(
    answers: Sequence[tuple[Hashable, Hashable]],
    design: Design,
    *,
    question: str,
    first: str,
    second: str,
) -> PairAgreement:
    """The agreement of two people.

    Args:
        answers: of both, place by place.
        design: of the places.
        question: which was answered.
        first: name of the one.
        second: name of the other.
    """
    rated = is_rated(question)
    return PairAgreement(
        question=question,
        first=first,
        second=second,
        n=len(answers),
        equal=sum(one == other for one, other in answers),
        kappa=cohen_kappa(
            [one for one, _ in answers],
            [other for _, other in answers],
            weights="quadratic" if rated else "none",
            design=design,
        ),
        alpha=krippendorff_alpha(answers, scale="interval" if rated else "nominal", design=design),
    )


LEAST_SHARED = 3
"""Places that somebody must share with others to be compared with them."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number about a participant.

    Attributes:
        value: None where there is none.
        basis: how it was measured, or why not.
    """

    value: float | None
    basis: str


def judgments_by_person(judgments: Sequence[Judgment]) -> dict[str, list[Judgment]]:
    """The judgments of each named participant, in the order in which they were given."""
    people: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        if judgment.annotator is not None:
            people.setdefault(judgment.annotator, []).append(judgment)
    return {
        name: sorted(answers, key=lambda j: (j.survey or "", j.position or 0))
        for name, answers in people.items()
    }


def of_each(
    measure: Callable[[Sequence[Judgment]], Measurement],
) -> Callable[[Sequence[Judgment]], dict[str, Measurement]]:
    """A measure of one participant's answers as one of all participants."""

    def measured(judgments: Sequence[Judgment]) -> dict[str, Measurement]:
        people = judgments_by_person(judgments)
        return {name: measure(answers) for name, answers in people.items()}

    return measured


def sitting_seconds(answers: Sequence[Judgment]) -> Measurement:
    """The duration of a sitting: recorded, else the sum of answers, else first to last."""
    recorded = {
        judgment.session_seconds for judgment in answers if judgment.session_seconds is not None
    }
    if recorded:
        return _time(math.fsum(recorded), "as recorded for the whole sitting")
    taken = [judgment.seconds for judgment in answers if judgment.seconds is not None]
    if len(taken) == len(answers):
        return _time(math.fsum(taken), "for all answers together")
    moments = [moment for judgment in answers if (moment := _moment(judgment.at)) is not None]
    # Forms have the time of a submission alone, which all of its answers share.
    n_times = len(set(moments))
    if len(moments) == len(answers) < 2 * n_times and n_times > 1:
        return _time(max(moments) - min(moments), "from the first answer to the last")
    return Measurement(None, "no time is known")


def questions_given(answers: Sequence[Judgment]) -> tuple[str, int]:
    """The survey of somebody, empty if not known, and how many of its questions they answered."""
    survey = next((judgment.survey for judgment in answers if judgment.survey), "")
    return survey, len({judgment.key[:3] for judgment in answers if judgment.counts})


def answered_shares(judgments: Sequence[Judgment]) -> dict[str, Measurement]:
    """The proportion of their survey's questions that each participant answered.

    A survey has as many questions as the participant who answered most of them; answers without a
    survey are those of one.
    """
    given = {
        name: questions_given(answers) for name, answers in judgments_by_person(judgments).items()
    }
    sizes: dict[str, int] = {}
    for survey, count in given.values():
        sizes[survey] = max(sizes.get(survey, 0), count)
    return {
        name: Measurement(count / sizes[survey], f"{count} of {sizes[survey]} questions")
        if sizes[survey]
        else Measurement(None, "nobody answered this survey")
        for name, (survey, count) in given.items()
    }


def attention(judgments: Sequence[Judgment]) -> Measurement:
    """The proportion of attention checks answered correctly."""
    checks = [judgment for judgment in judgments if judgment.expected is not None]
    if not checks:
        return Measurement(None, "there were no checks of attention")
    right = sum(_same(check.value) == _same(check.expected) for check in checks)
    return Measurement(right / len(checks), f"{right} of {len(checks)} right")


_OWN_OPTIONS = "each question has answers of its own, and their places are not known"


def same_share(judgments: Sequence[Judgment]) -> Measurement:
    """The proportion of the most frequent answer, or place of choices, to the main question."""
    answers = _repeatable(judgments)
    if answers is None:
        return Measurement(None, _OWN_OPTIONS)
    if not answers:
        return Measurement(None, "there is no answer")
    value, count = Counter(map(_same, answers)).most_common(1)[0]
    shown = next(answer for answer in answers if _same(answer) == value)
    return Measurement(count / len(answers), f"{count} of {len(answers)} are {shown!r}")


def same_run(judgments: Sequence[Judgment]) -> Measurement:
    """The longest run of equal answers, or places of choices, in the order they were given in."""
    answers = _repeatable(judgments)
    if answers is None:
        return Measurement(None, _OWN_OPTIONS)
    runs = [list(run) for _, run in itertools.groupby(answers, key=_same)]
    if not runs:
        return Measurement(None, "there is no answer")
    longest = max(runs, key=len)
    return Measurement(float(len(longest)), f"{len(longest)} times {longest[0]!r} in a row")


def _same(answer: str | None) -> Hashable:
    """An answer as one value, however it is written: 3, 3.0 and 3,0 are one."""
    number = finite((answer or "").replace(",", "."))
    return answer if number is None else number


def median_seconds(judgments: Sequence[Judgment]) -> Measurement:
    """The median time of somebody's answers, which breaks between them do not lengthen."""
    asked = [judgment for judgment in judgments if judgment.counts]
    taken = [judgment.seconds for judgment in asked if judgment.seconds is not None]
    if not taken or 2 * len(taken) < len(asked):
        return Measurement(None, "the time of most answers is not known")
    median = statistics.median(taken)
    return Measurement(median, f"median {median:.2f} seconds an answer, of {len(taken)}")


def with_rest(judgments: Sequence[Judgment]) -> dict[str, Measurement]:
    """The agreement of each participant with all others, on the most frequent question.

    Ratings: Pearson's correlation with the mean of the others. Other answers: the share that is
    also the others' most frequent one; where several are, each of them.
    """
    question = main_question(judgments)
    people = {
        name: {
            judgment.key: judgment
            for judgment in once(answers)
            if judgment.question == question and judgment.counts
        }
        for name, answers in judgments_by_person(judgments).items()
    }
    return _correlations(people) if is_rated(question) else _shares(people)


_CONSTANT = {
    "all values of x are equal": "all ratings of the person are equal",
    "all values of y are equal": "all mean ratings of the others are equal",
}
"""Why a correlation with the others is undefined, said of people."""


def _correlations(people: Mapping[str, Mapping[QuestionKey, Judgment]]) -> dict[str, Measurement]:
    from cimento.statistics.agreement import correlation_with_rest

    places = list(dict.fromkeys(place for answers in people.values() for place in answers))
    table = [
        [rating_of(answers[place]) if place in answers else None for answers in people.values()]
        for place in places
    ]
    correlations = correlation_with_rest(table) if table else ()
    return {
        name: Measurement(
            rest.r,
            _CONSTANT.get(rest.reason or "", rest.reason)
            or f"correlation {rest.r or 0.0:.3f} over {rest.n} places",
        )
        for name, rest in zip(people, correlations, strict=False)
    }


def _shares(people: Mapping[str, Mapping[QuestionKey, Judgment]]) -> dict[str, Measurement]:
    measured = {}
    for name, answers in people.items():
        equal = []
        for place, judgment in answers.items():
            others = Counter(
                theirs[place].value
                for other, theirs in people.items()
                if other != name and place in theirs
            )
            if others:
                equal.append(others[judgment.value] == max(others.values()))
        if len(equal) < LEAST_SHARED:
            measured[name] = Measurement(
                None, f"only {counted(len(equal), 'place is', 'places are')} shared with others"
            )
        else:
            share = sum(equal) / len(equal)
            measured[name] = Measurement(share, f"{sum(equal)} of {len(equal)} as most others")
    return measured


def _time(seconds: float, measured: str) -> Measurement:
    return Measurement(seconds, f"{seconds:.0f} seconds {measured}")


def _repeatable(judgments: Sequence[Judgment]) -> list[str] | None:
    """The answers to the main question, or the places of its choices; None if one is not known."""
    question = main_question(judgments)
    given = [one for one in judgments if one.question == question and one.counts]
    if question != BETTER:
        return [one.value for one in given if one.value is not None]
    places = [one.answer_place for one in given]
    return None if None in places else [f"place {place}" for place in places]


def _moment(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None

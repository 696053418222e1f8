"""What a table of judgments says in a few numbers: how many, their means, how far people agree."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.judgments.records import ACCEPTABILITY, Judgment, finite
from cimento.statistics.agreement import Agreement, krippendorff_alpha
from cimento.statistics.design import Design

Place: TypeAlias = tuple[str, str, str, str]

TWO = 2
"""Answers that a standard deviation, or an agreement, needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFigures:
    """The answers to one question, described.

    Attributes:
        question: which.
        people: who answered it.
        places: sentences, pairs or blanks that it was asked about.
        judgments: answers.
        mean: of the means of all places; None where answers are no numbers.
        sd: mean of the standard deviations (n - 1) of the answers to one place.
        by_condition: condition to the mean of its places' means; empty where answers are no
            numbers.
        alpha: Krippendorff's; for numbers with interval differences, else nominal; its interval
            over items.
    """

    question: str
    people: int
    places: int
    judgments: int
    mean: float | None
    sd: float | None
    by_condition: Mapping[str, float]
    alpha: Agreement


def figures(judgments: Sequence[Judgment]) -> tuple[QuestionFigures, ...]:
    """Every question of some judgments, described; checks of attention are left out."""
    by_question: dict[str, list[Judgment]] = {}
    for each in judgments:
        if not each.is_check and each.value is not None:
            by_question.setdefault(each.question, []).append(each)
    return tuple(_described(question, own) for question, own in by_question.items())


def place_means(judgments: Sequence[Judgment]) -> dict[Place, float]:
    """The mean rating of each place that was rated."""
    return {place: math.fsum(own) / len(own) for place, own in _ratings(judgments).items()}


def is_rated(question: str) -> bool:
    """Whether answers to a question are numbers on a scale."""
    return question == ACCEPTABILITY


def number(judgment: Judgment) -> float | None:
    """The answer as a number; None where it is none."""
    return finite(judgment.value or "")


def main_question(judgments: Sequence[Judgment]) -> str:
    """The question with the most answers; of several, the first."""
    counts = Counter(each.question for each in judgments if not each.is_check)
    return max(counts, key=lambda name: counts[name]) if counts else ""


def _described(question: str, own: Sequence[Judgment]) -> QuestionFigures:
    rated = is_rated(question)
    answers: dict[Place, list[Hashable]] = {}
    for each in own:
        value = number(each) if rated else each.value
        if value is not None:
            answers.setdefault(each.place, []).append(value)
    means = place_means(own) if rated else {}
    deviations = [statistics.stdev(got) for got in _ratings(own).values() if len(got) >= TWO]
    conditions: dict[str, list[float]] = {}
    for (_, _, condition, _), mean in means.items():
        conditions.setdefault(condition, []).append(mean)
    return QuestionFigures(
        question=question,
        people=len({each.annotator for each in own}),
        places=len(answers),
        judgments=len(own),
        mean=_mean(list(means.values())),
        sd=_mean(deviations) if rated else None,
        by_condition={name: math.fsum(got) / len(got) for name, got in conditions.items()},
        alpha=krippendorff_alpha(
            list(answers.values()),
            level="interval" if rated else "nominal",
            design=Design(tuple(answers), tuple((suite, item) for suite, item, *_ in answers)),
        ),
    )


def _ratings(judgments: Sequence[Judgment]) -> dict[Place, list[float]]:
    found: dict[Place, list[float]] = {}
    for each in judgments:
        value = number(each) if is_rated(each.question) and not each.is_check else None
        if value is not None:
            found.setdefault(each.place, []).append(value)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None

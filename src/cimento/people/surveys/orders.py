"""The order of one participant's questions, and of the answers in choices, drawn by chance."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from cimento.io.values import grouped
from cimento.judgments import FILLER, PRACTICE
from cimento.people.surveys import SurveyQuestion

Turned = TypeVar("Turned")

_DRAWS = 20
"""Orders that are drawn at most, to find one in which all neighbors are apart."""


def order_questions(
    questions: Sequence[SurveyQuestion], chance: random.Random
) -> tuple[SurveyQuestion, ...]:
    """The questions of one participant in an order drawn by chance.

    Practice comes first, as it stands. Of the rest no two neighbors are of one group (such as a
    phenomenon), where that is possible, and as few as can be found are of one condition; of two
    conditions two in a row are allowed, since strict turns would give away what comes next.
    Attention checks are at equal distances, never first.

    Args:
        questions: of one survey.
        chance: what the order is drawn with.
    """
    practice = [question for question in questions if question.kind == PRACTICE]
    checks = [question for question in questions if question.expected]
    rest = [
        question for question in questions if question.kind != PRACTICE and not question.expected
    ]
    best, fewest = list(rest), len(rest) + 1
    for _ in range(_DRAWS):
        chance.shuffle(rest)
        # A filler is a group of its own: as one group, half of fillers would be every second page.
        groups = [question.id if question.kind == FILLER else question.group for question in rest]
        conditions = [question.condition for question in rest]
        places = spread(groups, conditions)
        repeats = _repeats([conditions[place] for place in places], allowed_run(conditions))
        if repeats < fewest:
            best, fewest = [rest[place] for place in places], repeats
        if not fewest:
            break
    chance.shuffle(checks)
    return (*practice, *_with_checks(best, checks))


def draw_turns(questions: Sequence[SurveyQuestion], chance: random.Random) -> dict[str, int]:
    """By how many places the answers of each choice are turned for one participant.

    Of the test's questions, each condition comes first equally often, to within one, so that
    somebody who always chooses the same place prefers none. The expected answers of attention
    checks are at different places, from one that is drawn.

    Args:
        questions: of the participant, all with answers of their own.
        chance: what the turns are drawn with.

    Returns:
        The number of places by the question's id; the answer that was there comes first.
    """
    turns = {}
    for question, drawn in _drawn_places(questions, chance):
        values = [choice.value for choice in question.choices]
        if question.expected:
            turns[question.id] = (values.index(question.expected) - drawn) % len(values)
        else:
            in_order = sorted(question.choices, key=lambda choice: choice.condition)
            turns[question.id] = values.index(in_order[drawn % len(values)].value)
    return turns


def _drawn_places(
    questions: Sequence[SurveyQuestion], chance: random.Random
) -> Iterator[tuple[SurveyQuestion, int]]:
    """A number for each question; in each kind, they go through all places in turn."""
    for members in grouped((one.kind or bool(one.expected), one) for one in questions).values():
        chance.shuffle(members)
        first = chance.randrange(max(len(one.choices) for one in members))
        yield from ((question, first + number) for number, question in enumerate(members))


def turned(choices: Sequence[Turned], turn: int) -> tuple[Turned, ...]:
    """Answers, turned by a number of places."""
    return (*choices[turn:], *choices[:turn])


def spread(groups: Sequence[str], conditions: Sequence[str] = ()) -> list[int]:
    """The order of things in which no two neighbors share a group, where possible.

    Of those that may come next, the earliest that makes no run of its condition longer than
    allowed is taken, but a group that makes up half of what is left comes before all others.

    Args:
        groups: of each thing, in an order that was drawn by chance.
        conditions: of each thing; empty texts may follow each other, and so may all without any.

    Returns:
        The numbers of the things, from 0.
    """
    waiting = list(range(len(groups)))
    left, open_conditions = Counter(groups), Counter(conditions)
    most_run = allowed_run(conditions)
    order: list[int] = []
    while waiting:
        last = groups[order[-1]] if order else None
        most, count = left.most_common(1)[0]
        if 2 * count > len(waiting) and (not order or most != last):
            candidates = [number for number in waiting if groups[number] == most]
        else:
            candidates = [number for number in waiting if groups[number] != last] or waiting
        chosen = candidates[0]
        if conditions:
            run = [conditions[number] for number in order[-most_run:]]
            common = max(open_conditions, key=open_conditions.__getitem__)
            # One that makes up half of what is left has to begin before it is too late.
            urgent = 2 * open_conditions[common] > len(waiting)
            closed = run[0] if len(run) == most_run and len({*run}) == 1 else ""
            chosen = min(
                candidates,
                key=lambda number: _delay(conditions[number], closed, common, urgent=urgent),
            )
            open_conditions[conditions[chosen]] -= 1
        waiting.remove(chosen)
        left[groups[chosen]] -= 1
        order.append(chosen)
    return order


def _delay(condition: str, closed: str, common: str, *, urgent: bool) -> tuple[bool, bool]:
    """Whether others should come first: their run is over, or another condition is pressing."""
    return bool(condition) and condition == closed, urgent and condition != common


def allowed_run(conditions: Sequence[str]) -> int:
    """The number of neighbors that may be of one condition: one, or two where there are two."""
    return 1 if len({*conditions} - {""}) > 2 else 2  # noqa: PLR2004  # two conditions


def _repeats(conditions: Sequence[str], most_run: int) -> int:
    """The number of places at which a run of one condition is longer than allowed."""
    return sum(
        max(0, len(list(members)) - most_run)
        for condition, members in itertools.groupby(conditions)
        if condition
    )


def _with_checks(
    order: Sequence[SurveyQuestion], checks: Sequence[SurveyQuestion]
) -> list[SurveyQuestion]:
    """The checks at equal distances; never first."""
    mixed = list(order)
    for number, check in enumerate(checks, start=1):
        mixed.insert(max(1, number * len(order) // (len(checks) + 1)) + number - 1, check)
    return mixed

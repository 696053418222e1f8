"""What is measured of a participant: time, attention, sameness of answers, others' opinion."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cimento.judgments.figures import Place, is_rated, main_question, number
from cimento.judgments.records import Judgment

LEAST_SHARED = 3
"""Places that somebody must share with others to be compared with them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number about a participant.

    Attributes:
        value: None where there is none.
        how: how it was measured, or why not.
    """

    value: float | None
    how: str


def by_person(judgments: Sequence[Judgment]) -> dict[str, list[Judgment]]:
    """The judgments of each named participant, in the order in which they were given."""
    found: dict[str, list[Judgment]] = {}
    for each in judgments:
        if each.annotator is not None:
            found.setdefault(each.annotator, []).append(each)
    return {
        name: sorted(own, key=lambda j: (j.survey or "", j.position or 0))
        for name, own in found.items()
    }


def sitting_seconds(own: Sequence[Judgment]) -> Measured:
    """How long somebody took: as the platform says, else all answers, else first to last."""
    said = {each.session_seconds for each in own if each.session_seconds is not None}
    if said:
        return _time(math.fsum(said), "as recorded for the whole sitting")
    taken = [each.seconds for each in own if each.seconds is not None]
    if len(taken) == len(own):
        return _time(math.fsum(taken), "for all answers together")
    moments = [moment for each in own if (moment := _moment(each.at)) is not None]
    if len(moments) == len(own) and len(set(moments)) > 1:
        return _time(max(moments) - min(moments), "from the first answer to the last")
    return Measured(None, "no time is known")


def attention(own: Sequence[Judgment]) -> Measured:
    """The share of checks of attention that were answered right."""
    checks = [each for each in own if each.expected is not None]
    if not checks:
        return Measured(None, "there were no checks of attention")
    right = sum(each.value == each.expected for each in checks)
    return Measured(right / len(checks), f"{right} of {len(checks)} right")


def same_share(own: Sequence[Judgment]) -> Measured:
    """The share of somebody's most frequent answer to the question that they answered most."""
    answers = _answers(own)
    if not answers:
        return Measured(None, "there is no answer")
    value, count = Counter(answers).most_common(1)[0]
    return Measured(count / len(answers), f"{count} of {len(answers)} are {value!r}")


def same_run(own: Sequence[Judgment]) -> Measured:
    """The longest run of equal answers, in the order in which they were given."""
    runs = [(len(list(group)), value) for value, group in itertools.groupby(_answers(own))]
    if not runs:
        return Measured(None, "there is no answer")
    length, value = max(runs, key=lambda each: each[0])
    return Measured(float(length), f"{length} times {value!r} in a row")


def with_rest(judgments: Sequence[Judgment]) -> dict[str, Measured]:
    """How far each participant agrees with all others, on the question that was asked most.

    Ratings: Pearson's correlation with the mean of the others. Other answers: the share that is
    also the others' most frequent one; where several are, each of them.
    """
    question = main_question(judgments)
    people = {
        name: {
            each.place: each
            for each in own
            if each.question == question and not each.is_check and each.value is not None
        }
        for name, own in by_person(judgments).items()
    }
    return _correlations(people) if is_rated(question) else _shares(people)


def _correlations(people: Mapping[str, Mapping[Place, Judgment]]) -> dict[str, Measured]:
    from cimento.statistics.agreement import correlation_with_rest

    places = list(dict.fromkeys(place for own in people.values() for place in own))
    table = [
        [number(own[place]) if place in own else None for own in people.values()]
        for place in places
    ]
    found = correlation_with_rest(table) if table else ()
    return {
        name: Measured(
            each.r, each.reason or f"correlation {each.r or 0.0:.3f} over {each.n} places"
        )
        for name, each in zip(people, found, strict=False)
    }


def _shares(people: Mapping[str, Mapping[Place, Judgment]]) -> dict[str, Measured]:
    found = {}
    for name, own in people.items():
        equal = []
        for place, each in own.items():
            others = Counter(
                theirs[place].value
                for other, theirs in people.items()
                if other != name and place in theirs
            )
            if others:
                equal.append(others[each.value] == max(others.values()))
        if len(equal) < LEAST_SHARED:
            found[name] = Measured(None, f"only {len(equal)} places are shared with others")
        else:
            share = sum(equal) / len(equal)
            found[name] = Measured(share, f"{sum(equal)} of {len(equal)} as most others")
    return found


def _time(seconds: float, how: str) -> Measured:
    return Measured(seconds, f"{seconds:.0f} seconds {how}")


def _answers(own: Sequence[Judgment]) -> list[str]:
    question = main_question(own)
    return [
        each.value
        for each in own
        if each.question == question and not each.is_check and each.value is not None
    ]


def _moment(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None

"""A model as one more annotator: its answers by prompt beside those of people.

Whether a model can stand in for a person is a question about agreement: does alpha fall when its
column is added, and does it agree with each person as people agree among themselves?
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import UsageError
from cimento.paradigms.prompted.judging import judgments_of
from cimento.people.judgments.records import BETTER, Judgment
from cimento.people.judgments.summaries import (
    QuestionKey,
    is_rated,
    pair_agreement,
    rating_of,
)
from cimento.runs.run import open_run
from cimento.statistics.agreement import Agreement, krippendorff_alpha
from cimento.statistics.design import Design

_SCALE = re.compile(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePair:
    """The agreement of a model with one person.

    Attributes:
        person: name of the person.
        n: places that both answered.
        alpha: Krippendorff's; of ratings with interval differences.
        equal: places with the same answer; None for ratings, where the model's is a mean.
        kappa: Cohen's; None for ratings, likewise.
    """

    person: str
    n: int
    alpha: Agreement
    equal: int | None
    kappa: Agreement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """One question, answered by people and by a model.

    Attributes:
        question: which.
        model: label of the model.
        people: people who answered it.
        places: sentences or pairs that the model and at least one person answered.
        without: Krippendorff's alpha of the people, over these places.
        with_judge: alpha of the people and the model, over the same places.
        pairs: the model with each named person, over the places that both answered.
        converted: the scale of the people to which the model's ratings were brought; empty where
            they were on it already.
    """

    question: str
    model: str
    people: int
    places: int
    without: Agreement
    with_judge: Agreement
    pairs: tuple[JudgePair, ...]
    converted: str = ""


def judge_agreements(people: Sequence[Judgment], folder: Path) -> list[JudgeAgreement]:
    """The agreement of people with the model of a prompted run, for each question of both.

    Args:
        people: judgments of people.
        folder: folder of the run.

    Raises:
        UsageError: the run asked by no prompt, or about nothing that people answered.
        InputError: the run cannot be read.
    """
    run = open_run(folder)
    if run.paradigm.name != "prompted":
        raise UsageError(
            where=f"--judge {folder}",
            seen=f"the run is of the kind {run.paradigm.name!r}, and gives no judgments in words",
            todo="Make a prompted suite of it (cimento suites build prompted), and run that.",
        )
    judge = judgments_of(run)
    asked = {judgment.key for judgment in people if judgment.counts}
    questions = dict.fromkeys(j.question for j in judge if j.key in asked)
    if not questions:
        theirs = ", ".join(sorted({f"{j.question} of {j.suite}" for j in people if j.counts}))
        ours = ", ".join(sorted({f"{j.question} of {j.suite}" for j in judge})) or "nothing"
        raise UsageError(
            where=f"--judge {folder}",
            seen=f"people answered {theirs}, and the model {ours}",
            todo="Run the prompted suite with --set task=all, or give its judgments.",
        )
    return [_agreement(question, people, judge, run.model) for question in questions]


def _agreement(
    question: str, people: Sequence[Judgment], judge: Sequence[Judgment], model: str
) -> JudgeAgreement:
    asked = [j for j in people if j.question == question and j.counts]
    scale = _scale_of(asked)
    model_scale = _scale_of([j for j in judge if j.question == question])
    answers = {
        j.key: _moved(_answer(j), model_scale, scale) for j in judge if j.question == question
    }
    by_place: dict[QuestionKey, list[Hashable]] = {}
    by_person: dict[str, dict[QuestionKey, Hashable]] = {}
    for judgment in asked:
        answer = _answer(judgment)
        if answer is not None and judgment.key in answers:
            by_place.setdefault(judgment.key, []).append(answer)
            if judgment.annotator is not None:
                by_person.setdefault(judgment.annotator, {})[judgment.key] = answer
    places, level = list(by_place), "interval" if is_rated(question) else "nominal"
    without, with_judge = (
        krippendorff_alpha(
            [[*by_place[place], *more(place)] for place in places],
            level=level,
            design=_design(places),
        )
        for more in (lambda _: (), lambda place: (answers[place],))
    )
    return JudgeAgreement(
        question=question,
        model=model,
        people=len(by_person) or max(map(len, by_place.values())),
        places=len(places),
        without=without,
        with_judge=with_judge,
        pairs=tuple(
            _pair(question, name, theirs, answers, model) for name, theirs in by_person.items()
        ),
        converted="" if scale in (None, model_scale) else f"{scale[0]:g} to {scale[1]:g}",
    )


def _pair(
    question: str,
    person: str,
    theirs: Mapping[QuestionKey, Hashable],
    answers: Mapping[QuestionKey, Hashable],
    model: str,
) -> JudgePair:
    pairs = [(answer, answers[place]) for place, answer in theirs.items()]
    design = _design(list(theirs))
    pair = pair_agreement(pairs, design, question=question, first=person, second=model)
    rated = is_rated(question)
    return JudgePair(
        person=person,
        n=pair.n,
        alpha=pair.alpha,
        equal=None if rated else pair.equal,
        kappa=None if rated else pair.kappa,
    )


def _design(places: Sequence[QuestionKey]) -> Design:
    """The places of one item belong together."""
    return Design(tuple(places), tuple((suite, item) for suite, item, *_ in places))


def _answer(judgment: Judgment) -> Hashable | None:
    """A rating as a number; of a choice the condition, where it is known; else the answer."""
    if is_rated(judgment.question):
        return rating_of(judgment)
    if judgment.question == BETTER:
        return judgment.condition or judgment.value
    return judgment.value


def _scale_of(judgments: Sequence[Judgment]) -> tuple[float, float] | None:
    """The ends of the scale of ratings; None where none is recorded.

    Raises:
        UsageError: people rated on several scales.
    """
    scales = {judgment.scale for judgment in judgments if judgment.scale}
    if len(scales) > 1:
        raise UsageError(
            where="judgments, column scale",
            seen=f"the ratings were given on {' and '.join(sorted(map(repr, scales)))}",
            todo="Give the judgments on each scale in a file of its own.",
        )
    ends = _SCALE.fullmatch(scales.pop()) if scales else None
    return None if ends is None else (float(ends[1]), float(ends[2]))


def _moved(
    answer: Hashable | None,
    from_: tuple[float, float] | None,
    to: tuple[float, float] | None,
) -> Hashable | None:
    """A rating on another scale, by its ends."""
    if not isinstance(answer, float) or from_ is None or to is None or from_ == to:
        return answer
    return to[0] + (answer - from_[0]) / (from_[1] - from_[0]) * (to[1] - to[0])

"""What came of the questions beside the tiers, and how often it is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.files import read_bytes, write_text
from cimento.parsing import faults_of
from cimento.statistics.intervals import wilson
from cimento.stories.asking import Record, TierAsk, scores_of
from cimento.stories.options import normalised
from cimento.stories.questions import FIRST, PAIR_TASK, Question
from cimento.stories.settings import StorySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswer:
    """What a model answered to one question.

    Attributes:
        row: of the story.
        task: ``story_pair`` or ``attributes``.
        about: what of the story, see `Question`.
        gold: the right label.
        chosen: the label chosen, the first of tied ones; None where a reply could not be read.
        correct: whether that is right.
        tied: whether options share the highest score.
        logprobs_nats: of the options; None where the model wrote a reply.
        reply: what it wrote.
        reason: why nothing could be read.
    """

    row: int
    task: str
    about: str
    gold: str
    chosen: str | None
    correct: bool
    tied: bool = False
    logprobs_nats: tuple[float, ...] | None = None
    reply: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRate:
    """How often something is right.

    Attributes:
        name: what.
        right: how often.
        n: of how many.
        value: the share; None where nothing was asked.
        wilson95: Wilson's interval.
        chance: the share that is right by drawing lots; None where it differs from case to case.
        reason: why there is no value.
    """

    name: str
    right: int
    n: int
    value: float | None
    wilson95: tuple[float, float] | None
    chance: float | None = None
    reason: str = ""


def question_answers(
    questions: Sequence[Question],
    asks: Sequence[TierAsk],
    records: Sequence[Record],
    settings: StorySettings,
) -> tuple[QuestionAnswer, ...]:
    """The answers to questions, from records in the same order."""
    return tuple(
        _answer(question, ask, record, settings)
        for question, ask, record in zip(questions, asks, records, strict=True)
    )


def question_rates(answers: Sequence[QuestionAnswer]) -> tuple[QuestionRate, ...]:
    """Questions that are right, and stories of which all questions are.

    For pairs also how often the story that stands first is chosen: one half is no preference.
    """
    by_story: dict[int, list[bool]] = {}
    for each in answers:
        by_story.setdefault(each.row, []).append(each.correct)
    pair = any(each.task == PAIR_TASK for each in answers)
    found = [
        _rate("questions", [each.correct for each in answers], chance=0.5 if pair else None),
        _rate(
            "pairs right in both orders" if pair else "stories verified (all questions right)",
            [all(some) for some in by_story.values()],
            chance=0.25 if pair else None,
        ),
    ]
    if pair:
        found.append(_rate("first story chosen", [each.chosen == FIRST for each in answers]))
    return tuple(found)


def write_answers(answers: Sequence[QuestionAnswer], path: Path) -> Path:
    """Write answers, one a line.

    Raises:
        StorageError: the file cannot be written.
    """
    lines = (json.dumps(asdict(each), ensure_ascii=False) + "\n" for each in answers)
    return write_text("".join(lines), path)


def read_answers(path: Path) -> tuple[QuestionAnswer, ...]:
    """Read answers that `write_answers` wrote.

    Raises:
        InputError: the file is another one.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(QuestionAnswer)
    found = []
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        try:
            found.append(adapter.validate_json(line, strict=True))
        except ValidationError as error:
            place, told = faults_of(error)[0]
            raise InputError(
                where=f"{path} line {number} {place}".rstrip(), seen=f"cannot be read ({told})"
            ) from error
    return tuple(found)


def _answer(
    question: Question, ask: TierAsk, record: Record, settings: StorySettings
) -> QuestionAnswer:
    values, tied = None, False
    label = record.get("label")
    chosen = None if label is None else str(label)
    if settings.answer == "loglik":
        values = normalised(scores_of(record), settings.norm, words=ask.words)
        best = max(values)
        chosen, tied = ask.labels[values.index(best)], values.count(best) > 1
    reply = record.get("reply")
    return QuestionAnswer(
        row=question.story.row,
        task=question.task,
        about=question.about,
        gold=question.gold,
        chosen=chosen,
        correct=chosen == question.gold,
        tied=tied,
        logprobs_nats=values,
        reply=None if reply is None else str(reply),
        reason=str(record.get("reason") or ""),
    )


def _rate(name: str, right: Sequence[bool], *, chance: float | None = None) -> QuestionRate:
    n = len(right)
    if not n:
        return QuestionRate(
            name=name, right=0, n=0, value=None, wilson95=None, reason="nothing was asked"
        )
    value = sum(right) / n
    return QuestionRate(
        name=name, right=sum(right), n=n, value=value, wilson95=wilson(value, n), chance=chance
    )

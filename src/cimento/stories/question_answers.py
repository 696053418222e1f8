"""What came of the questions beside the tiers, and how often it is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.files import read_bytes, write_text
from cimento.parsing import faults_of
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.stories.asking import Record, TierAsk, scores_of
from cimento.stories.options import normalised
from cimento.stories.questions import FIRST, PAIR_TASK, Question
from cimento.stories.records import Story, TripleKey
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
        interval: of the share, 95 %, the questions on one triple together; None without a value.
        chance: the share that is right by drawing lots; None where it differs from case to case.
        reason: why there is no value.
    """

    name: str
    right: int
    n: int
    value: float | None
    interval: Interval | None = None
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


def question_rates(
    answers: Sequence[QuestionAnswer], stories: Sequence[Story]
) -> tuple[QuestionRate, ...]:
    """Questions that are right, and stories of which all questions are.

    For pairs also how often the story that stands first is chosen: one half is no preference.

    Args:
        answers: to all questions.
        stories: that they are about.
    """
    by_story: dict[int, list[bool]] = {}
    for each in answers:
        by_story.setdefault(each.row, []).append(each.correct)
    rows = [each.row for each in answers]
    pair = any(each.task == PAIR_TASK for each in answers)
    triples = {story.row: story.story_id for story in stories}

    def rate(
        name: str, right: Sequence[bool], about: Sequence[int], chance: float | None = None
    ) -> QuestionRate:
        return _rate(name, right, [triples[row] for row in about], chance=chance)

    found = [
        rate("questions", [each.correct for each in answers], rows, 0.5 if pair else None),
        rate(
            "pairs right in both orders" if pair else "stories verified (all questions right)",
            [all(some) for some in by_story.values()],
            list(by_story),
            0.25 if pair else None,
        ),
    ]
    if pair:
        first = [each.chosen == FIRST for each in answers]
        found.append(rate("first story chosen", first, rows))
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


def _rate(
    name: str, right: Sequence[bool], triples: Sequence[TripleKey], *, chance: float | None
) -> QuestionRate:
    n = len(right)
    if not n:
        return QuestionRate(name=name, right=0, n=0, value=None, reason="nothing was asked")
    return QuestionRate(
        name=name,
        right=sum(right),
        n=n,
        value=sum(right) / n,
        interval=share_interval(right, Design(tuple(range(n)), tuple(triples))),
        chance=chance,
    )

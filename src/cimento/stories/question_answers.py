"""What came of the questions beside the tiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import UsageError
from cimento.runs.outcomes import VerdictName
from cimento.stories.answers import Options, Raw, read_reply
from cimento.stories.options import normalised
from cimento.stories.outcomes import TIED
from cimento.stories.questions import Question
from cimento.stories.settings import StoryOptions


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """What a model answered to one question.

    Attributes:
        question: that was asked.
        chosen: the label chosen; None where a reply could not be read, or options are tied.
        values: what options are compared by, in nats; None where the model wrote a reply.
        tied: whether options share the highest value.
        reply: what the model wrote.
        reason: why there is no label.
    """

    question: Question
    chosen: str | None
    values: tuple[float, ...] | None = None
    tied: bool = False
    reply: str | None = None
    reason: str = ""

    @property
    def verdict(self) -> VerdictName:
        """``pass``, ``fail`` or ``tie``; a reply that cannot be read is wrong."""
        if self.tied:
            return "tie"
        return "pass" if self.chosen == self.question.gold else "fail"

    @property
    def margin_bits(self) -> float | None:
        """By how much the right option is ahead of the best other one; None for replies."""
        if self.values is None:
            return None
        right = self.question.labels.index(self.question.gold)
        others = [value for place, value in enumerate(self.values) if place != right]
        difference = (self.values[right] - max(others)) / math.log(2)
        return difference if math.isfinite(difference) else None


def question_answers(
    questions: Sequence[Question],
    numbers: Sequence[int],
    raw: Mapping[int, Raw],
    options: StoryOptions,
) -> tuple[QuestionAnswer, ...]:
    """The answers to questions; those without one are left out.

    Args:
        questions: in the order in which they were asked.
        numbers: of the request of each.
        raw: what was answered to each request.
        options: how it was asked, and how options are compared.

    Raises:
        UsageError: the norm is for the three tiers.
    """
    refuse_norm(options)
    return tuple(
        _answer(question, raw[number], options)
        for question, number in zip(questions, numbers, strict=True)
        if number in raw
    )


def refuse_norm(options: StoryOptions) -> None:
    """See that options of questions beside the tiers can be compared as is wanted.

    Raises:
        UsageError: the norm is for the three tiers.
    """
    if options.norm not in ("sum", "token", "char"):
        raise UsageError(
            where=f"--set norm={options.norm}",
            seen="it is for the three tiers, whose options are the same for all stories",
            todo="Say sum, token or char.",
        )


def _answer(question: Question, raw: Raw, options: StoryOptions) -> QuestionAnswer:
    nats = [value for value in raw.nats if value is not None]
    if not nats:
        known = Options(question.labels, question.words)
        label, reason = read_reply(question.task, raw.reply or "", known, options)
        return QuestionAnswer(question, label, reply=raw.reply, reason=reason)
    values = normalised(nats, options.norm, n_tokens=raw.n_tokens, words=question.words)
    best = max(values)
    tied = values.count(best) > 1
    return QuestionAnswer(
        question,
        None if tied else question.labels[values.index(best)],
        values=values,
        tied=tied,
        reason=TIED if tied else "",
    )

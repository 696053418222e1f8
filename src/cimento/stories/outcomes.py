"""From answers to what was chosen and whether it is right, at one tier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.runs.outcomes import VerdictName
from cimento.stories.records import Story, Tier, TierAnswer

_BITS = 1 / math.log(2)

NAN = "a log-probability is NaN or plus infinity"
ALL_IMPOSSIBLE = "every option has probability zero"
NO_GOLD = "the story has no right answer at this tier"
INVALID = "no answer could be read"
TIED = "options share the highest value"
NOT_ANSWERED = "it was not asked, or there is no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one answer.

    Attributes:
        row: of the story.
        tier: which question.
        gold: the right label; None where the story has none.
        chosen: the label chosen; None where there is none, where options are tied, or where only
            whether it was right is known.
        correct: None where the answer cannot be scored; a tie is not right.
        tied: options share the highest log-probability.
        reason: why it cannot be scored, or why there is no label.
        answer: where it came from.
    """

    row: int
    tier: Tier
    gold: str | None
    chosen: str | None
    correct: bool | None
    tied: bool
    reason: str
    answer: TierAnswer

    @property
    def invalid(self) -> bool:
        """Whether a reply was given from which no label could be read."""
        return self.answer.reply is not None and self.chosen is None

    @property
    def verdict(self) -> VerdictName:
        """``pass``, ``fail``, ``tie`` or ``unscored``."""
        if self.correct is None:
            return "unscored"
        return "tie" if self.tied else "pass" if self.correct else "fail"

    @property
    def margin_bits(self) -> float | None:
        """By how much the right option is ahead of the best other one; None where none is scored.

        In the unit of what options are compared by (`options.normalised`).
        """
        values, options = self.answer.logprobs_nats, self.answer.options
        if values is None or self.gold not in options or self.correct is None:
            return None
        gold = values[options.index(self.gold)]
        others = [v for v, option in zip(values, options, strict=True) if option != self.gold]
        difference = (gold - max(others)) * _BITS
        return difference if math.isfinite(difference) else None


def judge(answer: TierAnswer, story: Story, *, first_of_ties: bool = False) -> Outcome:
    """What an answer chose and whether that is right.

    A reply that cannot be read is wrong. A tie is no answer, whichever option stands first in the
    list, and is not right. NaN, plus infinity, or nothing but probability zero cannot be scored;
    a single minus infinity is an option that is never chosen.

    Args:
        answer: of a model.
        story: that it is about.
        first_of_ties: the first of tied options is chosen, as the study did.
    """
    gold = story.gold(answer.tier)
    chosen, tied, reason = _choice(answer)
    if tied and not first_of_ties:
        chosen, reason = None, TIED
    correct: bool | None
    if gold is None:
        correct, reason = None, NO_GOLD
    elif answer.logprobs_nats is not None:
        correct = None if chosen is None and not tied else chosen == gold
    elif answer.label is not None or answer.reply is not None:
        correct = chosen == gold
    else:
        correct = answer.correct
    return Outcome(
        row=answer.row,
        tier=answer.tier,
        gold=gold,
        chosen=chosen,
        correct=correct,
        tied=tied,
        reason=reason,
        answer=answer,
    )


def judge_all(
    answers: Sequence[TierAnswer], stories: Sequence[Story], *, first_of_ties: bool = False
) -> tuple[Outcome, ...]:
    """`judge` of every answer; ``answer.row`` is a position in `stories`."""
    return tuple(
        judge(answer, stories[answer.row], first_of_ties=first_of_ties) for answer in answers
    )


def at(outcomes: Sequence[Outcome], tier: Tier) -> Mapping[int, Outcome]:
    """The outcomes of a tier by row."""
    return {each.row: each for each in outcomes if each.tier == tier}


def _choice(answer: TierAnswer) -> tuple[str | None, bool, str]:
    """The label chosen, whether it was tied, and why there is none."""
    values = answer.logprobs_nats
    if values is None:
        if answer.reply is not None and answer.label is None:
            return None, False, answer.reason or INVALID
        return answer.label, False, answer.reason
    if any(math.isnan(value) or value == math.inf for value in values):
        return None, False, NAN
    best = max(values)
    if best == -math.inf:
        return None, False, ALL_IMPOSSIBLE
    return answer.options[values.index(best)], values.count(best) > 1, ""


def by_characters(answer: TierAnswer, words: Sequence[str] = ()) -> str | None:
    """The label chosen when log-probabilities are divided by the number of characters.

    None where nothing can be scored, or options are tied.

    Args:
        answer: with log-probabilities.
        words: what stands for each option in the prompt; the labels themselves where empty.
    """
    if answer.logprobs_nats is None or _choice(answer)[0] is None:
        return None
    lengths = [len(word) for word in (words or answer.options)]
    values = [value / n for value, n in zip(answer.logprobs_nats, lengths, strict=True)]
    best = max(values)
    return answer.options[values.index(best)] if values.count(best) == 1 else None


def logprob_of(answer: TierAnswer, label: str) -> float | None:
    """The log-probability of a label in nats; None where options were not scored."""
    if answer.logprobs_nats is None:
        return None
    return answer.logprobs_nats[answer.options.index(label)]


def margin(answer: TierAnswer, label: str, other: str) -> float | None:
    """How much more probable one label is than another, in nats; None where not finite."""
    first, second = logprob_of(answer, label), logprob_of(answer, other)
    if first is None or second is None:
        return None
    difference = first - second
    return difference if math.isfinite(difference) else None


def probabilities(answer: TierAnswer) -> tuple[float, ...] | None:
    """The softmax of the options in their order; None where they cannot be scored."""
    values = answer.logprobs_nats
    if values is None or _choice(answer)[0] is None:
        return None
    best = max(values)
    weights = [math.exp(value - best) for value in values]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)

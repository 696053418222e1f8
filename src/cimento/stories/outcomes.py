"""From answers to what was chosen and whether it is right, at one tier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.stories.records import Story, Tier, TierAnswer

NAN = "a log-probability is NaN or plus infinity"
ALL_IMPOSSIBLE = "every option has probability zero"
NO_GOLD = "the story has no right answer at this tier"
INVALID = "no answer could be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one answer.

    Attributes:
        row: of the story.
        tier: which question.
        gold: the right label; None where the story has none.
        chosen: the label chosen, the first of tied ones; None where there is none or only
            whether it was right is known.
        correct: None where the answer cannot be scored.
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


def judge(answer: TierAnswer, story: Story) -> Outcome:
    """What an answer chose and whether that is right.

    A reply that cannot be read is wrong. NaN, plus infinity, or nothing but probability zero
    cannot be scored; a single minus infinity is an option that is never chosen.
    """
    gold = story.gold(answer.tier)
    chosen, tied, reason = _choice(answer)
    correct: bool | None
    if gold is None:
        correct, reason = None, NO_GOLD
    elif answer.logprobs_nats is not None:
        correct = None if chosen is None else chosen == gold
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


def judge_all(answers: Sequence[TierAnswer], stories: Sequence[Story]) -> tuple[Outcome, ...]:
    """`judge` of every answer; ``answer.row`` is a position in `stories`."""
    return tuple(judge(answer, stories[answer.row]) for answer in answers)


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

    Args:
        answer: with log-probabilities.
        words: what stands for each option in the prompt; the labels themselves where empty.
    """
    if answer.logprobs_nats is None or _choice(answer)[0] is None:
        return None
    lengths = [len(word) for word in (words or answer.options)]
    values = [value / n for value, n in zip(answer.logprobs_nats, lengths, strict=True)]
    return answer.options[values.index(max(values))]


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

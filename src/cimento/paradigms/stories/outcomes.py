"""The outcome of each answer at its tier, and the chain of the three tiers.

All tiers may have been asked of all implausible stories, or only of those that survived the tier
before, as in the paper: the chain is the same, because a story that failed a tier has failed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.records.outcomes import VerdictName
from cimento.statistics.design import Design
from cimento.suites.stories import (
    CONFLICT,
    STATE,
    STORY,
    TIERS,
    Known,
    Story,
    Task,
    Tier,
    TierAnswer,
    by_row,
)

_BITS = 1 / math.log(2)

NAN = "a log-probability is NaN or plus infinity"
ALL_IMPOSSIBLE = "every option has probability zero"
NO_GOLD = "the story has no correct answer at this tier"
INVALID = "no answer could be read"
TIED = "options share the highest value"
NOT_ANSWERED = "it was not asked, or there is no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class TierOutcome:
    """The outcome of one answer.

    Attributes:
        row: row of the story.
        tier: tier whose question was answered.
        gold: the right label; None where the story has none.
        chosen: the label chosen; None for no label, tied options, or an answer of which only the
            correctness is known.
        correct: None where the answer cannot be scored; a tie is not right.
        tied: options share the highest log-probability.
        by_characters: the label chosen when log-probabilities are divided by the number of
            characters; ties are treated as in `chosen`. None where nothing can be scored.
        reason: why it cannot be scored, or why there is no label.
        answer: where it came from.
    """

    row: int
    tier: Task
    gold: str | None
    chosen: str | None
    correct: bool | None
    tied: bool
    by_characters: str | None
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

        In the unit of what options are compared by (`options.normalized`).
        """
        values, options = self.answer.logprobs_nats, self.answer.options
        if values is None or self.gold not in options or self.correct is None:
            return None
        gold = values[options.index(self.gold)]
        others = [v for v, option in zip(values, options, strict=True) if option != self.gold]
        difference = (gold - max(others)) * _BITS
        return difference if math.isfinite(difference) else None


def judge(answer: TierAnswer, gold: str | None, *, first_of_ties: bool = False) -> TierOutcome:
    """The choice of an answer, and whether it is right.

    A reply that cannot be read is wrong. A tie is not an answer, whichever option comes first in
    the list, and is not right. NaN, plus infinity, or nothing but probability zero cannot be
    scored; a single minus infinity is an option that is never chosen.

    Args:
        answer: of a model.
        gold: the right label; None where there is none.
        first_of_ties: the first of tied options is chosen, as the study did.
    """
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
    return TierOutcome(
        row=answer.row,
        tier=answer.tier,
        gold=gold,
        chosen=chosen,
        correct=correct,
        tied=tied,
        by_characters=by_characters(answer, first_of_ties=first_of_ties),
        reason=reason,
        answer=answer,
    )


def judge_all(
    answers: Sequence[TierAnswer], stories: Sequence[Story], *, first_of_ties: bool = False
) -> tuple[TierOutcome, ...]:
    """`judge` of every answer at a tier to one of some stories."""
    known = by_row(stories)
    return tuple(
        judge(answer, known[answer.row].gold(answer.tier), first_of_ties=first_of_ties)
        for answer in answers
    )


def at(outcomes: Sequence[TierOutcome], tier: Tier) -> Mapping[int, TierOutcome]:
    """The outcomes of a tier by row."""
    return {outcome.row: outcome for outcome in outcomes if outcome.tier == tier}


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


def by_characters(answer: TierAnswer, *, first_of_ties: bool = False) -> str | None:
    """The label chosen when log-probabilities are divided by the number of characters.

    The characters are those of the words in the prompt, in its language. None where nothing can be
    scored, or options are tied.

    Args:
        answer: of a model.
        first_of_ties: the first of tied options is chosen, as the study did.
    """
    if answer.logprobs_nats is None or _choice(answer)[0] is None:
        return None
    values = answer.nats_per_character or [
        value / len(label)
        for value, label in zip(answer.logprobs_nats, answer.options, strict=True)
    ]
    best = max(values)
    is_tied = values.count(best) > 1
    return None if is_tied and not first_of_ties else answer.options[values.index(best)]


def probabilities(answer: TierAnswer) -> tuple[float, ...] | None:
    """The softmax of the options in their order; None where they cannot be scored."""
    values = answer.logprobs_nats
    if values is None or _choice(answer)[0] is None:
        return None
    best = max(values)
    weights = [math.exp(value - best) for value in values]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


NOT_ASKED = "this tier was not asked"


@dataclass(frozen=True, slots=True)
class Chain:
    """The tiers that each story passed.

    Attributes:
        passed: for each tier, row to whether the story is right at this tier and all before; None
            if an answer could not be scored. Rows of the first tier are all stories, those of
            later ones the implausible stories.
        reasons: the reason for each tier without results.
        tied: rows whose answer at a tier was one of several equally probable ones.
        belongs_to: row to what the story belongs to, in designs.
    """

    passed: Mapping[Tier, Mapping[int, bool | None]]
    reasons: Mapping[Tier, str]
    tied: Mapping[Tier, frozenset[int]]
    belongs_to: Mapping[int, Hashable]

    def known(self, tier: Tier) -> bool:
        """Whether the tier says something."""
        return tier not in self.reasons

    def design(self, rows: Iterable[int]) -> Design:
        """The design of some stories: variants of one belong together, and what clusters say."""
        units = tuple(rows)
        return Design(units, tuple(self.belongs_to[row] for row in units))


def chain(stories: Sequence[Story], outcomes: Sequence[TierOutcome]) -> Chain:
    """Chain the tiers.

    A tier that nobody reached counts as failed by all, as it is in the paper; one that was
    reached and not asked, or not asked of all who reached it, says nothing.
    """
    passed: dict[Tier, Mapping[int, bool | None]] = {}
    reasons: dict[Tier, str] = {}
    before: Mapping[int, bool | None] = {story.row: True for story in stories}
    implausible = {story.row for story in stories if not story.plausible}
    for tier in TIERS:
        if tier != STORY:
            before = {row: value for row, value in before.items() if row in implausible}
        answered = at(outcomes, tier)
        reached = [row for row, value in before.items() if value]
        missing = sum(row not in answered for row in reached)
        if reasons:
            reasons[tier] = next(iter(reasons.values()))
        elif missing and missing == len(reached):
            reasons[tier] = NOT_ASKED
        elif missing:
            reasons[tier] = f"{missing} of {len(reached)} stories that reached it lack answers"
        before = {row: _further(value, answered.get(row)) for row, value in before.items()}
        passed[tier] = before
    return Chain(
        passed=passed,
        reasons=reasons,
        tied={
            tier: frozenset(row for row, outcome in at(outcomes, tier).items() if outcome.tied)
            for tier in TIERS
        },
        belongs_to={story.row: story.belongs_to for story in stories},
    )


def _further(before: Known, outcome: TierOutcome | None) -> Known:
    """Whether a story is right so far, from whether it was before and what came now."""
    if before is False:
        return False
    now = None if outcome is None else outcome.correct
    if now is False:
        return False
    return None if before is None or now is None else True


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the flow of implausible stories through the tiers.

    Attributes:
        tier: tier that is meant.
        reached: stories that passed all tiers before.
        passed: number of these stories that passed this tier; None where the tier says nothing.
        unscored: number of these stories whose answer could not be scored; in no share.
    """

    tier: Tier
    reached: int | None
    passed: int | None
    unscored: int


def flow(stories: Sequence[Story], chained: Chain) -> tuple[Step, ...]:
    """The numbers of implausible stories that reach and pass each tier."""
    rows: list[int] | None = [story.row for story in stories if not story.plausible]
    steps = []
    for tier in (STORY, CONFLICT, STATE):
        if rows is None or not chained.known(tier):
            steps.append(Step(tier, None if rows is None else len(rows), None, 0))
            rows = None
            continue
        values = [chained.passed[tier][row] for row in rows]
        unscored = sum(value is None for value in values)
        passed = [row for row, value in zip(rows, values, strict=True) if value is True]
        steps.append(Step(tier, len(rows), len(passed), unscored))
        rows = passed
    return tuple(steps)

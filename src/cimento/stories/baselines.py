"""What answers without any knowledge get: to stand beside every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from cimento.stories.describe import most_frequent
from cimento.stories.grouping import Grouping
from cimento.stories.outcomes import judge_all
from cimento.stories.rates import METRICS, Rate, rates
from cimento.stories.records import (
    CONFLICT,
    FALSE,
    OPTIONS,
    STATE,
    STORY,
    TIERS,
    TRUE,
    Story,
    Tier,
    TierAnswer,
)
from cimento.stories.tiers import chain

CONSTANT = "false / majority pair / majority state"
TRUE_ONLY = "true"
FIRST_OPTION = "first option"
CHANCE = "chance"


def constant_answers(
    stories: Sequence[Story], labels: Mapping[Tier, str]
) -> tuple[TierAnswer, ...]:
    """A system that gives every story the same answer."""
    return tuple(
        TierAnswer(row=story.row, tier=tier, options=OPTIONS[tier], label=labels[tier])
        for tier in TIERS
        for story in stories
        if tier == STORY or not story.plausible
    )


def majority_labels(stories: Sequence[Story]) -> dict[Tier, str]:
    """The label "false" and, over implausible stories, the most frequent pair and state."""
    conflicts = [story for story in stories if not story.plausible]
    pairs = most_frequent(gold for story in conflicts if (gold := story.gold(CONFLICT)))
    states = most_frequent(gold for story in conflicts if (gold := story.gold(STATE)))
    return {
        STORY: FALSE,
        CONFLICT: next(iter(pairs), OPTIONS[CONFLICT][0]),
        STATE: next(iter(states), OPTIONS[STATE][0]),
    }


def baselines(stories: Sequence[Story], grouping: Grouping) -> dict[str, dict[str, float | None]]:
    """The metrics of constant answers, of always the first option, and of drawing lots.

    Chance is the expectation of drawing an option at random at each tier that is reached.
    """
    majority = majority_labels(stories)
    first: dict[Tier, str] = {tier: OPTIONS[tier][0] for tier in TIERS}
    return {
        f"{CONSTANT} ({majority[CONFLICT]}, {majority[STATE]})": _constant(
            stories, grouping, majority
        ),
        TRUE_ONLY: _constant(stories, grouping, {**majority, STORY: TRUE}),
        f"{FIRST_OPTION} ({', '.join(first.values())})": _constant(stories, grouping, first),
        CHANCE: {name: float(_chance(tier)) for name, (tier, _) in METRICS.items()},
    }


def _constant(
    stories: Sequence[Story], grouping: Grouping, labels: Mapping[Tier, str]
) -> dict[str, float | None]:
    outcomes = judge_all(constant_answers(stories, labels), stories)
    found: Mapping[str, Rate] = rates(chain(stories, outcomes), grouping)
    return {name: rate.value for name, rate in found.items()}


def _chance(tier: Tier) -> Fraction:
    """The probability of getting through a tier and all before it by drawing lots."""
    probability = Fraction(1)
    for each in TIERS[: TIERS.index(tier) + 1]:
        probability /= len(OPTIONS[each])
    return probability

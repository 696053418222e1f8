"""The chain of the three tiers: who gets through to the next, and what is known of it.

All tiers may have been asked of all implausible stories, or of those only that survived the tier
before, as the paper did: the chain is the same, because a story that failed a tier has failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.statistics.design import Design
from cimento.stories.outcomes import Outcome, at
from cimento.stories.records import CONFLICT, STATE, STORY, TIERS, Story, Tier, TripleKey

Known: TypeAlias = "bool | None"

NOT_ASKED = "this tier was not asked"


@dataclass(frozen=True, slots=True)
class Chain:
    """How far each story got.

    Attributes:
        passed: of each tier, row to whether the story is right at this tier and all before; None
            where that cannot be told because an answer could not be scored. Rows of the first
            tier are all stories, those of later ones the implausible stories.
        reasons: of tiers that say nothing, why.
        missing: how many stories reached a tier and were not answered there.
        unscored: how many answers at a tier could not be scored.
        tied: rows whose answer at a tier was one of several equally probable ones.
        triples: row to the number that a story shares with its variants, which belong together.
    """

    passed: Mapping[Tier, Mapping[int, bool | None]]
    reasons: Mapping[Tier, str]
    missing: Mapping[Tier, int]
    unscored: Mapping[Tier, int]
    tied: Mapping[Tier, frozenset[int]]
    triples: Mapping[int, TripleKey]

    def known(self, tier: Tier) -> bool:
        """Whether the tier says something."""
        return tier not in self.reasons

    def design(self, rows: Iterable[int]) -> Design:
        """The design of some stories: those of one triple belong together."""
        units = tuple(rows)
        return Design(units, tuple(self.triples[row] for row in units))


def chain(stories: Sequence[Story], outcomes: Sequence[Outcome]) -> Chain:
    """Chain the tiers.

    A tier that nobody reached counts as failed by all, as it is in the paper; one that was
    reached and not asked, or not asked of all who reached it, says nothing.
    """
    passed: dict[Tier, Mapping[int, bool | None]] = {}
    reasons: dict[Tier, str] = {}
    missing = {}
    unscored = {}
    before: Mapping[int, bool | None] = {story.row: True for story in stories}
    implausible = {story.row for story in stories if not story.plausible}
    for tier in TIERS:
        if tier != STORY:
            before = {row: value for row, value in before.items() if row in implausible}
        answered = at(outcomes, tier)
        reached = [row for row, value in before.items() if value]
        missing[tier] = sum(row not in answered for row in reached)
        unscored[tier] = sum(each.correct is None for each in answered.values())
        if reasons:
            reasons[tier] = next(iter(reasons.values()))
        elif missing[tier] and missing[tier] == len(reached):
            reasons[tier] = NOT_ASKED
        elif missing[tier]:
            reasons[tier] = (
                f"{missing[tier]} of {len(reached)} stories that reached it lack answers"
            )
        before = {row: _further(value, answered.get(row)) for row, value in before.items()}
        passed[tier] = before
    return Chain(
        passed=passed,
        reasons=reasons,
        missing=missing,
        unscored=unscored,
        tied={
            tier: frozenset(each.row for each in at(outcomes, tier).values() if each.tied)
            for tier in TIERS
        },
        triples={story.row: story.story_id for story in stories},
    )


def _further(before: Known, outcome: Outcome | None) -> Known:
    """Whether a story is right so far, from whether it was before and what came now."""
    if before is False:
        return False
    now = None if outcome is None else outcome.correct
    if now is False:
        return False
    return None if before is None or now is None else True


def conditional(chained: Chain, tier: Tier) -> dict[int, bool] | None:
    """Of the implausible stories that reached a later tier and are scored there, whether they pass.

    Returns:
        Row to the verdict; None where the tier says nothing.
    """
    before: Tier = STORY if tier == CONFLICT else CONFLICT
    if tier == STORY or not chained.known(tier):
        return None
    return {
        row: value
        for row, value in chained.passed[tier].items()
        if chained.passed[before][row] and value is not None
    }


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the flow of implausible stories through the tiers.

    Attributes:
        tier: which.
        reached: stories that passed all tiers before.
        passed: those of them that passed this one; None where the tier says nothing.
        unscored: those of them whose answer could not be scored; in no share.
    """

    tier: Tier
    reached: int | None
    passed: int | None
    unscored: int


def flow(stories: Sequence[Story], chained: Chain) -> tuple[Step, ...]:
    """How many implausible stories reach and pass each tier."""
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


def untiered(stories: Sequence[Story], outcomes: Sequence[Outcome], tier: Tier) -> list[Outcome]:
    """The outcomes of a tier for all stories that have a right answer there, whatever came before.

    Only where all of them were asked is their accuracy comparable between models.
    """
    wanted = {story.row for story in stories if tier == STORY or not story.plausible}
    return [each for each in outcomes if each.tier == tier and each.row in wanted]

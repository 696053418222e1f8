"""Worked examples: which stories stand before the one that is asked about.

Neither the story itself nor another variant of it is ever among its examples, but in ``paper``
mode, which draws as the study did (its draws show siblings now and then).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.stories.records import STORY, Story, Tier

FIXED, BALANCED, VARIED, PER_ITEM, PAPER = "fixed", "balanced", "varied", "per-item", "paper"
MODES = (FIXED, BALANCED, VARIED, PER_ITEM, PAPER)

_SHARED = 3
"""Variants of a story share four of five sentences; so many in common are no accident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """How examples are chosen.

    Attributes:
        n: how many; 0 for none.
        mode: ``fixed``: the same for all stories and models, but for siblings, which give way to
            the next one drawn; ``balanced``: the same, the labels in turns; ``varied``: the same,
            with as many different pairs, states and types as can be; ``per-item``: drawn anew for
            each story, whatever the others are; ``paper``: as the study drew.
        seed: of the draws; the study's was 1234.
    """

    n: int = 3
    mode: str = FIXED
    seed: int = 1234

    def __post_init__(self) -> None:
        if self.n < 0:
            raise UsageError(where="shots", seen=f"got {self.n}", todo="Give 0 or more.")
        if self.mode not in MODES:
            raise UsageError(
                where="shots-mode",
                seen=f"got {self.mode!r}",
                todo=did_you_mean(self.mode, MODES),
            )


def choose_shots(
    tier: Tier, items: Sequence[Story], pool: Sequence[Story], how: Shots
) -> list[tuple[Story, ...]]:
    """The examples of each story, in the order of the prompt.

    Args:
        tier: which question; of the pool, only stories with an answer to it are taken.
        items: the stories that are asked about.
        pool: the stories that examples are drawn from, in file order.
        how: how they are chosen.

    Raises:
        UsageError: there are too few stories.
    """
    if how.n == 0 or not items:
        return [() for _ in items]
    able = [story for story in pool if story.gold(tier) and (tier == STORY or not story.plausible)]
    if how.mode == PAPER:
        return _as_the_study(tier, items, able, how)
    if how.mode == PER_ITEM:
        return [_chosen(tier, item, _mixed(able, f"{how.seed}:{item.row}"), how) for item in items]
    mixed = _mixed(able, how.seed)
    return [_chosen(tier, item, mixed, how) for item in items]


def are_siblings(one: Story, other: Story) -> bool:
    """Whether two stories are variants of one: by their number, or by what they tell.

    Numbers can be wrong in published files; the sentences show it.
    """
    if one.story_id == other.story_id:
        return True
    return len({*map(str.strip, one.sentences)} & {*map(str.strip, other.sentences)}) >= _SHARED


def _as_the_study(
    tier: Tier, items: Sequence[Story], pool: Sequence[Story], how: Shots
) -> list[tuple[Story, ...]]:
    """One generator for all items in order; one more is drawn, so that the item can be dropped."""
    if len(pool) <= how.n:
        raise _too_few(tier, len(pool), how.n, "stories to draw from")
    generator = random.Random(how.seed)  # noqa: S311  # keeps no secret
    drawn = (generator.sample(pool, how.n + 1) for _ in items)
    return [
        tuple([shot for shot in shots if shot.row != item.row][: how.n])
        for item, shots in zip(items, drawn, strict=True)
    ]


def _mixed(pool: Sequence[Story], seed: int | str) -> list[Story]:
    mixed = list(pool)
    random.Random(seed).shuffle(mixed)  # noqa: S311  # keeps no secret
    return mixed


def _chosen(tier: Tier, item: Story, mixed: Sequence[Story], how: Shots) -> tuple[Story, ...]:
    chosen: list[Story] = []
    for _ in range(how.n):
        allowed = [
            story
            for story in mixed
            if not any(are_siblings(story, other) for other in (item, *chosen))
        ]
        if not allowed:
            raise _too_few(
                tier, len(chosen), how.n, f"for {item.example_id!r} that are no siblings"
            )
        pick = _PICKS.get(how.mode, _first)
        chosen.append(pick(tier, allowed, chosen))
    return tuple(chosen)


def _first(_tier: Tier, allowed: Sequence[Story], _chosen: Sequence[Story]) -> Story:
    return allowed[0]


def _of_next_label(tier: Tier, allowed: Sequence[Story], chosen: Sequence[Story]) -> Story:
    """The first story of the label that was taken least often."""
    taken = [shot.gold(tier) for shot in chosen]
    return min(allowed, key=lambda story: taken.count(story.gold(tier)))


def _most_new(_tier: Tier, allowed: Sequence[Story], chosen: Sequence[Story]) -> Story:
    """The first story that brings most of type, pair and state that were not there."""

    def traits(story: Story) -> tuple[object, ...]:
        return story.type, story.pair, story.state

    def news(story: Story) -> int:
        return sum(
            all(trait != traits(shot)[place] for shot in chosen)
            for place, trait in enumerate(traits(story))
        )

    return max(allowed, key=news)


_PICKS: dict[str, Callable[[Tier, Sequence[Story], Sequence[Story]], Story]] = {
    BALANCED: _of_next_label,
    VARIED: _most_new,
}


def _too_few(tier: Tier, there: int, wanted: int, which: str) -> UsageError:
    return UsageError(
        where=f"shots={wanted}",
        seen=f"at {tier} there are only {there} {which}",
        todo="Ask for fewer with --set shots=N, or add stories.",
    )


ShotRule: TypeAlias = Literal["turns", "text"]

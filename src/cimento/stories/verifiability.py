"""Verifiability over the states of sentences, as TRIP has it.

A conflict is verified where the story, its pair of sentences, and the states behind it are right:
what the conflicting sentence causes, and what the breakpoint needs (Storks et al. 2021,
doi:10.18653/v1/2021.findings-emnlp.422, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.stories.records import CONFLICT, SentenceStates, Story
from cimento.stories.states import ATTRIBUTES, CHANGES
from cimento.stories.tiers import Chain

Side: TypeAlias = Literal["precondition", "effect"]
Value: TypeAlias = "bool | int | None"

_PLACES = ("h_location", "location")
NO_STATES = "the story has no states per sentence"
NOTHING_SAID = "nothing but defaults was predicted"
WRONG_STATE = "a state is wrong"
WRONG_BEFORE = "wrong at a tier before"


def side_value(attribute: str, code: int, side: Side) -> Value:
    """What a code says of an attribute before or after a sentence.

    Args:
        attribute: one of the twenty.
        code: see `cimento.stories.states`; of the two attributes of location, whose codes are
            kinds of movement, the code itself is the value, 0 being none.
        side: before (what the sentence needs) or after (what it causes).

    Returns:
        None where the code says nothing.
    """
    if attribute in _PLACES:
        return code or None
    before, after = CHANGES[code]
    return before if side == "precondition" else after


def is_default(attribute: str, value: Value) -> bool:
    """Whether a value is what holds of an attribute anyway, so that saying it is no knowledge."""
    if value is None:
        return True
    if attribute in _PLACES:
        return False
    default = CHANGES[ATTRIBUTES[attribute].default][1]
    return default is not None and value == default


@dataclass(frozen=True, slots=True)
class Verified:
    """Whether the states behind a conflict were given rightly.

    Attributes:
        ok: None where the story has no states to compare with.
        checked: how many predicted values say something.
        right: how many of them are right.
        reason: why not, or why not known.
    """

    ok: bool | None
    checked: int = 0
    right: int = 0
    reason: str = ""


def verify(story: Story, conflicting: SentenceStates, breakpoint_: SentenceStates) -> Verified:
    """Compare predicted states of the two sentences in conflict with those of the story.

    All predicted effects of the conflicting sentence and all predicted preconditions of the
    breakpoint that say more than a default must be right, and there must be one.

    Args:
        story: an implausible one, with states per sentence.
        conflicting: predicted for its conflicting sentence.
        breakpoint_: predicted for its breakpoint.
    """
    if story.pair is None or max(story.pair) >= len(story.sentence_states):
        return Verified(ok=None, reason=NO_STATES)
    first, second = story.pair
    found = [
        *_compare(story.sentence_states[first], conflicting, "effect"),
        *_compare(story.sentence_states[second], breakpoint_, "precondition"),
    ]
    if not found:
        return Verified(ok=False, reason=NOTHING_SAID)
    right = sum(found)
    ok = right == len(found)
    return Verified(ok, len(found), right, "" if ok else WRONG_STATE)


def verifiability(
    stories: Sequence[Story],
    chained: Chain,
    predicted: Mapping[tuple[int, int], SentenceStates],
) -> dict[int, Verified]:
    """`verify` of every implausible story with states, counted only after the first two tiers.

    Args:
        stories: all of them.
        chained: the tiers of the model.
        predicted: row of a story and position of a sentence to the states predicted there.
    """
    found = {}
    for story in stories:
        if story.plausible or story.pair is None or not story.sentence_states:
            continue
        passed = chained.passed[CONFLICT].get(story.row)
        if not passed:
            reason = WRONG_BEFORE if passed is False else "a tier before could not be scored"
            found[story.row] = Verified(ok=None if passed is None else False, reason=reason)
            continue
        first, second = (
            predicted.get((story.row, place), SentenceStates()) for place in story.pair
        )
        found[story.row] = verify(story, first, second)
    return found


def _compare(gold: SentenceStates, predicted: SentenceStates, side: Side) -> list[bool]:
    """Of each predicted value that says something, whether it is right."""
    found = []
    for attribute, entries in predicted.entries.items():
        if attribute not in ATTRIBUTES:
            continue
        truth = {entity.strip(): code for entity, code in gold.entries.get(attribute, ())}
        for entity, code in entries:
            value = side_value(attribute, code, side)
            if is_default(attribute, value):
                continue
            right = truth.get(entity.strip(), ATTRIBUTES[attribute].default)
            found.append(value == side_value(attribute, right, side))
    return found

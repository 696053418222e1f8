"""Everything that is wrong with a file of stories, check by check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from cimento.stories.findings import CHECKS, Finding
from cimento.stories.records import (
    PROPOSED,
    STATES,
    Story,
    StoryFormat,
    StorySuite,
    StoryType,
    flatten,
)
from cimento.stories.states import ATTRIBUTES
from cimento.stories.triples import base_of, bases, by_triple, is_replacement, is_swap, made_as

Rows: TypeAlias = list[int]

_ID = re.compile(r"\s*(\d{1,9})(?:-([OC])(\d{1,9}))?\s*")
_SUFFIX: Mapping[str | None, StoryType | None] = {"O": "order", "C": "cloze", None: None}
_FINAL = (".", "!", "?", "…", ".»", "!»", "?»", '."', '!"', '?"')

_NAMES = (
    "duplicate_example_id", "id_suffix_disagrees_with_type", "type_disagrees_with_plausible",
    "plausible_but_has_breakpoint", "plausible_false_without_breakpoint",
    "story_id_disagrees_with_example_id", "confl_not_before_breakpoint", "conflict_outside_story",
    "confl_sents_nested", "confl_pairs_empty_though_implausible", "confl_pairs_disagree",
    "unknown_state", "sentences_not_length", "repeated_sentence_in_story",
    "sentence_without_final_period", "sentence_with_outer_whitespace", "worker_id_of_one_story",
    "states_filled_on_plausible_story", "structural", "order_not_a_swap",
    "cloze_not_one_replacement",
)  # fmt: skip
_NAMES_V1 = (
    "key_differs_from_example_id", "type_disagrees_with_plausible",
    "plausible_false_without_breakpoint", "plausible_but_has_breakpoint", "sentences_not_length",
    "states_not_one_per_sentence", "confl_sents_nested", "confl_pairs_disagree",
    "confl_not_before_breakpoint", "conflict_outside_story", "outer_spaces_in_entity",
    "human_entity_is_not_actor", "object_entity_not_listed", "structural",
)  # fmt: skip
_NAMES_NATIVE = (
    *_NAMES, "states_not_one_per_sentence", "outer_spaces_in_entity", "human_entity_is_not_actor",
    "object_entity_not_listed", "states_without_the_state", "no_plausible_story",
    "other_actor_or_objects", "repeated_variant", "not_confirmed",
)  # fmt: skip
CHECKED: Mapping[StoryFormat, tuple[str, ...]] = {
    "gita4calamita": _NAMES,
    "gita-v1": _NAMES_V1,
    "native": _NAMES_NATIVE,
}
"""Which checks a format has: those that were made of the published files, and all for our own.

GITA v1 writes nested pairs, leaves those of order variants empty and names stories by key, so
that checks of the other form would report all of it.
"""


def audit(file: StorySuite) -> tuple[Finding, ...]:
    """Everything that is wrong with a file, in the order of the checks of its format."""
    stories = file.stories
    found = ((name, tuple(_ROWS[name](stories))) for name in CHECKED[file.format])
    return tuple(Finding(CHECKS[name], rows) for name, rows in found if rows)


def story_names(file: StorySuite) -> tuple[str, ...]:
    """What messages call each story: its key where it has one, else row and id."""
    return tuple(story.key or f"{story.row} ({story.example_id})" for story in file.stories)


def suffix_type(example_id: str) -> tuple[int | None, StoryType | None]:
    """The number and the type that an id tells."""
    match = _ID.fullmatch(example_id)
    return (int(match[1]), _SUFFIX[match[2]]) if match else (None, None)


def _where(holds: Callable[[Story], bool]) -> Callable[[Sequence[Story]], Rows]:
    """The rows of the stories of which something holds."""
    return lambda stories: [story.row for story in stories if holds(story)]


def _duplicates(stories: Sequence[Story]) -> Rows:
    counts = Counter(story.example_id for story in stories)
    return [story.row for story in stories if counts[story.example_id] > 1]


def _odd_worker(stories: Sequence[Story]) -> Rows:
    """Stories whose worker_id nobody else has, where all others have one and the same."""
    counts = Counter(story.worker_id for story in stories)
    if len(counts) != 2 or min(counts.values()) > 1 or len(stories) < 3:  # noqa: PLR2004  # one against the rest
        return []
    return [story.row for story in stories if counts[story.worker_id] == 1]


def _has_conflict(story: Story) -> bool:
    return story.breakpoint >= 0


def pair_shape(story: Story) -> str:
    """How the conflict pair is written: ``empty``, ``[a,b]``, ``[[a],[b]]`` or ``[[a,b]]``."""
    pairs = story.confl_pairs
    if not pairs:
        return "empty"
    if all(isinstance(each, int) for each in pairs):
        return "[a,b]"
    return "[[a,b]]" if len(pairs) == 1 else "[[a],[b]]"


def _pair_disagrees(story: Story) -> bool:
    """Whether the pair is filled in and is not conflicting sentence and breakpoint."""
    if not story.confl_pairs:
        return False
    if story.pair is None:
        return True
    first, second = story.pair
    return story.confl_pairs not in {(first, second), ((first,), (second,)), ((first, second),)}


def _outside(story: Story) -> bool:
    places = [*story.conflicting, *([story.breakpoint] if _has_conflict(story) else [])]
    return any(not 0 <= place < len(story.sentences) for place in places)


def _entities(story: Story, bearer: str) -> set[str]:
    """Everything that has states of the attributes of actors or of objects, without blanks."""
    names = {each.name for each in ATTRIBUTES.values() if each.bearer == bearer}
    return {
        entity.strip()
        for block in story.sentence_states
        for attribute, entries in block.entries.items()
        if attribute in names
        for entity, _ in entries
    }


def _outer_spaces(story: Story) -> bool:
    return any(
        entity != entity.strip()
        for block in story.sentence_states
        for entries in block.entries.values()
        for entity, _ in entries
    )


def _structural(story: Story) -> bool:
    return any(
        attribute not in ATTRIBUTES
        or any(code not in ATTRIBUTES[attribute].codes for _, code in entries)
        for block in story.sentence_states
        for attribute, entries in block.entries.items()
    )


def _state_missing(story: Story) -> bool:
    """Whether an implausible story's states never touch the state that explains the conflict."""
    if story.plausible or not story.state or not story.sentence_states or story.pair is None:
        return False
    names = {name for name, each in ATTRIBUTES.items() if each.state == story.state}
    concerned = [story.sentence_states[i] for i in story.pair if i < len(story.sentence_states)]
    return not any(
        attribute in names and any(code for _, code in entries)
        for block in concerned
        for attribute, entries in block.entries.items()
    )


def _not_made_as(
    type_: StoryType, rule: Callable[[Story, Story], bool]
) -> Callable[[Sequence[Story]], Rows]:
    def rows(stories: Sequence[Story]) -> Rows:
        known = bases(stories)
        return [
            story.row
            for story in stories
            if (base := known[story.story_id]) is not None
            and made_as(story, base) == type_
            and not rule(story, base)
        ]

    return rows


def _baseless(stories: Sequence[Story]) -> Rows:
    return [
        story.row
        for triple in by_triple(stories).values()
        if base_of(triple) is None
        for story in triple
        if not story.plausible
    ]


def _other_entities(stories: Sequence[Story]) -> Rows:
    known = bases(stories)
    found = []
    for story in stories:
        base = known[story.story_id]
        if base is not None and (
            set(story.actor_names) != set(base.actor_names)
            or set(story.object_names) != set(base.object_names)
        ):
            found.append(story.row)
    return found


def _repeated_variants(stories: Sequence[Story]) -> Rows:
    counts = Counter(story.sentences for story in stories)
    return [story.row for story in stories if counts[story.sentences] > 1]


def _wrong_conflict_order(story: Story) -> bool:
    return _has_conflict(story) and any(
        each >= story.breakpoint for each in flatten(story.confl_sents)
    )


_ROWS: Mapping[str, Callable[[Sequence[Story]], Rows]] = {
    "duplicate_example_id": _duplicates,
    "key_differs_from_example_id": _where(lambda story: story.key != story.example_id),
    "id_suffix_disagrees_with_type": _where(
        lambda story: suffix_type(story.example_id)[1] != story.type
    ),
    "story_id_disagrees_with_example_id": _where(
        lambda story: suffix_type(story.example_id)[0] != story.story_id
    ),
    "type_disagrees_with_plausible": _where(
        lambda story: (story.type is None) is not story.plausible
    ),
    "worker_id_of_one_story": _odd_worker,
    "plausible_but_has_breakpoint": _where(lambda story: story.plausible and _has_conflict(story)),
    "plausible_false_without_breakpoint": _where(
        lambda story: not story.plausible and story.pair is None
    ),
    "confl_not_before_breakpoint": _where(_wrong_conflict_order),
    "conflict_outside_story": _where(_outside),
    "confl_sents_nested": _where(
        lambda story: any(not isinstance(each, int) for each in story.confl_sents)
    ),
    "confl_pairs_empty_though_implausible": _where(
        lambda story: not story.plausible and not story.confl_pairs
    ),
    "confl_pairs_disagree": _where(_pair_disagrees),
    "unknown_state": _where(
        lambda story: story.state not in STATES and (bool(story.state) or not story.plausible)
    ),
    "states_filled_on_plausible_story": _where(lambda story: story.plausible and bool(story.state)),
    "sentences_not_length": _where(lambda story: len(story.sentences) != story.length),
    "repeated_sentence_in_story": _where(
        lambda story: len(set(story.sentences)) < len(story.sentences)
    ),
    "sentence_without_final_period": _where(
        lambda story: any(not each.rstrip().endswith(_FINAL) for each in story.sentences)
    ),
    "sentence_with_outer_whitespace": _where(
        lambda story: any(each != each.strip() for each in story.sentences)
    ),
    "states_not_one_per_sentence": _where(
        lambda story: (
            bool(story.sentence_states)
            and len(story.sentence_states) != max(len(story.sentences), story.length)
        )
    ),
    "outer_spaces_in_entity": _where(_outer_spaces),
    "human_entity_is_not_actor": _where(
        lambda story: not _entities(story, "actor") <= set(story.actor_names)
    ),
    "object_entity_not_listed": _where(
        lambda story: not _entities(story, "object") <= set(story.object_names)
    ),
    "structural": _where(_structural),
    "states_without_the_state": _where(_state_missing),
    "order_not_a_swap": _not_made_as("order", is_swap),
    "cloze_not_one_replacement": _not_made_as("cloze", is_replacement),
    "no_plausible_story": _baseless,
    "other_actor_or_objects": _other_entities,
    "repeated_variant": _repeated_variants,
    "not_confirmed": _where(lambda story: PROPOSED in story.extra),
}

"""The checks of a file of stories; docs/stories.md has a line for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.errors import Fault, Severity
from cimento.paradigms.stories.suite import (
    ATTRIBUTES,
    PROPOSED,
    STATES,
    Story,
    StoryFormat,
    StorySuite,
    StoryType,
    base_of,
    bases,
    by_triple,
    flatten,
    is_replacement,
    is_swap,
    made_as,
)


@dataclass(frozen=True, slots=True)
class StoryCheck:
    """One thing that is checked in stories.

    Attributes:
        code: stable.
        name: as the audit in JSON says it.
        severity: an ``error`` leaves a tier without a right answer, a ``warning`` does not.
        title: what is wrong, in a few words.
        todo: what to do about it.
    """

    code: str
    name: str
    severity: Severity
    title: str
    todo: str


def _check(code: str, name: str, title: str, todo: str) -> StoryCheck:
    return StoryCheck(f"CIM-T{code}", name, "warning", title, todo)


def _error(code: str, name: str, title: str, todo: str) -> StoryCheck:
    return StoryCheck(f"CIM-T{code}", name, "error", title, todo)


_ALL = (
    # Names and types
    _check("001", "duplicate_example_id", "the id of another story", "Name stories by row."),
    _check("002", "key_differs_from_example_id", "a key that is not the id", "Correct the id."),
    _check(
        "003",
        "id_suffix_disagrees_with_type",
        "a suffix of another type",
        "Correct one of the two.",
    ),
    _check(
        "004",
        "story_id_disagrees_with_example_id",
        "an id of another number",
        "Correct one of the two.",
    ),
    _check(
        "005",
        "type_disagrees_with_plausible",
        "a type that does not fit",
        "Correct one of the two.",
    ),
    _check("006", "worker_id_of_one_story", "an unusual worker_id", "Is it another field's value?"),
    # Gold
    _check(
        "010",
        "plausible_but_has_breakpoint",
        "plausible with a conflict",
        "Correct one of the two.",
    ),
    _error("011", "plausible_false_without_breakpoint", "implausible, no conflict", "Add it."),
    _error("012", "confl_not_before_breakpoint", "a conflict after its effect", "Correct it."),
    _error("013", "conflict_outside_story", "a conflict with no sentence", "Correct it."),
    _check("014", "confl_sents_nested", "nested conflicting sentences", "Write a flat list."),
    _check(
        "015", "confl_pairs_empty_though_implausible", "no conflict pair", "Write both sentences."
    ),
    _check(
        "016", "confl_pairs_disagree", "a pair that says something else", "Correct one of the two."
    ),
    _error("017", "unknown_state", "a state that is none of the fourteen", "Correct it."),
    _check("018", "states_filled_on_plausible_story", "a state without a conflict", "Unused."),
    # Sentences
    _error("020", "sentences_not_length", "a wrong number of sentences", "Add what is missing."),
    _check("021", "repeated_sentence_in_story", "a sentence twice in a story", "Change one."),
    _check("022", "sentence_without_final_period", "no final period", "Add it."),
    _check("023", "sentence_with_outer_whitespace", "blanks around a sentence", "Remove them."),
    # States of sentences
    _check("030", "states_not_one_per_sentence", "not one block for each sentence", "Add blocks."),
    _check("031", "outer_spaces_in_entity", "blanks around an entity", "Remove them."),
    _check(
        "032",
        "human_entity_is_not_actor",
        "states of somebody who is no actor",
        "Correct the name.",
    ),
    _check(
        "033", "object_entity_not_listed", "states of an unlisted object", "Correct one of the two."
    ),
    _check("034", "structural", "an attribute or a code that does not exist", "Correct it."),
    _check("035", "states_without_the_state", "no sentence has the state of the story", "Add it."),
    # How variants are made
    _check("040", "order_not_a_swap", "not two sentences swapped", "Is it meant to be so?"),
    _check(
        "041", "cloze_not_one_replacement", "not one sentence replaced", "Is it meant to be so?"
    ),
    _check("042", "no_plausible_story", "variants without their plausible story", "Add it."),
    _check("043", "other_actor_or_objects", "an actor or objects of its own", "Take the base's."),
    _check("044", "repeated_variant", "the sentences of another story", "Remove one of them."),
    _check("045", "not_confirmed", "proposed and not confirmed", "Confirm it, or remove it."),
)

CHECKS: Mapping[str, StoryCheck] = {check.name: check for check in _ALL}
"""Every check by its name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    Attributes:
        check: what.
        rows: the stories concerned, in file order.
        seen: more about it; may be empty.
    """

    check: StoryCheck
    rows: tuple[int, ...]
    seen: str = ""

    def fault(self, *, file: str, names: Sequence[str]) -> Fault:
        """The finding as a fault.

        Args:
            file: name of the file.
            names: what to call each story, by row.
        """
        shown = ", ".join(names[row] for row in self.rows)
        count = f"{len(self.rows)} " + ("story" if len(self.rows) == 1 else "stories")
        seen = f"{self.check.title} ({self.check.name}), in {count}: {shown}."
        return Fault(
            self.check.code,
            self.check.severity,
            file,
            seen + (f" {self.seen}" if self.seen else ""),
            self.check.todo,
        )


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

"""The checks of a file of stories; docs/checks.md has a row for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cimento.errors import Fault, Severity, SuiteError, counted
from cimento.suites.checks.notation import Lines, notation
from cimento.suites.stories import (
    ATTRIBUTES,
    PROPOSED,
    STATES,
    Story,
    StoryFormat,
    StorySuite,
    StoryType,
    base_of,
    bases,
    by_row,
    by_triple,
    is_replacement,
    is_swap,
    made_as,
)

Rows: TypeAlias = Callable[[Sequence[Story]], list[int]]
"""Finds the rows of the stories in which something is wrong."""

_ID = re.compile(r"\s*(\d{1,9})(?:-([OC])(\d{1,9}))?\s*")
_SUFFIX: Mapping[str | None, StoryType | None] = {"O": "order", "C": "cloze", None: None}
UNKNOWN_STATE = "CIM-T017"
"""The code of a state that is none of the fourteen, or of no state where there is a conflict."""
_FINAL = (".", "!", "?", "…", ".»", "!»", "?»", '."', '!"', '?"')


@dataclass(frozen=True, slots=True)
class StoryCheck:
    """One thing that is checked in stories.

    Attributes:
        code: stable.
        name: as the audit in JSON says it.
        title: what is wrong, in a few words.
        todo: what to do about it.
        rows: finds the stories in which it is wrong.
        severity: an ``error`` leaves a tier without a correct answer, a ``warning`` does not.
        value: what stands in such a story, where that is said of each; None where it is not.
    """

    code: str
    name: str
    title: str
    todo: str
    rows: Rows
    severity: Severity = "warning"
    value: Callable[[Story], str] | None = None


@dataclass(frozen=True, slots=True)
class StoryFinding:
    """One thing that is wrong, and where.

    Attributes:
        check: what.
        rows: the stories concerned, in file order.
        values: what stands in each, where the check says it; else empty.
    """

    check: StoryCheck
    rows: tuple[int, ...]
    values: tuple[str, ...] = ()

    def fault(self, *, file: str, names: Sequence[str]) -> Fault:
        """The finding as a fault.

        Args:
            file: name of the file.
            names: what to call each story, by row.
        """
        check, stories = self.check, counted(len(self.rows), "story", "stories")
        values = [f" {value!r}" for value in self.values] or [""] * len(self.rows)
        shown = ", ".join(names[row] + value for row, value in zip(self.rows, values, strict=True))
        seen = f"{check.title} ({check.name}), in {stories}: {shown}."
        return Fault(check.code, check.severity, file, seen, check.todo)


def audit(file: StorySuite) -> tuple[StoryFinding, ...]:
    """Everything that is wrong with a file, in the order of the checks of its format."""
    checks = (CHECKS[name] for name in CHECKED[file.format])
    findings = (_finding(check, file.stories) for check in checks)
    return tuple(finding for finding in findings if finding.rows)


def _finding(check: StoryCheck, stories: Sequence[Story]) -> StoryFinding:
    rows = tuple(check.rows(stories))
    value, told = check.value, by_row(stories)
    return StoryFinding(check, rows, tuple(value(told[row]) for row in rows) if value else ())


def has_unknown_state(suite: StorySuite) -> bool:
    """Whether a story has a state that no answer can be; none at all is not one."""
    return any(story.state not in {"", *STATES} for story in suite.stories)


def refuse_unknown_states(suite: StorySuite) -> None:
    """Refuse stories with a state that no answer can be.

    Raises:
        SuiteError: there are some.
    """
    if has_unknown_state(suite):
        finding = _finding(CHECKS["unknown_state"], suite.stories)
        file = suite.path.name or suite.name
        fault = finding.fault(file=file, names=story_names(suite))
        raise SuiteError(where=str(suite.path) if suite.path.name else suite.name, faults=[fault])


def story_names(file: StorySuite) -> tuple[str, ...]:
    """The name of each story in messages: its key where it has one, else row and id."""
    return tuple(story.key or f"{story.row} ({story.example_id})" for story in file.stories)


def notation_faults(file: StorySuite) -> list[Fault]:
    """Faults of what is in sentences and is not part of them, such as judgment marks.

    Plausible and implausible stories of a number are compared; each should be typed as the others.
    """
    names, where = story_names(file), file.path.name or file.name
    told = [(story, k) for story in file.stories for k in range(len(story.sentences))]
    lines = Lines(
        texts=[story.sentences[k] for story, k in told],
        conditions=["plausible" if story.plausible else "implausible" for story, _ in told],
        items=[str(story.story_id) for story, _ in told],
        places=[f"{where}, story {names[story.row]}, sentence {k + 1}" for story, k in told],
    )
    return notation(lines, same=replace(lines, conditions=[names[one.row] for one, _ in told]))


def pair_shape(story: Story) -> str:
    """The notation of the conflict pair: ``empty``, ``[a,b]``, ``[[a],[b]]`` or ``[[a,b]]``."""
    pairs = story.confl_pairs
    if not pairs:
        return "empty"
    if all(isinstance(part, int) for part in pairs):
        return "[a,b]"
    return "[[a,b]]" if len(pairs) == 1 else "[[a],[b]]"


def _where(holds: Callable[[Story], bool]) -> Rows:
    """The stories of which something holds."""
    return lambda stories: [story.row for story in stories if holds(story)]


def _repeated(key: Callable[[Story], Hashable]) -> Rows:
    """The stories that have something in common which each should have alone."""

    def rows(stories: Sequence[Story]) -> list[int]:
        counts = Counter(map(key, stories))
        return [story.row for story in stories if counts[key(story)] > 1]

    return rows


def _variants(is_wrong: Callable[[Story, Story], bool]) -> Rows:
    """The stories for which something holds, given the plausible story of their number."""

    def rows(stories: Sequence[Story]) -> list[int]:
        known = bases(stories)
        return [
            story.row
            for story in stories
            if (base := known[story.story_id]) is not None and is_wrong(story, base)
        ]

    return rows


def _baseless(stories: Sequence[Story]) -> list[int]:
    """The variants of stories that are not there."""
    triples = by_triple(stories).values()
    alone = (story for triple in triples if base_of(triple) is None for story in triple)
    return [story.row for story in alone if not story.plausible]


def _odd_worker(stories: Sequence[Story]) -> list[int]:
    """Stories whose worker_id nobody else has, where all others have one and the same."""
    counts = Counter(story.worker_id for story in stories)
    if len(counts) != 2 or min(counts.values()) > 1 or len(stories) < 3:  # noqa: PLR2004  # one against the rest
        return []
    return [story.row for story in stories if counts[story.worker_id] == 1]


def _by_id(story: Story) -> tuple[int | None, StoryType | None]:
    """The number and the type that an id tells."""
    match = _ID.fullmatch(story.example_id)
    return (int(match[1]), _SUFFIX[match[2]]) if match else (None, None)


def _pair_disagrees(story: Story) -> bool:
    """Whether the pair is filled in and is not conflicting sentence and breakpoint."""
    if not story.confl_pairs:
        return False
    if story.pair is None:
        return True
    first, second = story.pair
    return story.confl_pairs not in {(first, second), ((first,), (second,)), ((first, second),)}


def _outside(story: Story) -> bool:
    """Whether a sentence of the conflict is not there."""
    places = [*story.conflicting, *([story.breakpoint] if story.breakpoint >= 0 else [])]
    return any(not 0 <= place < len(story.sentences) for place in places)


def _entities(story: Story, bearer: str = "") -> set[str]:
    """Everything that has states, or states of the attributes of actors or of objects."""
    return {
        entity
        for block in story.sentence_states
        for attribute, entries in block.entries.items()
        if not bearer or (attribute in ATTRIBUTES and ATTRIBUTES[attribute].bearer == bearer)
        for entity, _ in entries
    }


def _unlisted(bearer: str, names: Callable[[Story], Sequence[str]]) -> Rows:
    """The stories where states are given of somebody or something that is not listed."""
    return _where(
        lambda story: not set(map(str.strip, _entities(story, bearer))) <= {*names(story)}
    )


def _unknown_code(story: Story) -> bool:
    return any(
        attribute not in ATTRIBUTES
        or any(code not in ATTRIBUTES[attribute].codes for _, code in entries)
        for block in story.sentence_states
        for attribute, entries in block.entries.items()
    )


def _blocks_missing(story: Story) -> bool:
    n_blocks = len(story.sentence_states)
    return bool(n_blocks) and n_blocks != max(len(story.sentences), story.length)


def _state_missing(story: Story) -> bool:
    """Whether an implausible story's states never touch the state that explains the conflict."""
    if story.plausible or not story.state or not story.sentence_states or story.pair is None:
        return False
    names = {name for name, attribute in ATTRIBUTES.items() if attribute.state == story.state}
    concerned = [story.sentence_states[i] for i in story.pair if i < len(story.sentence_states)]
    return not any(
        attribute in names and any(code for _, code in entries)
        for block in concerned
        for attribute, entries in block.entries.items()
    )


def _other_entities(story: Story, base: Story) -> bool:
    return {*story.actor_names} != {*base.actor_names} or {*story.object_names} != {
        *base.object_names
    }


# fmt: off
_ALL = (
    # Names and types
    StoryCheck("CIM-T001", "duplicate_example_id", "the id of another story",
        "Name stories by row.", _repeated(lambda story: story.example_id)),
    StoryCheck("CIM-T002", "key_differs_from_example_id", "a key that is not the id",
        "Correct the id.", _where(lambda story: story.key != story.example_id)),
    StoryCheck("CIM-T003", "id_suffix_disagrees_with_type", "a suffix of another type",
        "Correct one of the two.", _where(lambda story: _by_id(story)[1] != story.type)),
    StoryCheck("CIM-T004", "story_id_disagrees_with_example_id", "an id of another number",
        "Correct one of the two.", _where(lambda story: _by_id(story)[0] != story.story_id)),
    StoryCheck("CIM-T005", "type_disagrees_with_plausible", "a type that does not fit",
        "Correct one of the two.",
        _where(lambda story: (story.type is None) is not story.plausible)),
    StoryCheck("CIM-T006", "worker_id_of_one_story", "an unusual worker_id",
        "Is it another field's value?", _odd_worker),
    # Gold
    StoryCheck("CIM-T010", "plausible_but_has_breakpoint", "plausible with a conflict",
        "Correct one of the two.",
        _where(lambda story: story.plausible and story.breakpoint >= 0)),
    StoryCheck("CIM-T011", "plausible_false_without_breakpoint", "implausible, no conflict",
        "Add it.", _where(lambda story: not story.plausible and story.pair is None), "error"),
    StoryCheck("CIM-T012", "confl_not_before_breakpoint", "a conflict after its effect",
        "Correct it.",
        _where(lambda story: 0 <= story.breakpoint <= max(story.conflicting, default=-1)), "error"),
    StoryCheck("CIM-T013", "conflict_outside_story", "a conflict with no sentence",
        "Correct it.", _where(_outside), "error"),
    StoryCheck("CIM-T014", "confl_sents_nested", "nested conflicting sentences",
        "Write a flat list.",
        _where(lambda story: not all(isinstance(part, int) for part in story.confl_sents))),
    StoryCheck("CIM-T015", "confl_pairs_empty_though_implausible", "no conflict pair",
        "Write both sentences.",
        _where(lambda story: not story.plausible and not story.confl_pairs)),
    StoryCheck("CIM-T016", "confl_pairs_disagree", "a pair that says something else",
        "Correct one of the two.", _where(_pair_disagrees)),
    StoryCheck(UNKNOWN_STATE, "unknown_state", "a state that is none of the fourteen",
        f"Write one of: {', '.join(STATES)}.",
        _where(lambda story: story.state not in ((*STATES, "") if story.plausible else STATES)),
        "error", lambda story: story.state),
    StoryCheck("CIM-T018", "states_filled_on_plausible_story", "a state without a conflict",
        "Unused.", _where(lambda story: story.plausible and bool(story.state))),
    # Sentences
    StoryCheck("CIM-T020", "sentences_not_length", "a wrong number of sentences",
        "Add what is missing.",
        _where(lambda story: len(story.sentences) != story.length), "error"),
    StoryCheck("CIM-T021", "repeated_sentence_in_story", "a sentence twice in a story",
        "Change one.", _where(lambda story: len({*story.sentences}) < len(story.sentences))),
    StoryCheck("CIM-T022", "sentence_without_final_period", "no final period", "Add it.",
        _where(lambda story: not all(s.rstrip().endswith(_FINAL) for s in story.sentences))),
    StoryCheck("CIM-T023", "sentence_with_outer_whitespace", "blanks around a sentence",
        "Remove them.", _where(lambda story: any(s != s.strip() for s in story.sentences))),
    # States of sentences
    StoryCheck("CIM-T030", "states_not_one_per_sentence", "not one block for each sentence",
        "Add blocks.", _where(_blocks_missing)),
    StoryCheck("CIM-T031", "outer_spaces_in_entity", "blanks around an entity", "Remove them.",
        _where(lambda story: any(name != name.strip() for name in _entities(story)))),
    StoryCheck("CIM-T032", "human_entity_is_not_actor", "states of somebody who is not an actor",
        "Correct the name.", _unlisted("actor", lambda story: story.actor_names)),
    StoryCheck("CIM-T033", "object_entity_not_listed", "states of an unlisted object",
        "Correct one of the two.", _unlisted("object", lambda story: story.object_names)),
    StoryCheck("CIM-T034", "structural", "an attribute or a code that does not exist",
        "Correct it.", _where(_unknown_code)),
    StoryCheck("CIM-T035", "states_without_the_state", "no sentence has the state of the story",
        "Add it.", _where(_state_missing)),
    # How variants are made
    StoryCheck("CIM-T040", "order_not_a_swap", "not two sentences swapped",
        "Is that intended?",
        _variants(lambda one, base: made_as(one, base) == "order" and not is_swap(one, base))),
    StoryCheck("CIM-T041", "cloze_not_one_replacement", "not one sentence replaced",
        "Is that intended?",
        _variants(
            lambda one, base: made_as(one, base) == "cloze" and not is_replacement(one, base)
        )),
    StoryCheck("CIM-T042", "no_plausible_story", "variants without their plausible story",
        "Add it.", _baseless),
    StoryCheck("CIM-T043", "other_actor_or_objects", "an actor or objects of its own",
        "Use the base's.", _variants(_other_entities)),
    StoryCheck("CIM-T044", "repeated_variant", "the sentences of another story",
        "Remove one of them.", _repeated(lambda story: story.sentences)),
    StoryCheck("CIM-T045", "not_confirmed", "proposed and not confirmed",
        "Confirm it, or remove it.", _where(lambda story: PROPOSED in story.extra)),
)
# fmt: on

CHECKS: Mapping[str, StoryCheck] = {check.name: check for check in _ALL}
"""Every check by its name."""

_KEY_CHECK = "key_differs_from_example_id"
_OWN_CHECKS = (
    "states_not_one_per_sentence", "outer_spaces_in_entity", "human_entity_is_not_actor",
    "object_entity_not_listed", "states_without_the_state", "no_plausible_story",
    "other_actor_or_objects", "repeated_variant", "not_confirmed",
)  # fmt: skip
_V1_CHECKS = (
    _KEY_CHECK, "type_disagrees_with_plausible", "plausible_but_has_breakpoint",
    "plausible_false_without_breakpoint", "confl_not_before_breakpoint", "conflict_outside_story",
    "confl_sents_nested", "confl_pairs_disagree", "sentences_not_length",
    "states_not_one_per_sentence", "outer_spaces_in_entity", "human_entity_is_not_actor",
    "object_entity_not_listed", "structural",
)  # fmt: skip
_NATIVE = tuple(name for name in CHECKS if name != _KEY_CHECK)
CHECKED: Mapping[StoryFormat, tuple[str, ...]] = {
    "gita4calamita": tuple(name for name in _NATIVE if name not in _OWN_CHECKS),
    "gita-v1": _V1_CHECKS,
    "native": _NATIVE,
}
"""Which checks a format has: those that were made of the published files, and all for our own.

GITA v1 writes nested pairs, leaves those of order variants empty and names stories by key, so
that checks of the other form would report all of it.
"""

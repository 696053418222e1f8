"""What can be wrong with a file of stories; docs/stories.md has a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import Fault, Severity


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

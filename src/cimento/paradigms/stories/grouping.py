"""Corrections of published files, and the groups that stories are counted in.

Corrections are data, applied when asked for and named in the output. Order, cloze and plausible
stories are told apart in three ways, of which the output always says which one it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from cimento.errors import InputError, need_known
from cimento.paradigms.stories.suite import Story, StorySuite
from cimento.suites.model import JsonValue

_FILE = Path(__file__).parents[2] / "data" / "stories" / "corrections.json"


@dataclass(frozen=True, slots=True)
class Correction:
    """The errors of one story and their corrections.

    Attributes:
        row: of the story.
        example_id: of the story before correction, which must be found there.
        changes: field to its right value.
        reason: why.
        leave_out: whether the story is left out of recorded answers, because its questions
            depended on the error.
    """

    row: int
    example_id: str
    changes: Mapping[str, JsonValue]
    reason: str
    leave_out: bool = False

    @property
    def name(self) -> str:
        """The id and the row, such as ``18 (doc 54)``."""
        return f"{self.example_id} (doc {self.row})"


def corrections(name: str) -> tuple[Correction, ...]:
    """The corrections of a set.

    Raises:
        UsageError: there is no such set.
    """
    known = _load()
    seen = f"there is no set of corrections called {name!r}"
    need_known(name, known, where="--corrections", seen=seen)
    return known[name]


def applicable(stories: Sequence[Story]) -> str | None:
    """The set of corrections whose stories are all found in their rows; None where none is."""
    for name, entries in _load().items():
        if all(_fits(correction, stories) for correction in entries):
            return name
    return None


def correct(stories: Sequence[Story], name: str) -> tuple[Story, ...]:
    """The stories with a set of corrections applied.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    changed = list(stories)
    for correction in corrections(name):
        if not _fits(correction, stories):
            row_id = stories[correction.row].example_id if correction.row < len(stories) else None
            raise InputError(
                where=f"corrections {name}",
                seen=f"row {correction.row} holds {row_id!r} and not {correction.example_id!r}",
                todo="These corrections were made for another file; leave them out.",
            )
        # The names and types of the fields are those of our own data file, held by a test.
        changes = cast("dict[str, Any]", dict(correction.changes))
        changed[correction.row] = replace(changed[correction.row], **changes)
    return tuple(changed)


def correct_suite(suite: StorySuite, name: str) -> StorySuite:
    """A suite with a set of corrections applied, and saying so.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    done = (*suite.corrections, name)
    return replace(suite, stories=correct(suite.stories, name), corrections=done)


def left_out(name: str) -> frozenset[int]:
    """The rows that a set of corrections leaves out where recorded answers are scored."""
    return frozenset(correction.row for correction in corrections(name) if correction.leave_out)


def _fits(correction: Correction, stories: Sequence[Story]) -> bool:
    return (
        correction.row < len(stories)
        and stories[correction.row].example_id == correction.example_id
    )


@cache
def _load() -> dict[str, tuple[Correction, ...]]:
    sets = json.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: tuple(
            Correction(
                row=entry["row"],
                example_id=entry["example_id"],
                changes=entry["set"],
                reason=entry["reason"],
                leave_out=entry.get("leave_out", False),
            )
            for entry in content["corrections"]
        )
        for name, content in sets.items()
    }


GroupingName: TypeAlias = Literal["type", "paper_code", "corrected"]
Group: TypeAlias = Literal["order", "cloze", "plausible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """A division of stories.

    Attributes:
        name: ``type`` goes by the field of that name; ``paper_code`` by letters in the ids, as
            the paper's code; ``corrected`` by type after corrections.
        groups: row to its group; rows that are not in it are left out.
        implausible: rows that count at the later tiers.
        corrections: name of the set of corrections; empty for the other two.
    """

    name: GroupingName
    groups: Mapping[int, str]
    implausible: frozenset[int]
    corrections: str = ""

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.name.replace("_", " ")

    def rows(self, group: str | None = None, *, later: bool = False) -> list[int]:
        """The rows of a group, or all.

        Args:
            group: None for all.
            later: only those that count at the second and third tier.
        """
        return [
            row
            for row, label in self.groups.items()
            if (group is None or label == group) and (not later or row in self.implausible)
        ]


def by_type(stories: Sequence[Story]) -> Grouping:
    """By the field ``type``; stories without one are plausible."""
    return Grouping(
        name="type",
        groups={story.row: story.type or "plausible" for story in stories},
        implausible=_implausible(stories),
    )


def by_paper_code(stories: Sequence[Story]) -> Grouping:
    """By a letter O, else C, anywhere in the id; else plausible: as the paper's code did."""
    return Grouping(
        name="paper_code",
        groups={story.row: code_group(story.example_id) for story in stories},
        implausible=_implausible(stories),
    )


def by_corrected(stories: Sequence[Story], corrections: str) -> Grouping:
    """By type and plausibility after a set of corrections, without the stories it leaves out.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    out = left_out(corrections)
    kept = [story for story in correct(stories, corrections) if story.row not in out]
    return Grouping(
        name="corrected",
        groups={
            story.row: "plausible" if story.plausible else story.type or "plausible"
            for story in kept
        },
        implausible=_implausible(kept),
        corrections=corrections,
    )


def _implausible(stories: Sequence[Story]) -> frozenset[int]:
    return frozenset(story.row for story in stories if not story.plausible)


def code_group(example_id: str) -> str:
    """The group of a story by the letters in its id, as the paper's code finds it."""
    if "O" in example_id:
        return "order"
    return "cloze" if "C" in example_id else "plausible"

"""Named corrections of published files: data, applied when asked for, and said in the output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.stories.records import Story, StorySuite
from cimento.suites.model import JsonValue

_FILE = Path(__file__).parents[2] / "data" / "stories" / "corrections.json"


@dataclass(frozen=True, slots=True)
class Correction:
    """What is wrong in one story and what it should be.

    Attributes:
        row: of the story.
        example_id: of the story before correction, which must be found there.
        changes: field to its right value.
        reason: why.
        leave_out: leave the story out where recorded answers are scored, because what was asked
            about it depended on the error.
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
    if name not in known:
        raise UsageError(
            where="--corrections",
            seen=f"there is no set of corrections called {name!r}",
            todo=did_you_mean(name, known),
        )
    return known[name]


def applicable(stories: Sequence[Story]) -> str | None:
    """The set of corrections whose stories are all found in their rows; None where none is."""
    for name, known in _load().items():
        if all(_fits(each, stories) for each in known):
            return name
    return None


def correct(stories: Sequence[Story], name: str) -> tuple[Story, ...]:
    """The stories with a set of corrections applied.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    changed = list(stories)
    for each in corrections(name):
        if not _fits(each, stories):
            found = stories[each.row].example_id if each.row < len(stories) else None
            raise InputError(
                where=f"corrections {name}",
                seen=f"row {each.row} holds {found!r} and not {each.example_id!r}",
                todo="These corrections were made for another file; leave them out.",
            )
        # The names and types of the fields are those of our own data file, held by a test.
        changes = cast("dict[str, Any]", dict(each.changes))
        changed[each.row] = replace(changed[each.row], **changes)
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
    return frozenset(each.row for each in corrections(name) if each.leave_out)


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
                row=each["row"],
                example_id=each["example_id"],
                changes=each["set"],
                reason=each["reason"],
                leave_out=each.get("leave_out", False),
            )
            for each in content["corrections"]
        )
        for name, content in sets.items()
    }

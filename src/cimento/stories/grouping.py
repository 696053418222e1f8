"""Which stories are counted as order, cloze and plausible: three ways, always named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.stories.corrections import correct, left_out
from cimento.stories.records import Story

GroupingName: TypeAlias = Literal["type", "paper_code", "corrected"]
Group: TypeAlias = Literal["order", "cloze", "plausible"]

GROUPS: tuple[Group, ...] = ("cloze", "order", "plausible")


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
        """What tables call it."""
        return self.name.replace("_", " ")

    def rows(self, group: str | None = None, *, later: bool = False) -> list[int]:
        """The rows of a group, or all.

        Args:
            group: None for all.
            later: only those that count at the second and third tier.
        """
        return [
            row
            for row, each in self.groups.items()
            if (group is None or each == group) and (not later or row in self.implausible)
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

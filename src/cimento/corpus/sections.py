"""What drawn sentences are made into: pairs of sentences, or texts with a blank."""

from __future__ import annotations

from enum import StrEnum


class Section(StrEnum):
    """A section of a suite of connectives, named as `cimento corpus pairs --section` has it."""

    SENTENCES = "acceptability"
    BLANKS = "cloze"

    @property
    def to_fill(self) -> tuple[str, str]:
        """The columns that a person fills in."""
        if self is Section.SENTENCES:
            return "replacement", "grammaticality"
        return "plausible", "implausible"

    @property
    def ending(self) -> str:
        """What the ids of its items end with."""
        return "" if self is Section.SENTENCES else "cl"

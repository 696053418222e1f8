"""Connectives: inventories, where they stand in sentences, how often, and what replaces them."""

from enum import StrEnum


class DecisionKind(StrEnum):
    """A section of a suite of connectives, named as `cimento corpus pairs --section` has it."""

    SENTENCES = "acceptability"
    BLANKS = "cloze"

    @property
    def to_fill(self) -> tuple[str, str]:
        """The columns that a person fills in."""
        if self is DecisionKind.SENTENCES:
            return "replacement", "grammaticality"
        return "plausible", "implausible"

    @property
    def ending(self) -> str:
        """What the ids of its items end with."""
        return "" if self is DecisionKind.SENTENCES else "cl"

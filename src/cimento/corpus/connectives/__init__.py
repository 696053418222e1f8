"""Connectives: inventories, occurrences in sentences, frequencies and replacements."""

from enum import StrEnum


class DecisionKind(StrEnum):
    """A section of a suite of connectives, named as in `cimento corpus pairs --section`."""

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
        """The suffix of the ids of its items."""
        return "" if self is DecisionKind.SENTENCES else "cl"

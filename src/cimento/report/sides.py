"""The two sides of a comparison: their names, and the words for what differs."""

from __future__ import annotations

from dataclasses import dataclass

UNNAMED = ("before", "after")
"""The names of sides that differ neither in model nor in suite."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a comparison, and the words for what differs between them.

    Attributes:
        one: name of the first.
        other: name of the second.
        models: whether they are two models; otherwise one model before and after a change.
    """

    one: str
    other: str
    models: bool

    @property
    def change(self) -> str:
        """The name of the column of the difference, second minus first."""
        return "difference" if self.models else "change"

    @property
    def more(self) -> str:
        """The name of the items that only the second side gets right."""
        return f"only {self.other}" if self.models else "gained"

    @property
    def less(self) -> str:
        """The name of the items that only the first side gets right."""
        return f"only {self.one}" if self.models else "lost"

    @property
    def phrase(self) -> str:
        """Both sides, at the end of a title."""
        if self.models:
            return f"with {self.one} and with {self.other}"
        if (self.one, self.other) == UNNAMED:
            return "before and after"
        return f"before ({self.one}) and after ({self.other})"

    @property
    def direction(self) -> str:
        """A sentence on what is subtracted from what."""
        return f"{self.change}: {self.other} minus {self.one}"

    @property
    def directions(self) -> tuple[str, ...]:
        """Sentences on the columns of rates: the difference, and the items behind it."""
        if self.models:
            return (f"{self.direction}; above 0, more items are correct with {self.other}.",)
        return (
            f"{self.direction}; above 0, more items are correct after.",
            "gained: items incorrect before and correct after. lost: the reverse.",
        )

    @property
    def odds(self) -> str:
        """A sentence on the column of odds."""
        if self.models:
            return f"odds: items right only with {self.other} for each right only with {self.one}."
        return "odds: items gained for each item lost."

"""Records with an interval: what tables and texts need to know of them."""

from __future__ import annotations

from typing import Protocol


class HasInterval(Protocol):
    """A record with an interval."""

    @property
    def low(self) -> float | None:
        """The lower end; None where there is none."""

    @property
    def high(self) -> float | None:
        """The upper end."""


class HasReason(HasInterval, Protocol):
    """A record with an interval, or a reason why there is none: an estimate, a mean, a test."""

    @property
    def reason(self) -> str | None:
        """The reason why a number is not there; None or empty if all are."""

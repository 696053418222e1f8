"""Step: people."""

from __future__ import annotations

from cimento.app.frame import Visit, heading


def build(visit: Visit) -> None:
    """Build the page."""
    heading(visit.say("people.title"), level=1)

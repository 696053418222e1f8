"""A cloze suite as notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cloze.templates import expand_suite
from cimento.io.notebook import notebook_table

if TYPE_CHECKING:
    from cimento.cloze.records import ClozeSuite

ITEMS = 3
"""Items that are shown."""


def suite_html(suite: ClozeSuite) -> str:
    """The first items with their blanks and options, and what is known about the suite.

    Args:
        suite: written out, or made of templates.
    """
    items = expand_suite(suite).items
    rows = [
        (
            item.id,
            item.text,
            " / ".join(item.targets),
            ", ".join(option.text for option in item.options if option.role != "target"),
        )
        for item in items[:ITEMS]
    ]
    meta = suite.meta
    count = f"{len(items)} item" if len(items) == 1 else f"{len(items)} items"
    facts = (f"{suite.name}: {count}", meta.language, meta.phenomenon, meta.licence, meta.status)
    left = len(items) - ITEMS
    made = [f"Made of templates: {len(suite.templates)}."] if suite.templates else []
    return notebook_table(
        ("item", "text", "target", "other options"),
        rows,
        title=", ".join(filter(None, facts)),
        notes=[*([f"... and {left} more items"] if left > 0 else []), *made],
        labels=4,
    )

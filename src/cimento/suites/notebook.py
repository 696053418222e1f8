"""A suite as notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.notebook import table

if TYPE_CHECKING:
    from cimento.suites.model import Suite

ITEMS = 3
"""Items that are shown."""


def suite_html(suite: Suite) -> str:
    """The first items, what is predicted, and what is known about the suite."""
    rows = [
        (item.id, condition.name, " | ".join(region.text for region in condition.regions))
        for item in suite.items[:ITEMS]
        for condition in item.conditions
    ]
    meta = suite.meta
    facts = [meta.language, meta.phenomenon, meta.licence, meta.status]
    count = f"{len(suite.items)} item{'' if len(suite.items) == 1 else 's'}"
    left = len(suite.items) - ITEMS
    predicted = [
        f"prediction {number}: {each.formula} {each.comment}".rstrip()
        for number, each in enumerate(suite.predictions)
    ]
    notes = [*([f"... and {left} more items"] if left > 0 else []), *predicted]
    return table(
        ("item", "condition", "text"),
        rows,
        title=", ".join(each for each in (f"{suite.name}: {count}", *facts) if each),
        notes=notes or ["It predicts nothing."],
        labels=3,
    )

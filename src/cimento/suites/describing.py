"""Descriptions of suites for people: as text, and as HTML for notebooks."""

from __future__ import annotations

from cimento.errors import counted
from cimento.io.inline_markup import notebook_table
from cimento.suites.model import Suite, reviewers


def describe_suite(suite: Suite, items: int) -> str:
    """A description of a suite: its metadata, its predictions and its first items.

    Args:
        suite: a suite of regions.
        items: number of items shown.
    """
    meta = suite.meta
    facts = [
        ("language", meta.language),
        ("phenomenon", meta.phenomenon),
        ("version", meta.version),
        ("licence", meta.licence),
        ("status", meta.status),
        ("reviewers", reviewers(meta)),
        ("citation", meta.citation),
        ("items", str(len(suite.items))),
        ("conditions", ", ".join(suite.condition_names)),
        ("regions", ", ".join(f"{i} {name}" for i, name in enumerate(suite.region_names, 1))),
        ("metric", suite.metric),
    ]
    lines = [meta.name, *(f"  {label:<11}{value}" for label, value in facts if value)]
    for number, prediction in enumerate(suite.predictions):
        name = prediction.name or str(number)
        lines.append(f"  prediction {name}  {prediction.formula}  {prediction.comment}".rstrip())
    for item in suite.items[:items]:
        lines.append(f"  item {item.id}")
        lines += [
            f"    {condition.name:<20} {' | '.join(region.text for region in condition.regions)}"
            for condition in item.conditions
        ]
    return "\n".join(lines)


ITEMS = 3
"""Number of items shown."""


def suite_html(suite: Suite) -> str:
    """The first items, the predictions and the metadata of a suite, in HTML."""
    rows = [
        (item.id, condition.name, " | ".join(region.text for region in condition.regions))
        for item in suite.items[:ITEMS]
        for condition in item.conditions
    ]
    meta = suite.meta
    facts = [meta.language, meta.phenomenon, meta.licence, meta.status]
    count = counted(len(suite.items), "item")
    left = len(suite.items) - ITEMS
    predicted = [
        f"prediction {each.name or number}: {each.formula} {each.comment}".rstrip()
        for number, each in enumerate(suite.predictions)
    ]
    notes = [*([f"... and {left} more items"] if left > 0 else []), *predicted]
    return notebook_table(
        ("item", "condition", "text"),
        rows,
        title=", ".join(fact for fact in (f"{suite.name}: {count}", *facts) if fact),
        notes=notes or ["It predicts nothing."],
        labels=3,
    )

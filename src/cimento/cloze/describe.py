"""A cloze suite as text: what it is, and its first items with their targets filled in."""

from __future__ import annotations

from collections import Counter

from cimento.cloze.judging.clusters import clustering
from cimento.cloze.records import ClozeItem, ClozeSuite
from cimento.cloze.templates import expand_suite
from cimento.suites.model import reviewers

_ROLE_MARKS = {"target": "", "plausible": "+ ", "implausible": "* "}


def describe_cloze(suite: ClozeSuite, items: int) -> str:
    """What ``cimento suites show`` prints.

    Args:
        suite: the suite.
        items: how many of its items are shown.
    """
    expansion = expand_suite(suite)
    meta = suite.meta
    phenomena = Counter(item.columns.get("phenomenon", "") for item in expansion.items)
    named = ", ".join(f"{name} ({count})" for name, count in phenomena.items() if name)
    facts = [
        ("kind", suite.kind),
        ("language", meta.language),
        ("phenomenon", meta.phenomenon or named),
        ("version", meta.version),
        ("licence", meta.licence),
        ("status", meta.status),
        ("reviewers", reviewers(meta)),
        ("citation", meta.citation),
        ("templates", str(len(suite.templates)) if suite.templates else ""),
        ("sentences", str(len(suite.multiwords)) if suite.multiwords else ""),
        ("items", str(len(expansion.items))),
        ("clusters", _clusters(expansion.items, suite.cluster)),
        ("shared", _shared(len(expansion.shared))),
    ]
    lines = [meta.name, *(f"  {label:<11}{value}" for label, value in facts if value)]
    return "\n".join([*lines, *map(_item, expansion.items[:items])])


def _clusters(items: tuple[ClozeItem, ...], column: str) -> str:
    if not column:
        return ""
    found = clustering(item.columns[column] for item in items)
    return f"{found.clusters} by {column}; the largest, {found.largest!r}, has {found.in_largest}"


def _shared(number: int) -> str:
    forms = "1 form" if number == 1 else f"{number} forms"
    return f"{forms} in several categories, one item each" if number else ""


def _item(item: ClozeItem) -> str:
    options = [_ROLE_MARKS[option.role] + "/".join(option.spellings) for option in item.options]
    shown = f"    {', '.join(options)}" if options else ""
    return "\n".join(filter(None, [f"  item {item.id}", f"    {item.text}", shown]))

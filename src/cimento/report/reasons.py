"""Reasons why numbers are undefined or have no interval, those of many cells together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORTAGE = re.compile(r"\d+ (\w+?)s?: an interval needs (\d+) or more")
"""The reason of `cimento.statistics.design.shortage`, and of the same for suites."""


def reasons_together(reasons: Iterable[str]) -> str:
    """Reasons in one text, each once; those that differ only in their subject share the rest.

    ``2 values: an interval needs 5 or more`` and the same of 4 values become ``fewer than 5
    items``; ``x: undefined`` and ``y: undefined`` become ``x or y: undefined``.
    """
    subjects: dict[str, list[str]] = {}
    for reason in dict.fromkeys(_without_count(reason) for reason in reasons if reason):
        subject, colon, rest = reason.partition(": ")
        subjects.setdefault(colon + rest, []).append(subject)
    return "; ".join(
        " or ".join(named) + rest if rest else "; ".join(named) for rest, named in subjects.items()
    )


def _without_count(reason: str) -> str:
    """A reason against an interval as many cells share it: without how few units a cell has."""
    if short := _SHORTAGE.fullmatch(reason):
        noun, fewest = short.groups()
        return f"fewer than {fewest} {'item' if noun == 'value' else noun}s"
    return reason


def missing(numbers: Iterable[tuple[float | None, float | None, str | None]]) -> tuple[str, ...]:
    """Sentences with the reasons why some values are undefined and why some have no interval.

    Args:
        numbers: value, lower end of its interval, and the reason why one of them is None.
    """
    bare = [(value, reason or "") for value, low, reason in numbers if low is None]
    lacking = {
        "value": reasons_together(reason for value, reason in bare if value is None),
        "interval": reasons_together(reason for value, reason in bare if value is not None),
    }
    return tuple(f"No {name}: {reasons}." for name, reasons in lacking.items() if reasons)

"""Estimates with their intervals, as an analysis has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.statistics.response_estimates import Locations


@dataclass(frozen=True, slots=True)
class Range:
    """An estimate with its 95% interval, in logits unless it is said otherwise."""

    value: float
    low: float
    high: float


def range_at(located: Locations | None, place: int | tuple[int, ...]) -> Range | None:
    """One estimate; None where there are none."""
    if located is None:
        return None
    return Range(*(float(part[place]) for part in (located.value, located.low, located.high)))


def ranges_of(located: Locations, names: Iterable[str]) -> dict[str, Range]:
    """The estimates by name."""
    ends = zip(names, located.value, located.low, located.high, strict=True)
    return {name: Range(float(v), float(low), float(high)) for name, v, low, high in ends}

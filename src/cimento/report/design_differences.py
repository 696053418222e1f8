"""Paired differences of two models' DDs: the records, their table, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.records.effects import side_of
from cimento.report import formatting
from cimento.report.findings_pairs import joined
from cimento.report.formatting import interval, number, p_value
from cimento.report.grid import BLANK, EstimateCell, Grid

if TYPE_CHECKING:
    from cimento.statistics.means import Mean

_number = partial(formatting.number, digits=2, absent=BLANK)
_p = partial(formatting.p_number, absent=BLANK)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDifference:
    """The DDs of two models on one phenomenon of a design, over the items that both have.

    Attributes:
        suite: its name.
        measure: of the values.
        phenomenon: within the suite.
        unit: of the DDs.
        n: items with both.
        first: label of the one model.
        second: of the other.
        first_dd: mean DD of the first; None without items.
        second_dd: of the second.
        change: second minus first, with its interval and test; undefined, with the reason, where
            the two are on different scales.
        corrected: p, corrected over all of these that were made together.
        family: number of these with a test.
    """

    suite: str
    measure: str
    phenomenon: str
    unit: str
    n: int
    first: str
    second: str
    first_dd: float | None
    second_dd: float | None
    change: Mean
    corrected: float | None = None
    family: int = 1


def design_differences_grid(
    differences: Sequence[DesignDifference], *, correction: str = "holm"
) -> Grid:
    """A table of the differences of DDs, one row for each phenomenon and pair of models.

    Args:
        differences: to be shown.
        correction: of p, which a header names.
    """
    methods = dict.fromkeys(one.change.method for one in differences if one.change.p is not None)
    tests = f"Intervals of 95% and p: {' or '.join(filter(None, methods))}." if methods else ""
    family = max((one.family for one in differences), default=0)
    over = f"p ({correction}) is over {family} tests." if family > 1 else ""
    told = {name: len({getattr(d, name) for d in differences}) > 1 for name in _IF_SEVERAL}
    names = dict.fromkeys((one.first, one.second) for one in differences)
    first, second = next(iter(names)) if len(names) == 1 else ("first", "second")
    if any(one.change.value is not None for one in differences):
        title = f"DD, paired by item: {second} minus {first}."
        above = "Above 0, the second has the larger effect."
    else:
        title, above = "DD of each model, over the items that both have; not compared.", ""
    return Grid.of(
        differences,
        {
            "suite": lambda one: one.suite,
            "measure": lambda one: one.measure,
            "phenomenon": lambda one: one.phenomenon,
            "first": lambda one: one.first,
            "second": lambda one: one.second,
            "n": lambda one: one.n,
            f"DD {first}": lambda one: _number(one.first_dd),
            f"DD {second}": lambda one: _number(one.second_dd),
            "change": lambda one: EstimateCell.of(one.change.value, one.change, one.n, digits=2),
            f"p ({correction})": lambda one: _p(one.corrected),
            "reason": lambda one: one.change.reason,
        },
        title=title,
        labels=1 + sum(told.values()),
        remarks=1,
        notes=tuple(filter(None, (above, tests, over))),
        without=[name for name, shown in told.items() if not shown],
    )


_IF_SEVERAL = ("suite", "measure", "first", "second")
"""Columns that a table has if they differ within it."""


def said_of_differences(differences: Sequence[DesignDifference]) -> Iterator[str]:
    """Which of few models have the larger DD in which phenomena, and what is not known.

    Args:
        differences: of every two models, on one suite.
    """
    sides = grouped((side_of(one.change.value, one.corrected), one) for one in differences)
    for side in ("above", "below"):
        pairs = grouped(((one.first, one.second), _size(one)) for one in sides.get(side, ()))
        for names, sizes in pairs.items():
            smaller, larger = names if side == "above" else reversed(names)
            yield f"{larger} has a larger DD than {smaller} in {joined(sizes)}"
    if unsure := sides.get("open"):
        lowest = min(unsure, key=lambda one: one.corrected or 0.0)
        other = "other " if {"above", "below"} & sides.keys() else ""
        p = p_value(lowest.corrected or 0.0)
        yield (
            f"No {other}difference of DDs is significant (lowest: {p}, {lowest.first} and"
            f" {lowest.second} in {lowest.phenomenon})"
        )
    without = sides.get("undefined", ())
    for why in dict.fromkeys(one.change.reason for one in without if one.change.reason):
        pairs_without = dict.fromkeys(
            f"{one.first} and {one.second}" for one in without if one.change.reason == why
        )
        yield f"The DDs of {joined([*pairs_without])} are not compared: {why}"


def _size(one: DesignDifference) -> str:
    """The phenomenon, with the size of the difference, its interval and p."""
    change = one.change
    value, low, high = change.value or 0.0, change.low, change.high
    if value < 0 and low is not None and high is not None:
        low, high = -high, -low
    unit = f" {one.unit}" if one.unit else ""
    ends = interval(low, high, digits=2, absent="without interval")
    by = f"by {number(abs(value), digits=2)}{unit} {ends}, {p_value(one.corrected or 0.0)}"
    return f"{one.phenomenon} ({by})"

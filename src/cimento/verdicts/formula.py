"""What a formula says about one item: pass, fail, tie or unscored, and by how much.

Comparisons are made in the unit of the source, so that a tie is float64 equality of the two
sides as they were summed: the numbers in a formula are converted to that unit, never the measured
values.

``&`` takes the first of fail, unscored, tie, pass that occurs among its parts: a part that fails
decides, whatever else is missing. ``|`` is its mirror image: pass, unscored, tie, fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from cimento.measures import BITS_PER_NAT, Missing, Unit, Value, total
from cimento.suites.formula import (
    Comparison,
    Connective,
    Formula,
    Number,
    Quantity,
    Reference,
    canonical,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
Kind: TypeAlias = Literal["pass", "fail", "tie", "unscored"]
Amount = TypeVar("Amount", float, FloatArray)

ABSOLUTE_TOLERANCE = 1e-3
RELATIVE_TOLERANCE = 1e-5

_ORDER: Mapping[Connective, tuple[Kind, ...]] = {
    "&": ("fail", "unscored", "tie", "pass"),
    "|": ("pass", "unscored", "tie", "fail"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a formula says about one item.

    Attributes:
        verdict: ``pass``, ``fail``, ``tie`` or ``unscored``.
        margin_bits: how clearly, in bits, positive in favour of the prediction: the difference
            of the two sides, the smallest over ``&``, the largest over ``|``, the tolerance minus
            the absolute difference for ``=``; None where a part has no value.
        reason: why the margin is None.
    """

    verdict: Kind
    margin_bits: float | None
    reason: str | None = None


def evaluate(
    formula: Formula,
    values: Mapping[str, Sequence[Value]],
    *,
    source_unit: Unit = "bits",
    unit: Unit = "bits",
) -> Outcome:
    """What a formula says about one item.

    Args:
        formula: as `parse` gives it.
        values: condition to the values of its regions, in order.
        source_unit: unit of the values.
        unit: unit in which the formula's numbers and the tolerance of ``=`` are meant:
            ``a = b`` holds where |a - b| <= 0.001 + 0.00001 |b| (numpy.isclose's rule with
            SyntaxGym's tolerances).
    """
    if isinstance(formula, Comparison):
        return _compare(formula, values, source_unit=source_unit, unit=unit)
    left = evaluate(formula.left, values, source_unit=source_unit, unit=unit)
    right = evaluate(formula.right, values, source_unit=source_unit, unit=unit)
    return combine((left, right), formula.operator)


def combine(outcomes: Sequence[Outcome], operator: Connective) -> Outcome:
    """What ``&`` or ``|`` makes of the outcomes of its parts.

    Args:
        outcomes: one or more.
        operator: which of the two.
    """
    order = _ORDER[operator]
    verdict = min((each.verdict for each in outcomes), key=order.index)
    unknown = next((each for each in outcomes if each.margin_bits is None), None)
    if unknown is not None:
        return Outcome(verdict, None, unknown.reason)
    margins = [each.margin_bits for each in outcomes if each.margin_bits is not None]
    return Outcome(verdict, min(margins) if operator == "&" else max(margins))


def quantity(
    node: Quantity, value_of: Callable[[Reference], Amount], *, scale: float = 1.0
) -> Amount | float:
    """The value of a sum, evaluated from left to right on numbers or on arrays of them.

    Args:
        node: the sum.
        value_of: gives the value of a region.
        scale: what the numbers in the formula are multiplied by.
    """
    match node:
        case Reference():
            return value_of(node)
        case Number(value):
            return value * scale
        case _:
            left = quantity(node.left, value_of, scale=scale)
            right = quantity(node.right, value_of, scale=scale)
            return left + right if node.operator == "+" else left - right


def _compare(
    comparison: Comparison,
    values: Mapping[str, Sequence[Value]],
    *,
    source_unit: Unit,
    unit: Unit,
) -> Outcome:
    known: dict[Reference, float] = {}
    for reference in references(comparison):
        value = _look_up(reference, values)
        if isinstance(value, Missing):
            return Outcome("unscored", None, f"{canonical(reference)}: {value.reason}")
        known[reference] = value
    scale = _conversion(unit, source_unit)
    left = quantity(comparison.left, known.__getitem__, scale=scale)
    right = quantity(comparison.right, known.__getitem__, scale=scale)
    match comparison.operator:
        case "<":
            margin = right - left
        case ">":
            margin = left - right
        case "=":
            tolerance = ABSOLUTE_TOLERANCE * scale + RELATIVE_TOLERANCE * abs(right)
            margin = tolerance - abs(left - right)
    margin_bits = margin * _conversion(source_unit, "bits")
    if not math.isfinite(margin_bits):
        return Outcome("unscored", None, f"{canonical(comparison)} compares {left} with {right}")
    if left == right and comparison.operator != "=":
        return Outcome("tie", 0.0)
    holds = margin >= 0 if comparison.operator == "=" else margin > 0
    return Outcome("pass" if holds else "fail", margin_bits)


def _look_up(reference: Reference, values: Mapping[str, Sequence[Value]]) -> Value:
    regions = values.get(reference.condition)
    if regions is None:
        return Missing("there is no such condition in this item")
    if reference.region != "*":
        if reference.region > len(regions):
            return Missing("there is no such region in this item")
        return regions[reference.region - 1]
    known: list[float] = []
    for number, value in enumerate(regions, start=1):
        if isinstance(value, Missing):
            return value if len(regions) == 1 else Missing(f"region {number}: {value.reason}")
        known.append(value)
    return total(known)


def _conversion(source: Unit, target: Unit) -> float:
    """What turns a number of one unit into one of the other."""
    if source == target:
        return 1.0
    return BITS_PER_NAT if source == "nats" else 1 / BITS_PER_NAT

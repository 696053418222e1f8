"""Formulas in words: which region of which condition should be less surprising than which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from cimento.suites.formula import (
    Arithmetic,
    Comparison,
    Junction,
    Number,
    Reference,
    parse,
    signed_values,
)

if TYPE_CHECKING:
    from cimento.suites.formula import Formula, Quantity, RegionNumber


@dataclass(frozen=True, slots=True)
class _Part:
    """Regions of one condition, added to a side of a comparison or taken from it."""

    sign: int
    condition: str
    regions: tuple[RegionNumber, ...]


def in_words(formula: str, regions: Sequence[str]) -> str:
    """A formula in words, such as ``verb: match less surprising than mismatch``.

    A difference of differences is told as a rise between conditions that is larger than another;
    what is neither this nor a comparison of two conditions keeps its signs.

    Args:
        formula: the formula.
        regions: names of the suite's regions.

    Raises:
        FormulaError: the text is not a formula.
    """
    return _formula(parse(formula), regions)


def _formula(node: Formula, names: Sequence[str]) -> str:
    if isinstance(node, Comparison):
        return _comparison(node, names)
    joined = "and" if node.operator == "&" else "or"
    sides = (
        f"({_formula(side, names)})"
        if isinstance(side, Junction) and side.operator != node.operator
        else _formula(side, names)
        for side in (node.left, node.right)
    )
    return f" {joined} ".join(sides)


def _comparison(node: Comparison, names: Sequence[str]) -> str:
    """The words of a comparison, after the name of the region if all its sides are about one."""
    more, less = (node.right, node.left) if node.operator == "<" else (node.left, node.right)
    parts = [*_parts(more, 1), *_parts(less, -1)]
    least = _constant(less) - _constant(more)
    regions = {part.regions for part in parts}
    alone = len(regions) == 1
    place = f"{_region(regions.pop(), names)}: " if alone else ""

    def said(part: _Part) -> str:
        return part.condition if alone else f"{_region(part.regions, names)} of {part.condition}"

    if node.operator == "=" or least:
        return _with_signs(node, names)
    raised = [part for part in parts if part.sign > 0]
    lowered = [part for part in parts if part.sign < 0]
    if len(raised) == len(lowered) == 1:
        high, low = said(raised[0]), said(lowered[0])
        if node.operator == "<":
            return f"{place}{low} less surprising than {high}"
        return f"{place}{high} more surprising than {low}"
    rises = _rises(parts)
    if rises is None:
        return _with_signs(node, names)
    start, end, other_start, other_end = map(said, rises)
    return (
        f"{place}surprisal rises more from {start} to {end} than from {other_start} to {other_end}"
    )


def _rises(parts: Sequence[_Part]) -> tuple[_Part, _Part, _Part, _Part] | None:
    """The ends of the larger and the smaller rise of a difference of differences; else None."""
    signs = [part.sign for part in parts]
    if signs == [1, -1, -1, 1]:
        return parts[1], parts[0], parts[3], parts[2]
    return (parts[3], parts[2], parts[1], parts[0]) if signs == [-1, 1, 1, -1] else None


def _parts(node: Quantity, sign: int) -> Iterator[_Part]:
    """The references of a sum, those of one condition and sign in a row taken together."""
    leaves = (
        (sign, leaf) for sign, leaf in signed_values(node, sign) if isinstance(leaf, Reference)
    )
    for (one, condition), pairs in groupby(leaves, key=lambda pair: (pair[0], pair[1].condition)):
        yield _Part(one, condition, tuple(reference.region for _, reference in pairs))


def _constant(node: Quantity) -> float:
    return sum(sign * leaf.value for sign, leaf in signed_values(node) if isinstance(leaf, Number))


def _region(regions: Sequence[RegionNumber], names: Sequence[str]) -> str:
    """The names of some regions; the whole sentence where they are all that a suite has."""
    if "*" in regions or len(names) == 1:
        return "whole sentence"
    return " + ".join(_name(number, names) for number in regions if number != "*")


def _name(number: int, names: Sequence[str]) -> str:
    name = names[number - 1] if number <= len(names) else ""
    return name if name and not name.isdigit() else f"region {number}"


def _with_signs(node: Comparison, names: Sequence[str]) -> str:
    """A comparison with its signs, and the names of regions in the place of their numbers."""
    left, right = (_quantity(side, names) for side in (node.left, node.right))
    return f"surprisal: {left} {node.operator} {right}"


def _quantity(node: Quantity, names: Sequence[str], *, inner: bool = False) -> str:
    match node:
        case Reference(region, condition):
            return f"{_region((region,), names)} of {condition}"
        case Number(value):
            return f"{value:g}"
        case Arithmetic(operator, left, right):
            first = _quantity(left, names)
            second = _quantity(right, names, inner=operator == "-")
            return f"({first} {operator} {second})" if inner else f"{first} {operator} {second}"

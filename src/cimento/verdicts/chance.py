"""How often a prediction would hold by chance.

By chance means: the values of all regions are drawn independently from one standard normal
distribution. The draws come in antithetic pairs, x and -x (Hammersley and Morton 1956,
doi:10.1017/S0305004100031455), so that a single inequality has a chance of exactly 1/2.

That says something only of predictions which ask for the same whatever the scale and the mean of
the values. There is no chance level where a formula has ``=``, whose tolerance is absolute, or a
number other than 0, or compares sums of different numbers of regions.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.suites.formula import (
    Comparison,
    Number,
    Reference,
    comparisons,
    numbers,
    references,
)
from cimento.verdicts.formula import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from cimento.suites.formula import Formula, Quantity
    from cimento.verdicts.formula import FloatArray

    BoolArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

PAIRS = 1 << 17
"""Antithetic pairs drawn; the standard error of a chance level is then below 0.001."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How often a prediction would hold by chance.

    Attributes:
        level: between 0 and 1; None where it is not defined.
        reason: why it is not.
    """

    level: float | None
    reason: str | None = None


@functools.lru_cache(maxsize=512)
def chance_level(
    formulas: tuple[Formula, ...], *, n_regions: int, seed: int, pairs: int = PAIRS
) -> Chance:
    """The chance that all of some formulas hold together; remembered, as suites repeat formulas.

    Args:
        formulas: one prediction, or all that are joined to a conjunction.
        n_regions: number of regions of each condition, which ``*`` sums over.
        seed: of the simulation.
        pairs: number of antithetic pairs drawn.
    """
    if not formulas:
        return Chance(None, "there is no prediction")
    for formula in formulas:
        reason = _undefined(formula, n_regions)
        if reason:
            return Chance(None, reason)
    draws = _draw(formulas, n_regions=n_regions, seed=seed, pairs=pairs)
    held = 0
    for sign in (1.0, -1.0):
        side = {reference: sign * values for reference, values in draws.items()}
        together = _holds(formulas[0], side)
        for formula in formulas[1:]:
            together &= _holds(formula, side)
        held += int(together.sum())
    return Chance(held / (2 * pairs))


def _undefined(formula: Formula, n_regions: int) -> str | None:
    """Why a formula has no chance level."""
    if any(number != 0 for number in numbers(formula)):
        return "the prediction has a number in it, so its chance depends on the scale of the values"
    for comparison in comparisons(formula):
        if comparison.operator == "=":
            return "the prediction has an '=', so its chance depends on the scale of the values"
        if _weight(comparison.left, n_regions) != _weight(comparison.right, n_regions):
            return (
                "the prediction compares sums of different numbers of regions, "
                "so its chance depends on the mean of the values"
            )
    return None


def _weight(node: Quantity, n_regions: int) -> int:
    """How many region values a sum adds, less those it subtracts."""
    match node:
        case Number():
            return 0
        case Reference():
            return n_regions if node.region == "*" else 1
        case _:
            left, right = _weight(node.left, n_regions), _weight(node.right, n_regions)
            return left + right if node.operator == "+" else left - right


def _draw(
    formulas: Iterable[Formula], *, n_regions: int, seed: int, pairs: int
) -> dict[Reference, FloatArray]:
    """Normal values for every region value that the formulas name."""
    import numpy as np

    generator = np.random.default_rng(seed)
    named = {reference for formula in formulas for reference in references(formula)}
    whole = {reference.condition for reference in named if reference.region == "*"}
    single = {(each.condition, each.region) for each in named if each.region != "*"}
    single |= {(name, number) for name in whole for number in range(1, n_regions + 1)}
    # Sorted, so that the draws depend on the seed and not on the order of a set.
    draws = {
        Reference(number, name): generator.standard_normal(pairs)
        for name, number in sorted(single, key=lambda each: (each[0], int(each[1])))
    }
    for name in sorted(whole):
        regions = [draws[Reference(number, name)] for number in range(1, n_regions + 1)]
        draws[Reference("*", name)] = np.sum(regions, axis=0)
    return draws


def _holds(formula: Formula, draws: Mapping[Reference, FloatArray]) -> BoolArray:
    """In which draws a formula without ``=`` holds; a tie does not count."""
    import numpy as np

    if isinstance(formula, Comparison):
        left = quantity(formula.left, draws.__getitem__)
        right = quantity(formula.right, draws.__getitem__)
        return np.less(left, right) if formula.operator == "<" else np.greater(left, right)
    join = np.logical_and if formula.operator == "&" else np.logical_or
    return join(_holds(formula.left, draws), _holds(formula.right, draws))

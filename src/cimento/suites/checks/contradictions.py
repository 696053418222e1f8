"""Contradictions between predictions, whose conjunction says nothing about a model.

In a published example, one prediction requires a value to be smaller than another, and a second one
requires the two to be equal. Whether a set of linear inequalities has a solution is decided
exactly, by Fourier-Motzkin elimination (Dantzig and Eaves 1973, J. Combinatorial Theory A 14,
288-297), with ``=`` read as exact equality.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from cimento.suites.formula import Comparison, Number, comparisons, parse, signed_values
from cimento.suites.naming import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cimento.suites import Suite
    from cimento.suites.formula import Formula

Variable: TypeAlias = tuple[str, int]
"""A variable: condition and number of a region."""

MOST_BRANCHES = 256
MOST_INEQUALITIES = 512
MOST_SYSTEMS = 10_000
"""Largest number of systems solved for a suite; a hundred predictions have 4,950 pairs."""


@dataclass(frozen=True, slots=True)
class _Inequality:
    """The inequality ``sum of terms + constant > 0``, or ``>= 0`` if it is not strict."""

    terms: frozenset[tuple[Variable, Fraction]]
    constant: Fraction
    strict: bool


def contradictions(suite: Suite) -> list[str]:
    """The predictions of a suite that can never hold, alone or in pairs, as one sentence each.

    Formulas that are too large to decide are passed over.

    Raises:
        FormulaError: a prediction cannot be read.
    """
    trees = [parse(prediction.formula) for prediction in suite.predictions]
    names = [prediction.name for prediction in named(suite.predictions)]
    n_regions = len(suite.region_names)
    possible = []
    messages = []
    for number, tree in enumerate(trees):
        if can_hold([tree], n_regions=n_regions):
            possible.append(number)
        else:
            messages.append(f"The prediction {names[number]!r} can never hold{_exception([tree])}.")
    left = MOST_SYSTEMS
    for pair in combinations(possible, 2):
        both = [trees[number] for number in pair]
        first, second = (names[number] for number in pair)
        left -= prod(min(MOST_BRANCHES, len(_branches(tree))) for tree in both)
        if left < 0:
            break
        if not can_hold(both, n_regions=n_regions):
            messages.append(
                f"The predictions {first!r} and {second!r} contradict each other: no item can pass "
                f"both{_exception(both)}. Read them one by one, not as a conjunction."
            )
    if not messages and not can_hold(trees, n_regions=n_regions):
        messages.append(
            f"The {len(trees)} predictions can never hold together{_exception(trees)}. "
            "Read them one by one, not as a conjunction."
        )
    return messages


def can_hold(formulas: Sequence[Formula], *, n_regions: int) -> bool:
    """Whether there are region values for which all the formulas hold.

    Args:
        formulas: syntax trees from `parse`; ``=`` is read as exact equality.
        n_regions: number of regions of each condition, which ``*`` sums over.

    Returns:
        False only where it is certain that there are no such values.
    """
    alternatives = [_branches(formula) for formula in formulas]
    if prod(map(len, alternatives)) > MOST_BRANCHES:
        return True
    return any(
        _solvable(
            inequality
            for branch in chosen
            for comparison in branch
            for inequality in _inequalities(comparison, n_regions)
        )
        for chosen in product(*alternatives)
    )


def _exception(formulas: Iterable[Formula]) -> str:
    """The remark that must be added because ``=`` has a tolerance."""
    if any(
        comparison.operator == "=" for formula in formulas for comparison in comparisons(formula)
    ):
        return " (but for differences within the tolerance of '=')"
    return ""


def _branches(formula: Formula) -> list[list[Comparison]]:
    """The alternatives of a formula, each a list of comparisons that must all hold."""
    if isinstance(formula, Comparison):
        return [[formula]]
    left, right = _branches(formula.left), _branches(formula.right)
    if formula.operator == "|":
        return (left + right)[: MOST_BRANCHES + 1]
    return [a + b for a, b in product(left, right)][: MOST_BRANCHES + 1]


def _inequalities(comparison: Comparison, n_regions: int) -> list[_Inequality]:
    """A comparison as inequalities: one, or two for ``=``."""
    sign = 1 if comparison.operator == ">" else -1
    coefficients: dict[Variable, Fraction] = defaultdict(Fraction)
    constant = Fraction(0)
    for factor, leaf in chain(
        signed_values(comparison.left, sign), signed_values(comparison.right, -sign)
    ):
        if isinstance(leaf, Number):
            constant += factor * Fraction(leaf.value)
        else:
            for number in range(1, n_regions + 1) if leaf.region == "*" else [leaf.region]:
                coefficients[leaf.condition, number] += factor
    if comparison.operator != "=":
        return [_inequality(coefficients, constant, strict=True)]
    opposite = {variable: -value for variable, value in coefficients.items()}
    return [
        _inequality(coefficients, constant, strict=False),
        _inequality(opposite, -constant, strict=False),
    ]


def _inequality(
    coefficients: Mapping[Variable, Fraction], constant: Fraction, *, strict: bool
) -> _Inequality:
    """An inequality without zero terms, scaled so that equal ones look equal."""
    terms = {variable: value for variable, value in coefficients.items() if value}
    scale = abs(terms[min(terms)]) if terms else Fraction(1)
    return _Inequality(
        frozenset((variable, value / scale) for variable, value in terms.items()),
        constant / scale,
        strict,
    )


def _solvable(inequalities: Iterable[_Inequality]) -> bool:
    """Whether all inequalities can hold, decided by eliminating one variable after the other."""
    system = set(inequalities)
    while len(system) <= MOST_INEQUALITIES:
        constants = {inequality for inequality in system if not inequality.terms}
        if any(
            constant.constant < 0 or (constant.strict and constant.constant == 0)
            for constant in constants
        ):
            return False
        system -= constants
        if not system:
            return True
        system = _eliminate(system)
    return True


def _eliminate(system: set[_Inequality]) -> set[_Inequality]:
    """A system without one of the variables, solvable if and only if the given system is."""
    lower: dict[Variable, list[_Inequality]] = defaultdict(list)
    upper: dict[Variable, list[_Inequality]] = defaultdict(list)
    for inequality in system:
        for variable, value in inequality.terms:
            (lower if value > 0 else upper)[variable].append(inequality)
    # The variable that makes the fewest new inequalities is eliminated; ties go by name.
    variable = min(
        lower.keys() | upper.keys(),
        key=lambda name: (len(lower.get(name, ())) * len(upper.get(name, ())), name),
    )
    above, below = lower.get(variable, []), upper.get(variable, [])
    kept = system.difference(above, below)
    return kept | {_cancel(variable, a, b) for a, b in product(above, below)}


def _cancel(variable: Variable, a: _Inequality, b: _Inequality) -> _Inequality:
    """The inequality without the variable that two imply which have it with opposite signs."""
    left, right = dict(a.terms), dict(b.terms)
    factor = -left[variable] / right[variable]
    coefficients: dict[Variable, Fraction] = defaultdict(Fraction, left)
    for name, value in right.items():
        coefficients[name] += factor * value
    return _inequality(coefficients, a.constant + factor * b.constant, strict=a.strict or b.strict)

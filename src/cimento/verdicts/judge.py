"""What every prediction of a suite says of every item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.errors import FormulaError, did_you_mean
from cimento.suites.formula import parse, references
from cimento.verdicts.formula import ItemValues, Judged, evaluate_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.measures import Unit
    from cimento.measures.regions import RegionColumns
    from cimento.suites.formula import Formula
    from cimento.suites.model import Suite


def judged_items(
    suite: Suite, trees: Sequence[Formula], columns: RegionColumns, *, unit: Unit
) -> tuple[Judged, ...]:
    """What each prediction says of each item, in the order of the suite.

    Args:
        suite: a valid suite.
        trees: what is judged.
        columns: the values of regions; those of items that the suite has not are left out.
        unit: unit of the numbers in the formulas and of the tolerance of ``=``.
    """
    values = ItemValues.of(columns, list(suite.item_ids()))
    return tuple(evaluate_items(tree, values, unit=unit) for tree in trees)


def parse_predictions(suite: Suite) -> tuple[Formula, ...]:
    """The trees of a suite's predictions.

    Raises:
        FormulaError: a formula cannot be read, or names a region or condition there is not.
    """
    conditions = suite.condition_names
    trees = tuple(parse(prediction.formula) for prediction in suite.predictions)
    for tree, prediction in zip(trees, suite.predictions, strict=True):
        _check_references(tree, prediction.formula, suite, conditions)
    return trees


def _check_references(tree: Formula, text: str, suite: Suite, conditions: Sequence[str]) -> None:
    """Refuse a formula that names a region or a condition the suite does not have."""
    count = len(suite.region_names)
    for reference in references(tree):
        if reference.condition not in conditions:
            raise FormulaError(
                formula=text,
                column=reference.column,
                seen=f"the suite {suite.name!r} has no condition {reference.condition!r}",
                todo=did_you_mean(reference.condition, conditions),
            )
        if reference.region != "*" and reference.region > count:
            raise FormulaError(
                formula=text,
                column=reference.column,
                seen=f"the suite {suite.name!r} has no region {reference.region}",
                todo=f"Its regions are numbered from 1 to {count}.",
            )

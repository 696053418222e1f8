"""Stored answers to verdicts: every prediction for every item, and their conjunction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.errors import FormulaError, did_you_mean
from cimento.measures.regions import RegionColumns, region_columns
from cimento.suites.formula import parse, references
from cimento.verdicts.compact import Verdict, Verdicts, verdicts_table
from cimento.verdicts.formula import KINDS, ItemValues, Judged, combine, evaluate_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from cimento.measures import RegionValues, Unit
    from cimento.suites.formula import Formula
    from cimento.suites.model import Metric, Suite

__all__ = [
    "Verdict",
    "each_verdict",
    "judge",
    "judge_values",
    "parse_predictions",
    "verdicts_table",
]


def judge(
    suite: Suite,
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    *,
    metric: Metric | None = None,
    predictions: Sequence[str] | None = None,
    unit: Unit = "bits",
) -> Verdicts:
    """The verdicts on every item: one for each prediction, then one for their conjunction.

    Args:
        suite: a valid suite; there are none where it has no predictions.
        tokens: a table of the schema ``answers.TOKENS``.
        requests: the table of what was asked, of the schema ``answers.REQUESTS``.
        metric: how the surprisals of a region's tokens become one value; None: as the suite says.
        predictions: formulas to judge; None: the suite's.
        unit: unit of the numbers in the formulas and of the tolerance of ``=``.

    Raises:
        FormulaError: a formula cannot be read, or names a region or condition there is not.
        UsageError: there is no such metric.
    """
    trees = parse_predictions(suite, predictions)
    if not trees:
        return Verdicts()
    columns = region_columns(tokens, requests, metric=metric or suite.metric)
    return Verdicts(each_verdict(suite, trees, columns, unit=unit))


def judged_items(
    suite: Suite, trees: Sequence[Formula], columns: RegionColumns, *, unit: Unit
) -> tuple[Judged, ...]:
    """What each prediction says of each item, in the order of the suite.

    Args:
        suite: as for `judge`.
        trees: what is judged.
        columns: the values of regions; those of items that the suite has not are left out.
        unit: as for `judge`.
    """
    values = ItemValues.of(columns, list(suite.item_ids()))
    return tuple(evaluate_items(tree, values, unit=unit) for tree in trees)


def each_verdict(
    suite: Suite, trees: Sequence[Formula], columns: RegionColumns, *, unit: Unit
) -> Iterator[Verdict]:
    """The verdicts on every item; as `judged_items`."""
    judged = judged_items(suite, trees, columns, unit=unit)
    texts = columns.texts.texts()
    both = combine(judged, "&")
    for place, item in enumerate(suite.item_ids()):
        for number, own in (*enumerate(judged), (None, both)):
            reason = own.reasons[place]
            yield Verdict(
                suite=suite.name,
                item=item,
                condition=None,
                prediction=number,
                verdict=KINDS[own.verdicts[place]],
                margin_bits=None if reason >= 0 else float(own.margins_bits[place]),
                unscored_reason=texts[reason] if reason >= 0 else None,
            )


def judge_values(
    suite: Suite,
    regions: RegionValues,
    *,
    predictions: Sequence[str] | None = None,
    unit: Unit = "bits",
) -> Verdicts:
    """The same as `judge`, from the values of regions.

    Args:
        suite: as for `judge`.
        regions: a value for each region of each stimulus.
        predictions: as for `judge`.
        unit: as for `judge`.

    Raises:
        FormulaError: as for `judge`.
    """
    trees = parse_predictions(suite, predictions)
    if not trees:
        return Verdicts()
    stimuli = (
        (item, condition, values)
        for item, own in regions.values.items()
        for condition, values in own.items()
    )
    return Verdicts(
        each_verdict(suite, trees, RegionColumns.of(stimuli, unit=regions.unit), unit=unit)
    )


def parse_predictions(
    suite: Suite, predictions: Sequence[str] | None = None
) -> tuple[Formula, ...]:
    """The trees of a suite's predictions, or of others that are to be judged on it.

    Raises:
        FormulaError: a formula cannot be read, or names a region or condition there is not.
    """
    if predictions is None:
        predictions = [prediction.formula for prediction in suite.predictions]
    conditions = suite.condition_names
    trees = tuple(parse(text) for text in predictions)
    for tree, text in zip(trees, predictions, strict=True):
        _check_references(tree, text, suite, conditions)
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

"""Stored answers to verdicts: every prediction for every item, and their conjunction."""

from __future__ import annotations

from collections import deque
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from cimento.errors import FormulaError, did_you_mean
from cimento.measures.regions import values_in_order
from cimento.suites.formula import parse, references
from cimento.verdicts.compact import Verdict, Verdicts, verdicts_table
from cimento.verdicts.formula import Outcome, combine, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cimento.measures import RegionValues, Unit, Value
    from cimento.measures.stored import StoredTable
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
    tokens: StoredTable,
    requests: StoredTable,
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
    source_unit, found = values_in_order(tokens, requests, metric=metric or suite.metric)
    return Verdicts(each_verdict(suite, trees, found, source_unit=source_unit, unit=unit))


def judged_items(
    suite: Suite,
    trees: Sequence[Formula],
    values: Iterable[tuple[str, str, Sequence[Value]]],
    *,
    source_unit: Unit,
    unit: Unit,
) -> Iterator[tuple[str, list[Outcome]]]:
    """What each prediction says of each item, from values that come a stimulus at a time.

    Items and values are gone through side by side. Values of an item that come before its turn
    are judged and kept, so only where both have one order is next to nothing held.

    Args:
        suite: as for `judge`.
        trees: what is judged.
        values: item, condition and values of its regions; those of an item follow each other.
        source_unit: unit of the values.
        unit: as for `judge`.

    Returns:
        The items in the order of the suite, each with one outcome for each prediction.
    """
    answered = (
        (item, _outcomes(trees, {name: values for _, name, values in own}, source_unit, unit))
        for item, own in groupby(values, key=itemgetter(0))
    )
    nothing = _outcomes(trees, {}, source_unit, unit)
    early: dict[str, list[Outcome]] = {}
    for item in suite.item_ids():
        yield item, _next_of(item, answered, early) or nothing
    # What is wrong with answers is told, whether there are such items or not.
    deque(answered, maxlen=0)


def each_verdict(
    suite: Suite,
    trees: Sequence[Formula],
    found: Iterable[tuple[str, str, Sequence[Value]]],
    *,
    source_unit: Unit,
    unit: Unit,
) -> Iterator[Verdict]:
    """The verdicts on every item; as `judged_items`."""
    for item, outcomes in judged_items(suite, trees, found, source_unit=source_unit, unit=unit):
        yield from _verdicts(suite, item, outcomes)


def _next_of(
    item: str, answered: Iterator[tuple[str, list[Outcome]]], early: dict[str, list[Outcome]]
) -> list[Outcome] | None:
    """What is said of an item, where it was answered; what comes before it is kept."""
    if item in early:
        return early.pop(item)
    for other, outcomes in answered:
        if other == item:
            return outcomes
        early[other] = outcomes
    return None


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
    return Verdicts(
        verdict
        for item in (suite.items if trees else ())
        for verdict in _verdicts(
            suite,
            item.id,
            _outcomes(trees, regions.values.get(item.id, {}), regions.unit, unit),
        )
    )


def _outcomes(
    trees: Sequence[Formula],
    values: Mapping[str, Sequence[Value]],
    source_unit: Unit,
    unit: Unit,
) -> list[Outcome]:
    """What each prediction says of an item."""
    return [evaluate(tree, values, source_unit=source_unit, unit=unit) for tree in trees]


def _verdicts(suite: Suite, item: str, outcomes: Sequence[Outcome]) -> Iterator[Verdict]:
    """One verdict for each prediction, then one for their conjunction."""
    for number, outcome in enumerate(outcomes):
        yield _verdict(suite, item, number, outcome)
    yield _verdict(suite, item, None, combine(outcomes, "&"))


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


def _verdict(suite: Suite, item: str, prediction: int | None, outcome: Outcome) -> Verdict:
    return Verdict(
        suite=suite.name,
        item=item,
        condition=None,
        prediction=prediction,
        verdict=outcome.verdict,
        margin_bits=outcome.margin_bits,
        unscored_reason=outcome.reason,
    )


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

"""Tables of the accuracies of factorial designs, as printed in papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.report.cells import repeated
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes

if TYPE_CHECKING:
    from cimento.paradigms.regions.design_rates import DesignRate
    from cimento.paradigms.regions.factorial import Factorial
    from cimento.statistics.means import Mean

AVERAGE = "Average"
SUPER_ADDITIVE = "DD > 0"


def accuracy_grid(results: Sequence[Factorial]) -> Grid:
    """A table of accuracies in percent, one row for each phenomenon and comparison.

    Columns are measures, grouped by model; the last rows are averages over phenomena. The best
    cells of a row are bold. If a model does not have a measure, its column is blank.

    Args:
        results: results of one suite, or of several, which are placed one below the other.
    """
    columns = list(dict.fromkeys((result.model, result.measure) for result in results))
    by_suite: dict[str, dict[tuple[str, str], Factorial]] = {}
    for factorial in results:
        by_suite.setdefault(factorial.suite, {})[factorial.model, factorial.measure] = factorial
    rows: list[tuple[GridCell, ...]] = []
    numbers: list[list[float | None]] = []
    rules = set()
    for suite, factorials in by_suite.items():
        for labels, values in _accuracy_rows(suite, factorials, columns, many=len(by_suite) > 1):
            if labels[0] and rows:
                rules.add(len(rows))
            numbers.append([value.value if value else None for value in values])
            rows.append((*labels, sizes(values), *(value or BLANK for value in values)))
    return Grid(
        title="Accuracy in %: how often the first of two conditions scores above the second, and"
        " how often the DD of an item is above 0.",
        header=("phenomenon", "comparison", "n", *(measure for _, measure in columns)),
        groups=(BLANK, BLANK, BLANK, *(model for model, _ in columns)),
        rows=tuple(rows),
        bold=_best(numbers, offset=3),
        rules=frozenset(rules),
        labels=2,
        notes=_accuracy_notes(results),
    )


def _accuracy_rows(
    suite: str,
    factorials: Mapping[tuple[str, str], Factorial],
    columns: Sequence[tuple[str, str]],
    *,
    many: bool,
) -> Iterator[tuple[tuple[str, str], list[EstimateCell | None]]]:
    """The labels and values of each row of one suite."""
    whole = next((factorial for factorial in factorials.values() if factorial.phenomena), None)
    cells = [factorials.get(column) for column in columns]
    for index, phenomenon in enumerate(whole.phenomena if whole else ()):
        name = f"{suite}: {phenomenon.name}" if many else phenomenon.name
        for number, pair in enumerate(phenomenon.pairs):
            values = [
                rate_cell(cell.phenomena[index].pairs[number]) if cell and cell.phenomena else None
                for cell in cells
            ]
            yield (repeated(name) if number else name, pair.name), values
        positive = [
            rate_cell(cell.phenomena[index].super_additive) if cell and cell.phenomena else None
            for cell in cells
        ]
        yield (repeated(name), SUPER_ADDITIVE), positive
    if whole is not None and len(whole.phenomena) == 1:
        return
    label = f"{suite}: {AVERAGE}" if many else AVERAGE
    means = [cell.averages() if cell and cell.phenomena else None for cell in cells]
    yield (label, "pairs"), [_mean(mean[0]) if mean else None for mean in means]
    yield (repeated(label), SUPER_ADDITIVE), [_mean(mean[1]) if mean else None for mean in means]


def rate_cell(rate: DesignRate) -> EstimateCell:
    """A rate over items in percent, with its interval."""
    return EstimateCell.of(rate.accuracy, rate.interval, rate.n, percent=True)


def _mean(mean: Mean) -> EstimateCell:
    return EstimateCell.of(mean.value, mean, mean.n, percent=True)


def _accuracy_notes(results: Sequence[Factorial]) -> tuple[str, ...]:
    from cimento.paradigms.regions.factorial_tables import interval_methods

    reasons = grouped((one.reason, f"{one.model} {one.measure}") for one in results if one.reason)
    blank = tuple(f"Blank: {reason} ({', '.join(who)})." for reason, who in reasons.items())
    shares = [
        share
        for result in results
        for one in result.phenomena
        for share in (*one.pairs, one.super_additive)
    ]
    methods = dict.fromkeys(share.interval.method for share in shares if share.interval.method)
    # With only one phenomenon there is nothing to average.
    several = [result for result in results if len(result.phenomena) > 1]
    means = [mean for result in several for mean in result.averages() if mean.n]
    intervals = "; ".join(
        (*methods, *(f"averages: {name}" for name in [interval_methods(means)] if name))
    )
    averages = " Averages are unweighted means over the phenomena." if several else ""
    return (
        f"n: items. Ties count as failures.{averages}",
        *((f"Intervals (95%): {intervals}.",) if intervals else ()),
        *blank,
    )


def _best(numbers: Sequence[Sequence[float | None]], *, offset: int) -> frozenset[tuple[int, int]]:
    best = set()
    for row, values in enumerate(numbers):
        known = [value for value in values if value is not None]
        if len(known) > 1:
            best |= {
                (row, offset + k)
                for k, value in enumerate(values)
                if value is not None and value == max(known)
            }
    return frozenset(best)

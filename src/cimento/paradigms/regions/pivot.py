"""Suites and phenomena by models in one wide table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cimento.io.values import grouped
from cimento.kinds.run import Run
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.estimates import factorial_of
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    options_of,
)
from cimento.report.cells import repeated
from cimento.report.formatting import percent
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.report.suite_differences import MEANS_TARGET, OTHER_ITEMS, THESE_SUITES, TWINS
from cimento.statistics.intervals import Interval
from cimento.statistics.means import Mean
from cimento.statistics.suite_means import SuiteValue, mean_over_suites
from cimento.suites.twins import units_of

_CHANCE_OF_PAIRS = 0.5
_PAIRS = "mean of pairs"
"""What the accuracy of a factorial design is of."""
_NOT_JUDGED = "the suite has no predictions"


@dataclass(frozen=True, slots=True, kw_only=True)
class PivotCell:
    """One number of the wide table.

    Attributes:
        suite: its name.
        language: of the suite.
        phenomenon: its name.
        what: what the accuracy is of.
        model: label of the model.
        measure: of sentences; empty for regions.
        accuracy: None where nothing was scored.
        low: lower end of its 95% interval; None where there is none.
        high: upper end.
        n: items that it rests on.
        chance: accuracy by chance; None where it is not defined.
        reason: why accuracy or interval is None.
        unit: the suite, or the first of those that are made of the same items.
        of_suite: phenomenon of the whole suite; empty where it names none.
    """

    suite: str
    language: str
    phenomenon: str
    what: str
    model: str
    measure: str
    accuracy: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    chance: float | None = None
    reason: str = ""
    unit: str = ""
    of_suite: str = ""

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The key of its row."""
        return self.suite, self.language, self.phenomenon, self.what

    @property
    def column(self) -> tuple[str, str]:
        """The key of its column."""
        return self.model, self.measure

    @property
    def shown(self) -> EstimateCell:
        """The accuracy in percent."""
        return EstimateCell.of(self.accuracy, self, self.n, percent=True)


def pivot(runs: Sequence[Run], measures: Sequence[str] = ()) -> list[PivotCell]:
    """One table of the same models on several suites, factorial or not.

    Of a factorial suite it is the mean of its pair accuracies, of others how often all
    predictions of an item hold.

    Args:
        runs: of any suites and models.
        measures: names, for suites about whole sentences; empty for what each run is judged on.

    Raises:
        UsageError: there is no such measure.
    """
    units = units_of([run.suite for run in runs])
    return [
        replace(cell, unit=units[run.suite.name], of_suite=run.suite.meta.phenomenon)
        for run in runs
        for judged in (on_each_measure(run, measures) if compares_sentences(run) else [run])
        for cell in _cells(judged)
    ]


def _cells(run: Run) -> Iterator[PivotCell]:
    summary = run.summary()
    empty = PivotCell(
        suite=run.suite.name,
        language=run.suite.meta.language,
        phenomenon=run.suite.meta.phenomenon or run.suite.name,
        what=summary.headline.question if summary.headline is not None else "",
        model=run.model,
        measure=options_of(run).measure,
        accuracy=None,
        reason=_NOT_JUDGED,
    )
    if crosses_factors(run) and compares_sentences(run):
        for effects in factorial_of(run, normalizations=("raw",)).phenomena:
            mean = effects.average_of_pairs(seed=options_of(run).seed)
            yield replace(
                empty,
                phenomenon=effects.name,
                what=_PAIRS,
                accuracy=mean.value,
                low=mean.low,
                high=mean.high,
                n=mean.n,
                chance=_CHANCE_OF_PAIRS,
                reason=mean.reason or "",
            )
        return
    if not summary.phenomena and not summary.results:
        yield empty
    whole = [(empty.phenomenon, held) for held in summary.results[-1:]]
    for phenomenon, held in [(held.level, held) for held in summary.phenomena] or whole:
        yield replace(
            empty,
            phenomenon=phenomenon,
            accuracy=held.value,
            low=held.low,
            high=held.high,
            n=held.n,
            chance=held.chance,
            reason=held.reason,
        )


def pivot_grid(cells: Sequence[PivotCell], *, these_suites: bool = False) -> Grid:
    """Suites and phenomena in rows, models and measures in columns; accuracies in percent.

    Of several suites, the last rows are means over suites of the mean over a suite's phenomena, one
    for each level of chance: what is .5 by chance and what is .333 have no mean. Designs have means
    of their own, since a pair of conditions is not a prediction.

    Args:
        cells: the numbers.
        these_suites: whether means are followed by the intervals for other items of these suites.
    """
    judged = [cell for cell in cells if cell.reason != _NOT_JUDGED]
    others = dict.fromkeys(cell.suite for cell in cells if cell.reason == _NOT_JUDGED)
    left_out = (f"Without predictions: {', '.join(others)}.",) if judged and others else ()
    cells = judged or cells
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows, rules = _rows(cells, columns)
    is_one = len({cell.suite for cell in cells}) == 1
    if not is_one:
        rules.add(len(rows))
        rows += _means(cells, columns, these_suites=these_suites)
    return Grid(
        title="Accuracy in % by phenomenon."
        if is_one
        else "Accuracy in % of the same models on several suites.",
        header=(
            *("suite", "language", "phenomenon", "prediction", "chance, %", "n"),
            *(measure or "regions" for _, measure in columns),
        ),
        groups=(*(BLANK,) * 6, *(model for model, _ in columns)),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=4,
        notes=(
            *(("n: items.",) if is_one else _of_means(cells, these_suites=these_suites)),
            *_REGION_MEASURE_NOTE * any(not measure for _, measure in columns),
            *left_out,
        ),
    )


def _rows(
    cells: Sequence[PivotCell], columns: Sequence[tuple[str, str]]
) -> tuple[list[tuple[GridCell, ...]], set[int]]:
    """A row for each phenomenon of each suite, and the rows above which there is a line."""
    by_place = {(cell.row, cell.column): cell for cell in cells}
    rows: list[tuple[GridCell, ...]] = []
    rules = set()
    before = None
    for row in dict.fromkeys(cell.row for cell in cells):
        suite, language, phenomenon, what = row
        if suite != before and rows:
            rules.add(len(rows))
        again = (repeated(suite), repeated(language))
        labels = again if suite == before else (suite, language)
        before = suite
        beside = [by_place.get((row, column)) for column in columns]
        values = [None if cell is None else cell.shown for cell in beside]
        chance = next(cell.chance for cell in beside if cell is not None)
        shown = [value or BLANK for value in values]
        rows.append((*labels, phenomenon, what, _chance(chance), sizes(values), *shown))
    return rows, rules


def _means(
    cells: Sequence[PivotCell], columns: Sequence[tuple[str, str]], *, these_suites: bool
) -> Iterator[tuple[GridCell, ...]]:
    """Rows for each level of chance with the means over suites of that level, designs apart."""
    levels = {(cell.chance, cell.what == _PAIRS) for cell in cells if cell.chance is not None}
    for chance, of_designs in sorted(levels):
        level = [c for c in cells if c.chance == chance and (c.what == _PAIRS) == of_designs]
        noun = "designs" if of_designs else "suites"
        means = [
            mean_over_suites(_suite_values([c for c in level if c.column == one]))
            for one in columns
        ]
        shown = [_shown(mean.mean, mean.mean) for mean in means]
        labels = (f"Mean over {noun}", BLANK, BLANK, noun)
        yield (*labels, _chance(chance), sizes(shown), *shown)
        if these_suites:
            of_items = [_shown(mean.mean, mean.items) for mean in means]
            labels = (BLANK, BLANK, BLANK, THESE_SUITES)
            yield (*labels, _chance(chance), sizes(of_items), *of_items)


def _of_means(cells: Sequence[PivotCell], *, these_suites: bool) -> tuple[str, ...]:
    """What the means over suites are means of, and what their intervals are for."""
    parts = {(cell.suite, cell.phenomenon) for cell in cells}
    has_parts = len(parts) > len({suite for suite, _ in parts})
    has_twins = any(cell.unit != cell.suite for cell in cells)
    return (
        "n: items; of means: suites. Each level of chance has a mean of its own.",
        *("A suite with several phenomena enters a mean with the mean over them.",) * has_parts,
        *(_OF_DESIGNS,) * any(cell.what == _PAIRS for cell in cells),
        *(TWINS,) * has_twins,
        MEANS_TARGET,
        *(OTHER_ITEMS,) * these_suites,
    )


_OF_DESIGNS = (
    f"{_PAIRS}: of a design, over its pairs of conditions; designs, whose main number is DD, have a"
    " mean of their own."
)
_REGION_MEASURE_NOTE = (
    "regions: judged by the surprisals of regions, as the suite's formulas say.",
)

_chance = partial(percent, absent=BLANK)


def _suite_values(cells: Sequence[PivotCell]) -> list[SuiteValue]:
    """The accuracies of one column, one a suite: the mean over its phenomena."""
    suites = grouped((cell.suite, cell) for cell in cells if cell.accuracy is not None)
    return [
        SuiteValue(
            suite,
            parts[0].unit or suite,
            frozenset(part.phenomenon for part in parts) | _named(parts[0].of_suite),
            _mean([part.accuracy for part in parts]) or 0.0,
            _mean([part.low for part in parts]),
            _mean([part.high for part in parts]),
        )
        for suite, parts in suites.items()
    ]


def _named(phenomenon: str) -> frozenset[str]:
    return frozenset({phenomenon} if phenomenon else ())


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None if one is missing."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None


def _shown(mean: Mean, ends: Mean | Interval) -> EstimateCell:
    """A mean of accuracies with one of its intervals, in percent."""
    if ends.low is not None and ends.high is not None:
        ends = replace(ends, low=max(0.0, ends.low), high=min(1.0, ends.high))
    return EstimateCell.of(mean.value, ends, mean.n, percent=True)

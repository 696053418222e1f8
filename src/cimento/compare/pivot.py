"""Models beside each other on several suites: one wide table, and BLiMP's own.

In BLiMP's, a phenomenon is the unweighted mean over its datasets, and the whole the unweighted mean
over all 67 of them (Warstadt et al. 2020, doi:10.1162/tacl_a_00321). The published figures are
those of the released files, with the erratum of August 2021; people are the mean over their answers
to five pairs of each dataset.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import UsageError
from cimento.paradigms.regions.designs import factorial_of
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    on_each_measure,
    options_of,
)
from cimento.report.formatting import rate
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.runs.run import Run
from cimento.statistics.design import Design
from cimento.statistics.means import mean_of

PUBLISHED = Path(__file__).parents[1] / "data" / "blimp_published.tsv"
PUBLISHED_MODELS = ("ngram", "lstm", "transformer-xl", "gpt2", "people")
_DATASETS = 67
_CHANCE_OF_PAIRS = 0.5
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
        low: lower end of its 95 % interval; None where there is none.
        high: upper end.
        n: items that it rests on.
        chance: how often it would hold by chance; None where that is not defined.
        reason: why accuracy or interval is None.
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
        return EstimateCell.percent((self.accuracy, self.low, self.high), self.n, self.reason)


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
    return [
        cell
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
        what="all predictions" if len(summary.results) > 1 else "prediction",
        model=run.model,
        measure=options_of(run).measure,
        accuracy=None,
        reason=_NOT_JUDGED,
    )
    if crosses_factors(run) and compares_sentences(run):
        for effects in factorial_of(run, normalisations=("raw",)).phenomena:
            mean = effects.average_of_pairs(seed=options_of(run).seed)
            yield replace(
                empty,
                phenomenon=effects.name,
                what="mean of pairs",
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


def pivot_grid(cells: Sequence[PivotCell]) -> Grid:
    """Suites and phenomena in rows, models and measures in columns; accuracies in percent.

    The last rows are means over suites of the mean over a suite's phenomena, one for each level of
    chance: what is .5 by chance and what is .333 have no mean.
    """
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.row, cell.column): cell for cell in cells}
    rows: list[tuple[GridCell, ...]] = []
    rules = set()
    before = None
    for row in dict.fromkeys(cell.row for cell in cells):
        suite, language, phenomenon, what = row
        if suite != before and rows:
            rules.add(len(rows))
        labels = (BLANK, BLANK) if suite == before else (suite, language)
        before = suite
        beside = [by_place.get((row, column)) for column in columns]
        values = [None if cell is None else cell.shown for cell in beside]
        chance = next(cell.chance for cell in beside if cell is not None)
        rows.append((*labels, phenomenon, what, rate(chance), sizes(values), *_or_blank(values)))
    rules.add(len(rows))
    for chance in sorted({cell.chance for cell in cells if cell.chance is not None}):
        level = [cell for cell in cells if cell.chance == chance]
        means = [_mean_over_suites([c for c in level if c.column == one]) for one in columns]
        labels = ("Mean over suites", BLANK)
        rows.append((*labels, BLANK, "suites", rate(chance), sizes(means), *means))
    return Grid(
        title="Accuracy in % of the same models on several suites.",
        header=(
            *("suite", "language", "phenomenon", "of", "chance", "n"),
            *(measure or "regions" for _, measure in columns),
        ),
        groups=(*(BLANK,) * 6, *(model for model, _ in columns)),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=4,
        notes=("n: items; of means: suites. Each level of chance has a mean of its own.",),
    )


def _or_blank(values: Sequence[EstimateCell | None]) -> list[GridCell]:
    return [value or BLANK for value in values]


def _mean_over_suites(cells: Sequence[PivotCell]) -> EstimateCell:
    """The mean over suites of one column."""
    suites: dict[str, list[float]] = {}
    for cell in cells:
        if cell.accuracy is not None:
            suites.setdefault(cell.suite, []).append(cell.accuracy)
    return _mean([math.fsum(values) / len(values) for values in suites.values()])


def _mean(accuracies: Sequence[float]) -> EstimateCell:
    """The mean of the accuracies of suites or datasets, as if what they are of had been drawn."""
    mean = mean_of(accuracies, Design.independent(len(accuracies)), seed=0)
    if mean.low is None or mean.high is None:
        reason = (mean.reason or "").replace("value", "suite")
        return EstimateCell.percent((mean.value, None, None), mean.n, reason)
    ends = (mean.value, max(0.0, mean.low), min(1.0, mean.high))
    return EstimateCell.percent(ends, mean.n, None)


def published_accuracies() -> dict[str, dict[str, float]]:
    """Dataset of BLiMP to the accuracy of each published model, and of people."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {row["paradigm"]: {name: float(row[name]) for name in PUBLISHED_MODELS} for row in rows}


def blimp_grid(cells: Sequence[PivotCell]) -> Grid:
    """Accuracies in percent of BLiMP's datasets, their means, and the published figures.

    Published means are over the same datasets, so that they can be compared.

    Args:
        cells: one for each suite, model and measure; suites that are no dataset of BLiMP are
            passed over.

    Raises:
        UsageError: none of them is one.
    """
    published = published_accuracies()
    cells = [cell for cell in cells if cell.suite in published]
    if not cells:
        raise UsageError(
            where="--table blimp",
            seen="none of the runs is of a paradigm of BLiMP",
            todo="Run its files, such as wh_island.jsonl: a suite has the name of its paradigm.",
        )
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows, rules = _blimp_rows(cells, columns, published)
    groups = (*(BLANK,) * 3, *(model for model, _ in columns))
    return Grid(
        title="BLiMP accuracies in %, phenomena and overall as means over paradigms.",
        header=(
            *("phenomenon", "paradigm", "n"),
            *(measure or "regions" for _, measure in columns),
            *PUBLISHED_MODELS,
        ),
        groups=(*groups, *("published",) * len(PUBLISHED_MODELS)),
        rows=tuple(rows),
        rules=rules,
        labels=2,
        notes=(
            "n: items; of means: paradigms. Published figures are printed without intervals.",
            "Published: Warstadt et al. 2020, doi:10.1162/tacl_a_00321, with the erratum of 2021.",
        ),
    )


def _blimp_rows(
    cells: Sequence[PivotCell],
    columns: Sequence[tuple[str, str]],
    published: Mapping[str, Mapping[str, float]],
) -> tuple[list[tuple[GridCell, ...]], frozenset[int]]:
    """A row for each dataset, phenomenon and for all, and before which of them a line stands."""
    by_place = {(cell.suite, cell.column): cell for cell in cells}
    phenomena: dict[str, dict[str, None]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.phenomenon, cell.suite)):
        phenomena.setdefault(cell.phenomenon, {})[cell.suite] = None

    def row(label: str, name: str, datasets: Sequence[str]) -> tuple[GridCell, ...]:
        """One row: the measured accuracies of some datasets, and the published means over them."""
        values: list[EstimateCell | None] = []
        for column in columns:
            beside = [by_place.get((dataset, column)) for dataset in datasets]
            known = [cell.accuracy for cell in beside if cell and cell.accuracy is not None]
            if name in published:
                values.append(beside[0].shown if beside[0] else None)
            else:  # a mean that lacks one of its datasets could not be compared
                values.append(_mean(known) if len(known) == len(datasets) else None)
        means = (
            100 * math.fsum(published[dataset][model] for dataset in datasets) / len(datasets)
            for model in PUBLISHED_MODELS
        )
        numbers = (f"{mean:.1f}" for mean in means)
        return (label, name, sizes(values), *_or_blank(values), *numbers)

    rows = []
    rules = set()
    for phenomenon, datasets in phenomena.items():
        labels = (phenomenon, *(BLANK,) * len(datasets))
        rows += [row(label, name, [name]) for label, name in zip(labels, datasets, strict=False)]
        rows.append(row(BLANK, f"mean of {len(datasets)}", list(datasets)))
        rules.add(len(rows))
    everything = list(dict.fromkeys(name for datasets in phenomena.values() for name in datasets))
    rows.append(row("overall", f"mean of {len(everything)} of {_DATASETS}", everything))
    return rows, frozenset(rules)

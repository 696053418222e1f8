"""Means over the suites of a benchmark, next to its published figures; BLiMP's are included.

In BLiMP, the accuracy of a phenomenon is the unweighted mean over its datasets, and the overall
accuracy the unweighted mean over all 67 datasets (Warstadt et al. 2020, doi:10.1162/tacl_a_00321).
The published figures are those of the released files, with the erratum of August 2021; the human
figure is the mean over people's answers to five pairs of each dataset.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.errors import UsageError, counted
from cimento.io.values import grouped
from cimento.records.summary import RunSummary, SuiteMean
from cimento.report.cells import PERCENT, count, repeated
from cimento.report.formatting import p_number, percent
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.report.suite_differences import (
    WIDER,
    SuiteDifference,
    SuiteRate,
    rate_differences,
)
from cimento.suites.published_results import BLIMP_MODELS, blimp_datasets

if TYPE_CHECKING:
    from cimento.statistics.suite_means import SuiteValue

BLIMP = "BLiMP"
_OVERALL = "overall"
_ITEMS = 1000
"""Items of each dataset of BLiMP."""
_FEWEST = 2
"""Fewest datasets of which there is a mean."""
_COUNTS = "n: items; of means: datasets. Published figures are printed without intervals."
_TARGETS = (
    "The interval of the overall mean generalizes to other phenomena (clustered by phenomenon),"
    " that of a phenomenon to other datasets of it."
)
_THESE_DATASETS = "these datasets"
_OTHER_ITEMS = (
    f"{_THESE_DATASETS}: the interval that generalizes to other items of these very datasets."
    f" {WIDER}"
)
_MOST_PAIRS = 6
"""Pairs of models up to which a table has their differences."""
_SURPRISAL = (
    "surprisal: the sentence with the lower surprisal, summed over its tokens, is the model's."
)
_SOURCE = "Published: Warstadt et al. 2020, doi:10.1162/tacl_a_00321, with the erratum of 2021."


def benchmark_means(runs: Sequence[RunSummary]) -> tuple[SuiteMean, ...]:
    """The means of each model by phenomenon and overall; none if fewer than two datasets have runs.

    All models are averaged over the same datasets, namely those with at least one run. A model that
    lacks one of them has no mean, since it could not be compared with the others or with the
    published figures.

    Args:
        runs: runs of any suites; runs of suites outside BLiMP are ignored.
    """
    if len(runs) < _FEWEST:
        return ()
    known = [run for run in runs if run.suite in blimp_datasets()]
    phenomena = _by_phenomenon(known)
    everything = [name for names in phenomena.values() for name in names]
    if len(everything) < _FEWEST:
        return ()
    return tuple(
        _suite_mean(runs_of_model, column, phenomenon, names)
        for column, runs_of_model in _by_column(known).items()
        for phenomenon, names in {**phenomena, "": everything}.items()
    )


def _by_phenomenon(runs: Sequence[RunSummary]) -> dict[str, list[str]]:
    """BLiMP's phenomena, each mapped to the names of its datasets that have runs."""
    there = {run.suite for run in runs}
    datasets = sorted(blimp_datasets().items(), key=lambda row: (row[1].phenomenon, row))
    return grouped((dataset.phenomenon, name) for name, dataset in datasets if name in there)


def _by_column(runs: Sequence[RunSummary]) -> dict[tuple[str, str], dict[str, RunSummary]]:
    """The runs by model and measure, then by the name of the dataset."""
    columns: dict[tuple[str, str], dict[str, RunSummary]] = {}
    for run in runs:
        columns.setdefault((run.model, run.measure), {}).setdefault(run.suite, run)
    return columns


def _suite_mean(
    runs: Mapping[str, RunSummary],
    column: tuple[str, str],
    phenomenon: str,
    names: Sequence[str],
) -> SuiteMean:
    """The mean of one model over some datasets, for other phenomena or other datasets of one."""
    from cimento.statistics.suite_means import mean_over_suites

    known, datasets = _values(runs, names), blimp_datasets()
    of = [name for name, data in datasets.items() if phenomenon in ("", data.phenomenon)]
    published = {
        model: math.fsum(datasets[name].published[model] for name in names) / len(names)
        for model in BLIMP_MODELS
    }
    over = mean_over_suites(known)
    mean, ends = over.mean, (over.mean.low, over.mean.high, over.items.low, over.items.high)
    if len(known) < len(names):
        reason = f"{len(names) - len(known)} of these {len(names)} datasets have no accuracy"
        mean, ends = replace(mean, value=None, reason=reason), (None,) * 4
    low, high, *of_items = (None if end is None else min(1.0, max(0.0, end)) for end in ends)
    return SuiteMean(
        benchmark=BLIMP,
        model=column[0],
        measure=column[1],
        phenomenon=phenomenon,
        n_suites=len(names),
        of_suites=len(of),
        value=mean.value,
        low=low,
        high=high,
        reason=(mean.reason or "").replace("suite", "dataset"),
        published=published,
        n_items=sum(runs[name].n_items for name in names if name in runs),
        target=over.target,
        n_phenomena=len({datasets[name].phenomenon for name in names}),
        items_low=of_items[0],
        items_high=of_items[1],
    )


def _values(runs: Mapping[str, RunSummary], names: Sequence[str]) -> list[SuiteValue]:
    """The accuracies of one model on some datasets, of those that have one."""
    from cimento.statistics.suite_means import SuiteValue

    headlines = {name: runs[name].headline for name in names if name in runs}
    return [
        SuiteValue(
            suite=name,
            unit=name,
            phenomena=frozenset({blimp_datasets()[name].phenomenon}),
            value=head.value,
            low=head.low,
            high=head.high,
        )
        for name, head in headlines.items()
        if head is not None and head.value is not None
    ]


def means_grid(means: Sequence[SuiteMean], *, these_suites: bool = False) -> Grid:
    """A table with phenomena in rows, models and published figures in columns, in percent.

    Args:
        means: means of one benchmark, at least one.
        these_suites: whether each row is followed by the intervals for other items of the same
            datasets.
    """
    by_row = grouped(
        ((mean.phenomenon or _OVERALL, f"{mean.n_suites} of {mean.of_suites}"), mean)
        for mean in means
    )
    rows = [
        row
        for label, beside in by_row.items()
        for row in _rows(label, beside, these_suites=these_suites)
    ]
    return _grid(
        f"{means[0].benchmark} accuracies in %, means over datasets.",
        ("phenomenon", "datasets"),
        list(dict.fromkeys((mean.model, mean.measure) for mean in means)),
        rows,
        frozenset({len(rows) - 1 - these_suites}),
        [mean for mean in means if not mean.phenomenon],
        notes=(_OTHER_ITEMS,) * these_suites,
    )


def benchmark_differences(runs: Sequence[RunSummary]) -> tuple[SuiteDifference, ...]:
    """The differences of every pair of models over the datasets that both have, and their tests.

    Args:
        runs: runs of any suites; runs of suites outside BLiMP are ignored.
    """
    datasets = blimp_datasets()
    return rate_differences(
        [
            SuiteRate(
                suite=run.suite,
                unit=run.suite,
                phenomena=frozenset({datasets[run.suite].phenomenon}),
                model=run.model,
                measure=run.measure,
                chance=head.chance,
                value=head.value,
            )
            for run in runs
            if run.suite in datasets
            if (head := run.headline) is not None and head.value is not None
        ]
    )


def _same_datasets(overall: Sequence[SuiteMean]) -> Iterator[str]:
    """Notes on what means and published figures are of.

    Args:
        overall: the mean of each column over all datasets.
    """
    first = overall[0]
    if first.n_suites < first.of_suites:
        yield (
            f"Published means are over the same {counted(first.n_suites, 'dataset')}, not over all"
            f" {first.of_suites} of {first.benchmark}."
        )
    whole = _ITEMS * first.n_suites
    parts = dict.fromkeys(
        f"{mean.n_items:,}"
        for mean in sorted(overall, key=lambda mean: mean.n_items)
        if 0 < mean.n_items < whole
    )
    if parts:
        yield (
            f"Runs have only {' or '.join(parts)} of the {whole:,} items of these datasets;"
            " published figures of models are of all of them."
        )


def datasets_grid(runs: Sequence[RunSummary], *, these_suites: bool = False) -> Grid:
    """Accuracies in percent of BLiMP's datasets, their means, and the published figures.

    Two models have a column with the second minus the first; notes have the differences of pairs
    over all datasets.

    Args:
        runs: runs, as for `benchmark_means`.
        these_suites: whether means are followed by the intervals for other items of the same
            datasets.

    Raises:
        UsageError: no run is of a BLiMP dataset.
    """
    known = _of_blimp(runs)
    phenomena, columns = _by_phenomenon(known), _by_column(known)
    differences = benchmark_differences(known)
    of_two = len(columns) == len({measure for _, measure in columns}) + 1 == _FEWEST
    gaps = {one.phenomenon: one for one in differences} if of_two else {}
    if len(phenomena) == 1:  # all datasets are those of the phenomenon
        gaps |= {name: gaps[""] for name in phenomena if "" in gaps}
    rows: list[tuple[GridCell, ...]] = []
    rules = set()
    everything = [name for names in phenomena.values() for name in names]
    for phenomenon, names in {**phenomena, "": everything}.items():
        if phenomenon:
            rows += _dataset_rows(phenomenon, names, columns, of_two=bool(gaps))
        means = [
            _suite_mean(summaries, column, phenomenon, names)
            for column, summaries in columns.items()
        ]
        label: tuple[str, ...] = (repeated(phenomenon), f"mean of {len(names)}", count(len(names)))
        if not phenomenon:
            label = (_OVERALL, f"{label[1]} of {len(blimp_datasets())}", label[2])
        rows += _rows(label, means, [gaps.get(phenomenon)] * bool(gaps), these_suites=these_suites)
        rules.add(len(rows))
    return _grid(
        "BLiMP accuracies in %, phenomena and overall as means over datasets.",
        ("phenomenon", "dataset", "n"),
        list(columns),
        rows,
        frozenset(rules - {len(rows)}),
        means,
        difference=bool(gaps),
        notes=(*(_OTHER_ITEMS,) * these_suites, *_tested(differences)),
    )


def _of_blimp(runs: Sequence[RunSummary]) -> list[RunSummary]:
    known = [run for run in runs if run.suite in blimp_datasets()]
    if not known:
        raise UsageError(
            where="--table=blimp",
            seen="none of the runs is of a dataset of BLiMP",
            todo="Run its files, such as wh_island.jsonl: a suite has the name of its dataset.",
        )
    return known


def _dataset_rows(
    phenomenon: str,
    names: Sequence[str],
    columns: Mapping[tuple[str, str], Mapping[str, RunSummary]],
    *,
    of_two: bool,
) -> Iterator[tuple[GridCell, ...]]:
    """The rows of the datasets of one phenomenon."""
    for label, name in zip(
        (phenomenon, *(repeated(phenomenon),) * len(names)), names, strict=False
    ):
        cells = [_cell(runs_of_model.get(name)) for runs_of_model in columns.values()]
        shown = [cell or BLANK for cell in cells]
        gap = [_points(*cells)] if of_two else []
        yield (label, name, sizes(cells), *shown, *gap, *_figures(blimp_datasets()[name].published))


def _points(first: EstimateCell | None, second: EstimateCell | None) -> GridCell:
    """The second minus the first, in percentage points; blank if one is missing."""
    known = [cell.value for cell in (first, second) if cell is not None and cell.value is not None]
    if first is None or len(known) < _FEWEST:
        return BLANK
    gap = known[1] - known[0]
    return EstimateCell(value=gap, low=None, high=None, n=first.n, unit=PERCENT)


def _tested(differences: Sequence[SuiteDifference]) -> Iterator[str]:
    """The tests of the differences of pairs over all datasets, in words."""
    overall = [one for one in differences if not one.phenomenon and one.value is not None]
    if len(overall) > _MOST_PAIRS:
        yield "cimento compare has the differences of all pairs of these models."
        return
    for one in overall:
        measured = f" [{one.measure}]" * bool(one.measure)
        ends = "" if one.low is None else f" [{100 * one.low:+.1f}, {100 * (one.high or 0):+.1f}]"
        tested = f", {one.reason}"
        if one.p is not None:
            holm = f" (Holm over {len(overall)} pairs: {p_number(one.p_corrected)})"
            tested = f", p {p_number(one.p)}{holm * (len(overall) > 1)}"
        over = f"{one.n_suites} datasets in {counted(one.n_phenomena, 'phenomenon', 'phenomena')}"
        gap = f"{100 * (one.value or 0):+.1f}{ends} points over {over}"
        yield f"{one.second} minus {one.first}{measured}: {gap}{tested}."


def _cell(run: RunSummary | None) -> EstimateCell | None:
    """The accuracy of a run; None if there is no run or if nothing in it was judged."""
    headline = run.headline if run else None
    if headline is None:
        return None
    return EstimateCell.of(headline.value, headline, headline.n, percent=True)


def _rows(
    labels: Sequence[str],
    means: Sequence[SuiteMean],
    differences: Sequence[SuiteDifference | None] = (),
    *,
    these_suites: bool = False,
) -> Iterator[tuple[GridCell, ...]]:
    """A row with the models' means over the same datasets, and the published means.

    Args:
        labels: the cells on its left.
        means: a mean for each column.
        differences: of two models, the one beside the means; nothing where there is none.
        these_suites: whether a second row has the intervals for other items.
    """
    cells = [EstimateCell.of(mean.value, mean, mean.n_suites, percent=True) for mean in means]
    gaps = [
        BLANK if one is None else EstimateCell.of(one.value, one, one.n_suites, percent=True)
        for one in differences
    ]
    yield (*labels, *cells, *gaps, *_figures(means[0].published))
    if these_suites:
        ends = [
            replace(
                cell,
                low=None if mean.items_low is None else 100 * mean.items_low,
                high=None if mean.items_high is None else 100 * mean.items_high,
            )
            for cell, mean in zip(cells, means, strict=True)
        ]
        beside = (BLANK, _THESE_DATASETS, *(BLANK,) * (len(labels) - 2))
        yield (*beside, *ends, *(BLANK,) * len(gaps), *(BLANK,) * len(BLIMP_MODELS))


def _figures(published: Mapping[str, float]) -> list[str]:
    return [percent(published[model]) for model in BLIMP_MODELS]


def _grid(
    title: str,
    labels: tuple[str, ...],
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[GridCell, ...]],
    rules: frozenset[int],
    overall: Sequence[SuiteMean],
    *,
    difference: bool = False,
    notes: tuple[str, ...] = (),
) -> Grid:
    measures = (measure or "surprisal" for _, measure in columns)
    models = (model for model, _ in columns)
    summed = () if all(measure for _, measure in columns) else (_SURPRISAL,)
    gap = ("second minus first",) * difference
    return Grid(
        title=title,
        header=(*labels, *measures, *gap, *BLIMP_MODELS),
        groups=(
            *(BLANK,) * len(labels),
            *models,
            *(BLANK,) * difference,
            *("published",) * len(BLIMP_MODELS),
        ),
        rows=tuple(rows),
        rules=rules,
        labels=2,
        notes=(_COUNTS, _TARGETS, *notes, *summed, _SOURCE, *_same_datasets(overall)),
    )

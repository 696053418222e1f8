"""Means over the suites of a benchmark, next to its published figures; BLiMP's are included.

In BLiMP, the accuracy of a phenomenon is the unweighted mean over its datasets, and the overall
accuracy the unweighted mean over all 67 datasets (Warstadt et al. 2020, doi:10.1162/tacl_a_00321).
The published figures are those of the released files, with the erratum of August 2021; the human
figure is the mean over people's answers to five pairs of each dataset.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from cimento.errors import UsageError, counted
from cimento.io.values import grouped
from cimento.records.summary import RunSummary, SuiteMean
from cimento.report.cells import count, repeated
from cimento.report.formatting import percent
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.suites.formats.blimp import PUBLISHED_MODELS, blimp_datasets

BLIMP = "BLiMP"
_OVERALL = "overall"
_ITEMS = 1000
"""Items of each dataset of BLiMP."""
_FEWEST = 2
"""Fewest datasets of which there is a mean."""
_COUNTS = "n: items; of means: datasets. Published figures are printed without intervals."
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
    """The mean of one model over some datasets, treated as a random sample of datasets."""
    from cimento.statistics.design import Design
    from cimento.statistics.means import mean_of

    headlines = [runs[name].headline if name in runs else None for name in names]
    rates = [head.value for head in headlines if head is not None and head.value is not None]
    datasets = blimp_datasets()
    of = [name for name, data in datasets.items() if phenomenon in ("", data.phenomenon)]
    published = {
        model: math.fsum(datasets[name].published[model] for name in names) / len(names)
        for model in PUBLISHED_MODELS
    }
    value = low = high = None
    reason = f"{len(names) - len(rates)} of these {len(names)} datasets have no accuracy"
    if len(rates) == len(names):
        mean = mean_of(rates, Design.independent(len(rates)), seed=0)
        value, reason = mean.value, (mean.reason or "").replace("value", "dataset")
        if mean.low is not None and mean.high is not None:
            low, high = max(0.0, mean.low), min(1.0, mean.high)
    return SuiteMean(
        benchmark=BLIMP,
        model=column[0],
        measure=column[1],
        phenomenon=phenomenon,
        n_suites=len(names),
        of_suites=len(of),
        value=value,
        low=low,
        high=high,
        reason=reason,
        published=published,
        n_items=sum(runs[name].n_items for name in names if name in runs),
    )


def means_grid(means: Sequence[SuiteMean]) -> Grid:
    """A table with phenomena in rows, models and published figures in columns, in percent.

    Args:
        means: means of one benchmark, at least one.
    """
    by_row = grouped(
        ((mean.phenomenon or _OVERALL, f"{mean.n_suites} of {mean.of_suites}"), mean)
        for mean in means
    )
    rows = [_row(label, beside) for label, beside in by_row.items()]
    return _grid(
        f"{means[0].benchmark} accuracies in %, means over datasets.",
        ("phenomenon", "datasets"),
        list(dict.fromkeys((mean.model, mean.measure) for mean in means)),
        rows,
        frozenset({len(rows) - 1}),
        [mean for mean in means if not mean.phenomenon],
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


def datasets_grid(runs: Sequence[RunSummary]) -> Grid:
    """Accuracies in percent of BLiMP's datasets, their means, and the published figures.

    Args:
        runs: runs, as for `benchmark_means`.

    Raises:
        UsageError: no run is of a BLiMP dataset.
    """
    known = [run for run in runs if run.suite in blimp_datasets()]
    if not known:
        raise UsageError(
            where="--table=blimp",
            seen="none of the runs is of a dataset of BLiMP",
            todo="Run its files, such as wh_island.jsonl: a suite has the name of its dataset.",
        )
    phenomena, columns = _by_phenomenon(known), _by_column(known)
    rows: list[tuple[GridCell, ...]] = []
    rules = set()
    for phenomenon, names in phenomena.items():
        labels = (phenomenon, *(repeated(phenomenon),) * len(names))
        for label, name in zip(labels, names, strict=False):
            cells = [_cell(runs_of_model.get(name)) for runs_of_model in columns.values()]
            figures = _figures(blimp_datasets()[name].published)
            rows.append((label, name, sizes(cells), *(cell or BLANK for cell in cells), *figures))
        means = [
            _suite_mean(summaries, column, phenomenon, names)
            for column, summaries in columns.items()
        ]
        mean = (repeated(phenomenon), f"mean of {len(names)}", count(len(names)))
        rows.append(_row(mean, means))
        rules.add(len(rows))
    everything = [name for names in phenomena.values() for name in names]
    means = [
        _suite_mean(summaries, column, "", everything) for column, summaries in columns.items()
    ]
    label = f"mean of {len(everything)} of {len(blimp_datasets())}"
    rows.append(_row((_OVERALL, label, count(len(everything))), means))
    title = "BLiMP accuracies in %, phenomena and overall as means over datasets."
    header = ("phenomenon", "dataset", "n")
    return _grid(title, header, list(columns), rows, frozenset(rules), means)


def _cell(run: RunSummary | None) -> EstimateCell | None:
    """The accuracy of a run; None if there is no run or if nothing in it was judged."""
    headline = run.headline if run else None
    if headline is None:
        return None
    return EstimateCell.of(headline.value, headline, headline.n, percent=True)


def _row(labels: Sequence[str], means: Sequence[SuiteMean]) -> tuple[GridCell, ...]:
    """A row with the models' means over the same datasets, and the published means."""
    cells = (EstimateCell.of(mean.value, mean, mean.n_suites, percent=True) for mean in means)
    return (*labels, *cells, *_figures(means[0].published))


def _figures(published: Mapping[str, float]) -> list[str]:
    return [percent(published[model]) for model in PUBLISHED_MODELS]


def _grid(
    title: str,
    labels: tuple[str, ...],
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[GridCell, ...]],
    rules: frozenset[int],
    overall: Sequence[SuiteMean],
) -> Grid:
    measures = (measure or "surprisal" for _, measure in columns)
    models = (model for model, _ in columns)
    summed = () if all(measure for _, measure in columns) else (_SURPRISAL,)
    return Grid(
        title=title,
        header=(*labels, *measures, *PUBLISHED_MODELS),
        groups=(*(BLANK,) * len(labels), *models, *("published",) * len(PUBLISHED_MODELS)),
        rows=tuple(rows),
        rules=rules,
        labels=2,
        notes=(_COUNTS, *summed, _SOURCE, *_same_datasets(overall)),
    )

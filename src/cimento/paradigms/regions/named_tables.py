"""The tables of sentences that are made by name, for ``cimento report --table NAME``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cimento.errors import UsageError
from cimento.measures import find_measures
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions import factorial_tables as tables
from cimento.paradigms.regions.accuracy_tables import accuracy_grid
from cimento.paradigms.regions.condition_tables import means_grid
from cimento.paradigms.regions.covariates import (
    baseline_rates,
    baselines_grid,
    covariates_grid,
    margin_covariates,
)
from cimento.paradigms.regions.estimates import factorials, licensing_of_run, region_dds_of
from cimento.paradigms.regions.factorial import dd_tests, design_models
from cimento.paradigms.regions.judging import compares_sentences
from cimento.paradigms.regions.lexicon import lexicon_grid, lexicon_rates
from cimento.paradigms.regions.paper_tables import dd_in_paper, effects_in_paper
from cimento.paradigms.regions.people_items import people_by_item, people_items_grid
from cimento.paradigms.regions.people_tables import people_grid, people_of
from cimento.paradigms.regions.perplexity import (
    RANKED_BY,
    perplexities,
    perplexity_grid,
    worst_items,
    worst_items_grid,
)
from cimento.paradigms.regions.pivot import pivot, pivot_grid
from cimento.paradigms.regions.prediction_table import prediction_rates, predictions_grid
from cimento.paradigms.regions.specification_tables import curves_grid
from cimento.paradigms.regions.specifications import curves_of, defaults_first
from cimento.report.benchmarks import datasets_grid

if TYPE_CHECKING:
    from cimento.kinds.named import TableSettings
    from cimento.kinds.run import Run
    from cimento.report.grid import Grid


def named_table(name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
    """A table of some runs, on each measure that they are judged on.

    Args:
        name: one of those of the presenter.
        runs: runs of sentences; tables of designs ignore those of other suites.
        settings: what was asked of it.

    Raises:
        UsageError: no run has a design, or a measure is unknown.
    """
    if name == "sensitivity":
        return curves_grid(curves_of(defaults_first(runs)))
    judged = [measured for run in runs for measured in on_each_measure(run)]
    if name in _DECLARED:
        return _of_declared(name, judged, settings)
    if name in {"perplexity", "lowest", "phenomena", "blimp"}:
        return _overview(name, judged, settings)
    return _of_designs(name, judged, settings)


def _of_designs(name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
    """Tables of suites with two factors.

    Raises:
        UsageError: none of the suites has two factors, or a measure is unknown.
    """
    results, scale, seed = factorials(runs, settings.measures), settings.scale, settings.seed
    if not results:
        raise UsageError(
            where=f"--table {name}",
            seen="none of the runs is of a suite with two factors",
            todo=_INSTEAD.get(name, "Declare them under [factors] in suite.toml."),
        )
    if name == "tests":
        made = dd_tests(results, seed=seed)
        return tables.dd_grid(made) if settings.records else dd_in_paper(made)
    if name == "effects" and not settings.records:
        return effects_in_paper(dd_tests(results, normalization=scale or "raw", seed=seed))
    if name == "mixed":
        return tables.mixed_grid(design_models(results))
    if name == "effects":
        return tables.effects_grid(results, scale=scale)
    makers = {
        "accuracy": accuracy_grid,
        "items": tables.factorial_items_grid,
        "means": means_grid,
    }
    return makers[name](results)


_INSTEAD = {
    "accuracy": "For the accuracy of other suites give --table results.",
    "mixed": "Mixed models of right and wrong, of any suites, are in --table mixed-right; for those"
    " of DD declare the factors under [factors] in suite.toml.",
}


def _of_declared(name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
    """Tables of properties that only some suites declare.

    Raises:
        UsageError: none of the suites declares the property.
    """
    frequency = functools.cache(settings.frequency)
    kinds = {run.model_kind for run in runs}

    def of_each(find: Callable[[Run], Iterable[Any]]) -> Iterator[Any]:
        return (result for run in runs for result in find(run))

    makers: Mapping[str, tuple[Callable[[], Iterable[Any]], Callable[[Any], Grid]]] = {
        "covariates": (lambda: margin_covariates(runs, frequency), covariates_grid),
        "baselines": (lambda: baseline_rates(runs, frequency), baselines_grid),
        "lexicon": (lambda: of_each(lexicon_rates), lexicon_grid),
        "predictions": (
            lambda: of_each(prediction_rates),
            functools.partial(predictions_grid, kinds=kinds),
        ),
        "licensing": (lambda: of_each(licensing_of_run), tables.licensing_grid),
        "regions": (lambda: of_each(region_dds_of), tables.regions_grid),
        "people": (lambda: of_each(people_of), people_grid),
        "people-items": (lambda: of_each(people_by_item), people_items_grid),
    }
    find_all, write = makers[name]
    results = list(find_all())
    if not results:
        seen, todo = _DECLARED[name]
        raise UsageError(
            where=f"--table {name}", seen=f"none of the runs is of a suite {seen}", todo=todo
        )
    return write(results)


_DESIGNS = 'see the page "Factorial designs, islands and licensing".'
_DECLARED: Mapping[str, tuple[str, str]] = {
    "licensing": (
        "with [licensing] in its suite.toml",
        f"Declare filler, gap and windows there; {_DESIGNS}",
    ),
    "regions": (
        "with two factors and several regions",
        f"Part the sentences at bars in items.tsv; {_DESIGNS}",
    ),
    **dict.fromkeys(
        ("covariates", "baselines", "lexicon", "predictions"),
        ("with predictions", "Give runs of suites that formulas judge."),
    ),
    **dict.fromkeys(
        ("people", "people-items"),
        (
            "with predictions whose sentences people rated or chose between",
            (
                'Put their answers into it with cimento annotate apply (see the page "Ask people").'
                " For ratings of single sentences give --table correlations."
            ),
        ),
    ),
}
"""The suites that each table is about, and what to do if there are none."""


def _overview(name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
    """Tables that exist for any suite.

    Raises:
        UsageError: a measure is unknown.
    """
    measures, these_suites = settings.measures, settings.these_suites
    if name == "perplexity":
        return perplexity_grid([value for run in runs for value in perplexities(run)])
    if name == "phenomena":
        return pivot_grid(pivot(runs, measures), these_suites=these_suites)
    if name == "blimp":
        by_run = [on_each_measure(run, measures) for run in runs if compares_sentences(run)]
        summaries = [run.summary() for several in by_run for run in several]
        return datasets_grid(summaries, these_suites=these_suites)
    chosen = [measure.name for measure in find_measures(measures)] or [RANKED_BY]
    worst = [worst_items(run, measure=chosen[0]) for run in runs]
    return worst_items_grid(worst, measure=chosen[0])

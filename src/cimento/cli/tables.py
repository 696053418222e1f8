"""Tables of stored runs of region suites, by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from cimento.report.grid import Grid
    from cimento.runs.run import Run

TableName: TypeAlias = Literal[
    "accuracy",
    "effects",
    "tests",
    "regions",
    "mixed",
    "items",
    "licensing",
    "perplexity",
    "lowest",
    "joint",
    "blimp",
    "covariates",
    "people",
]


def make_table(
    name: TableName, runs: Sequence[Run], measures: Sequence[str], *, seed: int = 0
) -> Grid:
    """A table of some runs.

    Args:
        name: which.
        runs: for tables of designs those of other suites are passed over.
        measures: names; empty for what each run is judged on.
        seed: of resampling, for tests.

    Raises:
        UsageError: no run has a design, or there is no such measure.
    """
    from cimento.errors import UsageError
    from cimento.paradigms.regions.designs import factorials
    from cimento.paradigms.regions.factorial import dd_tests, design_models
    from cimento.report import factorial as tables

    if name in _DECLARED:
        return _of_declared(name, runs)
    if name in {"perplexity", "lowest", "joint", "blimp"}:
        return _overview(name, runs, measures)
    results = factorials(runs, measures)
    if not results:
        raise UsageError(
            where=f"--table {name}",
            seen="none of the runs is of a suite with two factors",
            todo="Declare them under [factors] in suite.toml.",
        )
    if name == "tests":
        return tables.dd_grid(dd_tests(results, seed=seed))
    if name == "mixed":
        return tables.mixed_grid(design_models(results))
    makers = {
        "accuracy": tables.accuracy_grid,
        "effects": tables.effects_grid,
        "items": tables.items_grid,
    }
    return makers[name](results)


def _of_declared(name: TableName, runs: Sequence[Run]) -> Grid:
    """Tables of what only some suites declare.

    Raises:
        UsageError: none of the suites does.
    """
    from cimento.cli.resources import zipf_frequencies_if_any
    from cimento.compare.covariates import margin_covariates
    from cimento.errors import UsageError
    from cimento.paradigms.regions.designs import licensing_of_run, region_dds_of
    from cimento.paradigms.regions.people import people_of
    from cimento.report.factorial import licensing_grid, regions_grid
    from cimento.report.robustness import covariates_grid, people_grid

    found: list[Any]
    write: Callable[[Any], Grid]
    if name == "covariates":
        found = margin_covariates(runs, functools.cache(zipf_frequencies_if_any))
        write = covariates_grid
    else:
        finders: Mapping[str, tuple[Callable[[Run], Iterable[Any]], Callable[[Any], Grid]]] = {
            "licensing": (licensing_of_run, licensing_grid),
            "regions": (region_dds_of, regions_grid),
            "people": (people_of, people_grid),
        }
        find, write = finders[name]
        found = [each for run in runs for each in find(run)]
    seen, todo = _DECLARED[name]
    if not found:
        raise UsageError(
            where=f"--table {name}", seen=f"none of the runs is of a suite {seen}", todo=todo
        )
    return write(found)


_DECLARED: Mapping[str, tuple[str, str]] = {
    "licensing": (
        "with [licensing] in its suite.toml",
        "Declare filler, gap and windows there; see docs/islands.md.",
    ),
    "regions": (
        "with two factors and several regions",
        "Part the sentences at bars in items.tsv; see docs/islands.md.",
    ),
    "covariates": ("with predictions", "Give runs of suites that formulas judge."),
    "people": (
        "whose sentences people chose between",
        "Put their choices into it with cimento annotate apply; see docs/judgments.md.",
    ),
}
"""Of what suites a table is, and what to do where there is none."""


def _overview(name: TableName, runs: Sequence[Run], measures: Sequence[str]) -> Grid:
    """Tables that any suite can have.

    Raises:
        UsageError: there is no such measure.
    """
    from cimento.compare.pivot import blimp_grid, pivot, pivot_grid
    from cimento.measures import find_measures
    from cimento.paradigms.regions.perplexity import (
        RANKED_BY,
        perplexities,
        perplexity_grid,
        worst_items,
        worst_items_grid,
    )

    if name == "perplexity":
        return perplexity_grid([value for run in runs for value in perplexities(run)])
    if name == "joint":
        return pivot_grid(pivot(runs, measures))
    if name == "blimp":
        return blimp_grid(pivot(runs, measures))
    chosen = [measure.name for measure in find_measures(measures)] or [RANKED_BY]
    worst = [one for run in runs for one in worst_items(run, measure=chosen[0])]
    return worst_items_grid(worst, measure=chosen[0])

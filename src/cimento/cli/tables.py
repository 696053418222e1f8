"""Tables of stored runs of region suites, by their names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

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

    own = {
        "licensing": _licensing,
        "regions": _regions,
        "covariates": _covariates,
        "people": _people,
    }
    if name in own:
        return own[name](runs)
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


def _licensing(runs: Sequence[Run]) -> Grid:
    """The licensing effects of all runs whose suites declare them.

    Raises:
        UsageError: there are none.
    """
    from cimento.errors import UsageError
    from cimento.paradigms.regions.designs import licensing_of_run
    from cimento.report.factorial import licensing_grid

    found = [effect for run in runs for effect in licensing_of_run(run)]
    if not found:
        raise UsageError(
            where="--table licensing",
            seen="none of the runs is of a suite with [licensing] in its suite.toml",
            todo="Declare filler, gap and windows there; see docs/islands.md.",
        )
    return licensing_grid(found)


def _regions(runs: Sequence[Run]) -> Grid:
    """DD by region of all runs of factorial suites with several regions.

    Raises:
        UsageError: there are none.
    """
    from cimento.errors import UsageError
    from cimento.paradigms.regions.designs import region_dds_of
    from cimento.report.factorial import regions_grid

    found = [each for run in runs for each in region_dds_of(run)]
    if not found:
        raise UsageError(
            where="--table regions",
            seen="none of the runs is of a suite with two factors and several regions",
            todo="Part the sentences at bars in items.tsv; see docs/islands.md.",
        )
    return regions_grid(found)


def _covariates(runs: Sequence[Run]) -> Grid:
    """Margins beside length and word frequency.

    Raises:
        UsageError: no formula judged any of the runs.
    """
    from cimento.cli.resources import zipf_frequencies_if_any
    from cimento.compare.covariates import margin_covariates
    from cimento.errors import UsageError
    from cimento.report.robustness import covariates_grid

    found = margin_covariates(runs, functools.cache(zipf_frequencies_if_any))
    if not found:
        raise UsageError(
            where="--table covariates",
            seen="none of the runs is of a suite with predictions",
            todo="Give runs of suites that formulas judge.",
        )
    return covariates_grid(found)


def _people(runs: Sequence[Run]) -> Grid:
    """People's choices beside models.

    Raises:
        UsageError: nobody chose between the sentences of any suite.
    """
    from cimento.errors import UsageError
    from cimento.paradigms.regions.people import people_of
    from cimento.report.robustness import people_grid

    found = [rate for run in runs for rate in people_of(run)]
    if not found:
        raise UsageError(
            where="--table people",
            seen="none of the runs is of a suite whose sentences people chose between",
            todo="Put their choices into it with cimento annotate apply; see docs/judgments.md.",
        )
    return people_grid(found)


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

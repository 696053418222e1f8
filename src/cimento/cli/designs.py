"""Tables of factorial suites: printed after a run, written beside it, and made from stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from cimento.report.grid import Grid
    from cimento.results import Run

TableName: TypeAlias = Literal[
    "accuracy",
    "effects",
    "tests",
    "mixed",
    "items",
    "licensing",
    "perplexity",
    "lowest",
    "joint",
    "blimp",
]

STEM = "accuracy"


def show_designs(runs: Sequence[Run], measures: Sequence[str], output: Path | None) -> None:
    """Print what designs show: accuracies of factorial suites, and licensing effects.

    Accuracies are also written, as text, CSV and LaTeX.

    Args:
        runs: of any suites; those without a design are passed over.
        measures: names; empty for what each run is judged on.
        output: the folder of runs; each table is written to the folder of its suite.
    """
    from cimento.cli.console import note, show
    from cimento.designs import compares_sentences, is_factorial
    from cimento.files import write_text
    from cimento.report.grid import FORMS, as_text
    from cimento.suites.licensing import regions_measured

    by_suite: dict[str, list[Run]] = {}
    for run in runs:
        if is_factorial(run) and compares_sentences(run):
            by_suite.setdefault(run.suite.name, []).append(run)
    for group in by_suite.values():
        grid = make_table("accuracy", group, _of_sentences(measures))
        show("\n" + as_text(grid))
        folder = group[0].folder.parent if output is not None and group[0].folder else None
        if folder is not None:
            for ending in (".txt", ".csv", ".tex"):
                write_text(FORMS[ending](grid), folder / f"{STEM}{ending}")
            note(f"The table is also in {folder}: {STEM}.txt, {STEM}.csv, {STEM}.tex")
    licensing = [run for run in runs if regions_measured(run.suite)]
    if licensing:
        show("\n" + as_text(_licensing(licensing)))


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
    from cimento.designs import factorials
    from cimento.errors import UsageError
    from cimento.report import factorial as tables
    from cimento.verdicts.factorial_mixed import design_models
    from cimento.verdicts.factorial_tests import dd_tests

    if name == "licensing":
        return _licensing(runs)
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


def _of_sentences(measures: Sequence[str]) -> list[str]:
    """The measures without the empty one, which stands for the values of regions."""
    return [name for name in measures if name]


def _licensing(runs: Sequence[Run]) -> Grid:
    """The licensing effects of all runs whose suites declare them.

    Raises:
        UsageError: there are none.
    """
    from cimento.errors import UsageError
    from cimento.report.factorial import licensing_grid
    from cimento.verdicts.licensing import licensing_effects

    found = [
        (run.suite.name, run.model, each)
        for run in runs
        for each in licensing_effects(run.suite, run.region_values())
    ]
    if not found:
        raise UsageError(
            where="--table licensing",
            seen="none of the runs is of a suite with [licensing] in its suite.toml",
            todo="Declare filler, gap and windows there; see docs/islands.md.",
        )
    return licensing_grid(found)


def _overview(name: TableName, runs: Sequence[Run], measures: Sequence[str]) -> Grid:
    """Tables that any suite can have.

    Raises:
        UsageError: there is no such measure.
    """
    from cimento.measures import find_measures
    from cimento.overviews import RANKED_BY, joint, lowest, perplexities
    from cimento.report.blimp import blimp_grid
    from cimento.report.overview import joint_grid, lowest_grid, perplexity_grid

    if name == "perplexity":
        return perplexity_grid([each for run in runs for each in perplexities(run)])
    if name == "joint":
        return joint_grid(joint(runs, measures))
    if name == "blimp":
        return blimp_grid(joint(runs, measures))
    chosen = [each.name for each in find_measures(measures)] or [RANKED_BY]
    found = [each for run in runs for each in lowest(run, measure=chosen[0])]
    return lowest_grid(found, measure=chosen[0])

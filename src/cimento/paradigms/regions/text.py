"""What is printed of runs of region suites: rates with intervals, then what designs show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.paradigms.regions.judging import on_each_measure, options_of, suite_of
from cimento.report.factorial import accuracy_grid, licensing_grid, regions_grid
from cimento.report.grid import Grid, as_text
from cimento.report.robustness import people_grid
from cimento.report.terminal import terminal_table
from cimento.runs.estimates import ACCURACY
from cimento.runs.summary import Summary
from cimento.suites.design import regions_measured

if TYPE_CHECKING:
    from cimento.runs.run import Run


def region_text(runs: Sequence[Run], *, width: int = 80, colour: bool = False) -> str:
    """Rates of some runs with their intervals and notes, then what their designs show.

    Args:
        runs: of any region suites.
        width: columns of the terminal.
        colour: with ANSI codes.
    """
    judged = [each for run in runs for each in on_each_measure(run)]
    summary = Summary(runs=tuple(run.summary() for run in judged))
    table = terminal_table(summary, width=width, colour=colour)
    return "\n".join([table, *(as_text(grid) + "\n" for grid in design_grids(runs))]).rstrip("\n")


def design_grids(runs: Sequence[Run]) -> list[Grid]:
    """The tables of designs: accuracies of each suite, DD by region, licensing, people's choices.

    Args:
        runs: of any region suites.

    Raises:
        InputError: a declaration of factors cannot be used.
    """
    # Every design has estimates of its own; without any, suites need not be read.
    runs = [run for run in runs if any(each.statistic != ACCURACY for each in run.estimates())]
    if not runs:
        return []
    from cimento.paradigms.regions.designs import (
        compares_sentences,
        effects_of,
        factorials,
        has_parts,
        is_factorial,
        people_of,
        region_dds_of,
    )

    grids: list[Grid] = []
    crossed = [run for run in runs if is_factorial(run) and compares_sentences(run)]
    for suite in dict.fromkeys(run.suite.name for run in crossed):
        own = [run for run in crossed if run.suite.name == suite]
        results = [
            result
            for run in own
            for result in factorials(
                [run], [name for name in (options_of(run).measure, *options_of(run).also) if name]
            )
        ]
        grids.append(accuracy_grid(results))
    parts = [each for run in runs if has_parts(run) for each in region_dds_of(run)]
    if parts:
        grids.append(regions_grid(parts))
    licensing = [
        effect for run in runs if regions_measured(suite_of(run)) for effect in effects_of(run)
    ]
    if licensing:
        grids.append(licensing_grid(licensing))
    people = [rate for run in runs for each in on_each_measure(run) for rate in people_of(each)]
    if people:
        grids.append(people_grid(people))
    return grids

"""The text of runs of sentences: rates, then the tables of designs; whole, or about a screen."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.accuracy_tables import accuracy_grid
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    options_of,
    suite_of,
)
from cimento.records.outcomes import ACCURACY
from cimento.records.summary import Summary
from cimento.report import NamedGrid
from cimento.report.benchmarks import benchmark_means, means_grid
from cimento.report.terminal import on_terminal, terminal_table

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paradigms.regions.factorial import Factorial
    from cimento.report.grid import Grid

SCREEN = 45
"""Lines that `run` prints at most; where there are more, tables are named instead of printed."""


def region_text(runs: Sequence[Run]) -> str:
    """The rates of some runs with intervals and notes, then the tables of designs.

    Args:
        runs: runs of any region suites.
    """
    grids = [table.grid for table in design_grids(runs)]
    return "\n".join([rates_text(runs), *map(on_terminal, grids)]).rstrip("\n")


def brief_text(runs: Sequence[Run]) -> str:
    """The same, without the tables of designs where it is longer than a screen.

    Args:
        runs: runs of any region suites.
    """
    rates, tables = rates_text(runs), design_grids(runs)
    printed = [on_terminal(table.grid) for table in tables]
    whole = "\n".join([rates, *printed]).rstrip("\n")
    if not tables or whole.count("\n") < SCREEN:
        return whole
    return "\n".join([rates, where_more(runs, [table.name for table in tables])])


def where_more(runs: Sequence[Run], tables: Sequence[str]) -> str:
    """The commands that print what was left out.

    Args:
        runs: runs of which something was left out.
        tables: names of the tables that were.
    """
    folders = [run.folder.parent for run in runs if run.folder is not None]
    where = shlex.quote(os.path.commonpath(folders)) if folders else "RUN"
    first, *others = [*dict.fromkeys(tables)] or [""]
    alike = f" (or {', '.join(others)})" if others else ""
    lines = [f"More tables: cimento report {where} --table {first}{alike}"] if first else []
    return "\n".join([*lines, f"Everything:  cimento show {where}"])


def rates_text(runs: Sequence[Run]) -> str:
    """The DDs of designs, the rates of all runs with intervals and notes, means of benchmarks.

    Args:
        runs: runs of any region suites.
    """
    color = sys.stdout.isatty()
    width = shutil.get_terminal_size((80, 24)).columns if color else 80
    judged = [measured for run in runs for measured in on_each_measure(run)]
    summary = Summary(runs=tuple(run.summary() for run in judged))
    first = map(on_terminal, headline_grids(runs))
    means = benchmark_means(summary.runs)
    last = [on_terminal(means_grid(means))] if means else []
    return "\n".join([*first, terminal_table(summary, width=width, color=color), *last])


def headline_grids(runs: Sequence[Run]) -> list[Grid]:
    """The table of DDs, which comes first where suites cross two factors: people, then models.

    Args:
        runs: runs of any suites of sentences.

    Raises:
        InputError: a declaration of factors, or a rating, cannot be used.
    """
    runs = _with_estimates_of_designs(runs)
    if not runs:
        return []
    from cimento.paradigms.regions.estimates import is_design, tests_of
    from cimento.paradigms.regions.factorial_tables import headline_grid
    from cimento.paradigms.regions.people_effects import notes_of, people_of_suite

    designs = {run.suite.name: run for run in reversed(runs) if is_design(run)}
    people = [
        effects
        for run in reversed(designs.values())
        if (effects := people_of_suite(suite_of(run), seed=options_of(run).seed))
    ]
    of_people = [test for effects in people for test in effects.tests]
    of_models = [test for run in runs if is_design(run) for test in tests_of(run)]
    tests = [*of_people, *of_models]
    # Where predictions need only some of the sentences, others may not have been asked for.
    if all(test.dd.value is None for test in tests):
        return []
    return [headline_grid(tests, notes=[*notes_of(people)])]


def _with_estimates_of_designs(runs: Sequence[Run]) -> list[Run]:
    """The runs that have more than accuracies; of others, no suite need be read for a design."""
    return [
        run for run in runs if any(estimate.statistic != ACCURACY for estimate in run.estimates())
    ]


def design_grids(runs: Sequence[Run]) -> list[NamedGrid]:
    """The tables of designs: accuracies of each suite, DD by region, licensing, people's choices.

    Args:
        runs: runs of any region suites.

    Raises:
        InputError: a declaration of factors cannot be used.
    """
    runs = _with_estimates_of_designs(runs)
    if not runs:
        return []
    from cimento.paradigms.regions.estimates import declared_tables, factorial_of

    by_suite: dict[str, list[Factorial]] = {}
    for run in runs:
        if crosses_factors(run) and compares_sentences(run):
            results = by_suite.setdefault(run.suite.name, [])
            results += [factorial_of(measured) for measured in on_each_measure(run)]
    accuracies = [NamedGrid("accuracy", accuracy_grid(several)) for several in by_suite.values()]
    return [*accuracies, *declared_tables(runs, label=lambda run: run.model)]

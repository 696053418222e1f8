"""Writing reports: which form a file gets, by its name, and what suites of regions show."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.designs import (
    compares_sentences,
    factorial_of,
    has_parts,
    is_factorial,
    people_of,
    region_dds_of,
)
from cimento.errors import CimentoError, UsageError
from cimento.files import write_text
from cimento.report import document
from cimento.report.records import NamedGrid, RunReport, SuiteReport
from cimento.report.summary import to_json
from cimento.report.told import Told
from cimento.results import Run, summarise

if TYPE_CHECKING:
    from cimento.measures.normalising import Normalisation
    from cimento.report.figures import Figure
    from cimento.runs.run import Run as RoadRun
    from cimento.verdicts.factorial import Factorial
    from cimento.verdicts.factorial_tests import DDTest

FEW_REGIONS = 3
"""Suites with fewer regions have no curve of surprisals."""


def write_report(
    runs: Sequence[Run],
    path: Path,
    *,
    others: Sequence[SuiteReport] = (),
    told: Sequence[Told] = (),
    on_road: Sequence[RoadRun] = (),
) -> Path:
    """Write a report of some runs.

    Args:
        runs: that formulas judge, in the order in which they are to be shown.
        path: ``.html``, ``.md``, ``.csv``, ``.json`` or ``.txt``; the ending says the form.
        others: sections of runs of other kinds, for a page.
        told: texts of runs that formulas do not judge, for the forms that have no sections of
            them; a ``.csv`` or ``.json`` leaves them out.
        on_road: runs that their paradigm shows; their sections are among the others.

    Raises:
        UsageError: the ending is none of these.
        StorageError: the file cannot be written.
    """
    if on_road and not runs and not told and path.suffix.lower() != ".html":
        return document.write_report(on_road, path)
    forms: dict[str, Callable[[], str]] = {
        ".html": lambda: _html(runs, others, told),
        ".md": lambda: _markdown(runs, told) + (document.markdown(on_road) if on_road else ""),
        ".csv": lambda: _csv(runs),
        ".json": lambda: to_json(summarise(runs)),
        ".txt": lambda: _text(runs, told) + document.text(on_road),
    }
    form = forms.get(path.suffix.lower())
    if form is None:
        raise UsageError(
            where=f"--output {path}",
            seen=f"a report cannot be written as {path.suffix or 'a file without ending'}",
            todo=f"Use one of {', '.join(forms)}.",
        )
    return write_text(form(), path)


def region_suites(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of suites that formulas judge: tables, figures and items.

    Args:
        runs: of any suites; the same suite judged by other predictions has a section of its own.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Run, RunReport]]] = {}
    for run in runs:
        report = run.report(items=None)
        formulas = tuple(claim.formula for claim in report.claims)
        groups.setdefault((run.suite.name, formulas), []).append((run, report))
    return [_suite(group) for group in groups.values()]


def _suite(group: Sequence[tuple[Run, RunReport]]) -> SuiteReport:
    from cimento.verdicts.factorial_tests import dd_tests

    runs = [run for run, _ in group]
    designs = [
        factorial_of(run, normalisations=("raw", "z"))
        for run in runs
        if is_factorial(run) and compares_sentences(run)
    ]
    tests = dd_tests(designs, seed=runs[0].judging.seed)
    return SuiteReport(
        runs=tuple(report for _, report in group),
        figures=_figures(group, designs, tests),
        tables=(
            *_design_tables(designs, tests),
            *_region_tables(runs),
            *_licensing_tables(runs),
            *_people_tables(runs),
        ),
    )


def _figures(
    group: Sequence[tuple[Run, RunReport]],
    designs: Sequence[Factorial],
    tests: Sequence[DDTest],
) -> tuple[Figure, ...]:
    from cimento.report.figures import drawable
    from cimento.report.figures_margins import margins_figure, pairs_figure, phenomena_figure

    reports = [report for _, report in group]
    first = group[0][0]
    suite = first.suite.name
    makers: list[Callable[[], Figure]] = []
    makers += [partial(_interaction, each, tests) for each in designs]
    if designs:
        makers.append(partial(pairs_figure, designs, suite=suite))
    makers.append(partial(margins_figure, reports, suite=suite))
    if any(len(rates.lines) > 1 for rates in reports[0].rates[1:]):
        makers.append(partial(phenomena_figure, reports, suite=suite))
    if len(first.suite.region_names) >= FEW_REGIONS:
        makers.append(partial(_regions, [run for run, _ in group]))
    return drawable(*makers)


def _interaction(result: Factorial, tests: Sequence[DDTest]) -> Figure:
    """The panels of one model and measure; on z-scores where there are some."""
    from cimento.report.figures_interaction import interaction_figure

    if result.reason or not result.phenomena:
        raise UsageError(where=f"{result.model}, {result.measure}", seen=result.reason or "nothing")
    known = any(cell.mean is not None for p in result.phenomena for cell in p.effects["z"].cells)
    scale: Normalisation = "z" if known else "raw"
    ps = {
        each.phenomenon: each.dd.p
        for each in tests
        if (each.model, each.measure) == (result.model, result.measure)
    }
    return interaction_figure(result, scale, ps)


def _regions(runs: Sequence[Run]) -> Figure:
    """Surprisal by region, where more than what predictions need was scored."""
    from cimento.report.figures_regions import regions_figure

    # Of a run that is judged on several measures the regions are the same.
    values = {run.model: run.region_values() for run in runs}
    figure = regions_figure(runs[0].suite, values)
    known = figure.frame.filter(figure.frame["mean_bits"].is_not_null())
    scored = known["region"].n_unique()
    if scored < FEW_REGIONS:
        raise UsageError(where="figure regions", seen=f"{scored} regions were scored")
    return figure


def _design_tables(designs: Sequence[Factorial], tests: Sequence[DDTest]) -> tuple[NamedGrid, ...]:
    from cimento.report.factorial import accuracy_grid, dd_grid

    if not designs:
        return ()
    return (
        NamedGrid("accuracy", accuracy_grid(designs)),
        NamedGrid("tests", dd_grid(tests)),
    )


def _region_tables(runs: Sequence[Run]) -> tuple[NamedGrid, ...]:
    from cimento.report.factorial import regions_grid

    found = [each for run in runs if has_parts(run) for each in region_dds_of(run)]
    return (NamedGrid("regions", regions_grid(found)),) if found else ()


def _licensing_tables(runs: Sequence[Run]) -> tuple[NamedGrid, ...]:
    from cimento.report.factorial import licensing_grid
    from cimento.suites.licensing import regions_measured
    from cimento.verdicts.licensing import licensing_effects

    found = [
        (run.suite.name, run.summary().label, each)
        for run in runs
        if regions_measured(run.suite)
        for each in licensing_effects(run.suite, run.region_values(), seed=run.judging.seed)
    ]
    return (NamedGrid("licensing", licensing_grid(found)),) if found else ()


def _people_tables(runs: Sequence[Run]) -> tuple[NamedGrid, ...]:
    from cimento.report.robustness import people_grid

    found = [rate for run in runs for rate in people_of(run)]
    return (NamedGrid("people", people_grid(found)),) if found else ()


def _html(runs: Sequence[Run], others: Sequence[SuiteReport], told: Sequence[Told]) -> str:
    from cimento.report.html import Page, html_page

    shown = {run.folder for suite in others for run in suite.runs}
    rest = tuple(each for each in told if str(each.folder) not in shown)
    suites = (*region_suites(runs), *others)
    methods, works = _methods(runs, others)
    page = Page(cimento=__version__, suites=suites, told=rest, methods=methods, references=works)
    return html_page(page)


def _methods(runs: Sequence[Run], others: Sequence[SuiteReport]) -> tuple[str, tuple[str, ...]]:
    """How runs were made, for a paper, and what that cites."""
    from cimento.citing import methods_paragraph, references
    from cimento.runs.run import open_run

    judged = {str(run.folder): dataclasses.asdict(run.judging) for run in runs if run.folder}
    folders = (*judged, *(run.folder for suite in others for run in suite.runs))
    try:
        stored = [open_run(folder) for folder in dict.fromkeys(folders) if folder]
        opened = [
            run.judge(**judged[str(run.folder)]) if str(run.folder) in judged else run
            for run in stored
        ]
        return methods_paragraph(opened), tuple(work.line for work in references(opened))
    except CimentoError as error:
        # A run that was moved, or that an older version stored; the rest of the page stands.
        return f"What was done cannot be told: {error}", ()


def _markdown(runs: Sequence[Run], told: Sequence[Told]) -> str:
    from cimento.report.markdown import markdown_table, markdown_text

    parts = [markdown_table(summarise(runs))] if runs or not told else []
    return "\n".join([*parts, *map(markdown_text, told)])


def _csv(runs: Sequence[Run]) -> str:
    from cimento.report.csv_table import csv_table

    return csv_table(summarise(runs), by_phenomenon=True)


def _text(runs: Sequence[Run], told: Sequence[Told]) -> str:
    from cimento.report.text import terminal_table

    parts = [terminal_table(summarise(runs), width=100)] if runs or not told else []
    return "\n".join([*parts, *(each.text for each in told)])

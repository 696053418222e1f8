"""The sections of reports on region suites: rates, figures, tables of designs and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.paradigms.regions.designs import factorial_of, licensing_of_run, region_dds_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    has_parts,
    judged_suite,
    on_each_measure,
    options_of,
    suite_of,
    tokens_of,
    values_of,
)
from cimento.paradigms.regions.people import people_of
from cimento.report.factorial import accuracy_grid, dd_grid, licensing_grid, regions_grid
from cimento.report.figures import Figure, drawable
from cimento.report.formatting import remarks
from cimento.report.items import item_records
from cimento.report.records import (
    Claim,
    NamedGrid,
    Rates,
    RunReport,
    SuiteReport,
    about_of,
    provenance_of,
)
from cimento.report.robustness import people_grid
from cimento.runs.outcomes import each_outcome
from cimento.suites.design import regions_measured

if TYPE_CHECKING:
    from cimento.measures.normalising import Normalisation
    from cimento.paradigms.regions.factorial import DDTest, Factorial
    from cimento.runs.run import Run
    from cimento.runs.summary import RunSummary

FEW_REGIONS = 3
"""Fewest regions of a suite for which there is a curve of surprisals."""


def region_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of some runs of region suites.

    Args:
        runs: runs of any region suites; a suite judged by other predictions has its own section,
            and a run shown on several measures occurs once for each.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Run, RunReport]]] = {}
    for run in (each for several in runs for each in on_each_measure(several)):
        report = region_report(run)
        formulas = tuple(claim.formula for claim in report.claims)
        groups.setdefault((run.suite.name, formulas), []).append((run, report))
    return [_section(group) for group in groups.values()]


def region_report(run: Run, *, items: int | None = None) -> RunReport:
    """The report on a run on its one measure.

    Args:
        run: run of a region suite.
        items: number of items shown with their tokens, worst first; None for all.
    """
    suite, summary = judged_suite(run), run.summary()
    numbers = options_of(run).numbers(suite_of(run))
    return RunReport(
        suite=summary.suite,
        paradigm=summary.paradigm,
        model=summary.label,
        n_items=len(suite.items),
        language=summary.language,
        folder=summary.folder,
        about=about_of(suite.meta),
        regions=suite.region_names,
        items=item_records(
            suite,
            (
                replace(each, question=summary.names.get(each.question, each.question))
                for each in each_outcome(run.outcomes())
            ),
            tokens_of(run).collect(),
            run.table("requests"),
            alone=_alone(numbers, summary.names),
            limit=items,
        ),
        claims=tuple(
            Claim(number, prediction.formula, prediction.comment, prediction.name)
            for number, prediction in zip(numbers, suite.predictions, strict=True)
        ),
        metric=suite.metric,
        provenance=provenance_of({**run.manifest, "options": summary.plain_options}),
        headline=summary.headline,
        rates=_rates(summary),
        notes=remarks(summary),
    )


def _alone(numbers: Sequence[int], names: Mapping[str, str]) -> str:
    """The name of a run's only prediction; empty if there are several."""
    question = f"prediction {numbers[0]}" if len(numbers) == 1 else ""
    return names.get(question, question)


def _rates(summary: RunSummary) -> tuple[Rates, ...]:
    """The rates of each prediction, of all together, and of all together by phenomenon."""
    several = len(summary.results) > 1
    lines = tuple(
        (
            (summary.names.get(result.question) or result.question.capitalize())
            if several
            else "All items",
            result,
        )
        for result in summary.results
    )
    together = ", all predictions together" if several else ""
    phenomena = tuple(
        (phenomenon.level or "no phenomenon named", phenomenon) for phenomenon in summary.phenomena
    )
    found = (Rates("", lines), Rates(f"By phenomenon{together}", phenomena))
    return tuple(each for each in found if each.lines)


def _section(group: Sequence[tuple[Run, RunReport]]) -> SuiteReport:
    runs = [run for run, _ in group]
    designs = [
        factorial_of(run, normalisations=("raw", "z"))
        for run in runs
        if crosses_factors(run) and compares_sentences(run)
    ]
    tests = dd_tests(designs, seed=options_of(runs[0]).seed)
    return SuiteReport(
        runs=tuple(report for _, report in group),
        figures=_figures(group, designs, tests),
        tables=tuple(_tables(runs, designs, tests)),
    )


def _figures(
    group: Sequence[tuple[Run, RunReport]],
    designs: Sequence[Factorial],
    tests: Sequence[DDTest],
) -> tuple[Figure, ...]:
    from cimento.report.figures_rates import margins_figure, pairs_figure, phenomena_figure

    reports = [report for _, report in group]
    first = group[0][0]
    suite = first.suite.name
    makers: list[Callable[[], Figure]] = []
    makers += [partial(_interaction, design, tests) for design in designs]
    if designs:
        makers.append(partial(pairs_figure, designs, suite=suite))
    makers.append(partial(margins_figure, reports, suite=suite))
    if len(first.summary().phenomena) > 1:
        makers.append(partial(phenomena_figure, reports, suite=suite))
    if len(suite_of(first).region_names) >= FEW_REGIONS:
        makers.append(partial(_regions, [run for run, _ in group]))
    return drawable(*makers)


def _interaction(result: Factorial, tests: Sequence[DDTest]) -> Figure:
    """An interaction figure of one model and measure, on z-scores if there are any."""
    from cimento.report.figures_conditions import interaction_figure

    if result.reason or not result.phenomena:
        raise UsageError(where=f"{result.model}, {result.measure}", seen=result.reason or "nothing")
    known = any(cell.mean is not None for p in result.phenomena for cell in p.effects["z"].cells)
    scale: Normalisation = "z" if known else "raw"
    ps = {
        test.phenomenon: test.dd.p
        for test in tests
        if (test.model, test.measure) == (result.model, result.measure)
    }
    return interaction_figure(result, scale, ps)


def _regions(runs: Sequence[Run]) -> Figure:
    """A figure of surprisal by region, if more was scored than predictions need."""
    from cimento.report.figures_conditions import regions_figure

    # The regions are the same in all runs that differ only in the measure.
    values = {run.model: values_of(run) for run in runs}
    figure = regions_figure(suite_of(runs[0]), values)
    known = figure.frame.filter(figure.frame["mean_bits"].is_not_null())
    scored = known["region"].n_unique()
    if scored < FEW_REGIONS:
        raise UsageError(where="figure regions", seen=f"{scored} regions were scored")
    return figure


def _tables(
    runs: Sequence[Run], designs: Sequence[Factorial], tests: Sequence[DDTest]
) -> list[NamedGrid]:
    found = []
    if designs:
        found.append(NamedGrid("accuracy", accuracy_grid(designs)))
        found.append(NamedGrid("tests", dd_grid(tests)))
    parts = [each for run in runs if has_parts(run) for each in region_dds_of(run)]
    if parts:
        found.append(NamedGrid("regions", regions_grid(parts)))
    licensing = [
        (suite, run.summary().label, effect)
        for run in runs
        if regions_measured(suite_of(run))
        for suite, _, effect in licensing_of_run(run)
    ]
    if licensing:
        found.append(NamedGrid("licensing", licensing_grid(licensing)))
    people = [rate for run in runs for rate in people_of(run)]
    if people:
        found.append(NamedGrid("people", people_grid(people)))
    return found

"""Reports on region suites: rates, figures, tables, items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import UsageError
from cimento.io.explained import ATTRIBUTIONS, EXPLAINED, EXPLANATIONS
from cimento.kinds.clusters import designs_said
from cimento.paired.designs import MOST_MODELS, design_differences
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.accuracy_tables import accuracy_grid
from cimento.paradigms.regions.attributions import contributions_of, item_contributions
from cimento.paradigms.regions.condition_tables import means_grid
from cimento.paradigms.regions.contribution_tables import contribution_figure, contribution_grids
from cimento.paradigms.regions.estimates import (
    declared_tables,
    design_effects,
    factorial_of,
    is_design,
)
from cimento.paradigms.regions.explanation_tables import explanation_figures, explanation_grids
from cimento.paradigms.regions.explanations import item_remarks, means_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.factorial_tables import dd_grid
from cimento.paradigms.regions.judging import (
    judged_suite,
    options_of,
    suite_of,
    tokens_of,
    values_of,
)
from cimento.paradigms.regions.lens import lens_of
from cimento.paradigms.regions.people_effects import PEOPLE, people_of_suite
from cimento.records.outcomes import each_outcome
from cimento.records.wrong_side import DD
from cimento.report import (
    Claim,
    ItemRecord,
    NamedGrid,
    Rates,
    RunReport,
    SuiteReport,
    about_of,
    provenance_of,
)
from cimento.report.design_differences import design_differences_grid
from cimento.report.figures import Figure, drawable
from cimento.report.formatting import remarks
from cimento.report.grid import Grid
from cimento.report.items import item_records
from cimento.suites.formula_words import in_words

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paradigms.regions.explanations import InterchangeMean
    from cimento.paradigms.regions.factorial import DDTest, Factorial
    from cimento.paradigms.regions.lens import LensMean
    from cimento.paradigms.regions.people_effects import PeopleEffects
    from cimento.records.summary import RunSummary


_Explained: TypeAlias = "tuple[Run, Sequence[InterchangeMean], Sequence[LensMean]]"
"""A run with its mean effects, and the margins of single layers."""

FEW_REGIONS = 3
"""Fewest regions of a suite for which there is a curve of surprisals."""


def region_sections(runs: Sequence[Run]) -> list[SuiteReport]:
    """The sections of some runs of region suites.

    Args:
        runs: runs of any region suites; a suite judged by other predictions has its own section,
            and a run shown on several measures occurs once for each.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[Run, RunReport]]] = {}
    for run in (measured for several in runs for measured in on_each_measure(several)):
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
    suite, summary, effects = judged_suite(run), run.summary(), design_effects(run)
    return RunReport(
        suite=summary.suite,
        paradigm=summary.paradigm,
        model=summary.label,
        n_items=len(suite.items),
        language=summary.language,
        folder=summary.folder,
        about=about_of(suite.meta),
        regions=suite.region_names,
        items=_explained(
            run,
            item_records(
                suite,
                each_outcome(run.outcomes()),
                tokens_of(run).collect(),
                run.table("requests"),
                limit=items,
                question=DD if effects else "",
            ),
        ),
        claims=tuple(
            Claim(
                prediction.name,
                prediction.formula,
                prediction.comment or in_words(prediction.formula, suite.region_names),
            )
            for prediction in suite.predictions
        ),
        metric=suite.metric,
        provenance=provenance_of({**run.manifest, "options": summary.plain_options}),
        headline=summary.headline,
        effects=effects,
        rates=_rates(summary),
        notes=(*remarks(summary), *designs_said([run])),
    )


def _explained(run: Run, items: tuple[ItemRecord, ...]) -> tuple[ItemRecord, ...]:
    """The items, with effects of interchanges and contributions where a run is explained."""
    table, attributions = (run.explained(schema) for schema in EXPLAINED)
    if table is not None:
        items = tuple(
            replace(item, remarks=(*item.remarks, *item_remarks(table, item.id))) for item in items
        )
    if attributions is not None:
        by_item = item_contributions(run, attributions)
        items = tuple(replace(item, contributions=by_item.get(item.id, ())) for item in items)
    return items


def _rates(summary: RunSummary) -> tuple[Rates, ...]:
    """The rates of each prediction, of all together, and of all together by phenomenon."""
    several = len(summary.results) > 1
    lines = tuple(
        (result.question if several else "All items", result) for result in summary.results
    )
    together = ", all predictions together" if several else ""
    phenomena = tuple(
        (phenomenon.level or "no phenomenon named", phenomenon) for phenomenon in summary.phenomena
    )
    blocks = (Rates("", lines), Rates(f"By phenomenon{together}", phenomena))
    return tuple(block for block in blocks if block.lines)


def _section(group: Sequence[tuple[Run, RunReport]]) -> SuiteReport:
    runs = [run for run, _ in group]
    designs = [factorial_of(run, normalizations=("raw", "z")) for run in runs if is_design(run)]
    tests = dd_tests(designs, seed=options_of(runs[0]).seed)
    explained = [
        (run, means_of(run, table), lens_of(run))
        for run in runs
        if (table := run.explained(EXPLANATIONS)) is not None
    ]
    attributed = [
        (run, report, contributions_of(run, table))
        for run, report in group
        if (table := run.explained(ATTRIBUTIONS)) is not None
    ]
    effects = [(run, explanation_grids(means, lens=lens)) for run, means, lens in explained]
    contributions = [(run, contribution_grids(means)) for run, _, means in attributed]
    return SuiteReport(
        runs=tuple(report for _, report in group),
        figures=drawable(
            *_figures(group, designs, tests, explained),
            *(partial(_contributions, report) for _, report, _ in attributed),
        ),
        tables=(
            *_tables(runs, designs, tests),
            *_numbered("explanations", effects),
            *_numbered("contributions", contributions),
        ),
    )


def _contributions(report: RunReport) -> Figure:
    """The figure of the contributions of tokens in the worst items of a run."""
    items = {item.id: item.contributions for item in report.items if item.contributions}
    return contribution_figure(items, model=report.model, suite=report.suite)


def _numbered(name: str, by_run: Sequence[tuple[Run, Sequence[Grid]]]) -> list[NamedGrid]:
    """The tables of what is stored beside some runs, numbered from the second on."""
    several = len({run.model for run, _ in by_run}) > 1
    grids = [
        replace(grid, title=f"{run.model}: {grid.title}") if several else grid
        for run, some in by_run
        for grid in some
    ]
    return [
        NamedGrid(f"{name}{f'-{number}' if number > 1 else ''}", grid)
        for number, grid in enumerate(grids, start=1)
    ]


def _figures(
    group: Sequence[tuple[Run, RunReport]],
    designs: Sequence[Factorial],
    tests: Sequence[DDTest],
    explained: Sequence[_Explained],
) -> list[Callable[[], Figure]]:
    from cimento.paradigms.regions.figures_pairs import pairs_figure
    from cimento.report.figures_rates import margins_figure, phenomena_figure

    reports = [report for _, report in group]
    first = group[0][0]
    suite = first.suite.name
    makers: list[Callable[[], Figure]] = []
    people = people_of_suite(suite_of(first), seed=options_of(first).seed) if designs else None
    makers += [partial(_interaction, design, tests, people) for design in designs]
    if designs:
        makers.append(partial(pairs_figure, designs, suite=suite))
    makers.append(partial(margins_figure, reports, suite=suite))
    if len(first.summary().phenomena) > 1:
        makers.append(partial(phenomena_figure, reports, suite=suite))
    if len(suite_of(first).region_names) >= FEW_REGIONS:
        of_group = [run for run, _ in group]
        makers += [partial(_regions, of_group, name) for name in ("regions", "region-sums")]
    for run, means, lens in explained:
        makers += explanation_figures(means, model=run.model, suite=run.suite_name, lens=lens)
    return makers


def _interaction(
    result: Factorial, tests: Sequence[DDTest], people: PeopleEffects | None
) -> Figure:
    """An interaction figure of one model and measure, in the unit of the DD on the page.

    Beside people's ratings it is in z-scores, as these are.
    """
    from cimento.paradigms.regions.figures_conditions import interaction_figure, rows_figure

    if result.reason or not result.phenomena:
        raise UsageError(where=f"{result.model}, {result.measure}", seen=result.reason or "nothing")
    ps = {
        test.phenomenon: test.dd.p
        for test in tests
        if (test.result.model, test.result.measure) == (result.model, result.measure)
    }
    if people is None:
        return interaction_figure(result, "raw", ps)
    of_people = {test.phenomenon: test.dd.p for test in people.tests}
    # A shift and a factor for all scores of a suite leave p as it is.
    columns = [(PEOPLE, people.result, of_people), (result.model, result, ps)]
    return rows_figure(columns, "z")


def _regions(runs: Sequence[Run], name: str) -> Figure:
    """A figure of surprisal by region, if more was scored than predictions need."""
    from cimento.paradigms.regions.figures_regions import REGION_FIGURES

    # The regions are the same in all runs that differ only in the measure.
    values = {run.model: values_of(run) for run in runs}
    figure = REGION_FIGURES[name](suite_of(runs[0]), values)
    scored = figure.frame.drop_nulls("mean_bits")["region"].n_unique()
    if scored < FEW_REGIONS:
        raise UsageError(where="figure regions", seen=f"{scored} regions were scored")
    return figure


def _tables(
    runs: Sequence[Run], designs: Sequence[Factorial], tests: Sequence[DDTest]
) -> list[NamedGrid]:
    tables = declared_tables(runs, label=lambda run: run.summary().label)
    if not designs:
        return tables
    crossed = [
        NamedGrid("tests", dd_grid(tests)),
        NamedGrid("means", means_grid(designs)),
        NamedGrid("accuracy", accuracy_grid(designs)),
    ]
    if len({run.model for run in runs}) <= MOST_MODELS and (pairs := design_differences(runs)):
        crossed.append(NamedGrid("dd-pairs", design_differences_grid(pairs)))
    return [*crossed, *tables]

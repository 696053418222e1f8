"""Reports on region suites: facts for the methods paragraph, rates, figures, tables, items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from cimento.cite.sentences import measure_phrase
from cimento.errors import UsageError, counted
from cimento.io.explained import ATTRIBUTIONS, EXPLAINED, EXPLANATIONS
from cimento.kinds.base import MethodFacts
from cimento.measures.normalizing import MODEL
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.attributions import contributions_of, item_contributions
from cimento.paradigms.regions.chance import COUNTED, NORMAL
from cimento.paradigms.regions.contribution_tables import contribution_figure, contribution_grids
from cimento.paradigms.regions.estimates import declared_tables, factorial_of
from cimento.paradigms.regions.explanation_tables import explanation_figures, explanation_grids
from cimento.paradigms.regions.explanations import item_remarks, means_of
from cimento.paradigms.regions.factorial import dd_tests
from cimento.paradigms.regions.factorial_tables import accuracy_grid, dd_grid
from cimento.paradigms.regions.judging import (
    compares_sentences,
    crosses_factors,
    judged_suite,
    options_of,
    suite_of,
    tokens_of,
    values_of,
)
from cimento.paradigms.regions.lens import lens_of
from cimento.records.outcomes import each_outcome
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
from cimento.report.figures import Figure, drawable
from cimento.report.formatting import remarks
from cimento.report.grid import Grid
from cimento.report.items import item_records
from cimento.statistics.means import CLUSTERED_T, STUDENT, STUDENTIZED, STUDENTIZED_CLUSTERED
from cimento.suites import PAIR_PREDICTION, Prediction, Suite
from cimento.suites.design import N_FACTORS, licensing_of
from cimento.suites.formula import parse, references
from cimento.suites.formula_words import in_words
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.measures.normalizing import Normalization
    from cimento.paradigms.regions.explanations import InterchangeMean
    from cimento.paradigms.regions.factorial import DDTest, Factorial
    from cimento.paradigms.regions.lens import LensMean
    from cimento.records.outcomes import Estimate
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
    suite, summary = judged_suite(run), run.summary()
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
        rates=_rates(summary),
        notes=remarks(summary),
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
    designs = [
        factorial_of(run, normalizations=("raw", "z"))
        for run in runs
        if crosses_factors(run) and compares_sentences(run)
    ]
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
    makers += [partial(_interaction, design, tests) for design in designs]
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


def _interaction(result: Factorial, tests: Sequence[DDTest]) -> Figure:
    """An interaction figure of one model and measure, on z-scores if there are any."""
    from cimento.paradigms.regions.figures_conditions import interaction_figure

    if result.reason or not result.phenomena:
        raise UsageError(where=f"{result.model}, {result.measure}", seen=result.reason or "nothing")
    known = any(cell.mean is not None for p in result.phenomena for cell in p.effects["z"].cells)
    scale: Normalization = "z" if known else "raw"
    ps = {
        test.phenomenon: test.dd.p
        for test in tests
        if (test.result.model, test.result.measure) == (result.model, result.measure)
    }
    return interaction_figure(result, scale, ps)


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
    crossed = (NamedGrid("accuracy", accuracy_grid(designs)), NamedGrid("tests", dd_grid(tests)))
    return [*crossed, *tables]


_FIRST = {
    "drop": "was excluded from every sum and length",
    "zero": "was given a surprisal of 0",
}
_METRICS = {
    "sum": "sum", "mean": "mean", "median": "median", "range": "range", "max": "largest",
    "min": "smallest",
}  # fmt: skip


def region_methods(run: Run) -> MethodFacts:
    """The comparisons in a run, the rules of judging, and the tests.

    Args:
        run: of a region suite.
    """
    suite, options = suite_of(run), options_of(run)
    conditions = len(suite.condition_names)
    many = f" in {conditions} conditions" if conditions > 1 else ""
    crossed = " and ".join(
        f"{name} ({', '.join(levels)})" for name, levels in suite.factors.items()
    )
    return MethodFacts(
        counted=f"{counted(len(suite.items), 'item')}{many}",
        design=f"cross the factors {crossed}" if crossed else "",
        sentences=(*_judged(run), *_design(run)),
        brief=tuple(_in_brief(run)),
        together=f"items of one {' or one '.join(suite.cluster)}" if suite.cluster else "",
        measures=tuple(filter(None, (options.measure, *options.also))),
    )


def _in_brief(run: Run) -> list[str]:
    """Sentences on what was compared and what counts as right, as in a paper."""
    suite, options = judged_suite(run), options_of(run)
    if not suite.predictions:
        return []
    if options.measure:
        measure = measure_phrase(options.measure, brief=True)
        compared = f"We compared the sentences of each item by {measure}."
    else:
        done = _DONE.get(suite.metric, f"took the {_METRICS.get(suite.metric, suite.metric)} of")
        compared = (
            f"For each item we {done} the token surprisals [@hale2001; @shannon1948] of"
            f" {_what_is_summed(suite)}, in {options.unit}."
        )
    met = (
        _met(suite.predictions[0], "better value" if options.measure else "lower surprisal")
        if len(suite.predictions) == 1
        else f"Each prediction is an inequality between these"
        f" {'values' if options.measure else 'surprisals'}; an item is correct on a prediction if"
        " the inequality holds"
    )
    if len(suite.predictions) > 1:
        # A design is reported by its effects; nobody counts items with all its predictions.
        is_design = len(suite.factors) == N_FACTORS
        met += "." if is_design else ", and correct as a whole if all of them hold."
    return [compared, met, *_effects(run)]


def _what_is_summed(suite: Suite) -> str:
    """What the predictions compare: whole sentences, regions of them, or both."""
    named = {one.region for p in suite.predictions for one in references(parse(p.formula))}
    whole, regions = "each sentence", "each critical region"
    if len(suite.region_names) == 1 or named == {"*"}:
        return whole
    return f"{regions} and {whole}" if "*" in named else regions


def _met(prediction: Prediction, better: str) -> str:
    """When an item is correct, for a suite with one prediction."""
    if prediction.formula == PAIR_PREDICTION.formula:
        return f"An item is correct if the grammatical sentence has the {better}."
    return (
        "An item is correct if the inequality between surprisals that the suite predicts holds:"
        f" {prediction.formula}."
    )


_DONE = {"sum": "summed", "mean": "averaged"}


def _effects(run: Run) -> list[str]:
    """Sentences on the effects of a two-by-two design and their intervals."""
    made = {
        estimate.interval_method
        for estimate in run.estimates()
        if estimate.statistic == "DD" and estimate.p_method and estimate.interval_method
    }
    if len(judged_suite(run).factors) != N_FACTORS:
        return []
    drawn = bool(made & {STUDENTIZED, STUDENTIZED_CLUSTERED})
    by_t = bool(made & {STUDENT, CLUSTERED_T})
    ways = [
        *(["studentized bootstrap [@hall1988]"] if drawn else []),
        *(["Student's t"] if by_t else []),
    ]
    intervals = f" with 95% intervals over items ({' or '.join(ways)}) and" if ways else " with"
    effect = "The effect of interest is the difference of differences (DD) of the four conditions"
    return [f"{effect} [@sprouse2012],{intervals} p values corrected by Holm's method [@holm1979]."]


def _judged(run: Run) -> list[str]:
    """Sentences on predictions, conventions, ties and chance; none if nothing is predicted."""
    if not judged_suite(run).predictions:
        return []
    return [_compared(run), *_conventions(run), _ties(run), _near_ties(run), _chance(run)]


def _compared(run: Run) -> str:
    suite, options = judged_suite(run), options_of(run)
    formulas = "; ".join(prediction.formula for prediction in suite.predictions)
    what = (
        f"whole sentences of an item by {measure_phrase(options.measure)}"
        if options.measure
        else f"regions of an item by the {_METRICS.get(suite.metric, suite.metric)} of their token"
        f" surprisals [@hale2001] in {options.unit} [@shannon1948]"
    )
    count = len(suite.predictions)
    many = (
        "prediction [@hu2020] compares" if count == 1 else f"{count} predictions [@hu2020] compare"
    )
    also = f" Items were also judged by {'; '.join(map(measure_phrase, options.also))}."
    return f"The {many} {what}: {formulas}.{also if options.also else ''}"


def _conventions(run: Run) -> list[str]:
    options = options_of(run)
    stated = []
    if options.compat:
        stated.append(f"Conventions were those of {options.compat}.")
    if options.unigrams:
        source = (
            "the model itself, given no context" if options.unigrams == MODEL else options.unigrams
        )
        stated.append(f"Unigram frequencies were those of {source}.")
    if options.unscored_first in _FIRST:
        done = _FIRST[options.unscored_first]
        stated.append(f"A first token without left context {done}.")
    return stated


def _ties(run: Run) -> str:
    rule = "successes" if options_of(run).ties == "pass" else "failures"
    return f"Ties, in which both sides are exactly equal, count as {rule}."


def _accuracies(run: Run) -> list[Estimate]:
    """The accuracies over all items, on the measure that the run is judged on."""
    method = options_of(run).measure
    return [
        estimate
        for estimate in run.estimates()
        if not estimate.group and estimate.is_of_predictions
        and (not method or estimate.method == method)
    ]  # fmt: skip


def _near_ties(run: Run) -> str:
    """A sentence on how many verdicts the number format may have decided."""
    accuracies = _accuracies(run)
    single = [one for one in accuracies if one.question != ALL_PREDICTIONS] or accuracies
    known = [one for one in single if one.near_tied is not None]
    if not known:
        return "".join(f"N{(one.near_tie_method or 'n')[1:]}." for one in single[:1])
    near = sum(one.near_tied or 0 for one in known)
    judged = sum(one.n for one in known)
    have = "has" if near <= 1 else "have"
    return (
        f"A margin below {known[0].near_tie_bits:g} bits may depend on the batch size or the"
        f" machine ({known[0].near_tie_method}); {near or 'none'} of the {judged:,} verdicts"
        f" {have} such a margin."
    )


def _chance(run: Run) -> str:
    """Sentences on how chance levels were determined."""
    by_method: dict[str, list[str]] = {}
    for estimate in _accuracies(run):
        if estimate.chance is not None and estimate.chance_method:
            levels = by_method.setdefault(estimate.chance_method, [])
            levels.append(f"{estimate.chance:.3f}")
    stated = "; ".join(
        f"{', '.join(dict.fromkeys(levels))}, {_with_source(method)}"
        for method, levels in by_method.items()
    )
    return (
        "Chance levels assume independent values from one distribution, and thus conditions of"
        f" equal length{f': {stated}' if stated else ''}."
    )


def _with_source(method: str) -> str:
    if method == NORMAL:
        return f"{method} [@sheppard1899]"
    return method if method == COUNTED else method.replace("(", "from standard normal values (")


def _design(run: Run) -> list[str]:
    """Sentences on the effects of a two-by-two design and their tests."""
    suite = suite_of(run)
    if len(suite.factors) != N_FACTORS:
        return []
    effect = (
        "Super-additivity is the difference of differences (DD) of the four condition means"
        " [@sprouse2012]."
    )
    units = "clusters" if suite.cluster else "items"
    tests = (
        f"The mean DD was tested over {units}, with CR2 standard errors [@bell2002]. Its 95%"
        " confidence interval and p value are those of the symmetric studentized bootstrap"
        f" [@hall1988] for 8 to 200 {units} (9,999 draws, seed {options_of(run).seed}), and"
        " those of Student's t [@student1908] otherwise. P values were corrected by Holm's method"
        " over all phenomena and measures of a model on the suite [@holm1979]."
    )
    licensing = (
        f"Filler effects and wh-licensing were tested over {units} in the same way, with p values"
        " corrected by Holm's method over all effects of a model on the suite, in all windows"
        " [@holm1979]."
    )
    return [effect, tests, *([licensing] if licensing_of(suite) else [])]

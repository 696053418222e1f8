"""``cimento compare``: runs side by side.

Compared are two models, one model before and after, or all models of each suite.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.compare_gate import gate_of, refuse_without_gate, say_gate
from cimento.cli.compare_heads import show_heads, show_verdicts
from cimento.cli.compare_sides import refuse_same_runs, two_sides
from cimento.cli.compare_training import plain_course, show_training
from cimento.cli.console import note, show, show_json
from cimento.cli.evaluating import PART_MISSING
from cimento.cli.flags import command_of, refuse_file_name
from cimento.cli.report import GridOptions, note_trials, show_grids
from cimento.compare.before_after import BeforeAfter, compare_before_after
from cimento.compare.equivalence_tables import equivalence_grid, equivalence_words
from cimento.compare.gate import Gate
from cimento.compare.gate_tables import gate_grid
from cimento.compare.methods import comparison_methods, ranking_methods
from cimento.compare.over_suites import designs_in, facts_of, over_suites_grids, suite_differences
from cimento.compare.ranking import rank_models
from cimento.compare.summary_tables import summary_of_models, summary_of_two
from cimento.compare.training_courses import courses_of, training_of
from cimento.compare.training_tables import training_grids
from cimento.compare.verdicts import verdicts, verdicts_of_two
from cimento.documents import versions_apart
from cimento.errors import UsageError
from cimento.export.junit import write_gate_junit
from cimento.io.declared import Texts, option
from cimento.io.files import need_writable
from cimento.kinds.clusters import with_clusters
from cimento.kinds.run import Run, open_runs
from cimento.options import run_option
from cimento.paired.item_outcomes import (
    distinct_names,
    item_outcomes,
    judged_on_measure,
    labeled_apart,
    named_means,
    without_trials,
)
from cimento.paired.pairwise import Correction, equivalences
from cimento.records.store import folders_among
from cimento.report.design_differences import DesignDifference, design_differences_grid
from cimento.report.sides import Sides
from cimento.report.suite_differences import differences_grid

if TYPE_CHECKING:
    from cimento.compare.ranking import Rankings
    from cimento.compare.ranking_records import Ranking
    from cimento.paired.pairwise import PairwiseComparison
    from cimento.report.grid import Grid
    from cimento.report.suite_differences import SuiteDifference

_MOST_IN_PAIRS = 10
"""Number of models up to which every pair of them is printed without being asked for."""


class CompareOptions(GridOptions):
    """The runs to compare, and the methods."""

    runs: tuple[Path, ...] = option(
        ...,
        "Two runs or folders: two models, or before and after. One folder of runs, or three or"
        " more: all.",
        argument="RUN...",
    )
    before: str = option(
        "",
        "Compare two models of one folder: the first one, by its name or the beginning of it.",
        metavar="NAME",
    )
    after: str = option("", "With --before: the second model.", metavar="NAME")
    measure: str = option("", "Compare by this measure; by default as the runs are stored.")
    cluster: Texts = run_option("cluster")
    details: bool = option(
        default=False,
        help="Print every table of several suites, not only a row for each; -o always writes all.",
    )
    items: bool = option(default=False, help="Also print the difference of every item.")
    pairs: bool = option(
        default=False,
        help="Also print every pair of more than ten models, which -o and --json always have; of"
        " checkpoints of one model, also ranks and pairs.",
    )
    every_question: bool = option(
        default=False,
        help="Also compare every question of a suite: single predictions, hits at k, all tiers.",
    )
    correct: Correction = option(
        "holm", "Correct p-values over suites and pairs: holm or bh (Benjamini-Hochberg)."
    )
    fail_if_worse: float | None = option(
        None,
        "Exit with code 4 if the second is significantly worse by more than this proportion (0:"
        " by any). Needs two runs, two folders with one model each, or --before and --after.",
        metavar="MARGIN",
        ge=0.0,
        le=1.0,
    )
    by: Literal["suite", "phenomenon"] = option(
        "suite",
        "With --fail-if-worse: suite, or phenomenon to check the items of each phenomenon too.",
        metavar="WHAT",
    )
    junit: Path | None = option(
        None,
        "With --fail-if-worse: write JUnit XML, a test for each change that decides, and one for"
        " each run on whether all its items were compared.",
        metavar="FILE",
    )
    these_suites: bool = option(
        default=False,
        help="Give means over suites a second interval: for other items of the same suites.",
    )
    allow_partial: bool = option(
        default=False,
        help="Let --fail-if-worse pass where the second lacks items or runs of the first.",
    )
    equivalent: float | None = option(
        None,
        "Also test whether the two differ by less than this proportion, such as 0.05.",
        metavar="MARGIN",
        ge=0.0,
        le=1.0,
    )
    published: bool = option(
        default=False, help="Compare runs with results that their sets' authors released."
    )
    figure: Path | None = option(
        None,
        "Draw checkpoints of one model: .svg, .png, .pdf, .csv. Of several suites, the means; with"
        " --details, every suite too.",
    )
    methods: bool = option(
        default=False, help="Print the methods of the comparison as a paragraph, and no tables."
    )

    @property
    def wants_ranks(self) -> bool:
        """Whether checkpoints of one model are ranked and compared in pairs too."""
        asked = self.pairs or self.details or self.every_question or self.methods
        return asked or self.equivalent is not None

    @property
    def is_brief(self) -> bool:
        """Whether several suites are only summed up."""
        return not (self.details or self.pairs or self.every_question or self.as_json)


_BRIEF = frozenset({"summary", "ways", "means", "overall", "items", "gate", "training", "curve"})
"""The tables that are printed of several suites."""
_WHERE_DETAILS = "All tables of each suite: --details prints them, -o FOLDER writes them."
_MOST_OVERALL = 6
"""Pairs of models up to which the summary of several suites has their mean differences."""


@command_of
def compare(options: CompareOptions) -> int:
    """Compare runs item by item: two models, one before and after, or all models of each suite.

    Two runs: the rates of correct items with McNemar's test and the items that differ, the scores
    of every condition, differences of differences (DD) of factorial suites, and correlations with
    ratings, all paired by item. A prompted run and one by probability: whether they are correct
    on the same items. Several models: ranks and rank intervals, all pairs, agreement, checkpoints
    in order. Suites are compared by their main question, the one that sums up a suite.
    """
    if options.output is not None:
        refuse_file_name(options.output, holds="tables are")
    if options.fail_if_worse is None:
        by_phenomenon = options.by == "phenomenon"
        refuse_without_gate(junit=options.junit is not None, by_phenomenon=by_phenomenon)
    if options.junit is not None:
        need_writable(options.junit)
    runs = folders_among(options.runs)
    if options.published:
        return _with_published(runs, options)
    sides = two_sides(runs, before=options.before, after=options.after)
    if sides is not None:
        return _before_and_after(sides, (runs[0], runs[-1]), options)
    if options.fail_if_worse is not None:
        raise UsageError(
            where="--fail-if-worse",
            seen="it needs a before and an after",
            todo="Give two runs, or two folders of runs; of models in one folder, --before NAME"
            " --after NAME.",
        )
    return _several(runs, options)


def _with_published(runs: Sequence[Path], options: CompareOptions) -> int:
    """Compare runs with released results on the very files of their suites."""
    for name in ("fail_if_worse", "equivalent", "figure", "methods", "before", "after"):
        if (given := getattr(options, name)) is not None and given not in {False, ""}:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(where=flag, seen="not for --published", todo="Leave one of them out.")
    from cimento.compare.beside_published import beside_published, published_grid
    from cimento.compare.beside_sets import beside_sets_grid, whole_sets

    opened = open_runs(runs)
    beside = beside_published(
        opened, measure=options.measure, correction=options.correct, seed=options.seed
    )
    judged = [run.judge(measures=options.measure) for run in opened] if options.measure else opened
    sets = whole_sets(judged)
    grids = {"sets": beside_sets_grid(sets)} if sets else {}
    if beside or not sets:
        grids = {"published": published_grid(beside, correction=options.correct), **grids}
    show_grids(grids, options)
    if options.as_json:
        show_json({"published": beside, "sets": sets, "correlations": [], "equivalence": None})
    return 0


def _before_and_after(
    given: tuple[Sequence[Run], Sequence[Run]], folders: Sequence[Path], options: CompareOptions
) -> int:
    if options.figure is not None:
        raise UsageError(
            where="--figure",
            seen="two runs make no curve",
            todo="Give three runs of one model or more, or one folder with them.",
        )
    if options.fail_if_worse is not None:
        refuse_same_runs(given)
    sides = [with_clusters(side, options.cluster) for side in given]
    comparison = compare_before_after(
        *sides,
        measure=options.measure,
        correction=options.correct,
        every_question=options.every_question,
        seed=options.seed,
    )
    if options.methods:
        show(comparison_methods(comparison, correction=options.correct))
        return 0
    rates = comparison.rates if options.every_question else comparison.summed_up
    gate = gate_of(
        comparison, rates, sides,
        margin=options.fail_if_worse, by_phenomenon=options.by == "phenomenon",
    )  # fmt: skip
    grids = comparison.grids(
        correction=options.correct, with_items=options.items, these_suites=options.these_suites
    )
    brief = options.is_brief and "summary" in grids
    if gate is not None:
        grids["gate"] = gate_grid(gate, sides=comparison.sides, rated=comparison.correlated)
    if not options.as_json:
        show_verdicts(verdicts_of_two(comparison) if gate is None else ())
        show_heads(comparison, folders, brief=brief)
    shown = (_BRIEF - {"summary"} if gate else _BRIEF) if brief else None
    show_grids(grids, options, only=shown)
    if brief:
        note(_WHERE_DETAILS)
    equivalent = _equivalence(rates, options)
    if options.as_json:
        show_json(_plain_comparison(comparison, gate, equivalent))
    if gate is not None and options.junit is not None:
        path = write_gate_junit(
            gate, comparison, sides[1], options.junit, partial=options.allow_partial
        )
        note(f"JUnit XML: {path}")
    code = say_gate(comparison, gate)
    return 0 if code == PART_MISSING and options.allow_partial else code


def _plain_comparison(
    comparison: BeforeAfter, gate: Gate | None, equivalent: list[dict[str, object]] | None
) -> dict[str, object]:
    """A comparison of two sides as JSON."""
    return {
        "runs": comparison.runs,
        "models": comparison.models,
        "rates": [_plain(rate) for rate in comparison.rates],
        "designs": comparison.designs,
        "values": comparison.values,
        "correlations": comparison.correlations,
        "means": comparison.means,
        "differences": comparison.differences,
        "ways": comparison.ways,
        "worse": None if gate is None else [one.name for one in gate.worse],
        "equivalence": equivalent,
        "only_first": comparison.only_first,
        "only_second": comparison.only_second,
    }


def _several(runs: Sequence[Path], options: CompareOptions) -> int:
    opened, trials = without_trials(versions_apart(with_clusters(open_runs(runs), options.cluster)))
    note_trials(trials)
    outcomes = item_outcomes(opened, measure=options.measure, every_question=options.every_question)
    training = None if options.wants_ranks else training_of(opened)
    asked = options.pairs or options.output is not None or options.as_json or options.methods
    are_few = len({one.model for one in outcomes}) <= _MOST_IN_PAIRS
    with_pairs = not training and (asked or options.equivalent is not None or are_few)
    ranked = rank_models(
        outcomes, correction=options.correct, seed=options.seed, with_pairs=with_pairs
    )
    if options.methods:
        show(ranking_methods(ranked, correction=options.correct))
        return 0
    headlines = frozenset((one.suite, one.question) for one in outcomes if one.headline)
    _draw(ranked.rankings, opened, headlines, options)
    courses = courses_of(
        ranked.rankings, outcomes, facts := facts_of(opened), headlines=headlines,
        each=options.details or options.every_question,
    )  # fmt: skip
    if training is not None:
        plain = list(map(_plain_ranking, ranked.rankings))
        return show_training(training, courses, opened, options, rankings=plain)
    means = named_means(judged_on_measure(opened, options.measure), distinct_names(opened))
    designs = _designs(opened, options) if with_pairs else ()
    pairs = [pair for ranking in ranked.rankings for pair in ranking.pairs]
    main = [pair for pair in pairs if (pair.suite, pair.question) in headlines]
    differences = suite_differences(main, facts, correction=options.correct)
    summary = _summary(ranked, differences, designs, headlines, options)
    over = over_suites_grids(
        means, differences, designs=designs_in(facts), correction=options.correct,
        these_suites=options.these_suites,
    )  # fmt: skip
    if not options.as_json:
        show_verdicts(verdicts(ranked, designs, main=headlines))
    _show_ranked(ranked, summary, designs, over | training_grids(courses), options)
    equivalent = _equivalence(pairs, options, models=True)
    if options.as_json:
        show_json(
            {
                "rankings": list(map(_plain_ranking, ranked.rankings)),
                "designs": designs,
                "correlations": ranked.correlations,
                "means": means,
                "differences": differences,
                "equivalence": equivalent,
                **({"training": list(map(plain_course, courses))} if courses else {}),
            }
        )
    return 0


def _plain_ranking(ranking: Ranking) -> dict[str, object]:
    return {**asdict(ranking), "pairs": [_plain(pair) for pair in ranking.pairs]}


def _show_ranked(
    ranked: Rankings,
    summary: Mapping[str, Grid],
    designs: Sequence[DesignDifference],
    over_suites: Mapping[str, Grid],
    options: CompareOptions,
) -> None:
    """Print and write the tables of several models, or of several suites their summary alone."""
    grids = dict(summary)
    if designs:
        grids["dd-pairs"] = design_differences_grid(designs, correction=options.correct)
    grids |= ranked.grids(correction=options.correct)
    grids |= over_suites
    brief = options.is_brief and bool(summary)
    show_grids(grids, options, only=_BRIEF if brief else grids.keys() - {"overall"})
    models = {one.model for ranking in ranked.rankings for one in ranking.models}
    if brief:
        note(_WHERE_DETAILS)
    elif models and "pairs" not in grids:
        note(
            f"The pairs of {len(models)} models are not listed: --pairs prints them, -o saves them."
        )
    for title in ranked.alone:
        note(f"Not compared: {title}. No other run here is on this suite.")


def _designs(runs: Sequence[Run], options: CompareOptions) -> tuple[DesignDifference, ...]:
    """The differences of the DDs of every two models on designs."""
    from cimento.paired.designs import design_differences

    judged = labeled_apart(judged_on_measure(runs, options.measure))
    designs = [run for run in judged if run.paradigm.presenter.design_effects(run)]
    return design_differences(designs, correction=options.correct, seed=options.seed)


def _summary(
    ranked: Rankings,
    differences: Sequence[SuiteDifference],
    designs: Sequence[DesignDifference],
    headlines: Collection[tuple[str, str]],
    options: CompareOptions,
) -> dict[str, Grid]:
    """The tables that sum up several suites, by name; none where there is one suite."""
    rankings = [one for one in ranked.rankings if (one.suite, one.question) in headlines]
    correlated = [one for one in ranked.correlations if (one.suite, one.question) in headlines]
    pairs = [pair for ranking in rankings for pair in ranking.pairs]
    if len({one.suite for one in rankings} | {one.suite for one in correlated}) == 1:
        return {}
    labels = {(one.first, one.second) for one in pairs}
    labels |= {(one.first, one.second) for one in correlated}
    if len(labels) == 1:
        sides = Sides(*labels.pop(), models=True)
        summed = summary_of_two(
            pairs, correlated, differences, correction=options.correct, sides=sides,
            designs=dict.fromkeys(design.suite for design in designs),
        )  # fmt: skip
        return {"summary": summed}
    overall = [one for one in differences if not one.phenomenon]
    grids = {"summary": summary_of_models(rankings)} if rankings else {}
    if grids and 0 < len({(one.first, one.second) for one in overall}) <= _MOST_OVERALL:
        grids["overall"] = differences_grid(overall, correction=options.correct)
    return grids


def _draw(
    rankings: Sequence[Ranking],
    runs: Sequence[Run],
    headlines: Collection[tuple[str, str]],
    options: CompareOptions,
) -> None:
    """Draw accuracy over training to a file, if one is given."""
    from cimento.compare.figures_checkpoints import checkpoints_figure

    if options.figure is not None:
        chances = {
            (run.suite_name, one.question): one.chance
            for run in runs
            for one in run.estimates()
            if one.chance is not None and not one.group
        }
        facts = facts_of(runs)
        figure = checkpoints_figure(
            rankings, chances=chances, facts=facts, headlines=headlines,
            each=options.details or options.every_question,
        )  # fmt: skip
        options.neutralize(drawn := figure.write(options.figure))
        note(f"The figure is in {drawn}")


def _equivalence(
    pairs: Sequence[PairwiseComparison], options: CompareOptions, *, models: bool = False
) -> list[dict[str, object]] | None:
    """The equivalence tests within the requested margin, shown, and returned for JSON."""
    if options.equivalent is None:
        return None
    tests = equivalences(pairs, margin=options.equivalent)
    grid = equivalence_grid(pairs, tests, margin=options.equivalent, models=models)
    show_grids({"equivalence": grid}, options)
    names = ("suite", "question", "first", "second", "n")
    return [
        {
            **{name: getattr(pair, name) for name in names},
            "margin": options.equivalent,
            "so": equivalence_words(test, margin=options.equivalent),
            **asdict(test),
        }
        for pair, test in zip(pairs, tests, strict=True)
    ]


def _plain(pair: PairwiseComparison) -> dict[str, object]:
    """A comparison as JSON, without parts that only the program needs."""
    only_here = {"design", "cluster_columns", "kept"}
    return {name: value for name, value in asdict(pair).items() if name not in only_here}

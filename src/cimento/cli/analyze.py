"""``cimento analyze items``: all runs on one scale, by item-response models.

An analysis is of items x models x phenomena.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of, refuse_file_name
from cimento.cli.report import GridOptions, note_left_out, note_trials, show_grids
from cimento.compare.analysis import ModelChoice
from cimento.compare.answer_table import TieRule
from cimento.compare.methods import analysis_methods
from cimento.documents import versions_apart
from cimento.errors import UsageError
from cimento.io.declared import Texts, option
from cimento.kinds.clusters import with_clusters
from cimento.kinds.run import Run, open_runs
from cimento.options import run_option
from cimento.paired.item_outcomes import without_restated, without_trials
from cimento.records.store import folders_among


class AnalyzeOptions(GridOptions):
    """The runs to analyze, and the model."""

    model: ModelChoice = option(
        "auto",
        "Item-response model: rasch, 2pl (items differ in discrimination), or auto"
        " (decided by a likelihood-ratio test).",
    )
    phenomenon: str = option("", "Column with the phenomenon of an item; else that of the suite.")
    covariates: Texts = option(
        (),
        "What makes items harder: length, tokens, frequency, or a column of numbers. Repeatable.",
        flags=("--covariate",),
        metavar="NAME",
    )
    ties: TieRule = option("judged", "A tie counts as it was judged, or half.")
    judgments: tuple[Path, ...] = option(
        (), "Also people, on one scale with the models: a judgments table. Repeatable."
    )
    measure: str = option("", "Measure of scores and verdicts; else as stored.")
    cluster: Texts = run_option("cluster")
    precision: float | None = option(
        None,
        "Also the fewest items that give every model's proportion of correct items to within"
        " this: 0.05.",
        metavar="SHARE",
        ge=0.001,
        le=0.999,
    )
    families: tuple[str, ...] = option(
        (),
        "Models that may answer alike, or a table with columns model and family; else checkpoints"
        " of a run and sizes of a model, by their names. Repeatable.",
        flags=("--family",),
        metavar="NAME=MODEL,MODEL",
    )
    items: bool = option(default=False, help="List every item, not only those to look at.")
    methods: bool = option(
        default=False, help="Print the methods of the analysis as a paragraph, and no tables."
    )


@command_of
def analyze(options: AnalyzeOptions) -> None:
    """Estimate the difficulty of items and phenomena, and the ability of models.

    A crossed logistic model of all outcomes (Rasch with random items, or two-parameter): abilities
    with the ranks they leave open, difficulties, proportions of variance, and items that fit badly
    or discriminate backwards, with their sentences. Suites are analyzed by their headline question,
    those with different levels of chance apart.
    """
    from cimento.compare.analysis_tables import analysis_grids, analysis_section
    from cimento.compare.answer_table import respondents_of
    from cimento.compare.levels import AnalysisSettings, analyze_runs
    from cimento.judgments import judgments_of, read_judgments
    from cimento.report.figures import write_figures

    if options.output is not None:
        refuse_file_name(options.output, holds="tables and figures are")
    runs = with_clusters(_opened_whole(options.runs), options.cluster)
    judgments = [one for path in options.judgments for one in judgments_of(read_judgments(path))]
    settings = AnalysisSettings(
        kind=options.model,
        phenomenon=options.phenomenon,
        covariates=options.covariates,
        ties=options.ties,
        measure=options.measure,
        precision=options.precision,
        seed=options.seed,
        families=options.families,
    )
    people = respondents_of(judgments, runs, ties=options.ties) if judgments else ()
    asked = {run.model for run in runs}
    if runs and len(asked) + len(people) <= 1:
        raise UsageError(
            where="cimento analyze items",
            seen=f"it needs two models, and all runs here are of {' and '.join(asked)}",
            todo="Give runs of other models too, or --judgments of people.",
        )
    analysis = analyze_runs(runs, settings, people=people)
    if options.methods:
        show(analysis_methods(analysis))
        return
    if options.as_json:
        show_json(analysis)
    show_grids(analysis_grids(analysis, all_items=options.items), options)
    if options.output is not None:
        write_figures(analysis_section(analysis).figures, options.output)
        note(f"Tables and figures are in {options.output}")


def _opened_whole(paths: Sequence[Path]) -> list[Run]:
    """The runs in some folders, without trials on some items, or those by prompt beside others."""
    runs, trials = without_trials(versions_apart(open_runs(folders_among(paths))))
    note_trials(trials)
    shown, by_prompt = without_restated(runs)
    note_left_out(by_prompt, why="other runs here are by probability", what="runs by prompt")
    return shown

"""``cimento analyse``: items x models x phenomena, by item-response models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show_json
from cimento.cli.flags import command_of
from cimento.cli.report import GridOptions, show_grids
from cimento.compare.analysis import ModelChoice
from cimento.compare.answer_table import TieRule
from cimento.options import Texts, option
from cimento.runs.run import folders_among

if TYPE_CHECKING:
    from cimento.runs.run import Run


class AnalyseOptions(GridOptions):
    """The runs to analyse, and the model."""

    model: ModelChoice = option(
        "auto", "Of items: rasch, 2pl (they discriminate unequally), or auto: by likelihood ratio."
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
    measure: str = option("", "Of scores and verdicts; else as the runs are stored.")
    precision: float | None = option(
        None,
        "Also the fewest items that give every model's share of right items to within this: 0.05.",
        metavar="SHARE",
        ge=0.001,
        le=0.999,
    )
    items: bool = option(default=False, help="List every item, not only those to look at.")


def _analyse(options: AnalyseOptions) -> None:
    """Say how hard items and phenomena are, how able models are, and how sure this is.

    A crossed logistic model of all outcomes (Rasch with random items, or two-parameter): abilities
    with the ranks they leave open, difficulties, shares of variance, and items that fit badly or
    discriminate backwards, with their sentences. Suites are analysed by their headline question.
    """
    from cimento.compare.analysis import analyse_table
    from cimento.compare.answer_table import answer_table, respondents_of
    from cimento.people.judgments.records import judgments_of, read_judgments
    from cimento.report.analysis import analysis_grids, analysis_section
    from cimento.report.figures import write_figures

    runs = opened_whole(options.runs)
    judgments = [one for path in options.judgments for one in judgments_of(read_judgments(path))]
    table = answer_table(
        runs,
        people=respondents_of(judgments, runs, ties=options.ties) if judgments else (),
        measure=options.measure,
        phenomenon=options.phenomenon,
        covariates=options.covariates,
        ties=options.ties,
    )
    analysis = analyse_table(
        table,
        kind=options.model,
        ties=options.ties,
        precision=options.precision,
        seed=options.seed,
    )
    if options.as_json:
        show_json(analysis)
    show_grids(analysis_grids(analysis, all_items=options.items), options)
    if options.output is not None:
        write_figures(analysis_section(analysis).figures, options.output)
        note(f"Tables and figures are in {options.output}")


analyse = command_of(AnalyseOptions, _analyse, positional="runs", metavar="RUN...")


def opened_whole(paths: Sequence[Path]) -> list[Run]:
    """The runs in some folders, without trials on some items, or those by prompt beside others."""
    from cimento.cli.compare import note_left_out, note_trials
    from cimento.compare.item_outcomes import without_restated, without_trials
    from cimento.report.document import versions_apart
    from cimento.runs.run import open_runs

    runs, trials = without_trials(versions_apart(open_runs(folders_among(paths))))
    note_trials(trials)
    shown, by_prompt = without_restated(runs)
    note_left_out(by_prompt, why="other runs here are by probability", what="runs by prompt")
    return shown

"""``cimento judge``: verdicts again from stored tables, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


# size: one argument for each option.
def judge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    *,
    metric: options.Metric = None,
    prediction: options.Predictions = None,
    unit: options.Unit = None,
    measure: options.Measures = None,
    unigrams: options.Unigrams = None,
    unscored_first: options.UnscoredFirst = None,
    ties: options.Ties = None,
    near_ties: options.NearTies = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    items: Annotated[
        bool, options.option("--items", help="Print the verdict of every item (TSV).")
    ] = False,
    scores: Annotated[
        bool, options.option("--scores", help="Print the measures of every sentence (TSV).")
    ] = False,
    output: Annotated[
        Path | None, options.option("-o", "--output", help="Store the judged runs here.")
    ] = None,
) -> None:
    """Judge stored answers again, with another metric, measure, unit or prediction.

    Nothing is scored, and the stored runs stay as they are.
    """
    from cimento.cli.console import show, show_tables
    from cimento.cli.evaluating import show_table
    from cimento.errors import UsageError
    from cimento.judging import Judging
    from cimento.report.summary import to_json
    from cimento.results import open_runs, summarise

    given = options.given(
        unit=unit,
        unigrams=unigrams,
        unscored_first=unscored_first,
        ties=ties,
        near_tie_bits=near_ties,
    )
    judging = Judging(metric=metric, predictions=tuple(prediction or ()), seed=seed, **given)
    opened = [run.judge(judging) for run in open_runs(runs)]
    if scores:
        show_tables(run.scores(measure or ()) for run in opened)
        return
    judged = [each for run in opened for each in run.judge_on(measure or ())]
    if output is not None:
        if len(judged) > len(opened):
            raise UsageError(
                where="--output",
                seen="a run is stored with one judging, and there are several measures",
                todo="Give one measure.",
            )
        judged = [run.save(run.folder_below(output)) for run in judged]
    if items:
        show_tables(run.verdicts() for run in judged)
    elif json:
        show(to_json(summarise(judged, with_verdicts=True)))
    else:
        show_table(summarise(judged))

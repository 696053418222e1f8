"""``cimento judge``: outcomes again from stored tables, without a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.runs.run import Run


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
    from cimento.cli.console import show_tables
    from cimento.cli.evaluating import show_ends
    from cimento.errors import UsageError
    from cimento.paradigms.regions.judging import on_each_measure, scores_of
    from cimento.runs.run import open_runs
    from cimento.runs.store import RunFolder

    given = options.given(
        metric=metric,
        predictions=tuple(prediction) if prediction else None,
        unit=unit,
        unigrams=unigrams,
        unscored_first=unscored_first,
        ties=ties,
        near_tie_bits=near_ties,
    )
    opened = [_judged(run, given, seed) for run in open_runs(runs)]
    if scores:
        show_tables(scores_of(run, measure or ()) for run in opened)
        return
    judged = [each for run in opened for each in on_each_measure(run, measure or ())]
    if output is not None:
        if len(judged) > len(opened):
            raise UsageError(
                where="--output",
                seen="a run is stored with one judging, and there are several measures",
                todo="Give one measure.",
            )
        judged = [
            run.save(RunFolder.below(output, suite=run.suite.name, name=_folder_name(run)))
            for run in judged
        ]
    if items:
        show_tables(run.outcomes() for run in judged)
    else:
        show_ends(judged, (), output=None, as_json=json)


def _judged(run: Run, given: Mapping[str, object], seed: int) -> Run:
    """A run with the options that were given, and all others as they are by default.

    Raises:
        UsageError: the paradigm of the run does not honour an option.
    """
    from cimento.paradigms.registry import parse_options

    seeded = {"seed": seed} if "seed" in run.paradigm.options.model_fields else {}
    options = parse_options(run.paradigm, {**run.options.asked(), **seeded, **given})
    return dataclasses.replace(run, options=options)


def _folder_name(run: Run) -> str:
    return run.folder.name if run.folder else run.model

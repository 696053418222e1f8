"""``cimento judge``: verdicts again from stored tables, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


def judge(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    *,
    metric: options.Metric = None,
    prediction: options.Predictions = None,
    unit: options.Unit = "bits",
    seed: options.Seed = 0,
    json: options.Json = False,
    items: Annotated[
        bool, options.option("--items", help="Print the verdict of every item (TSV).")
    ] = False,
    output: Annotated[
        Path | None, options.option("-o", "--output", help="Store the judged runs here.")
    ] = None,
) -> None:
    """Judge stored answers again, with another metric, unit or prediction.

    Nothing is scored, and the stored runs stay as they are.
    """
    from cimento.cli.console import show
    from cimento.cli.evaluating import show_table
    from cimento.judging import Judging
    from cimento.report.summary import to_json
    from cimento.results import open_runs, summarise

    judging = Judging(
        metric=metric,
        predictions=tuple(prediction or ()),
        unit=unit,
        seed=seed,
    )
    judged = [run.judge(judging) for run in open_runs(runs)]
    if output is not None:
        judged = [run.save(run.folder_below(output)) for run in judged]
    if items:
        import polars as pl

        table = pl.concat([run.verdicts() for run in judged])
        show(table.write_csv(separator="\t"))
    elif json:
        show(to_json(summarise(judged, with_verdicts=True)))
    else:
        show_table(summarise(judged))

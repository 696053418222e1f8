"""``cimento run``: score and judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


# size: one argument for each option.
def run(
    suites: Annotated[
        list[str], typer.Argument(metavar="SUITE...", help="Built-in names or paths.")
    ],
    model: options.Model,
    output: options.Output = Path("runs"),
    *,
    json: options.Json = False,
    metric: options.Metric = None,
    prediction: options.Predictions = None,
    unit: options.Unit = "bits",
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    kind: options.Kind = "auto",
    bos: options.Bos = "auto",
    pll: options.Pll = "within-word-l2r",
    punctuation: options.Punctuation = "split",
    window: options.Window = "refuse",
    stride: options.Stride = None,
    context: options.ContextText = "",
    context_column: options.ContextColumn = "",
    batch_size: options.BatchSize = None,
    limit: options.Limit = None,
    all_tokens: options.AllTokens = False,
    spec: options.Spec = None,
    recorded_unit: options.RecordedUnit = "bits",
    seed: options.Seed = 0,
    no_cache: options.NoCache = False,
    force: Annotated[
        bool, options.option("--force", help="Run again what is already there.")
    ] = False,
) -> int:
    """Ask suites of models, judge the answers, store everything and print a table.

    A run that is already stored is shown, not done again.
    """
    from cimento.api import Evaluation
    from cimento.cli.evaluating import evaluate_and_show
    from cimento.judging import Judging
    from cimento.models.base import Policy
    from cimento.requests import Context
    from cimento.sources import Asking

    asking = Asking(
        policy=Policy(
            bos=bos, pll=pll, punctuation=punctuation, dtype=dtype, window=window, stride=stride
        ),
        kind=kind,
        device=device,
        context=Context(text=context, column=context_column),
        token_budget=batch_size,
        all_tokens=all_tokens,
        limit=limit,
        spec=spec,
        recorded_unit=recorded_unit,
    )
    judging = Judging(
        metric=metric,
        predictions=tuple(prediction or ()),
        unit=unit,
        seed=seed,
    )
    evaluation = Evaluation(asking=asking, judging=judging, output=output, force=force)
    return evaluate_and_show(suites, model, evaluation, as_json=json, keep_answers=not no_cache)

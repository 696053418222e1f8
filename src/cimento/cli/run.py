"""``cimento run``: score and judge."""

from __future__ import annotations

from dataclasses import replace
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
    unit: options.Unit = None,
    measure: options.Measures = None,
    unigrams: options.Unigrams = None,
    unscored_first: options.UnscoredFirst = None,
    ties: options.Ties = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    model_args: options.ModelArgs = None,
    kind: options.Kind = "auto",
    bos: options.Bos = None,
    pll: options.Pll = None,
    punctuation: options.Punctuation = None,
    leading_blank: options.LeadingBlank = None,
    compat: options.CompatName = None,
    boundary: options.Boundary = None,
    boundary_eos: options.BoundaryEos = None,
    boundary_first: options.BoundaryFirst = None,
    window: options.Window = "refuse",
    stride: options.Stride = None,
    context: options.ContextText = "",
    context_column: options.ContextColumn = "",
    batch_size: options.BatchSize = None,
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = 120.0,
    limit: options.Limit = None,
    all_tokens: options.AllTokens = False,
    columns: options.ColumnNames = None,
    layers: options.Layers = "",
    spec: options.Spec = None,
    recorded_unit: options.RecordedUnit = "bits",
    seed: options.Seed = 0,
    set_: options.Settings = None,
    no_cache: options.NoCache = False,
    force: Annotated[
        bool, options.option("--force", help="Run again what is already there.")
    ] = False,
) -> int:
    """Ask suites of models, judge the answers, store everything and print a table.

    A run that is already stored is shown, not done again. Of several measures the first is the one
    it is stored with.
    """
    from cimento.answers import parse_columns, parse_layers
    from cimento.api import Evaluation
    from cimento.cli.kinds import KindRun, parse_settings, run_each_kind
    from cimento.compat import OURS, find_compat
    from cimento.measures import columns_needed, judged_on
    from cimento.models.arguments import parse_model_args
    from cimento.requests import Context
    from cimento.sources import Asking

    base = find_compat(compat) if compat else OURS
    measures = judged_on(measure or base.measures)
    judged = options.given(
        metric=metric,
        unit=unit,
        unigrams=unigrams,
        unscored_first=unscored_first,
        ties=ties,
        measure=measures[0] if measures else None,
    )
    asking = Asking(
        policy=replace(
            base.policy,
            **options.given(
                bos=bos,
                pll=pll,
                punctuation=punctuation,
                dtype=dtype,
                boundary=boundary,
                boundary_eos=boundary_eos,
                boundary_first=boundary_first,
                window=window,
                stride=stride,
                leading_blank=leading_blank,
                model_args=parse_model_args(model_args or ()),
            ),
        ),
        kind=kind,
        device=device,
        context=Context(text=context, column=context_column),
        token_budget=batch_size,
        concurrency=concurrency,
        timeout_s=timeout,
        all_tokens=all_tokens,
        columns=(
            *parse_columns(columns or ()),
            *columns_needed(measures),
            *parse_layers(layers),
        ),
        limit=limit,
        spec=spec,
        recorded_unit=recorded_unit,
    )
    judging = replace(base.judging, predictions=tuple(prediction or ()), seed=seed, **judged)
    evaluation = Evaluation(asking=asking, judging=judging, output=output, force=force)
    how = KindRun(
        evaluation=evaluation,
        as_json=json,
        keep_answers=not no_cache,
        measures=measures,
        options=parse_settings(set_ or ()),
    )
    return run_each_kind(suites, model, how)

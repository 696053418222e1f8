"""The options of a run, declared once for the commands that plan, do, spread and collect runs.

Each of them takes what ``cimento run`` takes: suites and models, or a run file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cimento.cli import options
from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.suites.model import JsonValue

Workers = Annotated[
    int | None,
    options.option("--workers", min=1, help="Processes; one for each GPU, or one, by default."),
]
EngineOption = Annotated[
    str, options.option("--engine", help="local (the default): processes here; ray: Ray Core.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is to be run.

    Attributes:
        suites: names and paths.
        models: names.
        how: everything else.
        values: what was chosen, by the keys of a run file.
    """

    suites: tuple[str, ...]
    models: tuple[str, ...]
    how: KindRun
    values: Mapping[str, JsonValue] = field(default_factory=dict)

    def recorded(self) -> RunRequest:
        """The same, with what was chosen to be written into manifests, without secrets."""
        from cimento.sources import shown_name

        models: JsonValue = [shown_name(model) for model in self.models]
        evaluation = replace(self.how.evaluation, run_file={**self.values, "models": models})
        return replace(self, how=replace(self.how, evaluation=evaluation))


# size: one argument for each option.
def parse(
    suites: Annotated[
        list[str] | None,
        typer.Argument(metavar="SUITE...|RUN.toml", help="Built-in names, paths, or a run file."),
    ] = None,
    model: options.Models = None,
    output: options.Output = Path("runs"),
    *,
    engine: EngineOption = "local",
    workers: Workers = None,
    json: options.Json = False,
    metric: options.Metric = None,
    prediction: options.Predictions = None,
    unit: options.Unit = None,
    measure: options.Measures = None,
    unigrams: options.Unigrams = None,
    unscored_first: options.UnscoredFirst = None,
    ties: options.Ties = None,
    near_ties: options.NearTies = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "float32",
    model_args: options.ModelArgs = None,
    allow_pickle: options.AllowPickle = False,
    trust_remote_code: options.TrustRemoteCode = False,
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
    batch_tokens: options.BatchTokens = None,
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
) -> RunRequest:
    """What the options come to.

    Raises:
        UsageError: an option cannot be used, or no suite or no model is given.
    """
    from cimento.answers import parse_columns, parse_layers
    from cimento.cli.kinds import KindRun, parse_settings
    from cimento.compat import OURS, find_compat
    from cimento.measures import columns_needed, judged_on
    from cimento.models.arguments import parse_model_args
    from cimento.regions_api import Evaluation
    from cimento.requests import Context
    from cimento.scheduling.engines import find_engine
    from cimento.sources import Asking

    _need("SUITE", "suites", suites)
    _need("--model", "models", model)
    base = find_compat(compat) if compat else OURS
    measures = judged_on(measure or base.measures)
    judged = options.given(
        metric=metric,
        unit=unit,
        unigrams=unigrams,
        unscored_first=unscored_first,
        ties=ties,
        near_tie_bits=near_ties,
        measure=measures[0] if measures else None,
        also=tuple(measures[1:]) or None,
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
                model_args=parse_model_args(
                    model_args or (),
                    allow_pickle=allow_pickle,
                    trust_remote_code=trust_remote_code,
                ),
            ),
        ),
        kind=kind,
        device=device,
        context=Context(text=context, column=context_column),
        batch_size=batch_size or "auto",
        batch_tokens=batch_tokens or "auto",
        concurrency=concurrency,
        timeout_s=timeout,
        all_tokens=all_tokens,
        columns=(
            *parse_columns(columns or ()),
            *columns_needed(measures),
            *parse_layers(layers),
        ),
        own_blank=leading_blank is not None,
        limit=limit,
        spec=spec,
        recorded_unit=recorded_unit,
    )
    judging = replace(base.judging, predictions=tuple(prediction or ()), seed=seed, **judged)
    how = KindRun(
        evaluation=Evaluation(asking=asking, judging=judging, output=output, force=force),
        as_json=json,
        keep_answers=not no_cache,
        measures=measures,
        options=parse_settings(set_ or ()),
        engine=find_engine(engine, workers),
    )
    return RunRequest(suites=tuple(suites or ()), models=tuple(model or ()), how=how)


def as_command(action: Callable[..., int]) -> Callable[..., int]:
    """A command with the options of a run.

    Args:
        action: takes a `RunRequest`, and options of its own by keyword; its docstring is the help
            of the command.
    """
    shared = inspect.signature(parse, eval_str=True).parameters
    own = list(inspect.signature(action, eval_str=True).parameters.values())[1:]

    def command(ctx: typer.Context, **values: Any) -> int:  # noqa: ANN401  # of every option
        from cimento.cli.run_file import is_run_file, with_run_file
        from cimento.scheduling.engines import steady_arithmetic

        steady_arithmetic()
        extra = {each.name: values.pop(each.name) for each in own}
        filled, stated = with_run_file(ctx, values)
        request = replace(parse(**filled), values=stated)
        if any(map(is_run_file, values["suites"] or ())):
            request = request.recorded()
        return action(request, **extra)

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [context, *shared.values(), *own]
    # typer reads a command's options from its signature.
    vars(command)["__signature__"] = inspect.Signature(parameters, return_annotation=int)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = action.__doc__
    command.__name__ = action.__name__
    return command


def _need(where: str, name: str, given: list[str] | None) -> None:
    """See that there is something to run.

    Raises:
        UsageError: there is not.
    """
    if not given:
        raise UsageError(
            where=where,
            seen=f"no {name} are given",
            todo="Give SUITE... -m MODEL..., or a run file that names them.",
        )

"""``cimento analyze attribution``: which region carries a prediction, layer by layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.cli.console import note, show, show_json
from cimento.cli.evaluating import opened_cache, progress_bars
from cimento.cli.flags import SheetOptions, command_of, parted
from cimento.engine.engines import Engine
from cimento.errors import UsageError, counted
from cimento.evaluation.reproduce import asking_of
from cimento.explain import (
    Attribution,
    ExplainSettings,
    Explanation,
    attribute,
    plan_explanation,
)
from cimento.io.declared import Texts, option
from cimento.io.files import expanded, write_text
from cimento.kinds.clusters import with_clusters
from cimento.kinds.run import open_runs
from cimento.models.hf.arguments import parse_model_args, parse_tokenizer_args
from cimento.models.questions import AlignmentRule, BaselineRule, Part
from cimento.options import Arguments, Limit, run_option
from cimento.records.store import MANIFEST
from cimento.records.usage import duration
from cimento.report.figures import drawable, lacking_figures, write_figures
from cimento.report.grid import GRID_FORMS, Grid
from cimento.report.terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cimento.evaluation.plan import ModelPlan
    from cimento.kinds.run import Run

By: TypeAlias = Literal["interchange", "integrated", "gradient"]


class ExplainOptions(SheetOptions):
    """The run to explain, and what is exchanged."""

    run: Path = option(..., "The folder of a run.", argument="RUN")
    items: tuple[str, ...] = option((), "Ids of items; all by default.", argument="[ITEM...]")
    by: By = option(
        "interchange",
        "interchange (where a prediction is carried), or what each token contributes: integrated"
        " (gradients) or gradient (x input).",
    )
    baseline: BaselineRule = option(
        "mean", "From which embedding contributions count: mean (of the vocabulary) or zero."
    )
    part: Part = option(
        "residual", "What is exchanged: residual (the stream), attention, mlp or heads."
    )
    align: AlignmentRule = option(
        "auto",
        "Which tokens of a region: auto (all, or the last where their numbers differ), last;"
        " exact: only items whose tokens match one by one.",
    )
    predictions: Texts = option(
        (), "The name or number of a prediction; all by default.", flags=("--prediction",)
    )
    swap: Texts = option(
        (),
        "Put the states of SOURCE into BASE, two conditions that differ in one controller."
        " Repeatable; found in factorial suites.",
        metavar="BASE=SOURCE",
    )
    controller: Texts = option(
        (),
        "The region with the controller, by name or number, for twins of agreement pairs."
        " Repeatable; found in most suites.",
        metavar="REGION",
    )
    feature: Texts = option(
        (),
        "The column with the feature in which twins differ, such as number. Repeatable; told by"
        " conditions named mismatch_number.",
        metavar="COLUMN",
    )
    reverse: bool = option(default=False, help="Exchange the other way round.")
    region: Texts = option((), "Only this region, by name or number. Repeatable.")
    cluster: Texts = run_option("cluster")
    model: str = option("", "Where the model is now, if it has moved.", flags=("-m",))
    device: str = option("", "Another device than the run's own.")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    model_args: Arguments = run_option("model_args")
    tokenizer_args: Arguments = run_option("tokenizer_args")
    allow_pickle: bool = run_option("allow_pickle")
    trust_remote_code: bool = run_option("trust_remote_code")
    no_cache: bool = run_option("no_cache")
    workers: int | None = run_option("workers")
    plan: bool = option(default=False, help="Only say what it would cost; nothing is loaded.")
    output: Path | None = option(
        None, "A folder for tables (in every form) and figures.", flags=("-o",)
    )
    as_json: bool = option(default=False, help="Print the means as JSON.", flags=("--json",))


@command_of
def explain(options: ExplainOptions) -> None:
    """Find where a model carries a prediction, or which words it depends on.

    At each layer, the states of one condition at one region are put into the other, and the rest is
    computed by the model. What the margin of the prediction loses, in bits, is what that place
    carries. With --by integrated or gradient, each word has a contribution to the margin. The
    tables `explanations` and `attributions` are added to the run, and reports show them.
    """
    from cimento.explain import explain

    run = _run(options)
    settings = _settings(options, run)
    _refuse_unused(options)
    args = parse_model_args(
        options.model_args,
        allow_pickle=options.allow_pickle,
        trust_remote_code=options.trust_remote_code,
    )
    scoring = asking_of(
        run.manifest,
        where=str(run.folder),
        model_args=args,
        tokenizer_args=parse_tokenizer_args(options.tokenizer_args),
    )
    scoring = replace(
        scoring,
        device=options.device or scoring.device,
        batch_size=options.batch_size,
        batch_tokens=options.batch_tokens,
    )
    with progress_bars() as bars, opened_cache(keep_answers=not options.no_cache) as cache:
        if options.plan:
            plan = plan_explanation(
                run, settings, gradients=options.by != "interchange", model=options.model,
                scoring=scoring, cache=cache,
            )  # fmt: skip
            show_json({"plan": plan.plain()}) if options.as_json else show(_planned(plan))
            return
        progress = None if bars is None else bars(f"explain {run.suite_name}", run.model)
        ask: Callable[..., Explanation | Attribution] = (
            explain if options.by == "interchange" else attribute
        )
        explained = ask(
            run, settings, model=options.model, scoring=scoring, cache=cache, progress=progress,
            engine=Engine(workers=options.workers or 1),
        )  # fmt: skip
    _show(explained, options)


def _settings(options: ExplainOptions, run: Run) -> ExplainSettings:
    """What is asked about a run."""
    return options.named_in(
        ExplainSettings,
        swaps=parted(options.swap, flag="--swap", todo="Write BASE=SOURCE."),
        features=options.feature,
        controller=(),
        regions=(),
        rule="gradient" if options.by == "gradient" else "integrated",
    ).named_regions(run, controller=options.controller, regions=options.region)


def _planned(plan: ModelPlan) -> str:
    """What an explanation would cost, in one paragraph."""
    parts = [f"{plan.requests} requests in {counted(plan.units, 'unit')}, {plan.done} of them done"]
    if plan.tokens is not None:
        parts.append(f"{plan.tokens:,} tokens for the model")
    if plan.kept is not None:
        parts.append(f"{plan.kept} answers in the cache")
    if plan.seconds is not None:
        parts.append(f"about {duration(plan.seconds)} (by {plan.by})")
    if plan.memory_bytes is not None:
        parts.append(f"{plan.memory_bytes / 1e9:.1f} GB")
    if plan.problem:
        parts.append(plan.problem)
    return f"{plan.model}: {'; '.join(parts)}."


def _run(options: ExplainOptions) -> Run:
    """The run to explain.

    Raises:
        UsageError: there are several, or it has no regions.
    """
    # A pattern of the shell that matches several runs puts the others in the place of items.
    others = [Path(item) for item in options.items if (expanded(item) / MANIFEST).is_file()]
    runs = open_runs([options.run, *others])
    if len(runs) > 1:
        raise UsageError(
            where=str(options.run),
            seen=f"there are {len(runs)} runs, and one is explained at a time",
            todo=f"Give one of them: {', '.join(str(run.folder) for run in runs)}.",
        )
    [run] = runs
    if run.sentences is None:
        raise UsageError(
            where=str(options.run),
            seen=f"it is of the kind {run.paradigm.name}: only runs of regions can be explained",
        )
    return with_clusters([run], options.cluster)[0]


_INTERCHANGE_OPTIONS = ("part", "align", "swap", "controller", "feature", "reverse", "region")


def _refuse_unused(options: ExplainOptions) -> None:
    """Refuse options that say nothing about what is asked.

    Raises:
        UsageError: an option of interchanges is given for contributions, or the other way round.
    """
    unused = () if options.by == "interchange" else _INTERCHANGE_OPTIONS
    if options.by != "integrated":
        unused = (*unused, "baseline")
    for name in unused:
        if getattr(options, name) != type(options).model_fields[name].default:
            raise UsageError(
                where=f"--{name}",
                seen=f"has no effect with --by {options.by}",
                todo="Leave one of the two out.",
            )


def _show(explained: Explanation | Attribution, options: ExplainOptions) -> None:
    """Print the means, and write tables and figures."""
    run = explained.run
    for line in explained.notes:
        note(f"cimento: not explained: {line}")
    grids = explained.grids(options.part)
    for line in explained.twins:
        note(f"cimento: {line}")
    facts: dict[str, object] = {"run": str(run.folder), "model": run.model, "by": options.by}
    facts |= explained.plain(options.part)
    if options.as_json:
        show_json(facts | {"not_explained": explained.notes})
    else:
        show("\n".join(on_terminal(grid) + "\n" for grid in grids).rstrip("\n"))
    if options.output is not None:
        _write(explained, grids, options, options.output)


def _write(
    explained: Explanation | Attribution,
    grids: Sequence[Grid],
    options: ExplainOptions,
    folder: Path,
) -> None:
    """Write tables in every form, and figures."""
    name = options.part if options.by == "interchange" else options.by
    for number, grid in enumerate(grids, start=1):
        for ending, form in GRID_FORMS.items():
            options.neutralize(write_text(form(grid), folder / f"{name}-{number}{ending}"))
    if lacking := lacking_figures():
        note(lacking)
        return
    write_figures(drawable(*explained.figures(options.part)), folder)
    note(f"Tables and figures are in {folder}")

"""``cimento explain``: which region carries a prediction, layer by layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.evaluating import opened_cache, progress_bars
from cimento.cli.flags import SheetOptions, command_of, run_option
from cimento.errors import UsageError
from cimento.io.files import write_text
from cimento.models.hf.arguments import parse_model_args
from cimento.models.questions import Part
from cimento.options import Arguments, Limit, Texts, option
from cimento.paradigms.regions.interchanges import (
    Alignment,
    ExplainSettings,
    regions_named,
)
from cimento.paradigms.regions.judging import suite_of
from cimento.runs.run import open_runs
from cimento.suites.model import Suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cimento.explain import Explanation
    from cimento.runs.run import Run


class ExplainOptions(SheetOptions):
    """The run to explain, and what is exchanged."""

    run: Path = option(..., "The folder of a run.")
    items: tuple[str, ...] = option((), "Ids of items; all by default.")
    part: Part = option(
        "residual", "What is exchanged: residual (the stream), attention, mlp or heads."
    )
    align: Alignment = option(
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
    model: str = option("", "Where the model is now, if it has moved.", flags=("-m",))
    device: str = option("", "Another device than the run's own.")
    batch_size: Limit = run_option("batch_size")
    batch_tokens: Limit = run_option("batch_tokens")
    model_args: Arguments = run_option("model_args")
    allow_pickle: bool = run_option("allow_pickle")
    trust_remote_code: bool = run_option("trust_remote_code")
    no_cache: bool = run_option("no_cache")
    output: Path | None = option(
        None, "A folder for tables (in every form) and figures.", flags=("-o",)
    )
    as_json: bool = option(default=False, help="Print the means as JSON.", flags=("--json",))


def _explain(options: ExplainOptions) -> None:
    """Find where a model carries a prediction: exchange hidden states between two conditions.

    At each layer, the states of one condition at one region are put into the other, and the rest is
    computed by the model. What the margin of the prediction loses, in bits, is what that place
    carries. The table `explanations` is added to the run, and reports show it.
    """
    from cimento.explain import explain
    from cimento.runs.reproduce import asking_of

    run = _run(options)
    settings = ExplainSettings(
        part=options.part,
        align=options.align,
        swaps=_swaps(options.swap),
        features=options.feature,
        controller=regions_named(suite_of(run), options.controller, flag="--controller"),
        reverse=options.reverse,
        regions=regions_named(suite_of(run), options.region),
        items=options.items,
        predictions=options.predictions,
    )
    args = parse_model_args(
        options.model_args,
        allow_pickle=options.allow_pickle,
        trust_remote_code=options.trust_remote_code,
    )
    scoring = asking_of(run.manifest, where=str(run.folder), model_args=args)
    scoring = replace(
        scoring,
        device=options.device or scoring.device,
        batch_size=options.batch_size,
        batch_tokens=options.batch_tokens,
    )
    with progress_bars() as bars, opened_cache(keep_answers=not options.no_cache) as cache:
        progress = None if bars is None else bars(f"explain {run.suite_name}", run.model)
        explanation = explain(
            run, settings, model=options.model, scoring=scoring, cache=cache, progress=progress
        )
    _show(explanation, options)


explain = command_of(
    ExplainOptions, _explain, positional=("run", "items"), metavar=("RUN", "[ITEM...]")
)


def _swaps(texts: Sequence[str]) -> dict[str, str]:
    """The source of each base.

    Raises:
        UsageError: a text is not of the form BASE=SOURCE.
    """
    swaps = {}
    for text in texts:
        base, _, source = text.partition("=")
        if not base.strip() or not source.strip():
            raise UsageError(where="--swap", seen=f"got {text!r}", todo="Write BASE=SOURCE.")
        swaps[base.strip()] = source.strip()
    return swaps


def _run(options: ExplainOptions) -> Run:
    """The run to explain.

    Raises:
        UsageError: there are several, or it has no regions.
    """
    runs = open_runs(options.run)
    if len(runs) > 1:
        raise UsageError(
            where=str(options.run),
            seen=f"there are {len(runs)} runs in this folder",
            todo="Give one of them.",
        )
    [run] = runs
    if not isinstance(run.suite, Suite):
        raise UsageError(
            where=str(options.run),
            seen=f"it is of the kind {run.paradigm.name}: only runs of regions can be explained",
        )
    return run


def _show(explanation: Explanation, options: ExplainOptions) -> None:
    """Print the means, and write tables and figures."""
    from cimento.report.explanations import explanation_figures, explanation_grids
    from cimento.report.figures import drawable, lacking_figures, write_figures
    from cimento.report.grid import GRID_FORMS, as_text

    run = explanation.run
    means = [mean for mean in explanation.means if mean.part == options.part]
    grids = explanation_grids(means, named=run.named)
    for line in explanation.notes:
        note(f"cimento: not explained: {line}")
    for line in explanation.twins:
        note(f"cimento: {line}")
    if options.as_json:
        show_json(
            {
                "run": str(run.folder),
                "model": run.model,
                "part": options.part,
                "swaps": sorted(set(explanation.table["swap"])),
                "means": [mean.plain() for mean in means],
                "not_explained": explanation.notes,
                "twins": explanation.twins,
            }
        )
    else:
        show("\n".join(as_text(grid) + "\n" for grid in grids).rstrip("\n"))
    if options.output is None:
        return
    for number, grid in enumerate(grids, start=1):
        for ending, form in GRID_FORMS.items():
            path = options.output / f"{options.part}-{number}{ending}"
            options.neutralise(write_text(form(grid), path))
    if lacking := lacking_figures():
        note(lacking)
        return
    makers = explanation_figures(means, model=run.model, suite=run.suite_name, named=run.named)
    write_figures(drawable(*makers), options.output)
    note(f"Tables and figures are in {options.output}")

"""Runs of suites of any paradigm: evaluate, say how far it is, print what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.api import Failure, LoadedSuite, load_suites, refuse_same_names, run_all
from cimento.cli.console import note, show
from cimento.cli.evaluating import opened_cache, progress_bars, report_failures
from cimento.engine.engines import LOCAL, Engine
from cimento.options import RunOptions
from cimento.runs.run import Run
from cimento.runs.summary import Missing, Summary, to_json


def run_suites(
    suites: Sequence[str],
    models: Sequence[str],
    run_options: RunOptions,
    *,
    engine: Engine = LOCAL,
    ask: bool = True,
) -> int:
    """Ask suites of models, judge and store the answers, print them; return the exit code.

    Args:
        suites: names and paths.
        models: names.
        run_options: how.
        engine: who does the work.
        ask: whether models are asked; else what is done is put together.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    loaded = list(load_suites(suites))
    refuse_same_names(loaded)
    results = _results(loaded, models, run_options, engine=engine, ask=ask)
    runs = [run for run in results if isinstance(run, Run)]
    failures = [failure for failure in results if isinstance(failure, Failure)]
    if engine.share is not None:
        return report_failures([engine.share], failures)
    if run_options.as_json:
        missing = tuple(
            Missing(suite=f.suite, model=f.model, message=str(f.error)) for f in failures
        )
        summaries = tuple(run.summary(with_outcomes=True) for run in runs)
        show(to_json(Summary(runs=summaries, missing=missing)))
    elif runs:
        for paradigm in dict.fromkeys(run.paradigm for run in runs):
            show(paradigm.text([run for run in runs if run.paradigm is paradigm]))
        folder = run_options.output
        note(f"Stored in {folder}. For a page to read: cimento report {folder} -o report.html")
    return report_failures(runs, failures)


def _results(
    suites: Sequence[LoadedSuite],
    models: Sequence[str],
    run_options: RunOptions,
    *,
    engine: Engine,
    ask: bool,
) -> list[Run | Failure]:
    """What comes of suites and models, while it is shown how far they are."""
    keeps = not run_options.no_cache
    with progress_bars() as progress, opened_cache(keep_answers=keeps) as cache:
        return list(
            run_all(
                suites,
                list(dict.fromkeys(models)),
                run_options,
                cache=cache if keeps else None,
                engine=engine,
                ask=ask,
                progress=progress,
                note=lambda message: note(f"cimento: {message}"),
            )
        )

"""Runs of suites of any paradigm: evaluate, say how far it is, print what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.api import Failure, load_suites, refuse_same_names, run_model
from cimento.cli.console import note, show
from cimento.cli.evaluating import opened_cache, progress_bars, report_failures
from cimento.options import RunOptions
from cimento.runs.run import Run
from cimento.runs.summary import Missing, Summary, to_json


def run_suites(suites: Sequence[str], models: Sequence[str], run_options: RunOptions) -> int:
    """Ask suites of models, judge and store the answers, print them; return the exit code.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    loaded = list(load_suites(suites))
    refuse_same_names(loaded)
    runs: list[Run] = []
    failures: list[Failure] = []
    with progress_bars() as progress, opened_cache(keep_answers=not run_options.no_cache) as cache:
        for model in models:
            for outcome in run_model(loaded, model, run_options, cache=cache, progress=progress):
                if isinstance(outcome, Run):
                    runs.append(outcome)
                else:
                    failures.append(outcome)
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

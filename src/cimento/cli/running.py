"""Runs of suites of any paradigm: evaluate, say how far it is, print what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.cli.evaluating import evaluate_with_progress, report_failures, show_ends
from cimento.engine.engines import LOCAL, Engine
from cimento.options import RunOptions


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
    runs, failures = evaluate_with_progress(suites, models, run_options, engine=engine, ask=ask)
    if engine.share is not None:
        return report_failures([engine.share], failures)
    return show_ends(runs, failures, output=run_options.output, as_json=run_options.as_json)

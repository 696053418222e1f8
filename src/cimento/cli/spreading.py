"""Suites of kinds that are asked whole, spread over workers: one task for each suite and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cimento.cli.console import note
from cimento.cli.evaluating import PART_MISSING
from cimento.cli.kinds import KindRun, find_runner
from cimento.errors import CimentoError
from cimento.scheduling.driving import drive
from cimento.scheduling.engines import LOCAL, in_share
from cimento.scheduling.tasks import CallTask
from cimento.sources import shown_name
from cimento.suites.builtin import find_suite
from cimento.suites.load import suite_paths


def run_spread(runner: str, suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Run suites with models, each pair by one worker, then show all of it from what is stored.

    What a worker could not do for a reason is tried again here, where the reason is told; what
    ended a worker is not.

    Args:
        runner: of the kind, as ``module:function``.
        suites: names and paths.
        models: names.
        how: everything else.

    Returns:
        The exit code.
    """
    paths = [str(path) for name in suites for path in suite_paths(find_suite(name))]
    quiet = replace(how, as_json=False, engine=LOCAL)
    tasks = [
        (model, CallTask(model=model, function=f"{__name__}:run_one",
                         arguments=(runner, path, model, quiet)))
        for model in dict.fromkeys(models)
        for path in paths
    ]  # fmt: skip
    if how.engine.share is not None:
        share = how.engine.share
        tasks = [each for n, each in enumerate(tasks) if in_share(n, len(tasks), share)]
    if not tasks:
        return 0
    pool = how.engine.open(len(tasks), device=how.device(models))
    try:
        driven = drive(tasks, pool, alone=frozenset(models))
    finally:
        pool.close()
    if how.engine.share is not None:
        for message in dict.fromkeys(str(each.error()) for each in driven.troubles.values()):
            note(f"cimento: {message}")
        return PART_MISSING if driven.troubles else 0
    died = {
        (str(tasks[number][1].arguments[1]), tasks[number][1].model): trouble.error()
        for number, trouble in driven.troubles.items()
        if trouble.died
    }
    return _show(runner, paths, models, replace(how, engine=LOCAL), died)


def run_one(runner: str, suite: str, model: str, how: KindRun) -> None:
    """One suite with one model, in a worker; the run is stored.

    Raises:
        CimentoError: it could not be run.
    """
    code = find_runner(runner)([suite], [model], how)
    if code:
        raise CimentoError(where=f"{suite} x {shown_name(model)}", seen="it could not be run")


def _show(
    runner: str,
    paths: Sequence[str],
    models: Sequence[str],
    how: KindRun,
    died: Mapping[tuple[str, str], CimentoError],
) -> int:
    """Show what is stored, suites with the same models together; the exit code."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        left = tuple(model for model in models if (path, model) not in died)
        groups.setdefault(left, []).append(path)
    codes = [find_runner(runner)(some, left, how) for left, some in groups.items() if left]
    for message in dict.fromkeys(map(str, died.values())):
        note(f"cimento: {message}")
    if not died:
        return max(codes)
    missing = ", ".join(f"{path} x {shown_name(model)}" for path, model in died)
    note(f"cimento: missing: {missing}")
    return PART_MISSING if codes else 1

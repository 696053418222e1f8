"""``cimento collect``: what a spread run still lacks; the runs put together."""

from __future__ import annotations

from cimento.cli.run_options import run_command
from cimento.options import RunOptions, option


class _Options(RunOptions):
    """The options of a run, and whether only to look."""

    check: bool = option(
        default=False,
        help="Only say what is missing; put nothing together.",
        where="this run",
    )


def _collect(options: _Options) -> int:
    """Say which units of a run are missing, and put together the runs that have all of theirs.

    No model is loaded. The exit code is 3 where something is missing, 1 where everything is.
    """
    from cimento.cli.evaluating import run_suites
    from cimento.engine.engines import Engine

    options = options.model_copy(update={"force": False})
    if options.check:
        return _check(options)
    engine = Engine(name=options.engine, workers=options.workers)
    return run_suites(options, engine=engine, ask=False)


collect = run_command(_Options, _collect)


def _check(options: RunOptions) -> int:
    """Say what is missing; the exit code."""
    from cimento.api import find_missing, load_suites
    from cimento.cli.console import show
    from cimento.cli.evaluating import PART_MISSING

    loaded = list(load_suites(options.suites))
    runs = len(loaded) * len(dict.fromkeys(options.models))
    missing = find_missing(loaded, options.models, options)
    lines = [f"{lack.suite} x {lack.model}: {lack.error.seen}" for lack in missing]
    show("\n".join([*lines, f"{runs - len(lines)} of {runs} runs have all they need."]))
    if not lines:
        return 0
    return 1 if len(lines) == runs else PART_MISSING

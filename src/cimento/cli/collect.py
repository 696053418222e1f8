"""``cimento collect``: what a spread run still lacks; the runs put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.cli.run_options import kind_run, run_command
from cimento.options import RunOptions, option

if TYPE_CHECKING:
    from cimento.cli.spreading import Lacking


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
    from cimento.cli.kinds import ONE_ROAD, RUNNERS, suites_by_kind, together
    from cimento.cli.running import run_suites
    from cimento.cli.spreading import lacking, show_stored

    options = options.model_copy(update={"force": False})
    how = kind_run(options)
    by_kind = suites_by_kind(options.suites)
    new = [kind for kind in by_kind if kind in ONE_ROAD or kind not in RUNNERS]
    groups = [by_kind.pop(kind) for kind in new]
    wholes = {kind: lacking(kind, some, options.models, how) for kind, some in by_kind.items()}
    if options.check:
        return _check([name for group in groups for name in group], wholes, options)
    models, engine = options.models, how.engine
    codes = [run_suites(group, models, options, engine=engine, ask=False) for group in groups]
    return together([*codes, *(show_stored(found, how) for found in wholes.values())])


collect = run_command(_Options, _collect)


def _check(names: Sequence[str], wholes: Mapping[str, Lacking], options: RunOptions) -> int:
    """Say what is missing; the exit code."""
    from cimento.api import find_missing, load_suites
    from cimento.cli.console import show
    from cimento.cli.evaluating import PART_MISSING

    loaded = list(load_suites(names))
    runs = len(loaded) * len(dict.fromkeys(options.models))
    missing = find_missing(loaded, options.models, options)
    lines = [f"{lack.suite} x {lack.model}: {lack.error.seen}" for lack in missing]
    for found in wholes.values():
        runs += len(found.pairs)
        lines += found.lines()
    show("\n".join([*lines, f"{runs - len(lines)} of {runs} runs have all they need."]))
    if not lines:
        return 0
    return 1 if len(lines) == runs else PART_MISSING

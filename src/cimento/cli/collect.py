"""``cimento collect``: what a spread run still lacks; the runs put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.cli.run_options import kind_run, run_command
from cimento.options import RunOptions, option

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.cli.spreading import Lacking
    from cimento.scheduling.work import Work


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
    from cimento.cli.spreading import lacking
    from cimento.suites.kinds import REGIONS

    options = options.model_copy(update={"force": False})
    how = kind_run(options)
    by_kind = suites_by_kind(options.suites)
    new = [kind for kind in by_kind if kind in ONE_ROAD or kind not in RUNNERS]
    groups = [by_kind.pop(kind) for kind in new]
    names = [name for group in groups for name in group]
    regions = by_kind.pop(REGIONS, [])
    wholes = {kind: lacking(kind, some, options.models, how) for kind, some in by_kind.items()}
    if options.check:
        return _check(regions, wholes, names, options, how)
    codes = []
    if names:
        from cimento.cli.running import run_suites

        models, engine = options.models, how.engine
        codes += [run_suites(group, models, options, engine=engine, ask=False) for group in groups]
    if regions or wholes:
        codes.append(_put_together(regions, wholes, options.models, how))
    return together(codes)


collect = run_command(_Options, _collect)


def _put_together(
    regions: Sequence[str], wholes: Mapping[str, Lacking], models: Sequence[str], how: KindRun
) -> int:
    """Put together what is whole, and show it with what is stored; the exit code."""
    from cimento.cli.evaluating import opened_cache, show_regions
    from cimento.cli.kinds import together
    from cimento.cli.spreading import show_stored
    from cimento.scheduling.engines import opened
    from cimento.scheduling.merging import finish, keep_answers, workers_for
    from cimento.scheduling.work import plan_work

    codes = [show_stored(found, how) for found in wholes.values()]
    if not regions:
        return together(codes)
    with plan_work(regions, models, how.evaluation, keep=how.keep_answers) as work:
        if not work.is_over():
            work.write()
        with opened(how.engine, workers_for(work, 0), device=how.device(models)) as pool:
            ends = finish(work, {}, pool)
        with opened_cache(keep_answers=how.keep_answers) as cache:
            keep_answers(work, cache)
    return together([show_regions(ends, how), *codes])


def _check(
    regions: Sequence[str],
    wholes: Mapping[str, Lacking],
    names: Sequence[str],
    options: RunOptions,
    how: KindRun,
) -> int:
    """Say what is missing; the exit code."""
    from cimento.cli.console import show
    from cimento.cli.evaluating import PART_MISSING
    from cimento.scheduling.work import plan_work

    lines: list[str] = []
    runs = 0
    models = options.models
    if names:
        from cimento.api import find_missing, load_suites

        loaded = list(load_suites(names))
        runs = len(loaded) * len(dict.fromkeys(models))
        missing = find_missing(loaded, models, options)
        lines += [f"{lack.suite} x {lack.model}: {lack.error.seen}" for lack in missing]
    if regions:
        with plan_work(regions, models, how.evaluation, keep=how.keep_answers) as work:
            runs += len(work.models) * len(work.parts)
            lines += _lacks(work)
    for found in wholes.values():
        runs += len(found.pairs)
        lines += found.lines()
    show("\n".join([*lines, f"{runs - len(lines)} of {runs} runs have all they need."]))
    if not lines:
        return 0
    return 1 if len(lines) == runs else PART_MISSING


def _lacks(work: Work) -> list[str]:
    """What each run of a suite of regions lacks."""
    from cimento.scheduling.merging import missing_of

    lines = []
    for asked in work.models:
        for part in work.parts:
            found = missing_of(work, part, asked)
            if found is not None:
                lacks = f"{found[0]} of {found[1]} units missing"
                lines.append(f"{part.name} x {asked.name}: {asked.error or part.error or lacks}")
    return lines

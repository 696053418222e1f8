"""``cimento collect``: what a spread run still lacks; the runs put together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from cimento.cli import options
from cimento.cli.run_options import RunRequest, as_command

if TYPE_CHECKING:
    from cimento.scheduling.work import Work

Check = Annotated[
    bool, options.option("--check", help="Only say what is missing; put nothing together.")
]


@as_command
def collect(request: RunRequest, *, check: Check = False) -> int:
    """Say which units of a run are missing, and put together the runs that have all of theirs.

    No model is loaded. The exit code is 3 where something is missing, 1 where everything is.
    """
    from cimento.cli.console import note
    from cimento.cli.evaluating import opened_cache, show_regions
    from cimento.cli.kinds import suites_by_kind
    from cimento.scheduling.merging import finish, keep_answers
    from cimento.scheduling.work import plan_work
    from cimento.suites.kinds import REGIONS

    how = replace(request.how, evaluation=replace(request.how.evaluation, force=False))
    by_kind = suites_by_kind(request.suites)
    regions = by_kind.pop(REGIONS, [])
    for kind, names in by_kind.items():
        note(f"cimento: {', '.join(names)}: suites of kind {kind} are stored whole; `cimento run`"
             " shows them, and asks what is missing.")  # fmt: skip
    work = plan_work(regions, request.models, how.evaluation, keep=how.keep_answers)
    if check:
        return _check(work)
    outcomes = list(finish(work, {}, cache=None))
    with opened_cache(keep_answers=how.keep_answers) as cache:
        keep_answers(work, cache)
    return show_regions(outcomes, how)


def _check(work: Work) -> int:
    """Say what is missing; the exit code."""
    from cimento.cli.console import show
    from cimento.cli.evaluating import PART_MISSING
    from cimento.scheduling.merging import missing_of

    missing = 0
    for asked in work.models:
        for part in work.parts:
            found = missing_of(work, part, asked)
            if found is None:
                continue
            missing += 1
            lacks = f"{found[0]} of {found[1]} units missing"
            show(f"{part.name} x {asked.name}: {asked.error or part.error or lacks}")
    runs = len(work.models) * len(work.parts)
    show(f"{runs - missing} of {runs} runs have all they need.")
    if not missing:
        return 0
    return 1 if missing == runs else PART_MISSING

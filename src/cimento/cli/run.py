"""``cimento run``: score and judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from cimento.cli import options
from cimento.cli.run_options import RunRequest, as_command

Share = Annotated[
    str | None,
    options.option(
        "--share",
        metavar="NUMBER/COUNT",
        help="Do this share of the units and put no run together; `cimento collect` does.",
    ),
]


@as_command
def run(request: RunRequest, *, share: Share = None) -> int:
    """Ask suites of models, judge the answers, store everything and print a table.

    A run that is already stored is shown, not done again. Of several measures the first is the one
    it is stored with. A run file names suites, models and options; what the command line says goes
    before it.
    """
    from cimento.cli.kinds import run_each_kind
    from cimento.scheduling.engines import parse_share

    how = request.how
    if share is not None:
        how = replace(how, engine=replace(how.engine, share=parse_share(share)))
    return run_each_kind(request.suites, request.models, how)

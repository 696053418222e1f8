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


Sensitivity = Annotated[
    bool,
    options.option(
        "--sensitivity",
        help="Also print how many verdicts change with another boundary, BOS, pseudo-"
        "log-likelihood, measure or number format.",
    ),
]


@as_command
def run(request: RunRequest, *, share: Share = None, sensitivity: Sensitivity = False) -> int:
    """Ask suites of models, judge the answers, store everything and print a table.

    A run that is already stored is shown, not done again. Of several measures the first is the one
    it is stored with. A run file names suites, models and options; what the command line says goes
    before it.
    """
    from cimento.cli.kinds import run_each_kind
    from cimento.scheduling.engines import parse_share

    how = request.how
    if sensitivity:
        _refuse_sensitivity(request, share)
    if share is not None:
        how = replace(how, engine=replace(how.engine, share=parse_share(share)))
    code = run_each_kind(request.suites, request.models, how)
    if sensitivity and code == 0:
        _show_sensitivity(request)
    return code


def _refuse_sensitivity(request: RunRequest, share: str | None) -> None:
    """See that a table of sensitivity can be made and printed.

    Raises:
        UsageError: it cannot.
    """
    from cimento.cli.kinds import suites_by_kind
    from cimento.errors import UsageError
    from cimento.suites.kinds import REGIONS

    kinds = [kind for kind in suites_by_kind(request.suites) if kind != REGIONS]
    remote = [model for model in request.models if ":" in model]
    refusals = (
        (kinds, f"{', '.join(kinds)} suites are not judged by formulas", "Give other suites."),
        (remote, f"{', '.join(remote)} is not loaded here", "Give a name on the hub or a folder."),
        (share, "it needs whole runs, and --share makes a part of one", "Leave --share out."),
        (
            request.how.as_json,
            "--json prints one document, the summary",
            "Leave --json out: -o gets the table as sensitivity.json.",
        ),
    )
    for holds, seen, todo in refusals:
        if holds:
            raise UsageError(where="--sensitivity", seen=seen, todo=todo)


def _show_sensitivity(request: RunRequest) -> None:
    """Print the table of sensitivity, and write it beside the runs."""
    from cimento.cli.console import note, show
    from cimento.cli.evaluating import opened_cache
    from cimento.cli.spreadsheets import neutralise
    from cimento.files import write_text
    from cimento.report.grid import FORMS, as_text
    from cimento.report.robustness import sensitivity_grid
    from cimento.sensitivity import sensitivities

    how = request.how
    with opened_cache(keep_answers=how.keep_answers) as cache:
        rows = sensitivities(request.suites, request.models, how.evaluation, cache=cache)
    grid = sensitivity_grid(rows)
    show("\n" + as_text(grid))
    folder = how.evaluation.output
    if folder is not None:
        paths = [
            write_text(form(grid), folder / f"sensitivity{end}") for end, form in FORMS.items()
        ]
        neutralise(paths, asked=True)
        note(f"The table is also in {folder}: {', '.join(path.name for path in paths)}")

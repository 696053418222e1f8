"""``cimento run``: score and judge."""

from __future__ import annotations

from cimento.cli.run_options import run_command
from cimento.options import RunOptions, option


class _Options(RunOptions):
    """The options of a run, and what only `cimento run` does with them."""

    share: str | None = option(
        None,
        "Do this share of the units and put no run together; `cimento collect` does.",
        metavar="NUMBER/COUNT",
        where="this run",
    )
    sensitivity: bool = option(
        default=False,
        help="Also print how many verdicts change with another boundary, BOS, pseudo-"
        "log-likelihood, measure or number format.",
        where="this run",
    )


def _run(options: _Options) -> int:
    """Ask suites of models, judge the answers, store everything and print a table.

    A run that is already stored is shown, not done again. Of several measures the first is the one
    it is stored with. A run file names suites, models and options; what the command line says goes
    before it.
    """
    from cimento.cli.evaluating import run_suites
    from cimento.engine.engines import Engine, parse_share

    if options.sensitivity:
        _refuse_sensitivity(options)
    share = None if options.share is None else parse_share(options.share)
    engine = Engine(name=options.engine, workers=options.workers, share=share)
    code = run_suites(options, engine=engine)
    if options.sensitivity and code == 0:
        _show_sensitivity(options)
    return code


run = run_command(_Options, _run)


def _refuse_sensitivity(options: _Options) -> None:
    """See that a table of sensitivity can be made and printed.

    Raises:
        UsageError: it cannot.
    """
    from cimento.api import load_suites
    from cimento.errors import UsageError
    from cimento.suites.model import Suite

    loaded = list(load_suites(options.suites))
    others = [each.paradigm.name for each in loaded if not isinstance(each.suite, Suite)]
    remote = [model for model in options.models if ":" in model]
    refusals = (
        (
            others,
            f"{', '.join(dict.fromkeys(others))} suites are not judged by formulas",
            "Give other suites.",
        ),
        (remote, f"{', '.join(remote)} is not loaded here", "Give a name on the hub or a folder."),
        (
            options.share,
            "it needs whole runs, and --share makes a part of one",
            "Leave --share out.",
        ),
        (
            options.as_json,
            "--json prints one document, the summary",
            "Leave --json out: -o gets the table as sensitivity.json.",
        ),
    )
    for holds, seen, todo in refusals:
        if holds:
            raise UsageError(where="--sensitivity", seen=seen, todo=todo)


def _show_sensitivity(options: _Options) -> None:
    """Print the table of sensitivity, and write it beside the runs."""
    from cimento.cli.console import note, show
    from cimento.cli.evaluating import opened_cache
    from cimento.cli.spreadsheets import neutralise
    from cimento.io.files import write_text
    from cimento.report.grid import GRID_FORMS, as_text
    from cimento.report.robustness import sensitivity_grid
    from cimento.runs.sensitivity import sensitivities

    with opened_cache(keep_answers=not options.no_cache) as cache:
        rows = sensitivities(options.suites, options.models, options, cache=cache)
    grid = sensitivity_grid(rows)
    show("\n" + as_text(grid))
    folder = options.output
    if folder is not None:
        paths = [
            write_text(form(grid), folder / f"sensitivity{end}") for end, form in GRID_FORMS.items()
        ]
        neutralise(paths, asked=True)
        note(f"The table is also in {folder}: {', '.join(path.name for path in paths)}")

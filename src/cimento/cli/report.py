"""``cimento report``: a page or a table to read, made from stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.designs import TableName, make_table

if TYPE_CHECKING:
    from cimento.report.grid import Grid


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    output: Annotated[
        Path | None,
        options.option("-o", "--output", help="A file: .html, .md, .csv, .json or .txt."),
    ] = None,
    *,
    table: Annotated[
        TableName | None,
        options.option("--table", help="Only this table of factorial suites; also as .tex."),
    ] = None,
    measure: options.Measures = None,
    seed: options.Seed = 0,
) -> None:
    """Write a report of stored runs; without -o the table is printed."""
    from cimento.cli.console import note, show
    from cimento.cli.evaluating import show_table
    from cimento.report.told import told_runs
    from cimento.reporting import write_report
    from cimento.results import open_runs, summarise

    told = told_runs(runs)
    opened = [] if told and not _judged(runs) else open_runs(runs)
    if table is not None:
        _write_table(make_table(table, opened, measure or (), seed=seed), output)
        return
    if measure:
        opened = [each for run in opened for each in run.judge_on(measure)]
    if output is None:
        if opened:
            show_table(summarise(opened))
        for each in told:
            show("\n" + each.text)
        return
    write_report(opened, output, told=told)
    note(f"The report is in {output}")


def _judged(paths: Sequence[Path]) -> bool:
    """Whether formulas judge any of the runs."""
    from cimento.runs import find_runs

    folders = (folder for path in paths for folder in find_runs(path))
    return any(folder.manifest().get("kind") is None for folder in folders)


def _write_table(grid: Grid, output: Path | None) -> None:
    """Print a table, or write it in the form that the ending of the file names.

    Raises:
        UsageError: the ending is of no form.
        StorageError: the file cannot be written.
    """
    from cimento.cli.console import note, show
    from cimento.errors import UsageError
    from cimento.files import write_text
    from cimento.report.grid import FORMS, as_text

    if output is None:
        show(as_text(grid))
        return
    form = FORMS.get(output.suffix.lower())
    if form is None:
        raise UsageError(
            where=f"--output {output}",
            seen=f"a table cannot be written as {output.suffix or 'a file without ending'}",
            todo=f"Use one of {', '.join(FORMS)}.",
        )
    write_text(form(grid), output)
    note(f"The table is in {output}")

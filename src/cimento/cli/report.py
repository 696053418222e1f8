"""``cimento report``: a page or a table to read, made from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    output: Annotated[
        Path | None,
        options.option("-o", "--output", help="A file: .html, .md, .csv, .json or .txt."),
    ] = None,
) -> None:
    """Write a report of stored runs; without -o the table is printed."""
    from cimento.cli.console import note
    from cimento.cli.evaluating import show_table
    from cimento.reporting import write_report
    from cimento.results import open_runs, summarise

    opened = open_runs(runs)
    if output is None:
        show_table(summarise(opened))
        return
    write_report(opened, output)
    note(f"The report is in {output}")

"""``cimento export``: stored runs in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cimento.cli import options
from cimento.export import ExportTarget


def export(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="A folder.")],
    to: Annotated[
        ExportTarget,
        options.option("--to", help="lm-eval, inspect, every-eval-ever, hf-dataset or r."),
    ],
    *,
    organization: Annotated[
        str, options.option("--organization", help="Who evaluated, for every-eval-ever.")
    ] = "",
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> None:
    """Write stored runs for other programs.

    lm-eval: results and samples as lm-evaluation-harness logs them. inspect: logs of Inspect.
    every-eval-ever: records of that schema. hf-dataset: a dataset folder with its card. r: tables
    and a script that fits mixed models.
    """
    from cimento.cite.sentences import counted
    from cimento.cli.console import note, show
    from cimento.cli.spreadsheets import neutralise
    from cimento.export import export as write_runs
    from cimento.runs.run import open_runs

    opened = open_runs(runs)
    written = write_runs(opened, to, output, organization=organization)
    neutralise(written, asked=spreadsheet_safe)
    show("\n".join(map(str, written)))
    note(f"{counted(len(opened), 'run is', 'runs are')} in {output}.")

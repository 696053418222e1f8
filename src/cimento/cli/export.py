"""``cimento export``: stored runs in the formats of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from cimento.cli import options

if TYPE_CHECKING:
    from cimento.exporting.data import RunData

Target: TypeAlias = Literal["lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r"]


def export(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or folders of runs.")
    ],
    output: Annotated[Path, options.option("-o", "--output", help="A folder.")],
    to: Annotated[
        Target,
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
    from cimento.citing.used import counted
    from cimento.cli.console import note, show
    from cimento.cli.spreadsheets import neutralise
    from cimento.errors import UsageError
    from cimento.exporting.data import of_runs
    from cimento.runs.run import open_runs

    if organization and to != "every-eval-ever":
        raise UsageError(
            where="--organization",
            seen=f"{to} has no place for it",
            todo="Leave it out, or write --to every-eval-ever.",
        )
    data = of_runs(open_runs(runs))
    written = _written(data, output, to, organization)
    neutralise(written, asked=spreadsheet_safe)
    show("\n".join(map(str, written)))
    note(f"{counted(len(data), 'run is', 'runs are')} in {output}.")


def _written(data: Sequence[RunData], output: Path, to: Target, organization: str) -> list[Path]:
    """The files of one format, written."""
    if to == "lm-eval":
        from cimento.exporting.lm_eval import write_lm_eval

        return write_lm_eval(data, output)
    if to == "inspect":
        from cimento.exporting.inspect_log import write_inspect

        return write_inspect(data, output)
    if to == "every-eval-ever":
        from cimento.exporting.every_eval_ever import UNKNOWN, write_every_eval_ever

        return write_every_eval_ever(data, output, organization=organization or UNKNOWN)
    if to == "hf-dataset":
        from cimento.exporting.hf_dataset import write_hf_dataset

        return write_hf_dataset(data, output)
    from cimento.exporting.r_script import write_r

    return write_r(data, output)

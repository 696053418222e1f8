"""``cimento export``: stored runs in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from cimento.cli import options

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
) -> None:
    """Write stored runs for other programs.

    lm-eval: results and samples as lm-evaluation-harness logs them. inspect: logs of Inspect.
    every-eval-ever: records of that schema. hf-dataset: a dataset folder with its card. r: tables
    and a script that fits mixed models.
    """
    from cimento.cli.console import note, show
    from cimento.errors import UsageError
    from cimento.exporting.data import read_runs

    if organization and to != "every-eval-ever":
        raise UsageError(
            where="--organization",
            seen=f"{to} has no place for it",
            todo="Leave it out, or write --to every-eval-ever.",
        )
    data = read_runs(runs)
    if to == "lm-eval":
        from cimento.exporting.lm_eval import write_lm_eval

        written = write_lm_eval(data, output)
    elif to == "inspect":
        from cimento.exporting.inspect_log import write_inspect

        written = write_inspect(data, output)
    elif to == "every-eval-ever":
        from cimento.exporting.every_eval_ever import UNKNOWN, write_every_eval_ever

        written = write_every_eval_ever(data, output, organization=organization or UNKNOWN)
    elif to == "hf-dataset":
        from cimento.exporting.hf_dataset import write_hf_dataset

        written = write_hf_dataset(data, output)
    else:
        from cimento.exporting.r_script import write_r

        written = write_r(data, output)
    show("\n".join(map(str, written)))
    note(f"{len(data)} runs are in {output}.")

"""The script of a job array for Slurm; nothing supervises its jobs."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from cimento.engine.on_ray import PASSED_ON
from cimento.errors import UsageError

_OFFLINE, _ENDPOINT = "HF_HUB_OFFLINE", "HF_ENDPOINT"
_ALSO = ("PYTHONPATH",)
"""Variables that decide which program runs, so that it is the one that wrote the script."""


def array_script(arguments: Sequence[str], logs: Path, *, jobs: int, gpus: int, hours: int) -> str:
    """An sbatch script in which each job does one share of the units.

    It does the same wherever it is submitted from: it names the folder that paths are relative to,
    this cimento, and the variables that say where caches are.

    The cache of answers is not used, because it is a database, and databases are not safe on the
    file systems that nodes share. The files of units are safe there.

    Args:
        arguments: the run file and the options that go with it.
        logs: folder for the output of the jobs.
        jobs: number of jobs.
        gpus: number of GPUs of each job.
        hours: time limit of a job, in hours.

    Raises:
        UsageError: a path has a character that no option of sbatch can have.
    """
    here = Path.cwd()
    share = f'"${{SLURM_ARRAY_TASK_ID}}/{jobs}"'
    # An address may have a password in it, and jobs read no hub.
    names = [name for name in (*_ALSO, *PASSED_ON) if name != _ENDPOINT]
    variables = {name: os.environ[name] for name in names if name in os.environ}
    variables[_OFFLINE] = "1"
    # Slurm puts numbers in the place of %A and the like, but reads %% as the sign.
    log = str(logs).replace("%", "%%") + "/%A-%a.log"
    lines = [
        "#!/bin/bash",
        "#SBATCH --job-name=cimento",
        f"#SBATCH --array=0-{jobs - 1}",
        f"#SBATCH --time={hours}:00:00",
        *([f"#SBATCH --gpus-per-task={gpus}"] if gpus else []),
        "#SBATCH --ntasks=1",
        f"#SBATCH --chdir={_in_comment(str(here))}",
        f"#SBATCH --output={_in_comment(log)}",
        "",
        "# Paths in the run file are relative to the folder above. To run elsewhere, change it and",
        "# the path of cimento below. HF_HUB_OFFLINE=1: jobs fetch nothing, so that they all use",
        "# what was here when this was written (`cimento cluster prefetch` brings it).",
        *(f"export {name}={shlex.quote(value)}" for name, value in variables.items()),
        f"{_this_program()} run {shlex.join(arguments)} --no-cache --share {share}",
    ]
    return "\n".join(lines) + "\n"


def _in_comment(text: str) -> str:
    """A value in an option of sbatch, which reads quotation marks as shells do.

    Raises:
        UsageError: it would end the line.
    """
    if "\n" in text or "\r" in text:
        raise UsageError(
            where="sbatch",
            seen=f"the path {text!r} has a line break, which its options cannot have",
            todo="Rename the folder.",
        )
    return shlex.quote(text)


def _this_program() -> str:
    """The whole path of the cimento that runs; else of its Python, which finds the same one."""
    started = Path(sys.argv[0])
    if started.name == "cimento" and started.is_file():
        return shlex.quote(str(started.absolute()))
    return f"{shlex.quote(sys.executable)} -m cimento"

"""The units of a run as an array of Slurm jobs: a script, and nothing that watches over it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def array_script(arguments: Sequence[str], logs: Path, *, jobs: int, gpus: int, hours: int) -> str:
    """An sbatch script in which each job does one share of the units.

    The answers cache is not used: it is a database, and those are not safe on the file systems
    that nodes share. The files of units are.

    Args:
        arguments: the run file, and what must stand beside it.
        logs: folder for what jobs print.
        jobs: how many there are.
        gpus: of each job.
        hours: longest time of a job.
    """
    share = f'"${{SLURM_ARRAY_TASK_ID}}/{jobs}"'
    lines = [
        "#!/bin/bash",
        "#SBATCH --job-name=cimento",
        f"#SBATCH --array=0-{jobs - 1}",
        f"#SBATCH --time={hours}:00:00",
        *([f"#SBATCH --gpus-per-task={gpus}"] if gpus else []),
        "#SBATCH --ntasks=1",
        f"#SBATCH --output={shlex.quote(f'{logs}/%A-%a.log')}",
        "",
        "# Submit it where you ran `cimento slurm`: paths in the run file are relative to there.",
        "# Nodes without network: see `cimento prefetch`.",
        "export HF_HUB_OFFLINE=1",
        f"cimento run {shlex.join(arguments)} --no-cache --share {share}",
    ]
    return "\n".join(lines) + "\n"

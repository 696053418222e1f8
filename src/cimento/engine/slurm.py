"""The script of a job array for Slurm; nothing supervises its jobs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def array_script(arguments: Sequence[str], logs: Path, *, jobs: int, gpus: int, hours: int) -> str:
    """An sbatch script in which each job does one share of the units.

    The cache of answers is not used, because it is a database, and databases are not safe on the
    file systems that nodes share. The files of units are safe there.

    Args:
        arguments: the run file and the options that go with it.
        logs: folder for the output of the jobs.
        jobs: number of jobs.
        gpus: number of GPUs of each job.
        hours: time limit of a job, in hours.
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

"""From what the user asked for to workers: this process, processes of this machine, Ray, or Slurm.

An array of Slurm jobs is a script, and nothing that watches over it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from cimento.engine.workers import Pool, Processes, ThisProcess, Worker
from cimento.errors import UsageError

EngineName: TypeAlias = Literal["local", "ray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Who does the units.

    Attributes:
        name: ``local`` for processes of this machine, ``ray`` for Ray Core.
        workers: how many; None for one for each GPU, and one where there is none.
        share: number of a share of the units, from 0, and how many shares there are: only these
            units are done, and no run is put together.
    """

    name: EngineName = "local"
    workers: int | None = None
    share: tuple[int, int] | None = None

    def is_alone(self, device: str = "auto") -> bool:
        """Whether all is done in this process, one thing after the other."""
        return self.name == "local" and self.share is None and self.count(2, device) == 1

    def count(self, most: int, device: str = "auto") -> int:
        """How many workers of this machine there are to be.

        Args:
            most: for how many there is something to do.
            device: as the user chose it; where it names one, no other is used.
        """
        return max(1, min(self.workers or len(self.devices(device)), most))

    def devices(self, device: str = "auto") -> list[str]:
        """The GPUs that workers are spread over."""
        return visible_gpus() if device in ("auto", "cuda") else []

    @contextmanager
    def opened(self, most: int, *, device: str, here: Worker) -> Iterator[Pool]:
        """The workers, which are ended afterwards.

        Args:
            most: for how many there is something to do; this process where there is nothing.
            device: as the user chose it; where it names one, no other is used.
            here: who works where this process is enough.

        Raises:
            MissingDependencyError: Ray is asked for and not installed.
        """
        pool: Pool
        if self.name == "ray" and most:
            from cimento.engine.ray import RayActors

            pool = RayActors(self.workers, most=most)
        else:
            number = self.count(most, device)
            alone = number == 1
            pool = ThisProcess(here) if alone else Processes(number, devices=self.devices(device))
        try:
            yield pool
        finally:
            pool.close()


LOCAL = Engine()
"""One process for each GPU, or this one."""

ONE_WORKER = Engine(workers=1)
"""This process."""


def parse_share(text: str) -> tuple[int, int]:
    """``3/16``: the fourth of sixteen shares, as SLURM_ARRAY_TASK_ID counts.

    Raises:
        UsageError: it is no such thing.
    """
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise UsageError(
            where="--share",
            seen=f"got {text!r}",
            todo="Write NUMBER/COUNT, where NUMBER goes from 0 to COUNT - 1: 0/4, 1/4, 2/4, 3/4.",
        )
    return int(number), int(count)


def in_share(position: int, total: int, share: tuple[int, int]) -> bool:
    """Whether the unit at a position, of so many, belongs to a share.

    Shares are stretches of neighbours, so that a model falls into few of them.
    """
    number, count = share
    return number * total // count <= position < (number + 1) * total // count


def visible_gpus() -> list[str]:
    """The GPUs that may be used, as CUDA_VISIBLE_DEVICES names them; empty where there is none."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [each.strip() for each in named.split(",") if each.strip()]
    from cimento.models.hf.libraries import count_gpus

    return [str(number) for number in range(count_gpus())]


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

"""The choice of workers: this process, processes on this machine, or actors on Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cimento.engine import EngineName
from cimento.engine.on_ray import RayActors
from cimento.engine.processes import Processes, ThisProcess
from cimento.engine.workers import Pool, Worker
from cimento.errors import UsageError
from cimento.io.parsing import whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The engine: the kind and number of workers that do the units.

    Attributes:
        name: ``local`` for processes of this machine, ``ray`` for Ray Core.
        workers: number of workers; None for one for each GPU, or one without GPUs.
        share: number of a share of the units, from 0, and the number of shares: only the units of
            this share are done, and no run is put together.
    """

    name: EngineName = "local"
    workers: int | None = None
    share: tuple[int, int] | None = None

    def is_alone(self, device: str = "auto") -> bool:
        """Whether all work is done in this process, one unit after the other."""
        return self.name == "local" and self.share is None and self.count(2, device) == 1

    def count(self, most: int, device: str = "auto") -> int:
        """The number of workers to start on this machine.

        Args:
            most: number of workers for which there is work.
            device: the device that the user chose; if it names a single one, no other is used.
        """
        return max(1, min(self.workers or len(self.devices(device)), most))

    def devices(self, device: str = "auto") -> list[str]:
        """The GPUs over which workers are spread."""
        return visible_gpus() if device in ("auto", "cuda") else []

    @contextmanager
    def opened(
        self,
        most: int,
        *,
        device: str,
        here: Worker,
        note: Callable[[str], None] | None = None,
    ) -> Iterator[Pool]:
        """A context with the pool of workers, which are ended on leaving it.

        Args:
            most: number of workers for which there is work; if 0, only this process is used.
            device: the device that the user chose; if it names a single one, no other is used.
            here: the worker of this process, used where one is enough.
            note: called with remarks on where the work is done, as sentences.

        Raises:
            MissingDependencyError: Ray is asked for and not installed.
            UsageError: Ray is asked for, and a cluster cannot be joined.
        """
        pool: Pool
        if self.name == "ray" and most:
            pool = RayActors(self.workers, most=most, note=note)
        else:
            number = self.count(most, device)
            alone = number == 1
            pool = ThisProcess(here) if alone else Processes(number, devices=self.devices(device))
        try:
            yield pool
        finally:
            pool.close()


LOCAL = Engine()
"""The engine with one process for each GPU, or this process without GPUs."""

ONE_WORKER = Engine(workers=1)
"""The engine with this process as its only worker."""


def parse_share(text: str) -> tuple[int, int]:
    """A share and the number of shares from ``3/16``, counted from 0 like SLURM_ARRAY_TASK_ID.

    Raises:
        UsageError: the text does not name a share.
    """
    number, slash, count = text.partition("/")
    part, parts = whole_number(number), whole_number(count)
    if not slash or part is None or parts is None or part >= parts:
        raise UsageError(
            where="--share",
            seen=f"got {text!r}",
            todo="Write NUMBER/COUNT, where NUMBER goes from 0 to COUNT - 1: 0/4, 1/4, 2/4, 3/4.",
        )
    return int(number), int(count)


def in_share(position: int, total: int, share: tuple[int, int]) -> bool:
    """Whether the unit at a position, out of a total, belongs to a share.

    A share is a contiguous range of units, so that few shares have to load the same model.
    """
    number, count = share
    return number * total // count <= position < (number + 1) * total // count


def visible_gpus() -> list[str]:
    """The GPUs that may be used, as CUDA_VISIBLE_DEVICES names them; empty without any."""
    from cimento.models.hf.devices import count_gpus

    # A variable that another machine's settings left behind names GPUs that are not here.
    there, named = count_gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return [str(number) for number in range(there)]
    return [name.strip() for name in named.split(",") if name.strip()][:there]

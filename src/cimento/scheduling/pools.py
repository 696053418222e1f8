"""Workers of one machine: this process, or processes of its own for each worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Protocol

from cimento.scheduling.tasks import Outcome, Task, Worker

Said = tuple[int, Outcome | None]
"""A worker and what became of its task; None where the worker died over it."""

_GRACE_S = 5.0


class Pool(Protocol):
    """Workers that are given one task at a time."""

    @property
    def workers(self) -> Sequence[int]:
        """Their numbers."""

    def give(self, worker: int, task: Task) -> None:
        """Have a worker without a task do one."""

    def wait(self) -> list[Said]:
        """Wait until some of the given tasks are done; a worker that died has been replaced."""

    def close(self) -> None:
        """End the workers."""


class ThisProcess:
    """One worker: this process."""

    workers: Sequence[int] = (0,)

    def __init__(self) -> None:
        self._worker = Worker()
        self._task: Task | None = None

    def give(self, worker: int, task: Task) -> None:  # noqa: ARG002  # there is one
        """Keep the task until `wait`."""
        self._task = task

    def wait(self) -> list[Said]:
        """Do the task."""
        task, self._task = self._task, None
        return [] if task is None else [(0, self._worker.do(task))]

    def close(self) -> None:
        """Give back the model."""
        self._worker.close()


@dataclass(slots=True)
class _Process:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    busy: bool = False


class Processes:
    """Workers in processes of their own, on the GPUs of this machine in turn.

    They are spawned, not forked: a forked process cannot use CUDA.

    Args:
        number: how many.
        devices: numbers of GPUs as CUDA_VISIBLE_DEVICES takes them; empty where there is none.
    """

    def __init__(self, number: int, *, devices: Sequence[str] = ()) -> None:
        self._devices = tuple(devices)
        self._number = number
        self._context = multiprocessing.get_context("spawn")
        self._all = {worker: self._start(worker) for worker in range(number)}

    @property
    def workers(self) -> Sequence[int]:
        """Numbers from 0."""
        return tuple(self._all)

    def process_ids(self) -> list[int]:
        """The processes of the workers."""
        return [each.process.pid for each in self._all.values() if each.process.pid is not None]

    def give(self, worker: int, task: Task) -> None:
        """Send a task; a worker that is dead already is told by `wait`."""
        each = self._all[worker]
        each.busy = True
        try:
            each.pipe.send(task)
        except OSError:
            each.process.kill()

    def wait(self) -> list[Said]:
        """Wait for results, and for workers that die."""
        busy = {worker: each for worker, each in self._all.items() if each.busy}
        pipes = {id(each.pipe): worker for worker, each in busy.items()}
        if not busy:
            return []
        ready = wait([each.pipe for each in busy.values()])
        return [self._said(pipes[id(pipe)]) for pipe in ready]

    def close(self) -> None:
        """End the processes: those that wait by themselves, others by force."""
        for each in self._all.values():
            each.pipe.close()
        for each in self._all.values():
            each.process.join(0.1 if each.busy else _GRACE_S)
            if each.process.is_alive():
                each.process.kill()
                each.process.join()
        self._all = {}

    def _said(self, worker: int) -> Said:
        each = self._all[worker]
        try:
            outcome = each.pipe.recv()
        # What a process that was killed had begun to say may be cut anywhere.
        except (EOFError, OSError):
            each.pipe.close()
            each.process.kill()
            each.process.join()
            self._all[worker] = self._start(worker)
            return worker, None
        each.busy = False
        return worker, outcome

    def _start(self, worker: int) -> _Process:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with _environment(self._variables(worker)):
            process.start()
        theirs.close()
        return _Process(process, ours)

    def _variables(self, worker: int) -> Mapping[str, str]:
        """What a worker's environment says besides ours: its GPU, and its share of the cores."""
        if self._devices:
            return {"CUDA_VISIBLE_DEVICES": self._devices[worker % len(self._devices)]}
        if "OMP_NUM_THREADS" in os.environ:
            return {}
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        return {"OMP_NUM_THREADS": str(max(1, (cores or os.cpu_count() or 1) // self._number))}


def _serve(pipe: Connection) -> None:
    """What a worker's process does: tasks in, outcomes out, until nobody is there any more."""
    # Ctrl-C goes to every process of a terminal; the driver alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker()
    try:
        while True:
            pipe.send(worker.do(pipe.recv()))
    except (EOFError, OSError):
        # The driver has gone: all that was finished is on disk.
        return
    finally:
        worker.close()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment as a process is to find it that is started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

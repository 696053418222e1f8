"""Pools of workers on one machine: this process with its threads, or several processes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from cimento.engine.workers import TaskOutcome, UnitTask, Worker, WorkerReport
from cimento.io.helper_process import GRACE_S
from cimento.models.hf import own_process

_KILLED = 9
"""The number of the signal SIGKILL, which Windows has no name for."""
_THREADS, _AHEAD = 64, 72
"""Numbers of threads that prepare and store units for a model on a GPU, and of units given to them.

Most of them wait for the model, which reads the texts of some ten units at once.
"""
_SWITCH_S = 0.0005
"""Seconds after which a thread that computes lets another one go on, to call the model; Python's
own 0.005 are a third of the time that a fast model takes for a unit."""


class ThisProcess:
    """A pool with this process as its only worker.

    A model on a GPU leaves this process idle. Then threads encode the texts of the next units, and
    store the answers to those before, while the model's own thread waits for it (`ModelHandle`).
    More units are given to them ahead, so that they wait for nobody. Units do not depend on each
    other (`cimento.engine.units`), so the numbers stay the same.

    Args:
        worker: the worker that does the tasks.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._given: dict[int, UnitTask] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._doing: dict[Future[TaskOutcome], int] = {}
        self._switch_s = sys.getswitchinterval()

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers: several where threads save time."""
        return range(_AHEAD) if self._worker.waits else (0,)

    def give(self, worker: int, task: UnitTask) -> None:
        """Keep the task until `wait`, or have a thread do it."""
        if not self._worker.waits:
            self._given[worker] = task
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="cimento")
            sys.setswitchinterval(_SWITCH_S)
        self._doing[self._threads.submit(self._worker.do, task)] = worker

    def wait(self) -> list[WorkerReport]:
        """Do the task that was given, or wait for a thread, and return the outcomes.

        There are none where the model turns out to be on a GPU: it is given more tasks first, since
        one unit alone would not fill its batches.
        """
        if self._given:
            worker, task = self._given.popitem()
            if not self._worker.begin(task):
                return [(worker, self._worker.do(task))]
            self._worker.expect(_THREADS)  # until it is known how many there are
            self.give(worker, task)
            return []
        # Not sooner, for what was done may have made new units possible.
        self._worker.expect(min(len(self._doing), _THREADS))
        done, _ = wait_for(self._doing, return_when=FIRST_COMPLETED)
        return [(self._doing.pop(future), future.result()) for future in done]

    def close(self) -> None:
        """Wait for the units that are being answered, and release the model."""
        if self._threads is not None:
            self._worker.expect(0)
            self._threads.shutdown(cancel_futures=True)
            sys.setswitchinterval(self._switch_s)
        self._worker.close()


@dataclass(slots=True)
class _Process:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    busy: bool = False


class Processes:
    """A pool of processes, which are assigned to the GPUs of this machine in turn.

    The processes are spawned, not forked, because a forked process cannot use CUDA.

    Args:
        number: number of processes.
        devices: GPUs as CUDA_VISIBLE_DEVICES names them; empty without any.
    """

    def __init__(self, number: int, *, devices: Sequence[str] = ()) -> None:
        self._devices = tuple(devices)
        self._number = number
        self._context = multiprocessing.get_context("spawn")
        self._all = {worker: self._start(worker) for worker in range(number)}

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers, from 0."""
        return tuple(self._all)

    def process_ids(self) -> list[int]:
        """The process ids of the workers."""
        return [
            worker.process.pid for worker in self._all.values() if worker.process.pid is not None
        ]

    def give(self, worker: int, task: UnitTask) -> None:
        """Send a task; `wait` reports a worker that has died before."""
        process = self._all[worker]
        process.busy = True
        try:
            process.pipe.send(task)
        except OSError:
            process.process.kill()

    def wait(self) -> list[WorkerReport]:
        """Wait for outcomes of tasks and for workers that die."""
        busy = {worker: process for worker, process in self._all.items() if process.busy}
        pipes = {id(process.pipe): worker for worker, process in busy.items()}
        if not busy:
            return []
        ready = wait([process.pipe for process in busy.values()])
        return [self._said(pipes[id(pipe)]) for pipe in ready]

    def close(self) -> None:
        """End the processes: idle ones by closing their pipe, busy ones by force."""
        for process in self._all.values():
            process.pipe.close()
        for process in self._all.values():
            process.process.join(0.1 if process.busy else GRACE_S)
            if process.process.is_alive():
                process.process.kill()
                process.process.join()
        self._all = {}

    def _said(self, worker: int) -> WorkerReport:
        process = self._all[worker]
        try:
            outcome = process.pipe.recv()
        # The message of a process that was killed may be cut anywhere.
        except (EOFError, OSError):
            process.pipe.close()
            # A process that closed its pipe is about to end, with the code that tells why.
            process.process.join(GRACE_S)
            code = process.process.exitcode
            process.process.kill()
            process.process.join()
            self._all[worker] = self._start(worker)
            return worker, TaskOutcome(death=_end_of_process(code))
        process.busy = False
        return worker, outcome

    def _start(self, worker: int) -> _Process:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with with_environment({**self._variables(worker), **_NOT_FROM_HERE}):
            process.start()
        theirs.close()
        return _Process(process, ours)

    def _variables(self, worker: int) -> Mapping[str, str]:
        """The environment variables in which a worker differs: its GPU, or its cores."""
        if self._devices:
            return {"CUDA_VISIBLE_DEVICES": self._devices[worker % len(self._devices)]}
        if "OMP_NUM_THREADS" in os.environ:
            return {}
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        return {"OMP_NUM_THREADS": str(max(1, (cores or os.cpu_count() or 1) // self._number))}


def _end_of_process(code: int | None) -> str:
    """How a process ended, from its exit code: minus the number of a signal, or its own."""
    if code == -_KILLED:
        return "its process was killed, as systems do that run out of memory"
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name} ended its process"
    return f"its process ended with code {code}"


def _serve(pipe: Connection) -> None:
    """Receive tasks and send outcomes until the driver has gone, as the main loop of a worker."""
    # Ctrl-C reaches every process of a terminal, and only the driver is to act on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own_process()
    # The notes on a model reach the driver with its answers; each worker would say them again.
    logging.getLogger("cimento.models").setLevel(logging.ERROR)
    worker = Worker()
    try:
        while True:
            pipe.send(worker.do(pipe.recv()))
    except (EOFError, OSError):
        # The driver has gone; all finished units are on disk.
        return
    finally:
        worker.close()


_NOT_FROM_HERE = {"PYTHONSAFEPATH": "1"}
"""A process that begins finds no modules in the working folder, which may come from others."""


@contextmanager
def with_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """A context in which variables are set, for what is started meanwhile."""
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

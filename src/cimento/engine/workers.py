"""Workers on one machine: their tasks, the outcomes of these, and their processes.

A worker gets requests and returns tables; it knows nothing of suites.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento import errors
from cimento.engine.answers import answer
from cimento.engine.cache import AnswerCache, FileCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.units import Overlay, Unit, UnitResult, write_added, write_result
from cimento.errors import ChangedModelError, CimentoError, NonFiniteScoreError, StorageError
from cimento.io.files import default_cache_folder
from cimento.io.memory import give_back
from cimento.io.tables import Column
from cimento.models.hf import own_process
from cimento.models.settings import Asking

_GRACE_S = 5.0
_GIVE_BACK_S = 0.3
_THREADS, _AHEAD = 64, 72
"""Numbers of threads that prepare and store units for a model on a GPU, and of units given to them.

Most of them wait for the model, which reads the texts of some ten units at once.
"""
_SWITCH_S = 0.0005
"""Seconds after which a thread that computes lets another one go on, to call the model; Python's
own 0.005 are a third of the time that a fast model takes for a unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTask:
    """The task of having a model answer a unit.

    Attributes:
        number: number of the unit in its execution.
        model: its name, as for ``cimento run -m``.
        label: its name and revision where the unit was made; a worker may open it much later.
        scoring: the settings of scoring.
        unit: the unit with its requests.
        columns: values wanted of every token besides its log-probability.
        result: the file of the result; None to return the result.
        added: the file for entries added to the cache; None to keep none.
    """

    number: int
    model: str
    label: str
    scoring: Asking
    unit: Unit
    columns: tuple[Column, ...] = ()
    result: Path | None = None
    added: Path | None = None


@dataclass(frozen=True, slots=True)
class TaskError:
    """An error in the form in which it goes from one process to another.

    Attributes:
        kind: name of its class in `cimento.errors`.
        where: see `CimentoError`.
        seen: see `CimentoError`.
        todo: see `CimentoError`.
        whole_model: whether the model cannot be used at all.
        request: number in the unit of the request that caused it; None where that is not known.
    """

    kind: str
    where: str
    seen: str
    todo: str
    whole_model: bool = False
    request: int | None = None

    @classmethod
    def of(cls, error: CimentoError, *, whole_model: bool = False) -> TaskError:
        """The error as plain values."""
        request = error.request if isinstance(error, NonFiniteScoreError) else None
        kind = type(error).__name__
        return cls(kind, error.where, error.seen, error.todo, whole_model, request)

    def error(self) -> CimentoError:
        """The error rebuilt, with the same class and the same message."""
        kind = getattr(errors, self.kind, CimentoError)
        error: CimentoError = kind.__new__(kind)
        # Some classes build their message from other arguments, and here it is built already, so
        # the constructor is not called.
        CimentoError.__init__(error, where=self.where, seen=self.seen, todo=self.todo)
        if isinstance(error, NonFiniteScoreError):
            error.request = self.request
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """The outcome of a task.

    Attributes:
        error: the error that prevented it; None if it was done.
        result: the answers, if they were not to be written to a file, or if the worker is in the
            process that needs them.
    """

    error: TaskError | None = None
    result: UnitResult | None = None


class Worker:
    """A worker, which does tasks one after the other and keeps the last model loaded.

    Args:
        cache: the cache of answers; None opens the user's cache when it is first needed.
        models: models that are opened already, by their names.
        progress: called with a task and its progress.
        returns: whether answers that are written to a file are returned too, so that this process
            knows their tables and remarks without reading its own files.
    """

    def __init__(
        self,
        *,
        cache: AnswerCache | None = None,
        models: Mapping[str, ModelHandle] | None = None,
        progress: Callable[[UnitTask, int, int], None] | None = None,
        returns: bool = False,
    ) -> None:
        self._cache = cache
        self._returns = returns
        self._opened: FileCache | None = None
        self._models = models or {}
        self._progress = progress
        self._key: tuple[str, Asking] | None = None
        self._handle: ModelHandle | None = None
        self._error: TaskError | None = None
        self._is_apart = False
        self._gave_back_s = 0.0

    @property
    def waits(self) -> bool:
        """Whether the model computes elsewhere, so that this process could do another task."""
        return self._is_apart and self._handle is not None and self._handle.waits

    def expect(self, units: int) -> None:
        """Say how many units are under way in this process."""
        if self._handle is not None:
            self._handle.expect(units)

    def do(self, task: UnitTask) -> TaskOutcome:
        """Do a task; errors of models, texts and our code become part of the outcome."""
        try:
            handle = self._open(task)
            if handle is None:
                return TaskOutcome(error=self._error)
            with handle.client():
                return TaskOutcome(result=self._answer(task, handle))
        except CimentoError as error:
            gone = isinstance(error, ChangedModelError)
            return TaskOutcome(error=TaskError.of(error, whole_model=gone))
        # A worker survives the failure of one task, even through a bug in cimento.
        except Exception as error:
            if os.environ.get("CIMENTO_DEBUG"):
                raise
            return TaskOutcome(error=_fault(error, task))

    def close(self) -> None:
        """Release the model, and close the cache if it was opened here."""
        self._forget()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _open(self, task: UnitTask) -> ModelHandle | None:
        """The loaded model of a task; None where it cannot be loaded."""
        key = (task.model, task.scoring)
        if key != self._key:
            self._forget()
            self._key = key
            try:
                known = self._models.get(task.model)
                self._handle = known or ModelHandle(task.model, task.scoring)
                _refuse_another(self._handle, task)
                _ = self._handle.scorer
            except StorageError:
                raise
            except CimentoError as error:
                self._handle, self._error = None, TaskError.of(error, whole_model=True)
        return self._handle

    def _forget(self) -> None:
        if self._handle is not None:
            self._handle.release()
        self._handle, self._key, self._error = None, None, None

    def _answer(self, task: UnitTask, handle: ModelHandle) -> UnitResult | None:
        # If no file is written, there are no other workers, so answers go to the cache at once.
        known = self._kept(task)
        self._is_apart = task.result is not None
        cache = known if task.result is None else Overlay(known)
        begun = time.monotonic()
        try:
            answers = answer(
                task.unit.requests,
                handle,
                columns=task.columns,
                cache=cache,
                progress=partial(self._progress, task) if self._progress else None,
            )
        except CimentoError:
            # A server may fail midway; the answers it has given are kept and not asked again.
            _keep(cache, task)
            raise
        seconds = time.monotonic() - begun
        self._give_back()
        if task.result is None:
            return UnitResult(answers, seconds)
        added = _keep(cache, task)
        result = UnitResult(answers, seconds if added else None)
        write_result(result, task.result)
        return result if self._returns else None

    def _give_back(self) -> None:
        """Return free memory to the system; more often, it would only be asked for again."""
        now = time.monotonic()
        if now - self._gave_back_s > _GIVE_BACK_S:
            self._gave_back_s = now
            give_back()

    def _kept(self, task: UnitTask) -> AnswerCache:
        if self._cache is not None:
            return self._cache
        if task.added is None:
            return MemoryCache()
        if self._opened is None:
            self._opened = FileCache(default_cache_folder())
        return self._opened


def _refuse_another(handle: ModelHandle, task: UnitTask) -> None:
    """Refuse a model that is not the one for which a unit was made.

    Raises:
        ChangedModelError: its server has another model by now, or its files have changed.
    """
    if handle.label != task.label:
        raise ChangedModelError(
            where=f"model {task.model!r}",
            seen=f"it is {handle.label} by now, and was {task.label} when the run began",
            todo="What was answered before is kept. Run again: each has a run of its own.",
        )


def _keep(cache: AnswerCache, task: UnitTask) -> Mapping[bytes, bytes]:
    """The entries that a task adds to the cache, written to its file until the run is over."""
    added = cache.added if isinstance(cache, Overlay) else {}
    if task.added is not None and added:
        write_added(added, task.added)
    return added


def _fault(error: Exception, task: UnitTask) -> TaskError:
    return TaskError(
        kind="ModelError",
        where=f"model {task.model!r}",
        seen=f"cimento failed with {type(error).__name__}: {str(error)[:500]}",
        todo="Please report it with the command you ran.",
    )


Said: TypeAlias = "tuple[int, TaskOutcome | None]"
"""A worker's number and the outcome of its task; None where the worker died doing it."""


class Pool(Protocol):
    """The protocol of a pool of workers that are given one task at a time."""

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers."""

    def give(self, worker: int, task: UnitTask) -> None:
        """Give a task to a worker that has none."""

    def wait(self) -> list[Said]:
        """Wait until some of the given tasks are done; a worker that died has been replaced."""

    def close(self) -> None:
        """End the workers."""


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

    def wait(self) -> list[Said]:
        """Do the task that was given, or wait for a thread, and return the outcomes."""
        if self._given:
            worker, task = self._given.popitem()
            return [(worker, self._worker.do(task))]
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

    def wait(self) -> list[Said]:
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
            process.process.join(0.1 if process.busy else _GRACE_S)
            if process.process.is_alive():
                process.process.kill()
                process.process.join()
        self._all = {}

    def _said(self, worker: int) -> Said:
        process = self._all[worker]
        try:
            outcome = process.pipe.recv()
        # The message of a process that was killed may be cut anywhere.
        except (EOFError, OSError):
            process.pipe.close()
            process.process.kill()
            process.process.join()
            self._all[worker] = self._start(worker)
            return worker, None
        process.busy = False
        return worker, outcome

    def _start(self, worker: int) -> _Process:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        with _environment({**self._variables(worker), **_NOT_FROM_HERE}):
            process.start()
        theirs.close()
        return _Process(process, ours)

    def _variables(self, worker: int) -> Mapping[str, str]:
        """The environment variables in which a worker differs: its GPU, or its share of cores."""
        if self._devices:
            return {"CUDA_VISIBLE_DEVICES": self._devices[worker % len(self._devices)]}
        if "OMP_NUM_THREADS" in os.environ:
            return {}
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        return {"OMP_NUM_THREADS": str(max(1, (cores or os.cpu_count() or 1) // self._number))}


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
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """A context in which variables are set, for a process that is started meanwhile."""
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

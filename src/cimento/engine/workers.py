"""Workers: their tasks, the outcomes of these, and the protocol of a pool of workers.

A worker gets requests and returns tables; it knows nothing of suites.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from traceback import format_exception
from typing import Protocol, TypeAlias

from cimento import errors
from cimento.engine.added import Overlay, write_added
from cimento.engine.answers import answer
from cimento.engine.cache import AnswerCache, FileCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import Score
from cimento.engine.units import Unit, UnitResult, write_result
from cimento.errors import ChangedModelError, CimentoError, NonFiniteScoreError, StorageError
from cimento.io.files import default_cache_folder
from cimento.io.memory import give_back
from cimento.io.tables import Column
from cimento.models.settings import Asking

_GIVE_BACK_S = 0.3


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
        is_lost: whether workers are at fault, not the model or the texts: what is done is kept, and
            another run goes on from there.
        traceback: where it happened, if ``CIMENTO_DEBUG=1`` asks for it; else empty.
    """

    kind: str
    where: str
    seen: str
    todo: str
    whole_model: bool = False
    request: int | None = None
    is_lost: bool = False
    traceback: str = ""

    @classmethod
    def of(cls, error: CimentoError, *, whole_model: bool = False) -> TaskError:
        """The error as plain values."""
        request = error.request if isinstance(error, NonFiniteScoreError) else None
        shown = "".join(format_exception(error)) if os.environ.get("CIMENTO_DEBUG") else ""
        said = type(error).__name__, error.where, error.seen, error.todo
        return cls(*said, whole_model, request, traceback=shown)

    def error(self) -> CimentoError:
        """The error rebuilt, with the same class and the same message."""
        kind = getattr(errors, self.kind, CimentoError)
        error: CimentoError = kind.__new__(kind)
        # Some classes build their message from other arguments, and here it is built already, so
        # the constructor is not called.
        CimentoError.__init__(error, where=self.where, seen=self.seen, todo=self.todo)
        if isinstance(error, NonFiniteScoreError):
            error.request = self.request
        if self.traceback:
            error.add_note(self.traceback)
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """The outcome of a task.

    Attributes:
        error: the error that prevented it; None if it was done.
        result: the answers, if they were not to be written to a file, or if the worker is in the
            process that needs them.
        death: why the worker died doing it; empty if it did not.
    """

    error: TaskError | None = None
    result: UnitResult | None = None
    death: str = ""


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
            # Not as a client: who waits for the measure must not keep others from computing.
            if any(isinstance(request, Score) for request in task.unit.requests):
                handle.measure_rounding(self._kept(task))
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

    def begin(self, task: UnitTask) -> bool:
        """Load the model of a task, and say whether it `waits`; `do` reports what fails here."""
        try:
            self._open(task)
        except CimentoError:
            return False
        return self.waits

    def close(self) -> None:
        """Release the model, and close the cache if it was opened here."""
        self._forget()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _open(self, task: UnitTask) -> ModelHandle | None:
        """The loaded model of a task; None where it cannot be loaded."""
        key = (task.model, task.scoring)
        self._is_apart = task.result is not None
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


def workers_ended(model: str, reasons: Sequence[str]) -> TaskError:
    """The error of a unit over which several workers ended, each for a reason."""
    said = "; ".join(dict.fromkeys(reasons))
    is_memory = "memory" in said.lower()
    return TaskError(
        kind="ModelError",
        where=f"model {model!r}",
        seen=f"{len(reasons)} workers ended over the same texts: {said}",
        todo="Too little memory? Try a small --batch-size or fewer --workers." if is_memory else "",
        is_lost=True,
    )


WorkerReport: TypeAlias = "tuple[int, TaskOutcome]"
"""A worker's number and the outcome of its task."""


class Pool(Protocol):
    """The protocol of a pool of workers that are given one task at a time."""

    @property
    def workers(self) -> Sequence[int]:
        """The numbers of the workers."""

    def give(self, worker: int, task: UnitTask) -> None:
        """Give a task to a worker that has none."""

    def wait(self) -> list[WorkerReport]:
        """Wait until some of the given tasks are done, or there are other workers.

        A worker that died has been replaced, or is no longer among `workers`.
        """

    def close(self) -> None:
        """End the workers."""

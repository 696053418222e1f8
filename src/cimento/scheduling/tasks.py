"""What a worker is told to do, what it says of it, and how it does it: one model at a time."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento import errors
from cimento.engine.cache import AnswerCache, FileCache, MemoryCache, default_cache_folder
from cimento.engine.freeing import give_back
from cimento.errors import CimentoError, StorageError
from cimento.scheduling.joining import Joiner, JoinTask
from cimento.scheduling.shards import read_shard
from cimento.scheduling.units import Apart, Result, UnitStore, write_added, write_result
from cimento.sources import Asking, ScorerSource, Source, ask, open_source

if TYPE_CHECKING:
    from cimento.models.base import ModelCard


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardTask:
    """Ask a model for the answers to a shard.

    Attributes:
        model: its name, as for ``cimento run -m``.
        asking: how it is asked.
        store: where units are.
        digest: the folder of the model's units.
        shard: digest of what is asked.
        keep: whether answers kept from other runs are used, and these are kept for others.
    """

    model: str
    asking: Asking
    store: UnitStore
    digest: str
    shard: str
    keep: bool

    @property
    def result(self) -> Path:
        """The file to write."""
        return self.store.result(self.digest, self.shard)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTask:
    """Run whole suites with a model, by a function that stores the runs itself.

    Attributes:
        model: its name.
        function: as ``module:name``; called with the arguments.
        arguments: plain values and records.
    """

    model: str
    function: str
    arguments: tuple[object, ...]


Task: TypeAlias = ShardTask | CallTask | JoinTask


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error as it goes from one process to another.

    Attributes:
        kind: name of its class in `cimento.errors`.
        where: see `CimentoError`.
        seen: see `CimentoError`.
        todo: see `CimentoError`.
        whole_model: whether the model cannot be used at all.
        died: whether workers ended over the task.
    """

    kind: str
    where: str
    seen: str
    todo: str
    whole_model: bool = False
    died: bool = False

    @classmethod
    def of(cls, error: CimentoError, *, whole_model: bool = False) -> Trouble:
        """The error as plain values."""
        return cls(type(error).__name__, error.where, error.seen, error.todo, whole_model)

    def error(self) -> CimentoError:
        """The error again, of the same class, with the same message."""
        kind = getattr(errors, self.kind, CimentoError)
        error: CimentoError = kind.__new__(kind)
        # Some classes build their message from other arguments; here it is built already.
        CimentoError.__init__(error, where=self.where, seen=self.seen, todo=self.todo)
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a task.

    Attributes:
        trouble: why it could not be done; None where it was.
        loaded: whether the model was loaded for it.
        seconds: how long the work took, loading included.
        returned: what the function of a `CallTask` returned; the `Finished` of a `JoinTask`.
    """

    trouble: Trouble | None = None
    loaded: bool = False
    seconds: float = 0.0
    returned: object = None


class Worker:
    """Does tasks one after the other, and keeps the model of the last one loaded."""

    def __init__(self) -> None:
        self._key: tuple[str, Asking] | None = None
        self._source: Source | None = None
        self._trouble: Trouble | None = None
        self._cache: FileCache | None = None
        self._joiner = Joiner()

    def do(self, task: Task) -> Outcome:
        """Do a task; what goes wrong is told and not raised."""
        begun = time.monotonic()
        loaded, returned = False, None
        try:
            if not isinstance(task, ShardTask):
                # Its model is loaded there, or none is, so that of other tasks must make room.
                self._forget()
                returned = self._joiner.join(task) if isinstance(task, JoinTask) else _call(task)
            else:
                loaded = self._open(task)
                if self._trouble is not None:
                    return Outcome(trouble=self._trouble)
                self._answer(task)
                give_back()
        except CimentoError as error:
            return Outcome(trouble=Trouble.of(error), loaded=loaded)
        # A worker outlives what goes wrong with one task, a fault of ours included.
        except Exception as error:  # noqa: BLE001
            return Outcome(trouble=_fault(error, task), loaded=loaded)
        seconds = time.monotonic() - begun
        return Outcome(loaded=loaded, seconds=seconds, returned=returned)

    def close(self) -> None:
        """Give everything back."""
        self._forget()
        self._joiner.forget()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _open(self, task: ShardTask) -> bool:
        """Load the model, unless it is loaded; whether it was loaded now."""
        key = (task.model, task.asking)
        if key == self._key:
            return False
        self._forget()
        self._key = key
        try:
            source = open_source(task.model, task.asking)
            if isinstance(source, ScorerSource):
                source.load()
            self._source = source
        except StorageError:
            raise
        except CimentoError as error:
            self._trouble = Trouble.of(error, whole_model=True)
        return True

    def _forget(self) -> None:
        if self._source is not None:
            self._source = None
            # A model holds itself in circles; its memory is needed for the next one.
            gc.collect()
            give_back()
        self._key, self._trouble = None, None

    def _answer(self, task: ShardTask) -> None:
        if not isinstance(self._source, ScorerSource):
            raise TypeError(f"{task.model!r} does not answer to shards")
        scorer = self._source.load()
        plan = read_shard(task.store.shard(task.shard))
        cache = Apart(self._kept() if task.keep else MemoryCache())
        begun = time.monotonic()
        policy, columns = task.asking.policy, task.asking.columns
        tokens = ask(plan, scorer, policy=policy, cache=cache, columns=columns)
        taken = time.monotonic() - begun
        if task.keep and cache.added:
            write_added(cache.added, task.store.added(task.digest, task.shard))
        card: ModelCard = scorer.card
        remarks = self._source.remarks(plan)
        write_result(Result(card, tokens, remarks, taken if cache.added else None), task.result)

    def _kept(self) -> AnswerCache:
        if self._cache is None:
            self._cache = FileCache(default_cache_folder())
        return self._cache


def _call(task: CallTask) -> object:
    module, _, name = task.function.partition(":")
    function: Callable[..., object] = getattr(importlib.import_module(module), name)
    # The driver shows and says all of it again.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return function(*task.arguments)


def _fault(error: Exception, task: Task) -> Trouble:
    return Trouble(
        kind="ModelError",
        where=f"model {task.model!r}",
        seen=f"cimento failed with {type(error).__name__}: {str(error)[:500]}",
        todo="Please report it with the command you ran.",
    )

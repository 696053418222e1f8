"""What a worker is told to do, what it says of it, and how it does it: one model at a time."""

from __future__ import annotations

import contextlib
import importlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cimento import errors
from cimento.errors import CimentoError


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


Task: TypeAlias = CallTask


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
    """Does tasks one after the other."""

    def do(self, task: Task) -> Outcome:
        """Do a task; what goes wrong is told and not raised."""
        begun = time.monotonic()
        try:
            returned = _call(task)
        except CimentoError as error:
            return Outcome(trouble=Trouble.of(error))
        # A worker outlives what goes wrong with one task, a fault of ours included.
        except Exception as error:  # noqa: BLE001
            return Outcome(trouble=_fault(error, task))
        return Outcome(seconds=time.monotonic() - begun, returned=returned)

    def close(self) -> None:
        """Nothing is held."""


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

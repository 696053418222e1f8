"""The thread of a model on a GPU: the only one that calls it, for units that many threads prepare.

The model should never wait for Python, in which one thread computes at a time. So few threads
encode texts and store answers at once; the others wait until the model has read their texts, and
enough of them wait for its batches to be full. A batch that is not full is launched when nobody is
left who could fill it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

if TYPE_CHECKING:
    from cimento.io.tables import Column
    from cimento.models.base import FloatArray, Plan, Planner

P = ParamSpec("P")
R = TypeVar("R")

COMPUTING = 3
"""Number of threads that encode and store at once."""


@dataclass(frozen=True, slots=True)
class _Call:
    work: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Planned:
    planner: Planner
    plan: Plan
    columns: tuple[Column, ...]
    done: Future[None]


_Item: TypeAlias = "_Call | _Planned | None"


class ModelThread:
    """A thread that calls a model, one call after the other; it begins with the first call."""

    def __init__(self) -> None:
        self._items: SimpleQueue[_Item] = SimpleQueue()
        self._computing = threading.Semaphore(COMPUTING)
        self._starting = threading.Lock()
        self._own = threading.local()
        self._expected = 0
        self._thread: threading.Thread | None = None
        self._ends = False

    @contextmanager
    def client(self) -> Iterator[None]:
        """A context in which a thread prepares a unit for the model and stores its answers."""
        with self._computing:
            self._own.is_client = True
            try:
                yield
            finally:
                self._own.is_client = False

    def expect(self, units: int) -> None:
        """Say how many units are under way; a batch that is not full waits for their texts."""
        self._expected = units
        self._items.put(None)

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a function for which the model computes."""
        done: Future[R] = Future()

        def work() -> None:
            try:
                done.set_result(function(*args, **kwargs))
            # It is raised in the thread that waits.
            except Exception as error:  # noqa: BLE001
                done.set_exception(error)

        return self._wait(_Call(work), done)

    def carry_out(self, planner: Planner, plan: Plan, columns: tuple[Column, ...]) -> FloatArray:
        """The scores of a plan, whose lines share passes with those of other plans."""
        done: Future[None] = Future()
        self._wait(_Planned(planner, plan, columns, done), done)
        return plan.values

    def close(self) -> None:
        """End the thread once it has done what it was given."""
        if self._thread is not None:
            self._ends = True
            self._items.put(None)
            self._thread.join()

    def _wait(self, item: _Item, done: Future[R]) -> R:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="cimento-model", daemon=True
                )
                self._thread.start()
        is_client = getattr(self._own, "is_client", False)
        if is_client:
            self._computing.release()
        try:
            self._items.put(item)
            return done.result()
        finally:
            if is_client:
                self._computing.acquire()

    def _work(self) -> None:
        """Do what is given, in its order."""
        planned: list[_Planned] = []
        while True:
            item = self._items.get()
            if isinstance(item, _Call):
                item.work()
            elif item is not None:
                planned.append(item)
                _try(planned, item.planner, partial(item.planner.add, item.plan, item.columns))
            _settle(planned)
            while planned and self._items.empty() and len(planned) >= self._expected:
                planner = planned[0].planner
                _try(planned, planner, planner.flush)
                _settle(planned)
            if self._ends and not planned and self._items.empty():
                return


def _settle(planned: list[_Planned]) -> None:
    """Let those go on whose plans are carried out."""
    for some in [some for some in planned if some.plan.done]:
        planned.remove(some)
        some.done.set_result(None)


def _try(planned: list[_Planned], planner: Planner, work: Callable[[], None]) -> None:
    """Do some work; its error ends all plans that could be in the same batch."""
    try:
        work()
    # It is raised in the threads that wait.
    except Exception as error:  # noqa: BLE001
        planner.forget()
        for some in [some for some in planned if some.planner is planner]:
            planned.remove(some)
            some.done.set_exception(error)

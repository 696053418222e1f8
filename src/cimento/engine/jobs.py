"""Jobs, which make requests to one model each, with their states, units and queue.

A worker first does the units of the model that it has loaded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from cimento.engine.cache import AnswerCache
from cimento.engine.engines import LOCAL, Engine
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import NO_ANSWERS, Answers, Recording, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import Division, Place, Unit, UnitResult, UnitStore, read_result
from cimento.errors import CimentoError
from cimento.io.tables import Column, in_memory

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Integers

U = TypeVar("U")

_ATTEMPTS = 3


class PullQueue(Generic[U]):
    """A queue of waiting units, grouped by model, from which workers pull.

    A worker goes on with the model that it has loaded. Then it takes the first model that no other
    worker has loaded; then it helps with the model that has most units waiting, unless it had that
    model before. So a worker hardly ever loads a model twice. A unit whose worker died goes to the
    next worker that asks.

    Args:
        units: pairs of model and unit, in order.
        alone: models that only one worker at a time may use.
    """

    def __init__(
        self, units: Iterable[tuple[str, U]], *, alone: Container[str] = frozenset()
    ) -> None:
        self._waiting: dict[str, deque[U]] = {}
        self._alone = alone
        self._holds: dict[int, str] = {}
        self._had: dict[int, set[str]] = {}
        self._attempts: dict[Hashable, int] = {}
        for model, unit in units:
            self.add(model, unit)

    def add(self, model: str, unit: U) -> None:
        """Add a unit to the queue."""
        self._waiting.setdefault(model, deque()).append(unit)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def next(self, worker: int) -> tuple[str, U] | None:
        """The next unit for a worker, with its model; None where there is none at present."""
        model = self._choose(worker)
        if model is None:
            self._holds.pop(worker, None)
            return None
        self._holds[worker] = model
        self._had.setdefault(worker, set()).add(model)
        return model, self._waiting[model].popleft()

    def again(self, worker: int, model: str, unit: U) -> bool:
        """Queue a unit whose worker died once more; returns False after too many attempts.

        Args:
            worker: the worker that died; its replacement has no model loaded.
            model: the unit's model.
            unit: the unit, which must be hashable.
        """
        self._holds.pop(worker, None)
        self._had.pop(worker, None)
        attempts = self._attempts.get((model, unit), 1)
        if attempts >= _ATTEMPTS:
            return False
        self._attempts[(model, unit)] = attempts + 1
        self._waiting.setdefault(model, deque()).appendleft(unit)
        return True

    def drop(self, model: str) -> list[U]:
        """Remove and return all units of a model that cannot be used."""
        return list(self._waiting.pop(model, ()))

    def _choose(self, worker: int) -> str | None:
        waiting = {model: len(units) for model, units in self._waiting.items() if units}
        held = self._holds.get(worker)
        if held in waiting:
            return held
        others = {model for other, model in self._holds.items() if other != worker}
        free = [model for model in waiting if model not in others]
        had = self._had.get(worker, set())
        fresh = [model for model in free if model not in had]
        if fresh or (free and not others):
            return (fresh or free)[0]
        helped = [m for m in waiting if m in others and m not in had and m not in self._alone]
        most = max(helped, key=waiting.__getitem__, default=None)
        return most or (free[0] if free else None)


ResultT_co = TypeVar("ResultT_co", covariant=True)


class Job(Protocol[ResultT_co]):
    """The protocol of a job, which makes requests to one model until it knows enough.

    Attributes:
        title: name of the job in messages.
        model: the model, or a recording of its answers.
        columns: values wanted of every token besides its log-probability.
        is_done: whether its result exists already; its requests then only decide which requests
            share a unit.
        progress: called with the number of its requests answered and their total.
    """

    title: str
    model: ModelHandle | Recording
    columns: tuple[Column, ...]
    is_done: bool
    progress: Progress | None

    @property
    def later(self) -> int:
        """The largest number of requests after the first round."""

    def requests(self, answers: Answers) -> Requests | None:
        """The requests of the next round; None after the last round.

        Raises:
            CimentoError: the requests cannot be made.
        """

    def finish(self, answers: Answers | None) -> ResultT_co:
        """The result made from all answers; given None, the result that exists already.

        Raises:
            CimentoError: no result can be made from the answers.
        """

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        """An error with the place of the request that caused it, given by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The settings under which jobs are done.

    Attributes:
        engine: the engine that does the units.
        device: the device that the user chose.
        store: the store of the results of units; None keeps them in memory.
        cache: the cache of answers; None uses none.
        force: whether units that are done are done again.
        ask: whether models are asked; if not, only results of units that are done are used.
        note: called with remarks made during the work, as sentences.
    """

    engine: Engine = LOCAL
    device: str = "auto"
    store: UnitStore | None = None
    cache: AnswerCache | None = None
    force: bool = False
    ask: bool = True
    note: Callable[[str], None] | None = None


@dataclass(slots=True)
class UnitState:
    """The state of one model's unit in an execution.

    Attributes:
        unit: the unit with its requests.
        group: the model that is asked, with its jobs.
        path: the file of its result; None to keep the result in memory.
        result: the result in memory, if there is no file or it has only just been written.
        outline: its answers without rows, where they are known.
        is_done: whether the result exists.
        is_queued: whether it is in the queue of the workers.
        is_other: whether it belongs to another share.
        waiting: the jobs that need it.
    """

    unit: Unit
    group: Group
    path: Path | None
    result: UnitResult | None = None
    outline: Answers | None = None
    is_done: bool = False
    is_queued: bool = False
    is_other: bool = False
    waiting: list[JobState] = field(default_factory=list)

    @property
    def answers(self) -> Answers:
        """The answers to the unit's requests.

        Raises:
            StorageError: the file cannot be read.
            TableError: the file is damaged.
        """
        result = self.result
        if result is None and self.path is not None:
            result = read_result(self.path)
        return NO_ANSWERS if result is None else result.answers

    def take(self, result: UnitResult | None) -> None:
        """Take over the result of a worker, if it is in this process."""
        self.is_done = True
        self.outline = None if result is None else result.answers.outline()
        self.result = result
        self.unit = Unit(self.unit.digest, ())

    def let_go(self) -> None:
        """Leave the rows of the result in the unit's file, if it has one."""
        if self.path is not None:
            self.result = None

    def outlined(self) -> Answers:
        """The answers without rows; errors as for `answers`."""
        if self.outline is None:
            self.outline = self.answers.outline()
        return self.outline


@dataclass(frozen=True, slots=True)
class Part:
    """The requests of a round that one unit answers.

    Attributes:
        inside: their numbers in the unit.
        number: their numbers in the round, in the same order.
    """

    inside: Integers
    number: Integers

    def __len__(self) -> int:
        return len(self.inside)

    def place(self, request: int) -> int | None:
        """The number in the round of a request, by its number in the unit; None if not asked."""
        places = self.number[self.inside == request].tolist()
        return places[0] if places else None

    @classmethod
    def all_of(cls, places: Sequence[Place]) -> dict[int, Part]:
        """The parts of a round, by the numbers of their units in the order in which they begin.

        Args:
            places: the place of each request of the round.
        """
        import numpy as np

        flat = np.fromiter(chain.from_iterable(places), dtype=np.int64, count=2 * len(places))
        units, inside = flat.reshape(-1, 2).T
        order = np.argsort(units, kind="stable")
        bounds = np.flatnonzero(np.diff(units[order])) + 1
        parts = sorted(np.split(order, bounds) if len(order) else (), key=lambda part: part[0])
        return {int(units[part[0]]): cls(inside[part], part) for part in parts}

    def renumbered(self, table: pl.DataFrame) -> pl.DataFrame:
        """The unit's rows about the requests of the round, which get their numbers there.

        A request that the round has several times has rows under each of its numbers.
        """
        import numpy as np
        import polars as pl

        order = np.argsort(self.inside, kind="stable")
        inside, number = self.inside[order], self.number[order].astype(np.int32)
        requests = table["request"].to_numpy()
        first = np.searchsorted(inside, requests, side="left")
        times = np.searchsorted(inside, requests, side="right") - first
        if (times == 1).all():
            return table.with_columns(request=pl.Series(number[first]))
        # A unit may also hold requests of other jobs, which this round has no times.
        rows = np.repeat(np.arange(len(requests)), times)
        before = np.repeat(np.cumsum(times) - times, times)
        numbers = number[np.repeat(first, times) + np.arange(len(rows)) - before]
        return table[rows].with_columns(request=pl.Series(numbers))


@dataclass(slots=True, eq=False)
class Group:
    """A model with the jobs that ask it.

    Attributes:
        key: the model's name, under which workers know it.
        model: the handle of the model.
        columns: values wanted of every token besides its log-probability.
        digest: name of the folder of its units.
        division: the division of the first rounds of its jobs.
    """

    key: str
    model: ModelHandle
    columns: tuple[Column, ...]
    digest: str
    division: Division = field(init=False)

    @property
    def is_whole(self) -> bool:
        """Whether all requests of a round of a job form one unit; see `Division`."""
        # Remarks on unknown words and on long texts count over all texts of a round.
        return self.key.startswith("kenlm:") or self.model.scoring.policy.window != "refuse"

    @property
    def is_alone(self) -> bool:
        """Whether one worker at a time asks it: a server gets many texts at once anyway."""
        return self.key.startswith("openai:")


@dataclass(slots=True, eq=False)
class JobState:
    """The state of a job in an execution.

    Attributes:
        job: the job.
        group: its model; None for a recording.
        answers: the answers to all finished rounds.
        n: number of requests of this round.
        units: the part of each unit in this round, by the number of the unit.
        waiting: numbers of the units of this round that are not done.
        later: the division of its later rounds.
        answered: number of requests answered, among those counted by `total`.
        total: number of requests of this round that were not known at its start.
        is_answered: whether all rounds are finished.
        is_finishing: whether its result is being made, or is made.
        error: the reason why it cannot go on.
    """

    job: Job[object]
    group: Group | None
    answers: Answers = NO_ANSWERS
    n: int = 0
    units: Mapping[int, Part] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    later: Division | None = None
    answered: int = 0
    total: int = 0
    is_answered: bool = False
    is_finishing: bool = False
    error: CimentoError | None = None

    def next_round(self) -> Requests | None:
        """The requests of the next round; None after the last one.

        A round without requests is the last one: it adds no answers, so the next would be the same.
        """
        requests = self.job.requests(self.answers)
        return requests if requests is not None and requests.asked else None

    def begin(self, places: Sequence[Place]) -> None:
        """Begin a round.

        Args:
            places: the place of each of its requests.
        """
        self.n, self.units = len(places), Part.all_of(places)


def gathered(
    name: str, sources: Sequence[tuple[UnitState, Part]], empty: pl.LazyFrame
) -> pl.LazyFrame:
    """The rows of a table of answers from several units, read from their files as they are needed.

    Args:
        name: name of the table.
        sources: the units with the part of each in the round, by the first request of each part.
        empty: the table without rows.
    """
    from polars.io.plugins import register_io_source

    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        for table in _in_order(name, sources, in_memory(empty)):
            part = table if columns is None else table.select(columns)
            part = part if most is None else part.head(most)
            yield part if predicate is None else part.filter(predicate)
            if most is not None and (most := most - len(table)) <= 0:
                return

    return register_io_source(rows, schema=empty.collect_schema())


def _in_order(
    name: str, sources: Sequence[tuple[UnitState, Part]], waiting: pl.DataFrame
) -> Iterator[pl.DataFrame]:
    """The rows of a table in the order of their requests, a few units at a time.

    Rows wait until no later unit has an earlier request.
    """
    import polars as pl

    begins = [int(part.number[0]) for _, part in sources]
    for (unit, part), following in zip_longest(sources, begins[1:]):
        table = part.renumbered(in_memory(unit.answers.tables[name]))
        waiting = pl.concat([waiting, table]) if len(waiting) else table
        if not waiting["request"].is_sorted():
            waiting = waiting.sort("request", maintain_order=True)
        ready = len(waiting)
        if following is not None:
            ready = waiting["request"].search_sorted(following, side="left")
        yield waiting[:ready]
        waiting = waiting[ready:]

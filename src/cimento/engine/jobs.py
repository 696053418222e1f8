"""Jobs: what asks requests of one model, how far each is, the units they need, and their queue.

Whichever worker has a model loaded does its units first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from cimento.engine.cache import AnswerCache
from cimento.engine.engines import LOCAL, Engine
from cimento.engine.handle import ModelHandle
from cimento.engine.replay import Recording
from cimento.engine.requests import NO_ANSWERS, Answers, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import Division, Place, Unit, UnitResult, UnitStore, read_result
from cimento.errors import CimentoError
from cimento.io.tables import Column

U = TypeVar("U")

_ATTEMPTS = 3


class PullQueue(Generic[U]):
    """Units that wait, by model; workers pull them.

    A worker goes on with the model that it has loaded. Then it takes a model that nobody has, in
    the order given; then it helps where most units wait, but never with a model that it has had:
    so a worker loads a model once at most. A unit whose worker died is given out again, to whoever
    comes first.

    Args:
        units: model and unit, in order.
        alone: models that one worker at a time works with.
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
        """One unit more."""
        self._waiting.setdefault(model, deque()).append(unit)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def next(self, worker: int) -> tuple[str, U] | None:
        """The next unit for a worker, with its model; None where there is none for it now."""
        model = self._choose(worker)
        if model is None:
            self._holds.pop(worker, None)
            return None
        self._holds[worker] = model
        self._had.setdefault(worker, set()).add(model)
        return model, self._waiting[model].popleft()

    def again(self, worker: int, model: str, unit: U) -> bool:
        """Have a unit done again whose worker died; False where that happened too often.

        Args:
            worker: who died; whoever takes its place has loaded nothing.
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
        """Take away all units of a model that cannot be used."""
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
    """Something that asks requests of one model until it knows enough.

    Attributes:
        title: for messages.
        model: who is asked.
        columns: what is wanted of every token besides its log-probability.
        is_done: whether its result is there already; what it asks then only settles which requests
            stand together in a unit.
        progress: told how many of its requests are answered, and how many there are.
    """

    title: str
    model: ModelHandle | Recording
    columns: tuple[Column, ...]
    is_done: bool
    progress: Progress | None

    def requests(self, answers: Answers) -> Requests | None:
        """What is asked next; None where all has been asked.

        Raises:
            CimentoError: it cannot be asked.
        """

    def finish(self, answers: Answers | None) -> ResultT_co:
        """The result, from all answers; from what is there already where there are None.

        Raises:
            CimentoError: nothing can be made of the answers.
        """

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        """An error with the place of the request over which it came, by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How jobs are done.

    Attributes:
        engine: who does the units.
        device: as the user chose it.
        store: where results of units are kept; None for memory.
        cache: answers kept between runs; None where none are used.
        force: do again what is done.
        ask: whether models are asked; else only what is done is put together.
        note: told what is noticed on the way, as sentences.
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
    """A unit of one model in an execution.

    Attributes:
        unit: what is asked.
        group: whom.
        path: the file of its result; None for memory.
        result: where there is no file.
        is_done: whether the result is there.
        is_queued: whether workers have been told of it.
        is_other: whether another share is to do it.
        waiting: the jobs that need it.
    """

    unit: Unit
    group: Group
    path: Path | None
    result: UnitResult | None = None
    is_done: bool = False
    is_queued: bool = False
    is_other: bool = False
    waiting: list[JobState] = field(default_factory=list)

    @property
    def answers(self) -> Answers:
        """The answers.

        Raises:
            StorageError: the file cannot be read.
            TableError: it is damaged.
        """
        if self.result is None and self.path is not None:
            return read_result(self.path).answers
        return NO_ANSWERS if self.result is None else self.result.answers


@dataclass(slots=True, eq=False)
class Group:
    """A model and the jobs that ask it.

    Attributes:
        key: the model's name, under which workers know it.
        model: itself.
        columns: what is wanted of every token besides its log-probability.
        digest: the folder of its units.
        division: of what its jobs ask first.
    """

    key: str
    model: ModelHandle
    columns: tuple[Column, ...]
    digest: str
    division: Division = field(init=False)

    @property
    def is_whole(self) -> bool:
        """Whether a job's requests stand in one unit; see `Division`."""
        # Which words a model does not know, and how many texts are long, is said of all texts.
        return self.key.startswith("kenlm:") or self.model.scoring.policy.window != "refuse"

    @property
    def is_alone(self) -> bool:
        """Whether one worker at a time asks it: a server is busy with many texts anyway."""
        return self.key.startswith("openai:")


@dataclass(slots=True, eq=False)
class JobState:
    """How far a job is.

    Attributes:
        job: itself.
        group: its model; None for a recording.
        answers: to all rounds that are over.
        n: number of requests of this round.
        units: of this round: for each the numbers of requests in it and in the round.
        waiting: units of this round that are not done.
        later: the division of its later rounds.
        answered: how many of its requests are answered.
        total: how many there are, of those that were not known.
        is_answered: whether all has been asked and answered.
        error: why it cannot go on.
    """

    job: Job[object]
    group: Group | None
    answers: Answers = NO_ANSWERS
    n: int = 0
    units: dict[int, dict[int, int]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    later: Division | None = None
    answered: int = 0
    total: int = 0
    is_answered: bool = False
    error: CimentoError | None = None

    def begin(self, places: Sequence[Place]) -> None:
        """Begin a round.

        Args:
            places: where its requests are answered.
        """
        self.n, self.units = len(places), {}
        for number, place in enumerate(places):
            self.units.setdefault(place.unit, {})[place.number] = number

"""Jobs: what asks requests of one model, how far each is, and the units that they need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from cimento.answers import Column
from cimento.engine.cache import AnswerCache
from cimento.engine.engines import LOCAL, Engine
from cimento.engine.handle import ModelHandle
from cimento.engine.replay import Recording
from cimento.engine.requests import NO_ANSWERS, Answers, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import Division, Place, Unit, UnitResult, UnitStore, read_result
from cimento.errors import CimentoError

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

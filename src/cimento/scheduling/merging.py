"""The end of a run: what workers put together, in order, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from cimento.api import Failure
from cimento.engine.cache import AnswerCache
from cimento.errors import CimentoError
from cimento.regions_api import ProgressFor, evaluate_model
from cimento.results import Run
from cimento.scheduling.doing import Failed, waiting_parts
from cimento.scheduling.driving import drive
from cimento.scheduling.joining import Finished, JoinTask, Label
from cimento.scheduling.pools import Pool
from cimento.scheduling.tasks import Outcome
from cimento.scheduling.units import is_whole, put_added
from cimento.scheduling.work import Asked, Part, Work

_KEPT_TOGETHER = 64
"""Units whose answers go to the cache in one transaction: each of its own costs twice the time."""

_JOINS_FOR_A_WORKER = 16
"""Runs that are to be put together for which it is worth starting a worker."""


def missing_of(work: Work, part: Part, asked: Asked) -> tuple[int, int] | None:
    """How many units a run lacks, and of how many; None where it lacks none.

    A model that is asked for whole suites has one.
    """
    if work.is_stored(part, asked):
        return None
    if not work.is_sharded(asked) or part.error is not None:
        return 1, 1
    missing = sum(not is_whole(work.store.result(asked.digest, shard)) for shard in part.needed)
    return (missing, len(part.needed)) if missing else None


def workers_for(work: Work, units: int) -> int:
    """How many workers a run has something to do for.

    Args:
        work: all of it.
        units: those that are missing.
    """
    return max(units, len(work.models) * len(work.parts) // _JOINS_FOR_A_WORKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """How models are asked for whole suites in this process, where no worker has done it.

    Attributes:
        cache: of answers.
        progress: told how far each run is.
    """

    cache: AnswerCache
    progress: ProgressFor | None = None


def finish(
    work: Work, failed: Failed, pool: Pool, *, here: Here | None = None
) -> list[Finished | Failure]:
    """The runs, model by model, each with what there is to say of it; or why there is none.

    Args:
        work: what was to be done; written, see `Work.write`.
        failed: see `cimento.scheduling.doing.Done`.
        pool: the workers, which put runs together.
        here: None where models that are asked for whole suites were asked by workers, or are not
            to be asked.

    Raises:
        StorageError: a run cannot be read or written.
    """
    ends: dict[tuple[str, str], Finished | Failure] = {}
    tasks: list[tuple[str, JoinTask]] = []
    places: list[tuple[str, str]] = []
    for asked in work.models:
        if here is not None and not work.is_sharded(asked) and asked.error is None:
            ends |= _asked_here(work, asked, here)
        for part in work.parts:
            place = (asked.model, part.name)
            error = asked.error or part.error or _failed(part, asked, failed)
            if error is not None:
                ends[place] = Failure(part.name, asked.name, error)
            elif place not in ends and asked.source is not None:
                tasks.append((part.copy, _join_task(work, part, asked)))
                places.append(place)

    def told(number: int, outcome: Outcome) -> None:
        if isinstance(outcome.returned, Finished):
            ends[places[number]] = outcome.returned

    driven = drive(tasks, pool, told=told)
    for number, trouble in driven.troubles.items():
        task = tasks[number][1]
        ends[places[number]] = Failure(task.head.suite.name, task.model, trouble.error())
    order = ((asked.model, part.name) for asked in work.models for part in work.parts)
    return [ends[place] for place in order]


def failures(work: Work, failed: Failed) -> Iterator[Failure]:
    """The runs that cannot be put together for what failed, where none is put together here."""
    for asked in work.models:
        for part in work.parts:
            error = asked.error or part.error or _failed(part, asked, failed)
            if error is not None:
                yield Failure(part.name, asked.name, error)


def _failed(part: Part, asked: Asked, failed: Failed) -> CimentoError | None:
    whole = [(asked.model, part.name), (asked.model, "")]
    units = [(asked.digest, shard) for shard in part.needed]
    return next((failed[key].error() for key in (*whole, *units) if key in failed), None)


def _asked_here(work: Work, asked: Asked, here: Here) -> dict[tuple[str, str], Finished | Failure]:
    """The runs of a model that is asked for whole suites."""
    waiting = waiting_parts(work, asked)
    suites = (work.suite(part) for part in waiting)
    found = evaluate_model(
        suites, asked.model, work.evaluation, cache=here.cache, progress=here.progress
    )
    return {
        (asked.model, part.name): Finished.of(each) if isinstance(each, Run) else each
        for part, each in zip(waiting, found, strict=True)
    }


def _join_task(work: Work, part: Part, asked: Asked) -> JoinTask:
    if asked.source is None:
        raise ValueError("a model that cannot be found has no runs")
    sharded = work.is_sharded(asked)
    evaluation = work.evaluation
    return JoinTask(
        model=asked.name,
        source=Label.of(asked.source),
        digest=asked.digest if sharded else "",
        # What was asked whole is stored by now, or missing.
        evaluation=evaluation if sharded else replace(evaluation, force=False),
        head=part.head,
        copy=part.copy,
        directions=part.directions,
        shards=part.needed,
        store=work.store,
    )


def keep_answers(work: Work, cache: AnswerCache) -> None:
    """Put what the units added into the cache, now that the run is over.

    Raises:
        StorageError: the cache cannot be written.
    """
    added = (
        path
        for asked in work.models
        for part in work.parts
        for shard in part.shards
        if (path := work.store.added(asked.digest, shard)).is_file()
    )
    while some := list(islice(added, _KEPT_TOGETHER)):
        put_added(some, cache)

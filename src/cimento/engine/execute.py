"""The execution of jobs: requests become units, workers do the units, and jobs get answers.

A job makes requests to one model in rounds, and may make more once it knows the answers. The engine
does not know what the requests are for. The first rounds of all jobs of a model are cut into units
together, so that a request that two jobs make is answered once; each later round is cut separately.
So the units depend on the jobs alone, and not on the order in which workers finish.

Jobs are finished in threads, so that models go on answering the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from cimento.engine.added import Keeper, put_added
from cimento.engine.cache import FileCache
from cimento.engine.engines import in_share
from cimento.engine.jobs import Group, Job, JobState, Part, PullQueue, UnitState, Work, gathered
from cimento.engine.requests import NO_ANSWERS, Answers, Recording, Request
from cimento.engine.units import Division, Unit, is_whole, model_digest
from cimento.engine.workers import Pool, TaskError, TaskOutcome, UnitTask, Worker, workers_ended
from cimento.errors import CimentoError, ModelError, StorageError
from cimento.io.memory import give_back
from cimento.io.tables import Column
from cimento.records.usage import Tokens

if TYPE_CHECKING:
    import polars as pl

ResultT = TypeVar("ResultT")

_HELD = 32
"""Number of units whose answers stay in memory, so that a short run does not read its own files."""
_QUEUED = 72
"""Number of units that wait in the queue before the requests of further jobs are made."""
_FINISHERS = 2
"""Number of threads that finish jobs: while one waits for the disk, the other computes."""


class Execution(Generic[ResultT]):
    """An execution of jobs, with the units that they need.

    The first rounds are asked for here, and not by `run`, so that a plan can count the units of an
    execution that it does not run. Only where one process does all the work, and no job has later
    rounds, are they asked for while the model answers those before: the units are the same.

    Args:
        jobs: the jobs in order; those of one model share its handle.
        work: the settings for doing them.

    Attributes:
        states: the states of the jobs, in order.
        units: the units in the order in which they were first needed.
    """

    def __init__(self, jobs: Sequence[Job[ResultT]], work: Work) -> None:
        self._jobs = jobs
        self._work = work
        self.units: list[UnitState] = []
        self._groups: dict[tuple[int, tuple[Column, ...]], Group] = {}
        self._interned: dict[Request, Request] = {}
        self._results: dict[int, ResultT] = {}
        self._held: deque[UnitState] = deque()
        self._finishing: dict[Future[ResultT], int] = {}
        self._open = ExitStack()
        self._keeper: Keeper | None = None
        self.states = [JobState(job, self._group(job)) for job in jobs]
        groups = self._groups.values()
        self._queue: PullQueue[int] = PullQueue(
            (), alone={group.key for group in groups if group.is_alone}
        )
        begun = {id(state.group) for state in self.states if not state.job.is_done}
        # The requests of finished jobs matter only to the units of others.
        self._idle = {id(group) for group in groups} - begun
        self._unstarted = deque(self.states)
        if not (work.ask and work.engine.is_alone(work.device)) or any(j.later for j in jobs):
            self._unstarted.clear()
            self._start(self.states)
            if not any(job.later for job in jobs):
                self._forget_places()
        give_back()

    def run(self) -> list[ResultT | CimentoError | None]:
        """Do the jobs and return the result of each, or its error; None for success in a share.

        Raises:
            StorageError: a file cannot be read or written.
            MissingDependencyError: the engine is not installed.
        """
        work = self._work
        self._start_ahead()
        if work.store is not None and len(self._queue):
            for group in self._groups.values():
                work.store.prepare(group.digest)
        models = {group.key: group.model for group in self._groups.values()}
        worker = Worker(
            cache=work.cache,
            models=models,
            progress=self._partly,
            returns=work.engine.share is None,
        )
        opened = work.engine.opened(
            len(self._queue), device=work.device, here=worker, note=work.note
        )
        with opened as pool, _finishing_threads() as threads, self._open:
            self._drive(pool, threads)
            while work.engine.share is not None and self._look_again():
                self._drive(pool, threads)
            self._take_finished(wait=True)
        if work.engine.share is None:
            self._keep_added()
        return [self._result(number, state) for number, state in enumerate(self.states)]

    def _result(self, number: int, state: JobState) -> ResultT | CimentoError | None:
        if self._work.engine.share is None:
            state.error = self.lacks(state)
        return state.error if state.error is not None else self._results.get(number)

    def lacks(self, state: JobState) -> CimentoError | None:
        """The error of a job that cannot go on: its own, or that units are missing; else None."""
        if state.error is not None or not state.waiting:
            return state.error
        return ModelError(
            where=state.job.title,
            seen=f"{len(state.waiting)} of {len(state.units)} units are missing",
            todo="Run again: what is done stays done.",
        )

    # --- Asking

    def _group(self, job: Job[ResultT]) -> Group | None:
        model = job.model
        if isinstance(model, Recording):
            return None
        key = (id(model), job.columns)
        if key not in self._groups:
            named = isinstance(model.model, str)
            name = str(model.model) if named else f"{model.label} (in this process)"
            group = Group(name, model, job.columns, model_digest(model, job.columns))
            group.division = Division(partial(self._add, group), whole=group.is_whole)
            self._groups[key] = group
        return self._groups[key]

    def _add(self, group: Group, unit: Unit) -> int:
        store = self._work.store
        path = None if store is None else store.result(group.digest, unit.digest)
        self.units.append(UnitState(unit, group, path))
        return len(self.units) - 1

    def _start(self, states: Sequence[JobState]) -> None:
        """Start the first round of some jobs, and find the units that are not done."""
        for state in states:
            group = state.group
            if group is not None and state.error is None and id(group) not in self._idle:
                self._ask(state, group.division)
        share, total = self._work.engine.share, len(self.units)
        if share is not None:
            for position, unit in enumerate(self.units):
                unit.is_other = not in_share(position, total, share)
        for state in states:
            if state.job.is_done:
                state.is_answered = True
            elif state.group is None:
                self._replay(state)
            elif state.error is None:
                self._need(state)

    def _start_ahead(self) -> None:
        """Start jobs until so many units wait that the model is not kept waiting."""
        if not self._unstarted:
            return
        while self._unstarted and len(self._queue) < _QUEUED:
            self._start([self._unstarted.popleft()])
        if not self._unstarted:
            self._forget_places()

    def _ask(self, state: JobState, division: Division) -> None:
        """Start the next round of a job."""
        try:
            requests = state.next_round()
        except StorageError:
            raise
        except CimentoError as error:
            state.error = error
            return
        if requests is None:
            state.is_answered = True
            return
        asked = requests.asked
        if len(self._groups) > 1:  # models that are asked the same share the requests in memory
            known = self._interned
            asked = [known.setdefault(request, request) for request in asked]
        state.begin(division.divide(asked))

    def _need(self, state: JobState) -> None:
        """Find the units of a round that are not done, and queue them for the workers."""
        while not state.is_answered and state.error is None:
            state.answered = state.total = 0
            for number, part in state.units.items():
                unit = self.units[number]
                self._check(unit)
                if not unit.is_done:
                    state.waiting.add(number)
                    state.total += len(part)
                    unit.waiting.append(state)
                    self._give(number)
            if state.waiting:
                return
            self._advance(state)

    def _check(self, unit: UnitState) -> None:
        """Mark a unit that is done already, and report a damaged file."""
        if unit.is_done or unit.path is None or (self._work.force and not unit.is_other):
            return
        unit.is_done = is_whole(unit.path)
        if not unit.is_done and unit.path.exists() and not unit.is_queued and self._work.note:
            self._work.note(f"{unit.path}: the result of a unit is damaged; it is done again.")

    def _give(self, number: int) -> None:
        unit = self.units[number]
        if self._work.ask and not unit.is_queued and not unit.is_other:
            unit.is_queued = True
            self._queue.add(unit.group.key, number)

    def _advance(self, state: JobState) -> None:
        """Take the answers of a finished round, and start the next one."""
        group = state.group
        if group is None:
            return
        try:
            state.answers = state.answers.joined(self._gather(state))
        except StorageError:
            raise
        except CimentoError as error:
            state.error = error
            return
        if state.later is None:
            add = partial(self._add, group)
            state.later = Division(add, whole=group.is_whole, known=group.division)
        self._ask(state, state.later)

    def _gather(self, state: JobState) -> Answers:
        """The answers to the requests of a round, whose rows stay in their units until needed.

        Raises:
            TableError: a unit's file has been damaged in the meantime.
        """
        sources: dict[str, list[tuple[UnitState, Part]]] = {}
        empty: dict[str, pl.LazyFrame] = {}
        warnings: dict[str, None] = {}
        usage: dict[int, Tokens] = {}
        card = None
        for number, part in state.units.items():
            unit = self.units[number]
            outline = unit.outlined()
            card = card or outline.model
            warnings |= dict.fromkeys(outline.warnings)
            used = ((part.place(request), tokens) for request, tokens in outline.usage.items())
            usage |= {place: tokens for place, tokens in used if place is not None}
            for name, table in outline.tables.items():
                empty.setdefault(name, table)
                sources.setdefault(name, []).append((unit, part))
        return Answers(
            tables={name: gathered(name, sources[name], table) for name, table in empty.items()},
            n=state.n,
            warnings=tuple(warnings),
            model=card,
            usage=usage,
        )

    def _replay(self, state: JobState) -> None:
        """Have a recording answer all rounds of a job."""
        recording = state.job.model
        if not isinstance(recording, Recording):
            return
        try:
            while (requests := state.next_round()) is not None:
                new = recording.answer(requests, first=state.answers.n)
                state.answers = state.answers.joined(new)
        except StorageError:
            raise
        except CimentoError as error:
            state.error = error
        state.is_answered = True

    # --- Answering

    def _drive(self, pool: Pool, threads: Executor) -> None:
        """Have workers do units until none is waiting, and finish the jobs that are answered."""
        given: dict[int, tuple[str, int]] = {}
        deaths: dict[int, list[str]] = {}
        while True:
            self._start_ahead()
            for worker in pool.workers:
                if worker not in given and (pulled := self._next(worker)) is not None:
                    given[worker] = pulled
                    pool.give(worker, self._task(pulled[1]))
            self._finish(threads)
            if not given:
                return
            for worker, outcome in pool.wait():
                key, number = given.pop(worker)
                if not outcome.death:
                    self._note(number, outcome)
                    continue
                died = deaths.setdefault(number, [])
                died.append(outcome.death)
                if not self._queue.again(worker, key, number):
                    self._fail(number, workers_ended(key, died))

    def _next(self, worker: int) -> tuple[str, int] | None:
        """The next unit for a worker, skipping units that no job needs any more."""
        while (pulled := self._queue.next(worker)) is not None:
            if any(state.error is None for state in self.units[pulled[1]].waiting):
                return pulled
        return None

    def _task(self, number: int) -> UnitTask:
        unit = self.units[number]
        store, group = self._work.store, unit.group
        keeps = store is not None and self._work.cache is not None
        return UnitTask(
            number=number,
            model=group.key,
            label=group.model.label,
            scoring=group.model.scoring,
            columns=group.columns,
            unit=unit.unit,
            result=unit.path,
            added=store.added(group.digest, unit.unit.digest) if keeps and store else None,
        )

    def _note(self, number: int, outcome: TaskOutcome) -> None:
        """Record the outcome of a unit, and go on with the jobs that were waiting for it.

        Raises:
            StorageError: a worker could not write, so nothing would be kept.
        """
        unit = self.units[number]
        if outcome.error is not None:
            if isinstance(outcome.error.error(), StorageError):
                raise outcome.error.error()
            self._fail(number, outcome.error)
            return
        unit.take(outcome.result)
        self._keep(unit)
        self._held.append(unit)
        if len(self._held) > _HELD:
            self._held.popleft().let_go()
        states, unit.waiting = unit.waiting, []
        for state in states:
            state.waiting.discard(number)
            state.answered += len(state.units.get(number, ()))
            if state.job.progress is not None:
                state.job.progress(state.answered, state.total)
            if not state.waiting and state.error is None:
                self._advance(state)
                self._need(state)

    def _fail(self, number: int, failed: TaskError) -> None:
        """Give up the jobs that need a failed unit, or all jobs of a model that cannot be used."""
        unit = self.units[number]
        if failed.whole_model:
            self._queue.drop(unit.group.key)
        for state in self.states:
            if state.group is None or state.is_answered or state.error is not None:
                continue
            same = failed.whole_model and state.group.key == unit.group.key
            if number in state.waiting or same:
                error = failed.error()
                part = state.units.get(number)
                place = None
                if part is not None and failed.request is not None:
                    place = part.place(failed.request)
                if place is not None:
                    error = state.job.blame(error, state.answers.n + place)
                if failed.is_lost and unit.path is not None:
                    error.todo = f"{self._kept(state)} {error.todo}".rstrip()
                state.error = error

    def _kept(self, state: JobState) -> str:
        """What a job has that cannot go on for want of workers."""
        done = sum(self.units[number].is_done for number in state.units)
        return f"{done} of {len(state.units)} units of this run are kept; run again to go on."

    def _look_again(self) -> bool:
        """Look for finished units of other shares; returns whether new units can now be done.

        The share that finds the last of them done does the later rounds.
        """
        for state in self.states:
            arrived = {number for number in state.waiting if self._is_there(number)}
            state.waiting -= arrived
            if arrived and not state.waiting and state.error is None:
                self._advance(state)
                self._need(state)
        return len(self._queue) > 0

    def _is_there(self, number: int) -> bool:
        unit = self.units[number]
        unit.is_done = unit.is_done or (unit.path is not None and is_whole(unit.path))
        return unit.is_done

    def _partly(self, task: UnitTask, done: int, total: int) -> None:
        """Report the progress of a unit that this process does."""
        for state in self.units[task.number].waiting:
            if state.job.progress is not None:
                part = len(state.units.get(task.number, ())) * done // max(1, total)
                state.job.progress(state.answered + part, state.total)

    # --- Finishing

    def _finish(self, threads: Executor) -> None:
        """Have threads make the results of all jobs whose requests are answered."""
        if self._work.engine.share is not None:
            return
        if all(state.is_answered or state.error is not None for state in self.states):
            self._forget()
        for number, state in enumerate(self.states):
            if not state.is_answered or state.error is not None or state.is_finishing:
                continue
            answers, state.answers, state.is_finishing = state.answers, NO_ANSWERS, True
            done = None if state.job.is_done else answers
            self._finishing[threads.submit(self._jobs[number].finish, done)] = number
        self._take_finished()

    def _take_finished(self, *, wait: bool = False) -> None:
        """Take the results that threads have made, or wait for all of them.

        Raises:
            StorageError: a result could not be stored, so none would be.
        """
        for future in [future for future in self._finishing if wait or future.done()]:
            number = self._finishing.pop(future)
            try:
                self._results[number] = future.result()
            except StorageError:
                raise
            except CimentoError as error:
                self.states[number].error = error

    def _forget(self) -> None:
        """Free what belongs to requests once no more are made: judging needs the memory."""
        self._forget_places()
        while self._held:
            self._held.popleft().let_go()
        for state in self.states:
            state.units, state.later = {}, None
        give_back()

    def _forget_places(self) -> None:
        """Free the requests that later ones would be compared with."""
        self._interned.clear()
        for group in self._groups.values():
            group.division.places.clear()

    def _keep(self, unit: UnitState) -> None:
        """Have a thread put a unit's answers into the cache, if a GPU would wait for that later.

        There a text gets the same numbers in any company. Elsewhere a run that is interrupted must
        find the cache as it was when it began, so that the same texts are asked together.
        """
        work = self._work
        alone = unit.group.model.waits and work.engine.is_alone(work.device)
        if not alone or work.store is None or not isinstance(work.cache, FileCache):
            return
        if self._keeper is None:
            current = self._open.enter_context(work.cache.unchanged())
            self._keeper = self._open.enter_context(closing(Keeper(current)))
        self._keeper.take(work.store.added(unit.group.digest, unit.unit.digest))

    def _keep_added(self) -> None:
        """Put the answers that units added, and that are not there yet, into the cache."""
        store, cache = self._work.store, self._work.cache
        if store is not None and cache is not None:
            put_added((store.added(u.group.digest, u.unit.digest) for u in self.units), cache)


@contextmanager
def _finishing_threads() -> Iterator[Executor]:
    """A context with threads that finish jobs; on an error, those that wait are given up."""
    threads = ThreadPoolExecutor(_FINISHERS, thread_name_prefix="cimento-finish")
    try:
        yield threads
    finally:
        threads.shutdown(cancel_futures=True)

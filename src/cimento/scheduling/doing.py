"""The units of a run given to workers, and models that are asked for whole suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from cimento.api import Failure
from cimento.engine.cache import FileCache, MemoryCache, default_cache_folder
from cimento.engine.engines import in_share
from cimento.regions_api import Evaluation, ProgressFor, evaluate_model
from cimento.scheduling.copies import read_copy
from cimento.scheduling.driving import Driven, drive
from cimento.scheduling.missing import missing_units
from cimento.scheduling.pools import Pool
from cimento.scheduling.tasks import CallTask, Outcome, ShardTask, Task, Trouble
from cimento.scheduling.units import UnitStore
from cimento.scheduling.work import Asked, Part, Work
from cimento.sources import shown_name
from cimento.suites.load import LoadedSuite

Failed = dict[tuple[str, str], Trouble]
"""Why units could not be done, by the folder of the model's units and the shard; for models that
are asked for whole suites by the model's name and the suite's, which is empty for all of them."""


@dataclass(frozen=True, slots=True)
class ToDo(Sequence[tuple[str, Task]]):
    """What workers are to do before runs are put together: the units, then the whole suites.

    Attributes:
        units: those that are missing, with the keys of their models.
        wholes: models that are asked for whole suites.
        damaged: files of units that are there, and are not what was written.
    """

    units: Sequence[tuple[str, ShardTask]]
    wholes: Sequence[tuple[str, CallTask]]
    damaged: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.units) + len(self.wholes)

    @overload
    def __getitem__(self, index: int) -> tuple[str, Task]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, Task]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, Task] | Sequence[tuple[str, Task]]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number = range(len(self))[index]
        units = len(self.units)
        return self.units[number] if number < units else self.wholes[number - units]


def to_do(work: Work, *, alone: bool = False, share: tuple[int, int] | None = None) -> ToDo:
    """What is missing.

    Args:
        work: what is to be done.
        alone: whether there are no workers but this process, which then asks for whole suites
            when it puts runs together.
        share: only this share of the units, see `cimento.engine.engines.Engine`.
    """
    units = missing_units(work, share)
    forced = work.evaluation.force
    damaged = () if forced else tuple(t.result for _, t in units if t.result.exists())
    return ToDo(units, () if alone else _whole_tasks(work, share), damaged)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of units.

    Attributes:
        driven: what came of them, by number.
        failed: why some could not be done.
    """

    driven: Driven
    failed: Failed


def do_units(work: Work, todo: ToDo, pool: Pool, *, progress: ProgressFor | None = None) -> Done:
    """Have workers do what is missing.

    Args:
        work: what is to be done; written, see `Work.write`.
        todo: what of it is missing.
        pool: the workers; not closed.
        progress: told how far each run is.

    Raises:
        StorageError: nothing can be written.
    """
    teller = _Teller(work, todo.units, progress)
    failed: Failed = {}

    def told(number: int, outcome: Outcome) -> None:
        if number < len(todo.units):
            teller(number)
        elif isinstance(outcome.returned, dict):
            model = todo[number][1].model
            failed.update({(model, suite): each for suite, each in outcome.returned.items()})

    driven = drive(todo, pool, alone={key for key, _ in todo.wholes}, told=told)
    for number, trouble in driven.troubles.items():
        task = todo[number][1]
        key = (task.digest, task.shard) if isinstance(task, ShardTask) else (task.model, "")
        failed[key] = trouble
    return Done(driven, failed)


def _whole_tasks(work: Work, share: tuple[int, int] | None) -> list[tuple[str, CallTask]]:
    """Models that are asked for whole suites, each one task, so that each is loaded once."""
    wholes = [each for each in work.models if each.error is None and not work.is_sharded(each)]
    tasks = []
    for number, asked in enumerate(wholes):
        if share is not None and not in_share(number, len(wholes), share):
            continue
        suites = [(part.head, part.copy) for part in waiting_parts(work, asked)]
        arguments = (work.evaluation, work.store, suites, asked.model, work.keep)
        call = CallTask(model=asked.model, function=f"{__name__}:run_whole", arguments=arguments)
        if suites:
            tasks.append((asked.digest, call))
    return tasks


def waiting_parts(work: Work, asked: Asked) -> list[Part]:
    """The suites that a model is still to be asked."""
    return [part for part in work.parts if part.error is None and not work.is_stored(part, asked)]


def run_whole(
    evaluation: Evaluation,
    store: UnitStore,
    suites: Sequence[tuple[LoadedSuite, str]],
    model: str,
    keep: bool,  # noqa: FBT001  # tasks give arguments by position
) -> dict[str, Trouble]:
    """Ask a model for whole suites, in a worker; the runs are stored.

    Returns:
        Why suites could not be asked, by their names.
    """
    kept = FileCache(default_cache_folder()) if keep else None
    read = (read_copy(head, store.suite(copy)) for head, copy in suites)
    try:
        outcomes = evaluate_model(read, model, evaluation, cache=kept or MemoryCache())
        return {
            each.suite: Trouble.of(each.error) for each in outcomes if isinstance(each, Failure)
        }
    finally:
        if kept is not None:
            kept.close()


class _Teller:
    """Says how far runs are, in texts; a unit counts for the suite that brought its texts."""

    def __init__(
        self, work: Work, units: Sequence[tuple[str, ShardTask]], progress: ProgressFor | None
    ) -> None:
        self._units = units
        self._names = {digest: part.name for part in work.parts for digest in part.shards}
        self._texts = {digest: n for part in work.parts for digest, n in part.shards.items()}
        self._total: Counter[tuple[str, str]] = Counter()
        for _, task in units:
            self._total[self._run(task)] += self._texts[task.shard]
        self._done: Counter[tuple[str, str]] = Counter()
        self._progress = {run: progress(*run) for run in self._total} if progress else {}

    def __call__(self, number: int) -> None:
        task = self._units[number][1]
        run = self._run(task)
        self._done[run] += self._texts[task.shard]
        if run in self._progress:
            self._progress[run](self._done[run], self._total[run])

    def _run(self, task: ShardTask) -> tuple[str, str]:
        return self._names[task.shard], shown_name(task.model)

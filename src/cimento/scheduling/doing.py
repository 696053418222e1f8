"""The units of a run given to workers, and models that are asked for whole suites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cimento.api import Evaluation, Failure, ProgressFor, evaluate_all
from cimento.cache import FileCache, default_cache_folder
from cimento.scheduling.driving import Driven, drive
from cimento.scheduling.engines import in_share
from cimento.scheduling.pools import Pool
from cimento.scheduling.tasks import CallTask, ShardTask, Task, Trouble
from cimento.scheduling.work import Work, missing_units, write_shards
from cimento.sources import shown_name
from cimento.suites.load import LoadedSuite


@dataclass(frozen=True, slots=True)
class Done:
    """What came of the units of a run.

    Attributes:
        driven: what came of them, by number.
        failed: why some could not be done, by the files that they would have written; for
            models that are asked for whole suites, by the model.
    """

    driven: Driven
    failed: Mapping[str, Trouble]


def do_units(
    work: Work,
    open_pool: Callable[[int], Pool],
    *,
    alone: bool = False,
    share: tuple[int, int] | None = None,
    progress: ProgressFor | None = None,
) -> Done:
    """Have the missing units done.

    Args:
        work: what is to be done.
        open_pool: from the number of units to the workers.
        alone: whether there are no workers but this process, which then asks for whole suites
            when it puts runs together.
        share: only this share of the units, see `cimento.scheduling.engines.Engine`.
        progress: told how far each run is.

    Raises:
        StorageError: nothing can be written.
    """
    units = missing_units(work, share)
    wholes = [] if alone else _whole_tasks(work, share)
    tasks: list[tuple[str, Task]] = [*units, *wholes]
    if not tasks:
        return Done(Driven(), {})
    write_shards(work)
    teller = _Teller(work, [task for _, task in units], progress) if progress else None
    pool = open_pool(len(tasks))
    try:
        driven = drive(tasks, pool, alone={key for key, _ in wholes}, told=teller)
    finally:
        pool.close()
    failed: dict[str, Trouble] = {}
    for number, trouble in driven.troubles.items():
        task = tasks[number][1]
        failed[str(task.result) if isinstance(task, ShardTask) else task.model] = trouble
    return Done(driven, failed)


def _whole_tasks(work: Work, share: tuple[int, int] | None) -> list[tuple[str, CallTask]]:
    """Models that are asked for whole suites, each one task, so that each is loaded once."""
    wholes = [each for each in work.models if each.error is None and not work.is_sharded(each)]
    tasks = []
    for number, asked in enumerate(wholes):
        if share is not None and not in_share(number, len(wholes), share):
            continue
        suites = [
            part.loaded
            for part in work.parts
            if part.error is None and not work.is_stored(part, asked)
        ]
        arguments = (work.evaluation, suites, asked.model, work.keep)
        call = CallTask(model=asked.model, function=f"{__name__}:run_whole", arguments=arguments)
        if suites:
            tasks.append((asked.digest, call))
    return tasks


def run_whole(
    evaluation: Evaluation,
    suites: Sequence[LoadedSuite],
    model: str,
    keep: bool,  # noqa: FBT001  # tasks give arguments by position
) -> None:
    """Ask a model for whole suites, in a worker; the runs are stored.

    Raises:
        CimentoError: one of them could not be run; the others were.
    """
    kept = FileCache(default_cache_folder()) if keep else None
    failures = [
        outcome
        for outcome in evaluate_all(suites, [model], evaluation, cache=kept)
        if isinstance(outcome, Failure)
    ]
    if kept is not None:
        kept.close()
    for failure in failures:
        raise failure.error


class _Teller:
    """Says how far runs are: a `cimento.scheduling.driving.Told`."""

    def __init__(self, work: Work, tasks: Sequence[ShardTask], progress: ProgressFor) -> None:
        names = {shard.digest: part.name for part in work.parts for shard in part.shards}
        self._runs = [(names[task.shard.stem], shown_name(task.model)) for task in tasks]
        self._done = dict.fromkeys(self._runs, 0)
        self._progress = {run: progress(*run) for run in self._done}

    def __call__(self, number: int) -> None:
        run = self._runs[number]
        self._done[run] += 1
        self._progress[run](self._done[run], self._runs.count(run))

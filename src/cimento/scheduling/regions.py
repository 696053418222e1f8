"""Suites of regions and many models: cut into units, done by an engine, put together again.

Putting together is one step, the same for every engine: from the files of units to the tables of
a run. Whoever made the files, the tables are the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answers import Answers, requests_table
from cimento.api import (
    Evaluation,
    Failure,
    ProgressFor,
    SuiteLike,
    evaluate_all,
    read_suites,
    refuse_same_names,
)
from cimento.cache import AnswerCache, FileCache, default_cache_folder
from cimento.errors import CimentoError, ModelError, StorageError, TableError
from cimento.models.align import tokens_in
from cimento.requests import Plan, plan_suite
from cimento.results import Run
from cimento.scheduling.driving import Driven, drive
from cimento.scheduling.engines import in_share
from cimento.scheduling.pools import Pool
from cimento.scheduling.shards import Division, Origin, Shard, write_shard
from cimento.scheduling.tasks import CallTask, ShardTask, Task, Trouble
from cimento.scheduling.units import (
    Result,
    UnitStore,
    is_whole,
    model_digest,
    put_added,
    read_result,
)
from cimento.sources import Answered, ScorerSource, Source, open_source, shown_name
from cimento.suites.load import LoadedSuite

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.base import ModelCard

_WHOLE_PREFIXES = ("openai:", "kenlm:", "replay:")
"""Models that are asked for whole suites: servers are busy with many texts at once anyway, and
n-gram models count unknown words over a suite."""


@dataclass(frozen=True, slots=True)
class Part:
    """A suite as it is asked, with where its answers are found.

    Attributes:
        loaded: the suite.
        plan: what it asks.
        shards: those that it adds.
        origins: of the answers to its requests, in order.
        error: why it cannot be asked; the others are empty then.
    """

    loaded: LoadedSuite
    plan: Plan
    shards: tuple[Shard, ...] = ()
    origins: tuple[Origin, ...] = ()
    error: CimentoError | None = None

    @property
    def name(self) -> str:
        """Name of the suite."""
        return self.loaded.suite.name


@dataclass(frozen=True, slots=True)
class Asked:
    """A model with the suites that it is to be asked.

    Attributes:
        model: its name as the user wrote it.
        source: what opens it; None where it cannot be found.
        digest: the folder of its units.
        error: why it cannot be found.
    """

    model: str
    source: Source | None
    digest: str = ""
    error: CimentoError | None = None

    @property
    def name(self) -> str:
        """Its name for messages."""
        return shown_name(self.model)


@dataclass(frozen=True, slots=True)
class Work:
    """All that a run is to do.

    Attributes:
        evaluation: how suites are asked and judged.
        parts: the suites.
        models: the models.
        store: where units are.
        keep: whether answers are kept between runs.
    """

    evaluation: Evaluation
    parts: tuple[Part, ...]
    models: tuple[Asked, ...]
    store: UnitStore
    keep: bool
    _stored: dict[tuple[str, str], bool] = field(default_factory=dict)

    def is_sharded(self, asked: Asked) -> bool:
        """Whether a model answers shard by shard, and not only to whole suites."""
        policy = self.evaluation.asking.policy
        # Whether texts count as long, and which regions are masked, is a matter of whole suites.
        plain = policy.window == "refuse" and policy.pll != "region"
        known = not asked.model.startswith(_WHOLE_PREFIXES)
        return plain and known and isinstance(asked.source, ScorerSource)

    def units(self, asked: Asked) -> dict[str, ShardTask]:
        """The units that a model's runs need, done or not, by the digest of the shard."""
        if not self.is_sharded(asked):
            return {}
        needed = {
            origin.shard
            for part in self.parts
            if not self.is_stored(part, asked)
            for origin in part.origins
        }
        return {
            shard.digest: self._task(asked, shard.digest)
            for part in self.parts
            for shard in part.shards
            if shard.digest in needed
        }

    def is_stored(self, part: Part, asked: Asked) -> bool:
        """Whether a run was stored already when this was first asked; its tables are read for it."""
        key = (part.name, asked.model)
        if asked.source is None or part.error is not None:
            return False
        if key not in self._stored:
            self._stored[key] = self.evaluation.is_stored(part.loaded, asked.source)
        return self._stored[key]

    def _task(self, asked: Asked, shard: str) -> ShardTask:
        return ShardTask(
            model=asked.model,
            asking=self.evaluation.full_asking,
            shard=self.store.shards / f"{shard}.json",
            result=self.store.result(asked.digest, shard),
            added=self.store.added(asked.digest, shard) if self.keep else None,
            keep=self.keep,
        )


def plan_work(
    suites: Sequence[SuiteLike], models: Sequence[str], evaluation: Evaluation, *, keep: bool
) -> Work:
    """Read suites, find models, and say what each asks of each; nothing is loaded.

    Raises:
        CimentoError: a suite cannot be read, or two have one name.
    """
    found = read_suites(suites)
    refuse_same_names(found)
    division = Division()
    parts = tuple(_part(loaded, evaluation, division) for loaded in found)
    asked = tuple(_find(model, evaluation) for model in dict.fromkeys(models))
    if evaluation.output is None:
        raise ValueError("units are files, and need a folder of runs")
    return Work(evaluation, parts, asked, UnitStore.below(evaluation.output), keep)


def _part(loaded: LoadedSuite, evaluation: Evaluation, division: Division) -> Part:
    asking = evaluation.asking
    try:
        plan = plan_suite(
            evaluation.asked(loaded), all_tokens=asking.all_tokens, context=asking.context
        )
    except CimentoError as error:
        return Part(loaded, Plan(loaded.suite.name, (), ()), error=error)
    shards, origins = division.divide(plan)
    return Part(loaded, plan, tuple(shards), tuple(origins))


def _find(model: str, evaluation: Evaluation) -> Asked:
    try:
        source = open_source(model, evaluation.full_asking)
    except CimentoError as error:
        return Asked(model, None, error=error)
    return Asked(model, source, model_digest(source, evaluation.full_asking))


def missing_units(work: Work, share: tuple[int, int] | None = None) -> list[tuple[str, ShardTask]]:
    """The units that are needed and not done, with the keys of their models, model by model.

    Args:
        work: what is to be done.
        share: only what belongs to this share. Shares are of all units, done or not, so that
            those who do them agree on them whenever they begin.
    """
    units = [
        (asked, shard.digest)
        for asked in work.models
        if work.is_sharded(asked)
        for part in work.parts
        for shard in part.shards
    ]
    mine = {
        unit
        for position, unit in enumerate((asked.digest, shard) for asked, shard in units)
        if share is None or in_share(position, len(units), share)
    }
    force = work.evaluation.force
    return [
        (asked.digest, task)
        for asked in work.models
        for digest, task in work.units(asked).items()
        if (asked.digest, digest) in mine and (force or not is_whole(task.result))
    ]


def write_shards(work: Work) -> None:
    """Write what is asked where workers can read it.

    Raises:
        StorageError: the folder cannot be written.
    """
    for part in work.parts:
        for shard in part.shards:
            write_shard(shard, work.store.shards)


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


def missing_of(work: Work, part: Part, asked: Asked) -> tuple[int, int] | None:
    """How many units a run lacks, and of how many; None where it lacks none.

    A model that is asked for whole suites has one.
    """
    if work.is_stored(part, asked):
        return None
    if not work.is_sharded(asked) or part.error is not None:
        return 1, 1
    shards = {origin.shard for origin in part.origins}
    missing = sum(not is_whole(work.store.result(asked.digest, shard)) for shard in shards)
    return (missing, len(shards)) if missing else None


def finish(
    work: Work, failed: Mapping[str, Trouble], *, cache: AnswerCache | None
) -> Iterator[Run | Failure]:
    """The runs that the units make, model by model; what cannot be made is a `Failure`.

    Args:
        work: what was to be done.
        failed: see `Done`.
        cache: for models that are asked for whole suites, where that is not done yet; None where
            no model is to be loaded.

    Raises:
        StorageError: a run cannot be written.
    """
    for asked in work.models:
        for part in work.parts:
            try:
                yield _finish_one(work, part, asked, failed, cache)
            except StorageError:
                raise
            except CimentoError as error:
                yield Failure(part.name, asked.name, error)


def failures(work: Work, failed: Mapping[str, Trouble]) -> Iterator[Failure]:
    """The runs that cannot be put together for what failed, where none is put together here."""
    for asked in work.models:
        for part in work.parts:
            error = asked.error or part.error or _failed_unit(work, part, asked, failed)
            if error is not None:
                yield Failure(part.name, asked.name, error)


def _failed_unit(
    work: Work, part: Part, asked: Asked, failed: Mapping[str, Trouble]
) -> CimentoError | None:
    files = [str(work.store.result(asked.digest, origin.shard)) for origin in part.origins]
    return next((failed[key].error() for key in [asked.model, *files] if key in failed), None)


def _finish_one(
    work: Work,
    part: Part,
    asked: Asked,
    failed: Mapping[str, Trouble],
    cache: AnswerCache | None,
) -> Run:
    """One run.

    Raises:
        CimentoError: it cannot be made.
    """
    if asked.source is None or part.error is not None:
        raise asked.error or part.error or TypeError("a model without a source has an error")
    sharded = work.is_sharded(asked)
    if not sharded and cache is not None:
        if asked.model in failed and failed[asked.model].died:
            raise failed[asked.model].error()
        # Done by a worker already, or done here; what went wrong there is told here.
        return work.evaluation.run(part.loaded, asked.source, cache=cache)
    stored = work.evaluation.stored(part.loaded, asked.source)
    if stored is not None:
        return stored
    error = _failed_unit(work, part, asked, failed)
    if error is not None:
        raise error
    if missing := missing_of(work, part, asked):
        raise ModelError(
            where=f"suite {part.name!r} x model {asked.name!r}",
            seen=f"{missing[0]} of {missing[1]} units are missing",
            todo="Run again: what is done stays done.",
        )
    return work.evaluation.finish(part.loaded, asked.source, _gather(work, part, asked))


def _gather(work: Work, part: Part, asked: Asked) -> Answered:
    """The answers to a suite, out of the files of units.

    Raises:
        StorageError: a unit is damaged.
    """
    import polars as pl

    asked_of: dict[str, list[tuple[int, int]]] = {}
    for request, origin in enumerate(part.origins):
        asked_of.setdefault(origin.shard, []).append((origin.number, request))
    tables: list[pl.DataFrame] = []
    cards: list[ModelCard] = []
    remarks: dict[str, None] = {}
    for shard, here in asked_of.items():
        result = read_result(work.store.result(asked.digest, shard))
        numbers = pl.DataFrame(here, schema={"request": pl.Int32, "here": pl.Int32}, orient="row")
        moved = result.tokens.join(numbers, on="request", how="inner")
        tables.append(moved.with_columns(request=pl.col("here")).select(result.tokens.columns))
        cards.append(result.card)
        remarks.update(dict.fromkeys(result.remarks))
    if not tables:
        raise ModelError(where=f"suite {part.name!r}", seen="it asks nothing")
    tokens = pl.concat(tables).sort("request", "position", maintain_order=True)
    tokens = _only_wanted(tokens, part)
    return Answered(cards[0], Answers(requests_table(part.plan), tokens, tuple(remarks)))


def _read(path: Path) -> Result:
    """A unit's result; a damaged one is removed, so that it is missing and is done again."""
    try:
        return read_result(path)
    except TableError as error:
        path.unlink(missing_ok=True)
        raise ModelError(
            where=str(path),
            seen="the result of a unit was damaged and has been removed",
            todo="Run again: only this unit is done anew.",
        ) from error


def _only_wanted(tokens: pl.DataFrame, part: Part) -> pl.DataFrame:
    """Without the tokens that only another suite wants of a text that both ask."""
    import polars as pl

    partial = {r for r, origin in enumerate(part.origins) if not origin.whole}
    if not partial:
        return tokens
    spans: dict[int, list[tuple[int, int]]] = {}
    for request, start, end in tokens.select("request", "start", "end").iter_rows():
        spans.setdefault(request, []).append((start, end))
    keep: list[bool] = []
    for request, own in spans.items():
        wanted = part.plan.requests[request].wanted if request in partial else None
        chosen = range(len(own)) if wanted is None else set(tokens_in(own, wanted))
        keep += [index in chosen for index in range(len(own))]
    return tokens.filter(pl.Series(keep, dtype=pl.Boolean))


def keep_answers(work: Work, cache: AnswerCache) -> None:
    """Put what the units added into the cache, now that the run is over.

    Raises:
        StorageError: the cache cannot be written.
    """
    for asked in work.models:
        for part in work.parts:
            for shard in part.shards:
                path = work.store.added(asked.digest, shard.digest)
                if path.is_file():
                    put_added(path, cache)

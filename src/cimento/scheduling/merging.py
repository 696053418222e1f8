"""From the files of units to the tables of runs: one step, the same for every engine.

Whoever made the files, the tables are the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answers import Answers, requests_table
from cimento.api import Failure, ProgressFor
from cimento.cache import AnswerCache
from cimento.errors import CimentoError, ModelError, StorageError, TableError
from cimento.models.align import tokens_in
from cimento.results import Run
from cimento.scheduling.tasks import Trouble
from cimento.scheduling.units import (
    Result,
    is_whole,
    put_added,
    read_result,
)
from cimento.scheduling.work import Asked, Part, Work
from cimento.sources import Answered

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.base import ModelCard


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
    work: Work,
    failed: Mapping[str, Trouble],
    *,
    cache: AnswerCache | None,
    progress: ProgressFor | None = None,
) -> Iterator[Run | Failure]:
    """The runs that the units make, model by model; what cannot be made is a `Failure`.

    Args:
        work: what was to be done.
        failed: see `Done`.
        cache: for models that are asked for whole suites, where that is not done yet; None where
            no model is to be loaded.
        progress: told how far each of these is.

    Raises:
        StorageError: a run cannot be written.
    """
    for asked in work.models:
        for part in work.parts:
            try:
                yield _finish_one(work, part, asked, failed, cache, progress)
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
    progress: ProgressFor | None,
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
        told = progress(part.name, asked.name) if progress else None
        return work.evaluation.run(part.loaded, asked.source, cache=cache, progress=told)
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
        StorageError: a unit cannot be read.
        ModelError: one was damaged, and is no longer there.
    """
    import polars as pl

    asked_of: dict[str, list[tuple[int, int]]] = {}
    for request, origin in enumerate(part.origins):
        asked_of.setdefault(origin.shard, []).append((origin.number, request))
    tables: list[pl.DataFrame] = []
    cards: list[ModelCard] = []
    remarks: dict[str, None] = {}
    for shard, here in asked_of.items():
        result = _read(work.store.result(asked.digest, shard))
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

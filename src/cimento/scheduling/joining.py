"""From the files of units to stored runs: one step, the same for every engine, without a model.

Whoever made the files, the tables are the same bytes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answered import LongAnswers, requests_pieces, write_pieces
from cimento.answers import REQUESTS
from cimento.errors import ModelError, TableError
from cimento.models.align import tokens_in
from cimento.pieces import Pieces, read_parquet
from cimento.regions_api import Evaluation
from cimento.results import Run
from cimento.scheduling.copies import read_copy
from cimento.scheduling.directions import read_directions
from cimento.scheduling.shards import SHARD
from cimento.scheduling.units import UnitStore, read_result, read_told
from cimento.scratch import needing_room
from cimento.sources import Answered, Source, name_of
from cimento.suites.load import LoadedSuite
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.base import ModelCard
    from cimento.outline import Outline
    from cimento.requests import Span

_TOGETHER = 2 * SHARD
"""Requests whose answers are put together at a time."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is stored, and is not held.

    Attributes:
        folder: where.
    """

    folder: Path

    @classmethod
    def of(cls, run: Run) -> Finished:
        """Where a stored run is."""
        if run.folder is None:
            raise ValueError("a run that is not stored has no folder")
        return cls(run.folder)


@dataclass(frozen=True, slots=True)
class Label:
    """What is known of a model without opening it: a `cimento.regions_api.Named`."""

    label: str
    inputs: dict[str, JsonValue]
    named: str

    @classmethod
    def of(cls, source: Source) -> Label:
        """The label of a source."""
        return cls(source.label, source.inputs, name_of(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTask:
    """Put a run together, or open it where it is stored.

    Attributes:
        model: its name, for messages.
        source: what is known of it.
        digest: the folder of its units; empty for a model that is asked for whole suites.
        evaluation: how the suite is asked, judged and stored.
        head: the suite without its items.
        copy: digest of its copy.
        directions: digest of what says where its answers are.
        shards: digests of the shards in which its answers are.
        store: where the units are.
    """

    model: str
    source: Label
    digest: str
    evaluation: Evaluation
    head: LoadedSuite
    copy: str
    directions: str
    shards: tuple[str, ...]
    store: UnitStore


class Joiner:
    """Puts runs together; what the suite of the last one asks is kept for the next."""

    def __init__(self) -> None:
        self._asked: _Asked | None = None
        self._kept = ExitStack()

    def join(self, task: JoinTask) -> Finished:
        """Do a task.

        Raises:
            CimentoError: units are missing, or the run cannot be judged or stored.
        """
        run = task.evaluation.stored(task.head, task.source)
        if run is None:
            card, remarks = _told(task)
            if self._asked is None or self._asked.key != (task.copy, task.directions):
                self.forget()
                self._asked = _Asked.of(task, self._folder())
            asked = self._asked
            pieces = Pieces(lambda: asked.tokens(task))
            tables = LongAnswers(read_parquet(asked.requests), pieces, remarks)
            run = task.evaluation.finish(asked.loaded, task.source, Answered(card, tables))
        return Finished.of(run)

    def forget(self) -> None:
        """Give back what is kept."""
        self._asked = None
        self._kept.close()

    def _folder(self) -> Path:
        """A temporary folder, until the suite is forgotten.

        Raises:
            StorageError: there is no room for one.
        """
        with needing_room():
            folder = tempfile.TemporaryDirectory(prefix="cimento-", ignore_cleanup_errors=True)
        return Path(self._kept.enter_context(folder))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A suite with what it asks.

    Attributes:
        key: digests of the suite's copy, and of what says where its answers are.
        loaded: the suite.
        requests: file with its requests table, which every model's run has.
        places: for each request, in order, number of its answer among those of all shards.
        partial: of requests for which a shard holds more tokens than are wanted: the stretches.
    """

    key: tuple[str, str]
    loaded: LoadedSuite
    requests: Path
    places: pl.Series
    partial: Mapping[int, tuple[Span, ...]]

    @classmethod
    def of(cls, task: JoinTask, folder: Path) -> _Asked:
        """The suite of a task.

        Args:
            task: what is to be put together.
            folder: for a file, as long as this is needed.

        Raises:
            StorageError: its copy, or where answers are, cannot be read; or the file not written.
        """
        import polars as pl

        loaded = read_copy(task.head, task.store.suite(task.copy))
        directions = read_directions(task.store.directions(task.directions))
        outline = task.evaluation.outline(loaded, directions.numbering)
        # Made once, and not for every model: reading it again is far quicker.
        path = write_pieces(requests_pieces(outline), REQUESTS, folder)
        return cls(
            (task.copy, task.directions),
            loaded,
            path,
            pl.Series("answer", directions.places, pl.Int32),
            _wanted_of(outline, frozenset(directions.partial)),
        )

    def tokens(self, task: JoinTask) -> Iterator[pl.DataFrame]:
        """The tokens table, a piece at a time, out of the units.

        Raises:
            StorageError: a unit cannot be read.
            TableError: one is damaged.
        """
        import polars as pl

        for start in range(0, len(self.places), _TOGETHER):
            places = self.places.slice(start, _TOGETHER)
            here = pl.int_range(start, start + len(places), dtype=pl.Int32, eager=True)
            numbers = (places // SHARD).unique(maintain_order=True)
            units = (
                read_result(task.store.result(task.digest, task.shards[number])).tokens
                for number in numbers
            )
            answers = pl.concat(
                unit.with_columns(answer=pl.col("request") + SHARD * number)
                for unit, number in zip(units, numbers, strict=True)
            )
            piece = (
                answers.join(pl.DataFrame({"answer": places, "here": here}), on="answer")
                .with_columns(request=pl.col("here"))
                .drop("answer", "here")
                .sort("request", "position", maintain_order=True)
            )
            yield self._wanted(piece)

    def _wanted(self, tokens: pl.DataFrame) -> pl.DataFrame:
        """Without the tokens that only another suite wants of a text that both ask."""
        import polars as pl

        if not self.partial:
            return tokens
        spans: dict[int, list[tuple[int, int]]] = {}
        for request, start, end in tokens.select("request", "start", "end").iter_rows():
            spans.setdefault(request, []).append((start, end))
        keep: list[bool] = []
        for request, own in spans.items():
            wanted = self.partial.get(request)
            chosen = range(len(own)) if wanted is None else set(tokens_in(own, wanted))
            keep += [index in chosen for index in range(len(own))]
        return tokens.filter(pl.Series(keep, dtype=pl.Boolean))


def _wanted_of(outline: Outline, requests: frozenset[int]) -> dict[int, tuple[Span, ...]]:
    """The stretches that are wanted of some requests."""
    return {
        request.id: request.wanted
        for request, _ in (outline.requests() if requests else ())
        if request.id in requests and request.wanted is not None
    }


def _told(task: JoinTask) -> tuple[ModelCard, tuple[str, ...]]:
    """Whose answers the units of a run are, and what was remarked on them.

    Raises:
        StorageError: one cannot be read.
        ModelError: some are missing, or damaged, which is the same.
    """
    cards: list[ModelCard] = []
    remarks: dict[str, None] = {}
    for shard in task.shards if task.digest else ():
        try:
            told = read_told(task.store.result(task.digest, shard))
        except TableError:
            continue
        cards.append(told.card)
        remarks.update(dict.fromkeys(told.remarks))
    total = len(task.shards) if task.digest else 1
    if len(cards) < total:
        raise ModelError(
            where=f"suite {task.head.suite.name!r} x model {task.model!r}",
            seen=f"{total - len(cards)} of {total} units are missing",
            todo="Run again: what is done stays done.",
        )
    return cards[0], tuple(remarks)

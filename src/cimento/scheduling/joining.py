"""From the files of units to stored runs: one step, the same for every engine, without a model.

Whoever made the files, the tables are the same bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answered import LongAnswers, requests_pieces
from cimento.api import Evaluation
from cimento.designs import Shown, shown_of
from cimento.errors import ModelError, TableError
from cimento.models.align import tokens_in
from cimento.pieces import Pieces
from cimento.report.summary import RunSummary
from cimento.results import Run
from cimento.scheduling.copies import read_copy
from cimento.scheduling.shards import SHARD, Division, Shard, read_shard
from cimento.scheduling.spool import Spool
from cimento.scheduling.units import UnitStore, read_result, read_told
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
class Telling:
    """What is said of runs.

    Attributes:
        measures: names; empty for what each run is judged on.
        with_verdicts: with the verdict on every item.
    """

    measures: tuple[str, ...] = ()
    with_verdicts: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is stored, and what there is to say of it: so it need not be held.

    Attributes:
        folder: where.
        summaries: one for each measure.
        shown: of its design.
    """

    folder: Path
    summaries: tuple[RunSummary, ...]
    shown: Shown

    @classmethod
    def of(cls, run: Run, telling: Telling) -> Finished:
        """What there is to say of a stored run."""
        if run.folder is None:
            raise ValueError("a run that is not stored has no folder")
        judged = run.judge_on(telling.measures)
        return cls(
            run.folder,
            tuple(each.summary(with_verdicts=telling.with_verdicts) for each in judged),
            shown_of(run, telling.measures),
        )


@dataclass(frozen=True, slots=True)
class Label:
    """What is known of a model without opening it: a `cimento.api.Named`."""

    label: str
    inputs: dict[str, JsonValue]
    named: str

    @classmethod
    def of(cls, source: Source) -> Label:
        """The label of a source."""
        return cls(source.label, source.inputs, name_of(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTask:
    """Put a run together, or open it where it is stored, and say what there is to say of it.

    Attributes:
        model: its name, for messages.
        source: what is known of it.
        digest: the folder of its units; empty for a model that is asked for whole suites.
        evaluation: how the suite is asked, judged and stored.
        head: the suite without its items.
        copy: digest of its copy.
        shards: digests of the shards in which its answers are.
        store: where the units are.
        telling: what is to be said.
    """

    model: str
    source: Label
    digest: str
    evaluation: Evaluation
    head: LoadedSuite
    copy: str
    shards: tuple[str, ...]
    store: UnitStore
    telling: Telling


class Joiner:
    """Puts runs together; what the suite of the last one asks is kept for the next."""

    def __init__(self) -> None:
        self._asked: _Asked | None = None

    def join(self, task: JoinTask) -> Finished:
        """Do a task.

        Raises:
            CimentoError: units are missing, or the run cannot be judged or stored.
        """
        run = task.evaluation.stored(task.head, task.source)
        if run is None:
            card, remarks = _told(task)
            if self._asked is None or self._asked.copy != task.copy:
                self.forget()
                self._asked = _Asked.of(task)
            asked = self._asked
            pieces = Pieces(lambda: asked.tokens(task))
            tables = LongAnswers(requests_pieces(asked.outline), pieces, remarks)
            run = task.evaluation.finish(asked.loaded, task.source, Answered(card, tables))
        return Finished.of(run, task.telling)

    def forget(self) -> None:
        """Give back what is kept."""
        self._asked = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A suite with what it asks.

    Attributes:
        copy: digest of the suite's copy.
        loaded: the suite.
        outline: what it asks.
        places: for each request, in order, number of its answer among those of all shards.
        partial: of requests for which a shard holds more tokens than are wanted: the stretches.
    """

    copy: str
    loaded: LoadedSuite
    outline: Outline
    places: pl.Series
    partial: Mapping[int, tuple[Span, ...]]

    @classmethod
    def of(cls, task: JoinTask) -> _Asked:
        """The suite of a task.

        Raises:
            StorageError: its copy or a shard cannot be read.
            ModelError: a text of it is in no unit, which is a fault of ours.
        """
        import polars as pl

        loaded = read_copy(task.head, task.store.suite(task.copy))
        outline = task.evaluation.outline(loaded)
        first = {digest: SHARD * number for number, digest in enumerate(task.shards)}
        places = array("i")
        partial: dict[int, tuple[Span, ...]] = {}
        with _divided(task) as division:
            for request, _ in outline.requests():
                origin = division.find(request)
                if origin is None:
                    seen = "a text of it is in no unit"
                    raise ModelError(where=f"suite {outline.suite!r}", seen=seen)
                places.append(first[origin.shard] + origin.number)
                if not origin.whole and request.wanted is not None:
                    partial[request.id] = request.wanted
        return cls(task.copy, loaded, outline, pl.Series("answer", places, pl.Int32), partial)

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


@contextmanager
def _divided(task: JoinTask) -> Iterator[Division]:
    """The shards of a run, to find requests in; who asks what is on disk meanwhile.

    Raises:
        StorageError: one cannot be read.
    """
    with closing(Spool()) as spool:
        division = Division(spool)
        for digest in task.shards:
            division.add(Shard(digest, read_shard(task.store.shard(digest))))
        yield division


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

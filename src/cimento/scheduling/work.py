"""What a run of suites of regions is to do: suites, models, and the units that they need."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from cimento.engine.sealed import write_once
from cimento.errors import CimentoError, ModelError
from cimento.regions_api import Evaluation, SuiteLike, each_suite, refuse_same_names
from cimento.requests import Plan
from cimento.scheduling.copies import keep_copy, read_copy, write_copy
from cimento.scheduling.directions import Directions
from cimento.scheduling.shards import Division, Shard, shard_content, shard_plan
from cimento.scheduling.spool import Spool
from cimento.scheduling.tasks import ShardTask
from cimento.scheduling.units import UnitStore, model_digest
from cimento.sources import ScorerSource, Source, open_source, shown_name
from cimento.suites.load import LoadedSuite

_WHOLE_PREFIXES = ("openai:", "kenlm:", "replay:")
"""Models that are asked for whole suites: servers are busy with many texts at once anyway, and
n-gram models count unknown words over a suite."""


@dataclass(frozen=True, slots=True)
class Part:
    """A suite as it is asked, without its items: those are on disk.

    Attributes:
        head: the suite without items.
        items: how many are asked.
        texts: distinct texts that they make.
        copy: digest of the copy of the suite that is on disk.
        directions: digest of what says where its answers are.
        shards: those that the suite adds, by their digests, with their numbers of texts.
        needed: digests of the shards in which its answers are.
        error: why it cannot be asked; what comes of asking is empty then.
    """

    head: LoadedSuite
    items: int = 0
    texts: int = 0
    copy: str = ""
    directions: str = ""
    shards: dict[str, int] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    error: CimentoError | None = None

    @property
    def name(self) -> str:
        """Name of the suite."""
        return self.head.suite.name


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
    """All that a run is to do; to be closed, for it has a temporary file.

    Attributes:
        evaluation: how suites are asked and judged.
        parts: the suites.
        models: the models.
        store: where units are.
        keep: whether answers are kept between runs.
        spool: what the shards ask, and copies of the suites.
    """

    evaluation: Evaluation
    parts: tuple[Part, ...]
    models: tuple[Asked, ...]
    store: UnitStore
    keep: bool
    spool: Spool
    _stored: dict[tuple[str, str], bool] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.spool.close()

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
        needed = self.needed(asked)
        return {
            digest: self.task(asked, digest)
            for part in self.parts
            for digest in part.shards
            if digest in needed
        }

    def needed(self, asked: Asked) -> frozenset[str]:
        """Digests of the shards that runs of a model need which are not stored."""
        return frozenset(
            digest
            for part in self.parts
            if not self.is_stored(part, asked)
            for digest in part.needed
        )

    def is_stored(self, part: Part, asked: Asked) -> bool:
        """Whether a run was stored when this was first asked: its tables are read to see it."""
        key = (part.name, asked.model)
        if asked.source is None or part.error is not None:
            return False
        if key not in self._stored:
            self._stored[key] = self.evaluation.is_stored(part.head, asked.source)
        return self._stored[key]

    def shard(self, digest: str) -> Plan:
        """What a shard asks."""
        return shard_plan(self._content(digest))

    def write(self) -> None:
        """Write what is asked where workers can read it; what is there already stays.

        Raises:
            StorageError: the folder cannot be written.
        """
        for part in self.parts:
            for digest in part.shards:
                write_once(self._content(digest), self.store.shard(digest))
            if part.error is None:
                write_copy(self.spool.pieces(part.copy), self.store.suite(part.copy))
                write_once(self._content(part.directions), self.store.directions(part.directions))

    def is_over(self) -> bool:
        """Whether all runs that can be made are stored."""
        return all(
            self.is_stored(part, asked)
            for asked in self.models
            for part in self.parts
            if asked.error is None and part.error is None
        )

    def suite(self, part: Part) -> LoadedSuite:
        """A suite with its items, once it is written.

        Raises:
            StorageError: its copy cannot be read.
        """
        return read_copy(part.head, self.store.suite(part.copy))

    def _content(self, shard: str) -> bytes:
        return b"".join(self.spool.pieces(shard))

    def task(self, asked: Asked, shard: str) -> ShardTask:
        """A unit: a model, and the digest of a shard that it is to be asked."""
        return ShardTask(
            model=asked.model,
            asking=self.evaluation.full_asking,
            store=self.store,
            digest=asked.digest,
            shard=shard,
            keep=self.keep,
        )


def plan_work(
    suites: Sequence[SuiteLike], models: Sequence[str], evaluation: Evaluation, *, keep: bool
) -> Work:
    """Read suites, find models, and say what each asks of each; nothing is loaded.

    Suites are read one after the other, and what they ask goes to a temporary file.

    Args:
        suites: as for `cimento.regions_api.evaluate_all`.
        models: names.
        evaluation: how they are asked; with a folder of runs.
        keep: whether answers are kept between runs.

    Raises:
        CimentoError: a suite cannot be read, or two have one name.
    """
    if evaluation.output is None:
        raise ValueError("units are files, and need a folder of runs")
    spool = Spool()
    try:
        division = Division(spool)
        read = each_suite(suites, stored=True)
        parts = tuple(_part(each, evaluation, division, spool) for each in read)
        refuse_same_names([part.head for part in parts])
        asked = tuple(_find(model, evaluation) for model in dict.fromkeys(models))
    except BaseException:
        spool.close()
        raise
    return Work(evaluation, parts, asked, UnitStore.below(evaluation.output), keep, spool)


def _part(loaded: LoadedSuite, evaluation: Evaluation, division: Division, spool: Spool) -> Part:
    head = replace(loaded, suite=replace(loaded.suite, items=()))
    limited = evaluation.limited(loaded.suite)
    try:
        outline = evaluation.outline(loaded)
    except CimentoError as error:
        return Part(head, items=len(limited.items), error=error)
    if not len(outline):
        nothing = ModelError(where=f"suite {head.suite.name!r}", seen="it asks nothing")
        return Part(head, items=len(limited.items), error=nothing)
    shards: dict[str, int] = {}

    def added(shard: Shard) -> None:
        shards[shard.digest] = len(shard.plan.requests)
        spool.keep(shard.digest, [shard_content(shard.plan)])

    divided = division.divide(head.suite.name, outline.requests(), added=added)
    return Part(
        head,
        items=len(limited.items),
        texts=len(outline),
        copy=keep_copy(limited, spool),
        directions=_kept(Directions(outline.numbering, divided.places, divided.partial), spool),
        shards=shards,
        needed=tuple(divided.shards),
    )


def _kept(directions: Directions, spool: Spool) -> str:
    content = directions.pack()
    digest = hashlib.sha256(content).hexdigest()[:32]
    spool.keep(digest, [content])
    return digest


def _find(model: str, evaluation: Evaluation) -> Asked:
    try:
        source = open_source(model, evaluation.full_asking)
    except CimentoError as error:
        return Asked(model, None, error=error)
    return Asked(model, source, model_digest(source, evaluation.full_asking))

"""What a run of suites of regions is to do: suites, models, and the units that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cimento.api import Evaluation, SuiteLike, read_suites, refuse_same_names
from cimento.errors import CimentoError
from cimento.requests import Plan, plan_suite
from cimento.scheduling.engines import in_share
from cimento.scheduling.shards import Division, Origin, Shard, write_shard
from cimento.scheduling.tasks import ShardTask
from cimento.scheduling.units import UnitStore, is_whole, model_digest
from cimento.sources import ScorerSource, Source, open_source, shown_name
from cimento.suites.load import LoadedSuite

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
        """Whether a run was stored when this was first asked: its tables are read to see it."""
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

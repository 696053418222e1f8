"""The units of a run that are needed and not done: very many, where many models are asked."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import overload

from cimento.engine.engines import in_share
from cimento.scheduling.tasks import ShardTask
from cimento.scheduling.units import is_whole
from cimento.scheduling.work import Asked, Work


class Units(Sequence[tuple[str, ShardTask]]):
    """Units with the keys of their models, made when they are looked at: held are their numbers.

    Args:
        work: what is to be done.
        models: those that are asked shard by shard.
        shards: digests of all shards.
        numbers: of the units, counted model by model and shard by shard.
    """

    def __init__(
        self, work: Work, models: Sequence[Asked], shards: Sequence[str], numbers: array[int]
    ) -> None:
        self._work = work
        self._models = models
        self._shards = shards
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> tuple[str, ShardTask]: ...
    @overload
    def __getitem__(self, index: slice) -> Units: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ShardTask] | Units:
        if isinstance(index, slice):
            return Units(self._work, self._models, self._shards, self._numbers[index])
        model, shard = divmod(self._numbers[index], len(self._shards))
        asked = self._models[model]
        return asked.digest, self._work.task(asked, self._shards[shard])


def missing_units(work: Work, share: tuple[int, int] | None = None) -> Units:
    """The units that are needed and not done, model by model.

    Args:
        work: what is to be done.
        share: only what belongs to this share. Shares are of all units, done or not, so that
            those who do them agree on them whenever they begin.
    """
    shards = [digest for part in work.parts for digest in part.shards]
    models = [asked for asked in work.models if work.is_sharded(asked)]
    total, numbers = len(models) * len(shards), array("Q")
    for model, asked in enumerate(models):
        needed = work.needed(asked)
        for number, digest in enumerate(shards, start=model * len(shards)):
            if digest not in needed or not (share is None or in_share(number, total, share)):
                continue
            if work.evaluation.force or not is_whole(work.store.result(asked.digest, digest)):
                numbers.append(number)
    return Units(work, models, shards, numbers)

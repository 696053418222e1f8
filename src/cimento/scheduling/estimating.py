"""What a run would do and cost, before anything is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache, column_key, get_scores, sequence_key
from cimento.engine.scores import model_key
from cimento.errors import CimentoError
from cimento.scheduling.tasks import ShardTask
from cimento.scheduling.units import is_whole, seconds_of
from cimento.scheduling.work import Asked, Work

if TYPE_CHECKING:
    from cimento.answers import Column
    from cimento.models.base import Encoded
    from cimento.models.sizing import Sized
    from cimento.suites.model import JsonValue

FLOPS = {"cpu": 2e10, "gpu": 2e13}
"""Operations in a second that are reckoned with: one core of a processor, one GPU."""

_BYTES = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2}
_BUDGET = {"cpu": 512, "gpu": 16_384}
_LOGITS = 2
"""Times that logits of a batch are in memory: as they come, and normalised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEstimate:
    """What a model would be asked, and what that would cost.

    Times and memory are estimates; None stands for what is not known.

    Attributes:
        model: its label, or its name where it cannot be found.
        texts: distinct texts that it is asked for, of all suites that are not done.
        units: into which they are cut; 0 for a model that is asked for whole suites.
        done: how many of them are done.
        tokens: that go through the model for the other units; for a masked model those of a text
            count once for each token that is masked in it.
        kept: texts of these whose answers are in the cache already.
        parameters: of the model.
        seconds: on one device, from earlier units of this model where there are any; else two
            operations for each parameter and token, at `FLOPS`.
        by: what the time is from: ``earlier units`` or ``size``; empty where it is not known.
        memory_bytes: of the device: the weights, and twice the logits of one batch.
        problem: why it cannot be asked, or why its tokens cannot be counted; empty for neither.
    """

    model: str
    texts: int = 0
    units: int = 0
    done: int = 0
    tokens: int | None = None
    kept: int | None = None
    parameters: int | None = None
    seconds: float | None = None
    by: str = ""
    memory_bytes: int | None = None
    problem: str = ""

    def plain(self) -> dict[str, JsonValue]:
        """As a JSON object."""
        return asdict(self)


def estimate(work: Work, cache: AnswerCache | None, *, gpu: bool) -> list[ModelEstimate]:
    """What each model would be asked.

    Args:
        work: what is to be done.
        cache: answers that are kept; None where none are used.
        gpu: whether models go to GPUs.
    """
    return [_estimate(work, asked, cache, gpu=gpu) for asked in work.models]


def _estimate(work: Work, asked: Asked, cache: AnswerCache | None, *, gpu: bool) -> ModelEstimate:
    if asked.error is not None or asked.source is None:
        return ModelEstimate(model=asked.name, problem=str(asked.error))
    units = work.units(asked)
    done = {digest for digest, task in units.items() if is_whole(task.result)}
    left = [part for part in work.parts if not work.is_stored(part, asked)]
    sizes = {digest: size for part in work.parts for digest, size in part.shards.items()}
    waiting = [digest for digest in units if digest not in done]
    plain = ModelEstimate(
        model=asked.source.label,
        texts=sum(map(sizes.__getitem__, units)) if units else sum(part.texts for part in left),
        units=len(units),
        done=len(done),
    )
    if not waiting:
        return plain
    found = _by_files(plain, waiting, asked, work, cache, gpu=gpu)
    seen = _seconds_per_text(units, done)
    if seen is None:
        return found
    seconds = seen * sum(map(sizes.__getitem__, waiting))
    return replace(found, seconds=seconds, by="earlier units")


def _seconds_per_text(units: Mapping[str, ShardTask], done: Iterable[str]) -> float | None:
    """How long a text took in the units that are done; None where that is not known."""
    told = [seconds_of(units[digest].result) for digest in done]
    known = [each for each in told if each is not None and each[1]]
    return sum(s for s, _ in known) / sum(n for _, n in known) if known else None


def _by_files(
    plain: ModelEstimate,
    waiting: Sequence[str],
    asked: Asked,
    work: Work,
    cache: AnswerCache | None,
    *,
    gpu: bool,
) -> ModelEstimate:
    """With what the files of the model tell of it."""
    from cimento.models.locate import locate
    from cimento.models.sizing import size_up

    asking = work.evaluation.full_asking
    prefix, _, rest = asked.model.partition(":")
    if rest and prefix.isidentifier():
        return replace(plain, problem="its tokens cannot be counted without loading it")
    try:
        sized = size_up(locate(asked.model), policy=asking.policy, kind=asking.kind)
        tokens, kept, longest = _count(waiting, sized, work, cache)
    except CimentoError as error:
        return replace(plain, problem=str(error))
    if sized.parameters is None:
        return replace(plain, tokens=tokens, kept=kept)
    device = "gpu" if gpu else "cpu"
    speed = FLOPS[device] * (1 if gpu else os.cpu_count() or 1)
    rows = asking.limits.or_tokens(_BUDGET[device]).positions(longest)
    logits = _LOGITS * 4 * rows * sized.vocabulary
    return replace(
        plain,
        tokens=tokens,
        kept=kept,
        parameters=sized.parameters,
        seconds=2 * sized.parameters * tokens / speed,
        by="size",
        memory_bytes=sized.parameters * _BYTES[asking.policy.dtype] + logits if rows else None,
    )


def _count(
    waiting: Sequence[str], sized: Sized, work: Work, cache: AnswerCache | None
) -> tuple[int, int | None, int]:
    """Tokens for the model, texts whose answers are kept, and tokens of the longest text."""
    if sized.encoder is None:
        return 0, None, 0
    asking = work.evaluation.full_asking
    model = model_key(sized.card, asking.policy)
    tokens = kept = longest = 0
    for digest in waiting:
        encoded = sized.encoder.encode(work.shard(digest).requests)
        keys = [sequence_key(model, each.ids, each.words) for each in encoded]
        known = [
            cache is not None and _is_known(cache, key, each, asking.columns)
            for key, each in zip(keys, encoded, strict=True)
        ]
        kept += sum(known)
        longest = max(longest, *(len(each.ids) for each in encoded))
        masked = sized.card.kind == "masked"
        tokens += sum(
            len(each.ids) * (len(each.wanted) if masked else 1)
            for each, is_kept in zip(encoded, known, strict=True)
            if not is_kept
        )
    return tokens, None if cache is None else kept, longest


def _is_known(cache: AnswerCache, key: bytes, each: Encoded, columns: Sequence[Column]) -> bool:
    addresses = [key, *(column_key(key, column) for column in columns)]
    found = get_scores(cache, addresses)
    return all(index in found.get(address, {}) for address in addresses for index in each.wanted)

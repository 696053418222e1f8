"""Requests times a model gives answers: each token sequence once, kept as soon as it is scored.

The engine does not know which kind of test it serves.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cimento.answers import TOKENS
from cimento.cache import AnswerCache, Scores, sequence_key
from cimento.errors import NonFiniteScoreError
from cimento.models.base import Encoded, ModelCard, Policy, Scorer
from cimento.requests import Plan

if TYPE_CHECKING:
    import polars as pl

SCORING_VERSION = 1
"""Raised whenever the same model, policy and text would give other numbers than before."""

SHARD = 256
"""Sequences that are scored, checked and kept together."""

NO_LEFT_CONTEXT = "first token without left context"

Progress = Callable[[int, int], None]
"""Called with the number of sequences done and the number in all."""


def answer_plan(
    plan: Plan,
    scorer: Scorer,
    *,
    policy: Policy,
    cache: AnswerCache,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The tokens table of a plan: one row for each token that was asked for.

    Args:
        plan: what is asked.
        scorer: who answers.
        policy: the policy the scorer was loaded with.
        cache: what is already known; new answers are put there shard by shard, so that a run
            that is stopped goes on where it was.
        progress: told about every shard.

    Raises:
        NonFiniteScoreError: the model returned NaN or infinity; names the item.
        TextTooLongError: a text does not fit the model's window.
    """
    encoded = scorer.encode(plan.requests)
    model = model_key(scorer.card, policy)
    keys = [sequence_key(model, each.ids, each.words) for each in encoded]
    work = _merge(keys, encoded)
    known: dict[bytes, Scores] = {}
    distinct = list(work)
    for start in range(0, len(distinct), SHARD):
        shard = distinct[start : start + SHARD]
        known.update(_answer_shard({key: work[key] for key in shard}, scorer, cache, plan))
        if progress is not None:
            progress(min(start + SHARD, len(distinct)), len(distinct))
    return _tokens_table(keys, encoded, known)


def model_key(card: ModelCard, policy: Policy) -> str:
    """All that scores depend on, besides the text: it begins the address of every answer."""
    parts = [SCORING_VERSION, card.kind, card.revision, card.tokenizer, dataclasses.asdict(policy)]
    return json.dumps(parts, sort_keys=True)


def _merge(keys: Sequence[bytes], encoded: Sequence[Encoded]) -> dict[bytes, Encoded]:
    """Distinct sequences, each wanting all that any of its requests wants.

    Two requests can be one sequence: an uncased tokenizer makes the same ids of two spellings.
    """
    merged: dict[bytes, Encoded] = {}
    for key, each in zip(keys, encoded, strict=True):
        first = merged.get(key)
        if first is None:
            merged[key] = each
        elif not set(each.wanted) <= set(first.wanted):
            wanted = tuple(sorted({*first.wanted, *each.wanted}))
            merged[key] = dataclasses.replace(first, wanted=wanted)
    return merged


def _answer_shard(
    shard: dict[bytes, Encoded], scorer: Scorer, cache: AnswerCache, plan: Plan
) -> dict[bytes, Scores]:
    """Scores of some sequences: from the cache where it has them, else from the model."""
    known = cache.get(list(shard))
    todo: list[tuple[bytes, Encoded]] = []
    for key, each in shard.items():
        missing = tuple(i for i in each.wanted if i not in known.get(key, {}))
        if missing:
            todo.append((key, dataclasses.replace(each, wanted=missing)))
    if not todo:
        return known
    fresh: dict[bytes, Scores] = {}
    answers = scorer.score([each for _, each in todo])
    for (key, each), values in zip(todo, answers, strict=True):
        scores = dict(zip(each.wanted, values.tolist(), strict=True))
        _check_finite(scores, each, scorer, plan)
        fresh[key] = {**known.get(key, {}), **scores}
    cache.put(fresh)
    return {**known, **fresh}


def _check_finite(scores: Scores, each: Encoded, scorer: Scorer, plan: Plan) -> None:
    """NaN is right where nothing precedes a token or nothing is known of it, else it is wrong.

    A masked model sees the whole text, so that its first token has a context too.
    """
    for index, value in scores.items():
        undefined = (index == 0 and scorer.card.kind != "masked") or index in each.undefined
        if math.isfinite(value) or (math.isnan(value) and undefined):
            continue
        places = [place for place in plan.places if place.request == each.request]
        where = f"item {places[0].item!r}, condition {places[0].condition!r}" if places else "text"
        raise NonFiniteScoreError(
            where=f"model {scorer.card.name!r}, suite {plan.suite!r}, {where}",
            seen=f"the model gave {value} for the token {each.tokens[index]!r}",
            todo="Its weights may be damaged, or the dtype too narrow: try --dtype float32.",
        )


def _tokens_table(
    keys: Sequence[bytes], encoded: Sequence[Encoded], known: dict[bytes, Scores]
) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, list[object]] = {name: [] for name in TOKENS.columns}
    for key, each in zip(keys, encoded, strict=True):
        scores = known[key] if each.wanted else {}
        for index in each.wanted:
            value = scores[index]
            unscored = math.isnan(value)
            reason = each.undefined.get(index, NO_LEFT_CONTEXT) if unscored else None
            token_id = each.ids[index]
            columns["request"].append(each.request)
            columns["position"].append(index - each.first)
            columns["token"].append(each.tokens[index])
            columns["token_id"].append(token_id if token_id >= 0 else None)
            columns["start"].append(each.spans[index][0])
            columns["end"].append(each.spans[index][1])
            columns["logprob_nats"].append(None if unscored else value)
            columns["unscored_reason"].append(reason)
    return pl.DataFrame(columns, schema=TOKENS.polars())

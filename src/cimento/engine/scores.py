"""Requests times a model gives answers: each token sequence once, kept as soon as it is scored.

The engine does not know which kind of test it serves.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.answers import NO_LEFT_CONTEXT, TOKENS, Column
from cimento.engine.cache import (
    AnswerCache,
    Scores,
    column_key,
    get_scores,
    put_scores,
    sequence_key,
)
from cimento.errors import NonFiniteScoreError, UsageError
from cimento.models.base import ColumnScorer, Encoded, ModelCard, Policy, Scorer
from cimento.requests import Plan

if TYPE_CHECKING:
    import polars as pl

SCORING_VERSION = 1
"""Raised whenever the same model, policy and text would give other numbers than before."""

SHARD = 256
"""Sequences that are scored, checked and kept together."""

Progress = Callable[[int, int], None]
"""Called with the number of sequences done and the number in all."""

Known: TypeAlias = dict[bytes, list[Scores]]
"""Address of a sequence to its scores: log-probabilities, then each column asked for."""


def answer_plan(
    plan: Plan,
    scorer: Scorer,
    *,
    policy: Policy,
    cache: AnswerCache,
    columns: tuple[Column, ...] = (),
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The tokens table of a plan: one row for each token that was asked for.

    Args:
        plan: what is asked.
        scorer: who answers.
        policy: the policy the scorer was loaded with.
        cache: what is already known; new answers are put there shard by shard, so that a run
            that is stopped goes on where it was.
        columns: what else is wanted of every token.
        progress: told about every shard.

    Raises:
        NonFiniteScoreError: the model returned NaN or infinity; names the item.
        TextTooLongError: a text does not fit the model's window.
        UsageError: the model gives nothing but log-probabilities, and columns are wanted.
    """
    import polars as pl

    model = model_key(scorer.card, policy)
    tables: list[pl.DataFrame] = []
    for encoded in _encoded_shards(plan, scorer):
        keys = [sequence_key(model, each.ids, each.words) for each in encoded]
        known = _answer_shard(_merge(keys, encoded), scorer, cache, plan, columns)
        tables.append(_tokens_table(keys, encoded, known, columns))
        if progress is not None:
            progress(min(len(tables) * SHARD, len(plan.requests)), len(plan.requests))
    return pl.concat(tables or [_tokens_table((), (), {}, columns)], rechunk=True)


def _encoded_shards(plan: Plan, scorer: Scorer) -> Iterator[list[Encoded]]:
    """The requests of a plan, encoded, as many at a time as are scored together.

    All are encoded before the first are given out, so that a text which cannot be read is found
    at once. They wait packed: encoded texts as objects take a hundred bytes for each token.
    """
    shards = [
        pickle.dumps(scorer.encode(plan.requests[start : start + SHARD]))
        for start in range(0, len(plan.requests), SHARD)
    ]
    for packed in shards:
        yield pickle.loads(packed)  # noqa: S301  # packed above


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
    shard: dict[bytes, Encoded],
    scorer: Scorer,
    cache: AnswerCache,
    plan: Plan,
    columns: tuple[Column, ...],
) -> Known:
    """Scores of some sequences: from the cache where it has them, else from the model."""
    addresses = {key: [key, *(column_key(key, column) for column in columns)] for key in shard}
    kept = get_scores(cache, [address for some in addresses.values() for address in some])
    known = {key: [kept.get(address, {}) for address in addresses[key]] for key in shard}
    todo: list[tuple[bytes, Encoded]] = []
    for key, each in shard.items():
        missing = tuple(i for i in each.wanted if any(i not in one for one in known[key]))
        if missing:
            todo.append((key, dataclasses.replace(each, wanted=missing)))
    if not todo:
        return known
    fresh: dict[bytes, Scores] = {}
    answers = _ask([each for _, each in todo], scorer, columns)
    for (key, each), values in zip(todo, answers, strict=True):
        _check_finite(values[0], each, scorer, plan)
        known[key] = [{**old, **new} for old, new in zip(known[key], values, strict=True)]
        fresh.update(zip(addresses[key], known[key], strict=True))
    put_scores(cache, fresh)
    return known


def _ask(
    encoded: Sequence[Encoded], scorer: Scorer, columns: tuple[Column, ...]
) -> list[list[Scores]]:
    """What the model says of the wanted tokens: log-probabilities, then each column."""
    if not columns:
        answers = [[values.tolist()] for values in scorer.score(encoded)]
    elif isinstance(scorer, ColumnScorer):
        tables = scorer.score_columns(encoded, columns)
        answers = [table.T.tolist() for table in tables]
    else:
        raise only_logprobs(scorer.card)
    return [
        [dict(zip(each.wanted, values, strict=True)) for values in answer]
        for each, answer in zip(encoded, answers, strict=True)
    ]


def only_logprobs(card: ModelCard) -> UsageError:
    """What is said where columns are wanted of a model that does not give them."""
    return UsageError(
        where=f"model {card.name!r}",
        seen="it gives nothing but log-probabilities",
        todo="Leave --columns out, and measures that need them.",
    )


def _check_finite(scores: Scores, each: Encoded, scorer: Scorer, plan: Plan) -> None:
    """NaN is right where nothing precedes a token or nothing is known of it, else it is wrong.

    A masked model sees the whole text, so that its first token has a context too.
    """
    for index, value in scores.items():
        undefined = (index == 0 and scorer.card.kind != "masked") or index in each.undefined
        if math.isfinite(value) or (math.isnan(value) and undefined):
            continue
        [text] = [r.text for r in plan.requests if r.id == each.request]
        places = [place for place in plan.places if place.request == each.request]
        where = f"item {places[0].item!r}, condition {places[0].condition!r}" if places else "text"
        error = NonFiniteScoreError(
            where=f"model {scorer.card.name!r}, suite {plan.suite!r}, {where}"
            if places
            else f"model {scorer.card.name!r}, text {text!r}",
            seen=f"the model gave {value} for the token {each.tokens[index]!r}",
            todo="Its weights may be damaged, or the dtype too narrow: try --dtype float32.",
        )
        error.request = each.request
        raise error


def _tokens_table(
    keys: Sequence[bytes], encoded: Sequence[Encoded], known: Known, more: tuple[Column, ...]
) -> pl.DataFrame:
    import polars as pl

    rows = [(each, index) for each in encoded for index in each.wanted]
    scores: list[list[float]] = [[] for _ in ("logprob_nats", *more)]
    for key, each in zip(keys, encoded, strict=True):
        for column, values in zip(scores, known[key], strict=True):
            column += [values[index] for index in each.wanted]
    unscored = [math.isnan(value) for value in scores[0]]
    columns: dict[str, Sequence[object]] = {
        "request": [each.request for each, _ in rows],
        "position": [index - each.first for each, index in rows],
        "token": [each.tokens[index] for each, index in rows],
        "token_id": [each.ids[index] if each.ids[index] >= 0 else None for each, index in rows],
        "start": [each.spans[index][0] for each, index in rows],
        "end": [each.spans[index][1] for each, index in rows],
        "unscored_reason": [
            each.undefined.get(index, NO_LEFT_CONTEXT) if missing else None
            for (each, index), missing in zip(rows, unscored, strict=True)
        ],
    }
    for name, column in zip(("logprob_nats", *more), scores, strict=True):
        columns[name] = [
            None if missing else value for value, missing in zip(column, unscored, strict=True)
        ]
    schema = TOKENS.polars(present=more)
    # Not strict: a rank comes as a float, as it is kept.
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema, strict=False)

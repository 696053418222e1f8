"""Scores of texts: each token sequence is scored once and stored as soon as it is scored.

The engine does not know which paradigm asks.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from cimento.engine.cache import (
    RECORD_FORMAT,
    AnswerCache,
    column_key,
    is_packed,
)
from cimento.engine.whole_texts import answer_texts
from cimento.errors import NonFiniteScoreError, UsageError
from cimento.io.tables import (
    ALL_LAYERS,
    BOUNDARY,
    LAYER,
    NO_LEFT_CONTEXT,
    TOKENS,
    Column,
    layer_column,
    replicate_columns,
)
from cimento.io.values import stretches
from cimento.models.base import (
    TWO_SIDED,
    ColumnScorer,
    EncodedTexts,
    LayerScorer,
    ModelCard,
    Plan,
    Planner,
    Score,
    Scorer,
    TextScorer,
)
from cimento.models.failing import forward_errors
from cimento.models.settings import Policy

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Flags, Floats, Integers
    from cimento.models.base import FloatArray


SCORING_VERSION = 3
"""The version of scoring, part of every cache key and every digest of a model.

It is raised whenever the same model, policy and text would give different numbers than before.
"""

SHARD = 256
"""Number of sequences that are scored, checked and stored together."""

Progress = Callable[[int, int], None]
"""A callback with the number of sequences done and the number in all."""

P = ParamSpec("P")
R = TypeVar("R")


class Compute(Protocol):
    """The protocol of a place where a model computes, one call at a time."""

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The function's result for these arguments."""

    def carry_out(self, planner: Planner, plan: Plan, columns: tuple[Column, ...]) -> FloatArray:
        """The scores of a plan."""


class ThisThread:
    """The thread that asks as the place where a model computes: a `Compute`."""

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The function's result for these arguments."""
        return function(*args, **kwargs)

    def carry_out(self, planner: Planner, plan: Plan, columns: tuple[Column, ...]) -> FloatArray:
        """The scores of a plan, whose lines share no pass with others."""
        try:
            planner.add(plan, columns)
            while not plan.done:
                planner.flush()
        finally:
            planner.forget()
        return plan.values


THIS_THREAD = ThisThread()


def ask(
    requests: Sequence[Score],
    scorer: Scorer | TextScorer,
    *,
    policy: Policy,
    cache: AnswerCache,
    columns: tuple[Column, ...] = (),
    progress: Progress | None = None,
    compute: Compute = THIS_THREAD,
) -> pl.DataFrame:
    """The tokens table of some requests, for models that take tokens and for those that take texts.

    Raises:
        ModelError: the model cannot answer.
        UsageError: columns are requested of a model that does not give them.
    """
    columns = columns_for(scorer, columns, policy=policy)
    if isinstance(scorer, TextScorer):
        if columns:
            raise only_logprobs(scorer.card)
        key = model_key(scorer.card, policy)
        return answer_texts(requests, scorer, model=key, cache=cache, progress=progress)
    with forward_errors(scorer.card.name, scorer):
        return answer_scores(
            requests,
            scorer,
            policy=policy,
            cache=cache,
            columns=columns,
            progress=progress,
            compute=compute,
        )


def answer_scores(
    requests: Sequence[Score],
    scorer: Scorer,
    *,
    policy: Policy,
    cache: AnswerCache,
    columns: tuple[Column, ...] = (),
    progress: Progress | None = None,
    compute: Compute = THIS_THREAD,
) -> pl.DataFrame:
    """The tokens table of some requests: one row for each token that was asked for.

    Args:
        requests: the requests, numbered by their positions.
        scorer: the model.
        policy: the policy the scorer was loaded with.
        cache: the cache of known answers; new ones are stored there shard by shard, so that an
            interrupted run resumes where it stopped.
        columns: further values wanted of every token.
        progress: called after every shard.
        compute: the place where the model computes.

    Raises:
        NonFiniteScoreError: the model returned NaN or infinity; the error has the request's number.
        TextTooLongError: a text does not fit the model's window.
        UsageError: the model gives only log-probabilities, and columns are requested.
    """
    import polars as pl

    model = model_key(scorer.card, policy)
    # All texts are encoded before the first is scored, so that one which cannot be encoded is
    # reported at once.
    shards = [
        EncodedTexts.of(scorer.encode(requests[start : start + SHARD]))
        for start in range(0, len(requests), SHARD)
    ]
    nothing = _KnownScores.empty(0, columns)
    tables = [] if requests else [_tokens_table(EncodedTexts.of(()), nothing, columns)]
    for done, texts in zip(range(0, len(requests), SHARD), shards, strict=True):
        asked = requests[done : done + SHARD]
        try:
            keys = _keys(model, texts)
            scores = _answer_shard(texts, keys, scorer, cache, asked, columns, compute)
        except NonFiniteScoreError as error:
            error.request = done + (error.request or 0)
            raise
        tables.append(_tokens_table(texts, scores, columns, first=done))
        if progress is not None:
            progress(done + len(asked), len(requests))
    return pl.concat(tables, rechunk=True) if len(tables) > 1 else tables[0]


def model_key(card: ModelCard, policy: Policy) -> str:
    """Everything that scores depend on besides the text, as the first part of every cache key."""
    parts = [SCORING_VERSION, card.kind, card.revision, card.tokenizer, policy.plain()]
    return json.dumps(parts, sort_keys=True)


def _keys(model: str, texts: EncodedTexts) -> list[bytes]:
    """The cache keys of some sequences; see `sequence_key`."""
    ids, words = texts.ids.astype("<i8").tobytes(), texts.words.astype("<i8").tobytes()
    bounds = pairwise((8 * texts.offsets).tolist())
    begun = hashlib.sha256(model.encode())
    keys = []
    for begin, end in bounds:
        digest = begun.copy()
        length = ((end - begin) // 8).to_bytes(8, "little")
        digest.update(length + ids[begin:end] + words[begin:end])
        keys.append(digest.digest())
    return keys


@dataclass(frozen=True, slots=True)
class _KnownScores:
    """The known scores of the tokens of a shard.

    Attributes:
        values: a row of log-probabilities, then one for each requested column.
        known: whether each value is known; NaN is the known value of a token that nothing precedes.
    """

    values: Floats
    known: Flags

    @classmethod
    def empty(cls, tokens: int, columns: tuple[Column, ...]) -> _KnownScores:
        """The scores of a number of tokens, none of which is known yet."""
        import numpy as np

        shape = (1 + len(columns), tokens)
        return cls(np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_))

    def read(self, row: int, texts: EncodedTexts, packed: Mapping[int, bytes]) -> None:
        """Take over the stored scores of some texts, by their numbers."""
        import numpy as np

        if not packed:
            return
        numbers = np.fromiter(packed, dtype=np.int64)
        form = np.dtype(RECORD_FORMAT)
        counts = np.array([len(data) // form.itemsize for data in packed.values()])
        records = np.frombuffer(b"".join(packed.values()), dtype=form)
        places = np.repeat(texts.offsets[numbers], counts) + records["index"]
        fits = places < np.repeat(texts.offsets[numbers + 1], counts)
        self.values[row, places[fits]] = records["value"][fits]
        self.known[row, places[fits]] = True

    def packed(self, row: int, texts: EncodedTexts, numbers: Integers) -> list[bytes]:
        """The known scores of some texts in their stored form."""
        import numpy as np

        places = np.flatnonzero(self.known[row])
        owners = np.searchsorted(texts.offsets, places, side="right") - 1
        records = np.empty(len(places), dtype=np.dtype(RECORD_FORMAT))
        records["index"] = places - texts.offsets[owners]
        records["value"] = self.values[row, places]
        data, size = records.tobytes(), records.itemsize
        ends = (np.searchsorted(places, texts.offsets) * size).tolist()
        return [data[ends[number] : ends[number + 1]] for number in numbers.tolist()]


def _answer_shard(
    texts: EncodedTexts,
    keys: Sequence[bytes],
    scorer: Scorer,
    cache: AnswerCache,
    requests: Sequence[Score],
    columns: tuple[Column, ...],
    compute: Compute,
) -> _KnownScores:
    """The scores of some sequences, from the cache where it has them and else from the model."""
    import numpy as np

    scores = _KnownScores.empty(len(texts.ids), columns)
    suffixes = [b"", *(column_key(b"", column) for column in columns)]
    kept = cache.get([key + suffix for suffix in suffixes for key in dict.fromkeys(keys)])
    for row, suffix in enumerate(suffixes):
        packed = ((number, kept.get(key + suffix)) for number, key in enumerate(keys))
        scores.read(row, texts, {n: data for n, data in packed if data and is_packed(data)})
    missing = texts.wanted & ~scores.known.all(axis=0)
    owners = np.unique(np.searchsorted(texts.offsets, np.flatnonzero(missing), side="right") - 1)
    if not len(owners):
        return scores
    first_of = _first_of_same(keys, owners.tolist())
    for number, first in first_of.items():
        missing[_own(texts, first)] |= missing[_own(texts, number)]
    numbers = np.array([number for number in owners.tolist() if number not in first_of])
    asked = np.zeros_like(missing)
    asked[stretches(texts.offsets[numbers], np.diff(texts.offsets)[numbers])] = True
    asked &= missing
    todo = texts.some(numbers, asked)
    values = _ask(todo, scorer, columns, compute)
    places = np.flatnonzero(asked)
    _check_finite(values[0], places, texts, scorer, requests)
    scores.values[:, places] = values
    scores.known[:, places] = True
    for number, first in first_of.items():
        scores.values[:, _own(texts, number)] = scores.values[:, _own(texts, first)]
        scores.known[:, _own(texts, number)] = scores.known[:, _own(texts, first)]
    fresh = [keys[number] + suffix for suffix in suffixes for number in numbers.tolist()]
    data = [scores.packed(row, texts, numbers) for row in range(len(suffixes))]
    cache.put(dict(zip(fresh, chain.from_iterable(data), strict=True)))
    return scores


def _own(texts: EncodedTexts, number: int) -> slice:
    """The tokens of a text among those of all texts."""
    return slice(int(texts.offsets[number]), int(texts.offsets[number + 1]))


def _first_of_same(keys: Sequence[bytes], numbers: Sequence[int]) -> dict[int, int]:
    """For each text whose sequence an earlier text has, the first such text.

    Two requests can give the same sequence, since an uncased tokenizer makes the same ids of two
    spellings. Such a sequence is asked once, for all tokens that any of its requests wants.
    """
    first: dict[bytes, int] = {}
    firsts = {number: first.setdefault(keys[number], number) for number in numbers}
    return {number: other for number, other in firsts.items() if number != other}


def _ask(
    texts: EncodedTexts, scorer: Scorer, columns: tuple[Column, ...], compute: Compute
) -> Floats:
    """The model's values for the wanted tokens: a row of log-probabilities, then one per column."""
    import numpy as np

    plan = scorer.plan(texts, columns) if isinstance(scorer, Planner) else None
    if plan is not None and isinstance(scorer, Planner):
        values = compute.carry_out(scorer, plan, columns)
        return values.T if columns else values[None, :]
    if not columns:
        return np.concatenate(compute.call(scorer.score, texts))[None, :]
    if isinstance(scorer, ColumnScorer):
        return np.concatenate(compute.call(scorer.score_columns, texts, columns)).T
    raise only_logprobs(scorer.card)


def only_logprobs(card: ModelCard) -> UsageError:
    """The error of requesting columns of a model that does not give them."""
    return UsageError(
        where=f"model {card.name!r}",
        seen="it gives nothing but log-probabilities",
        todo="Leave --store out, and measures that need them.",
    )


def _check_finite(
    values: Floats,
    places: Integers,
    texts: EncodedTexts,
    scorer: Scorer,
    requests: Sequence[Score],
) -> None:
    """Refuse infinity, and NaN except for tokens without a defined score.

    A token that nothing precedes has none, except in a model that sees the whole text.

    Args:
        values: the log-probabilities that the model gave.
        places: the token of each of them.
        texts: the texts.
        scorer: the model.
        requests: the request of each text.
    """
    import numpy as np

    odd = ~np.isfinite(values)
    for value, place in zip(values[odd].tolist(), places[odd].tolist(), strict=True):
        number = int(np.searchsorted(texts.offsets, place, side="right")) - 1
        is_first = place == texts.offsets[number] and scorer.card.kind not in TWO_SIDED
        if math.isnan(value) and (is_first or place in texts.undefined):
            continue
        error = NonFiniteScoreError(
            where=f"model {scorer.card.name!r}, text {requests[number].text!r}",
            seen=f"the model gave {value} for the token {texts.tokens[place]!r}",
            todo="Its weights may be damaged, or the dtype too narrow: try --dtype=float32.",
        )
        error.request = number
        raise error


def _tokens_table(
    texts: EncodedTexts, scores: _KnownScores, more: tuple[Column, ...], *, first: int = 0
) -> pl.DataFrame:
    """The wanted tokens as a table of the schema ``answers.TOKENS``."""
    import numpy as np
    import polars as pl

    rows = np.flatnonzero(texts.wanted)
    owner = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))[rows]
    begin = texts.offsets[:-1] + np.array(texts.firsts, dtype=np.int64)
    values = scores.values[:, rows]
    unscored = np.isnan(values[0])
    reasons = dict.fromkeys(np.flatnonzero(unscored).tolist(), NO_LEFT_CONTEXT)
    for place in reasons if texts.undefined else ():
        reasons[place] = texts.undefined.get(int(rows[place]), NO_LEFT_CONTEXT)
    whole = len(rows) == len(texts.ids)
    columns: dict[str, object] = {
        "request": first + owner,
        "position": rows - begin[owner],
        "token": texts.tokens if whole else [texts.tokens[place] for place in rows.tolist()],
        "token_id": _without(texts.ids[rows], texts.ids[rows] < 0),
        "start": texts.start[rows],
        "end": texts.end[rows],
        "unscored_reason": pl.Series([*map(reasons.get, range(len(rows)))], dtype=pl.String)
        if reasons
        else pl.Series([None], dtype=pl.String).new_from_index(0, len(rows)),
    }
    for name, column in zip(("logprob_nats", *more), values, strict=True):
        columns[name] = _without(column, unscored | np.isnan(column))
    schema = TOKENS.polars(present=more)
    # Not strict, because ranks are stored as floats.
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema, strict=False)


def _without(values: Floats | Integers, absent: Flags) -> pl.Series:
    """A column of values with null in some places."""
    import polars as pl

    column = pl.Series(values)
    return column.set(pl.Series(absent), None) if absent.any() else column


def columns_for(
    scorer: Scorer | TextScorer, columns: tuple[Column, ...], *, policy: Policy
) -> tuple[Column, ...]:
    """The columns that are requested of a loaded model.

    Args:
        scorer: the model.
        columns: the columns wanted; one name may stand for all layers.
        policy: the policy it was loaded with.

    Raises:
        UsageError: the model has no such layer, or cannot be corrected for word boundaries.
    """
    replicates = replicate_columns() if scorer.card.kind == "diffusion" else ()
    return (*_with_layers(columns, scorer), *_boundary_column(scorer, policy), *replicates)


def _with_layers(columns: tuple[Column, ...], scorer: Scorer | TextScorer) -> tuple[Column, ...]:
    """The columns with layers by number, once the number of layers is known.

    Raises:
        UsageError: the model has no such layer, or does not show its layers.
    """
    asked = [column for column in columns if column.startswith(LAYER)]
    if not asked:
        return columns
    if not isinstance(scorer, LayerScorer):
        raise UsageError(
            where="--layers",
            seen=f"the model {scorer.card.name!r} does not show its layers",
            todo="Leave the option out.",
        )
    known = [layer_column(number) for number in range(scorer.count_layers() + 1)]
    absent = [column for column in asked if column not in {*known, ALL_LAYERS}]
    if absent:
        raise UsageError(
            where="--layers",
            seen=f"the model {scorer.card.name!r} has no layer {absent[0].removeprefix(LAYER)}",
            todo=f"It has the layers 0 to {len(known) - 1}; all means all of them.",
        )
    chosen = known if ALL_LAYERS in asked else asked
    return (*(column for column in columns if column not in asked), *chosen)


def _boundary_column(scorer: Scorer | TextScorer, policy: Policy) -> tuple[Column, ...]:
    """The column that corrects words for their boundaries, where the policy asks for it.

    Raises:
        UsageError: the model does not give it.
    """
    card = scorer.card
    if card.boundary:
        return (BOUNDARY,)
    unknown = isinstance(scorer, TextScorer) and policy.boundary != "none"
    if unknown or (card.kind not in TWO_SIDED and policy.boundary in ("word-start", "word-end")):
        raise UsageError(
            where=f"--boundary={policy.boundary}",
            seen=f"the model {card.name!r} does not say how probable the end of a word is",
            todo="Leave the option out.",
        )
    return ()

"""Scores of texts by models that do not show their tokenizer: each text is asked once.

The cache has the offsets and scores of its tokens, from which the text alone restores the tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache, Scores, get_scores, put_scores, sequence_key
from cimento.errors import ModelError
from cimento.io.tables import NO_LEFT_CONTEXT, TOKENS
from cimento.models.base import Score, TextScorer
from cimento.models.characters import tokens_in, trim_spans
from cimento.suites.stimuli import Span

if TYPE_CHECKING:
    import polars as pl


def answer_texts(
    requests: Sequence[Score],
    scorer: TextScorer,
    *,
    model: str,
    cache: AnswerCache,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """The tokens table of some requests: one row for each token that was asked for.

    Args:
        requests: the requests, numbered by their positions.
        scorer: the model.
        model: everything that scores depend on besides the text.
        cache: the cache of known answers; each new one is stored there as it comes, so that an
            interrupted run resumes where it stopped.
        progress: called after every answer.

    Raises:
        ModelError: the model cannot answer.
    """
    texts = dict.fromkeys(whole_text(request) for request in requests)
    keys = {text: sequence_key(model, text.encode()) for text in texts if text.strip()}
    known = get_scores(cache, list(keys.values()))
    todo = [text for text, key in keys.items() if key not in known]
    for done, (text, scores) in enumerate(scorer.read(todo), start=len(keys) - len(todo) + 1):
        known[keys[text]] = scores
        put_scores(cache, {keys[text]: scores})
        if progress is not None:
            progress(done, len(keys))
    readings = {text: known[key] for text, key in keys.items()}
    return _words_table(requests, readings)


def whole_text(request: Score) -> str:
    """The text that the model reads: the context, a blank and the text."""
    if request.blank and request.text and not request.context:
        return f" {request.text}"
    return f"{request.context} {request.text}" if request.context else request.text


def _words_table(requests: Sequence[Score], readings: Mapping[str, Scores]) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, list[object]] = {name: [] for name in TOKENS.columns}
    for number, request in enumerate(requests):
        for row in _rows(number, request, readings.get(whole_text(request), {})):
            for name, value in row.items():
                columns[name].append(value)
    return pl.DataFrame(columns, schema=TOKENS.polars())


def _rows(number: int, request: Score, scores: Scores) -> list[dict[str, object]]:
    """The rows of the wanted tokens of one request."""
    whole = whole_text(request)
    content = whole.encode()
    starts = sorted(scores)
    edges = list(pairwise([*starts, len(content)]))
    shift = len(whole) - len(request.text)
    spans = [(low - shift, high - shift) for low, high in _characters(whole, edges)]
    if any(low < 0 < high for low, high in spans):
        raise ModelError(
            where=f"text {request.text!r} after {request.context!r}",
            seen="a token lies across the end of the context",
            todo="Score the text without its context, or with another one.",
        )
    spans = [span if span[0] >= 0 else (-1, -1) for span in spans]
    first = next((index for index, span in enumerate(spans) if span[0] >= 0), len(spans))
    wanted = request.wanted if request.wanted is not None else ((0, len(request.text)),)
    rows: list[dict[str, object]] = []
    for index in tokens_in(spans, wanted):
        value = scores[starts[index]]
        low, high = edges[index]
        rows.append(
            {
                "request": number,
                "position": index - first,
                "token": content[low:high].decode(errors="replace"),
                "token_id": None,
                "start": spans[index][0],
                "end": spans[index][1],
                "logprob_nats": None if math.isnan(value) else value,
                "unscored_reason": NO_LEFT_CONTEXT if math.isnan(value) else None,
            }
        )
    return rows


def _characters(text: str, edges: list[Span]) -> list[Span]:
    """Byte spans as trimmed character spans, with each character of which a byte is inside."""
    character = [index for index, char in enumerate(text) for _ in char.encode()]
    spans = [(character[low], character[high - 1] + 1) for low, high in edges]
    return trim_spans(text, spans)

"""Texts times a model that keeps its tokens to itself: each text once, kept as soon as answered.

The sibling of `engine` for a `TextScorer`. What is kept of a text is where its tokens begin and
what they score, so the text alone gives the tokens back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from cimento.answers import NO_LEFT_CONTEXT, TOKENS
from cimento.engine.cache import AnswerCache, Scores, get_scores, put_scores, sequence_key
from cimento.engine.scores import Progress, model_key
from cimento.errors import ModelError
from cimento.models.align import tokens_in, trim_spans
from cimento.models.base import Policy, TextScorer
from cimento.requests import Plan, ScoreRequest, Span

if TYPE_CHECKING:
    import polars as pl


def answer_texts(
    plan: Plan,
    scorer: TextScorer,
    *,
    policy: Policy,
    cache: AnswerCache,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The tokens table of a plan: one row for each token that was asked for.

    Args:
        plan: what is asked.
        scorer: who answers.
        policy: how texts are scored.
        cache: what is already known; each answer is put there as it comes, so that a run that is
            stopped goes on where it was.
        progress: told about every answer.

    Raises:
        ModelError: the model cannot answer.
    """
    model = model_key(scorer.card, policy)
    texts = dict.fromkeys(whole_text(request) for request in plan.requests)
    keys = {text: sequence_key(model, text.encode()) for text in texts if text.strip()}
    known = get_scores(cache, list(keys.values()))
    todo = [text for text, key in keys.items() if key not in known]
    for done, (text, scores) in enumerate(scorer.read(todo), start=len(keys) - len(todo) + 1):
        known[keys[text]] = scores
        put_scores(cache, {keys[text]: scores})
        if progress is not None:
            progress(done, len(keys))
    readings = {text: known[key] for text, key in keys.items()}
    return _tokens_table(plan, readings)


def whole_text(request: ScoreRequest) -> str:
    """What the model reads: the context, a blank, the text."""
    if request.blank and request.text and not request.context:
        return f" {request.text}"
    return f"{request.context} {request.text}" if request.context else request.text


def _tokens_table(plan: Plan, readings: Mapping[str, Scores]) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, list[object]] = {name: [] for name in TOKENS.columns}
    for request in plan.requests:
        for row in _rows(request, readings.get(whole_text(request), {})):
            for name, value in row.items():
                columns[name].append(value)
    return pl.DataFrame(columns, schema=TOKENS.polars())


def _rows(request: ScoreRequest, scores: Scores) -> list[dict[str, object]]:
    """The wanted tokens of one request."""
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
                "request": request.id,
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
    """Stretches of bytes as trimmed stretches of characters; a part of one counts as all of it."""
    character = [index for index, char in enumerate(text) for _ in char.encode()]
    spans = [(character[low], character[high - 1] + 1) for low, high in edges]
    return trim_spans(text, spans)

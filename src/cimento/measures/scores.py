"""Measures of every sentence of a run, from its stored tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cimento.answers import LEFT_OUT, SCORES
from cimento.arrays import stretches
from cimento.measures.registry import Measure
from cimento.measures.sentence import NO_LOGISTIC_SUMS, NO_LOGITS, NO_UNIGRAMS, Numbers, Sentence
from cimento.measures.stored import (
    NOT_ASKED,
    NOTHING_SCORED,
    AskedColumns,
    TokenColumns,
    covered,
    in_text_order,
    token_columns,
    tokens_of,
)
from cimento.measures.unigrams import Unigrams
from cimento.measures.values import Missing, Value

if TYPE_CHECKING:
    import polars as pl

    from cimento.arrays import Integers

_TOGETHER = 4096
"""Sentences whose tokens are Python objects at the same time."""


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A stimulus and what measures are made from.

    Attributes:
        suite: name of its suite.
        item: id of its item.
        condition: its name.
        text: the whole sentence.
        sentence: what measures are made from, or why there is nothing.
    """

    suite: str
    item: str
    condition: str
    text: str
    sentence: Sentence | Missing


def each_sentence(
    tokens: pl.DataFrame,
    requests: pl.DataFrame,
    *,
    model_kind: str = "",
    unigrams: Unigrams | None = None,
) -> Iterator[ScoredSentence]:
    """Every stimulus of a requests table with what is known of it as a whole.

    A sentence is missing, with the reason, where one of its tokens has no score or was not asked
    for. Tokens that are left out count in no sum and no length.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        model_kind: ``causal``, ``seq2seq``, ``masked`` or another, of which nothing is known.
        unigrams: frequencies, for the measures that need them.
    """
    pseudo = {"causal": False, "seq2seq": False, "masked": True}.get(model_kind)
    ordered, asked = in_text_order(tokens), AskedColumns.of(requests)
    scored = token_columns(ordered)
    first, counts = tokens_of(scored, asked.request)
    absent = _absent(asked, scored, first, counts)
    for begin in range(0, len(asked.items), _TOGETHER):
        end = min(begin + _TOGETHER, len(asked.items))
        columns = _columns(ordered, scored, first[begin:end], counts[begin:end])
        for place, own in zip(range(begin, end), columns, strict=True):
            text, reason = asked.texts[place], absent[place]
            sentence = (
                Missing(reason)
                if reason
                else _sentence(text, own, pseudo=pseudo, unigrams=unigrams)
            )
            yield ScoredSentence(
                asked.suites[place], asked.items[place], asked.conditions[place], text, sentence
            )


def scores_table(scored: Iterable[ScoredSentence], measures: Sequence[Measure]) -> pl.DataFrame:
    """The measures of some sentences as a table of the schema ``answers.SCORES``."""
    import polars as pl

    rows = []
    for each in scored:
        place = (each.suite, each.item, each.condition)
        for measure in measures:
            value = measure.of(each.sentence)
            known = (None, value.reason) if isinstance(value, Missing) else (value, None)
            rows.append((*place, measure.name, known[0], measure.unit, known[1]))
    return pl.DataFrame(rows, schema=SCORES.polars(), orient="row")


def each_cost(
    scored: Iterable[ScoredSentence], measure: Measure
) -> Iterator[tuple[str, str, tuple[Value]]]:
    """A measure as the one value of each stimulus, turned so that the better sentence has less.

    Predictions are written about surprisals, of which the better sentence has less; so a measure
    of which it has more is negated, and a prediction claims of it what its author meant.

    Returns:
        One stimulus after the other: its item, its condition, and its value.
    """
    for each in scored:
        value = measure.of(each.sentence)
        if not isinstance(value, Missing) and measure.higher_is_better:
            value = 0.0 - value
        yield each.item, each.condition, (value,)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of the tokens table for one text, without the tokens that are left out."""

    tokens: tuple[str, ...]
    logprobs_nats: tuple[float, ...]
    logits: tuple[float, ...] | Missing
    log_sigmoid_sums: tuple[float, ...] | Missing


def _columns(
    tokens: pl.DataFrame, scored: TokenColumns, first: Integers, counts: Integers
) -> Iterator[_Columns]:
    """The columns of some texts.

    Args:
        tokens: in the order of texts.
        scored: the same tokens.
        first: the first token of each text.
        counts: how many tokens it has.
    """
    import numpy as np

    places, text = stretches(first, counts), np.repeat(np.arange(len(counts)), counts)
    kept = ~scored.left_out[places]
    rows = tokens[places[kept]]
    ends = np.cumsum(np.bincount(text[kept], minlength=len(counts)))
    names = ("token", "logprob_nats", "logit", "log_sigmoid_sum")
    columns = [rows[name].to_list() if name in rows.columns else [] for name in names]
    for begin, end in pairwise([0, *ends.tolist()]):
        words, logprobs, logits, sums = (tuple(column[begin:end]) for column in columns)
        yield _Columns(
            words,
            logprobs,
            _all_or_missing(logits, NO_LOGITS),
            _all_or_missing(sums, NO_LOGISTIC_SUMS),
        )


def _all_or_missing(values: tuple[float | None, ...], missing: Missing) -> Numbers | Missing:
    known = tuple(value for value in values if value is not None)
    return known if values and len(known) == len(values) else missing


def _absent(
    asked: AskedColumns, scored: TokenColumns, first: Integers, counts: Integers
) -> list[str]:
    """Why nothing can be said of each sentence as a whole; empty where something can."""
    import numpy as np

    n = len(asked.items)
    places, owner = stretches(first, counts), np.repeat(np.arange(n), counts)
    start = np.array([len(text) - len(text.lstrip()) for text in asked.texts], dtype=np.int64)
    end = np.array([len(text.rstrip()) for text in asked.texts], dtype=np.int64)
    named = np.bincount(owner[scored.region[places] >= 0], minlength=n) > 0
    whole = named | covered(scored, first, counts, start, end)
    reasons, texts = scored.reasons[places], scored.texts.texts()
    wrong = np.flatnonzero(reasons >= 0)[::-1]
    why = np.full(n, -1, dtype=np.int64)
    # The first of a sentence's tokens gives the reason, for it is written last.
    why[owner[wrong]] = reasons[wrong]
    absent = [texts[number] if number >= 0 else "" for number in why.tolist()]
    for place in np.flatnonzero(~whole).tolist():
        absent[place] = NOT_ASKED
    needed = np.bincount(asked.stimulus[asked.needed], minlength=n) > 0
    for place in np.flatnonzero((counts == 0) & needed).tolist():
        absent[place] = NOTHING_SCORED
    counting = np.bincount(owner[~scored.left_out[places]], minlength=n)
    for place in np.flatnonzero((counting == 0) & (counts > 0)).tolist():
        absent[place] = LEFT_OUT
    return absent


def _sentence(
    text: str, columns: _Columns, *, pseudo: bool | None, unigrams: Unigrams | None
) -> Sentence:
    return Sentence(
        logprobs_nats=columns.logprobs_nats,
        n_words=len(text.split()),
        n_chars=len(text),
        pseudo=pseudo,
        logits=columns.logits,
        log_sigmoid_sums_nats=columns.log_sigmoid_sums,
        unigram_logprobs_nats=unigrams.logprobs_nats(columns.tokens, text)
        if unigrams
        else NO_UNIGRAMS,
    )

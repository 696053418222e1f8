"""Measures of every sentence of a run, from its stored tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from cimento.answers import LEFT_OUT, SCORES
from cimento.measures.registry import Measure
from cimento.measures.sentence import NO_LOGISTIC_SUMS, NO_LOGITS, NO_UNIGRAMS, Numbers, Sentence
from cimento.measures.stored import (
    NOT_ASKED,
    NOTHING_SCORED,
    Answer,
    Stimulus,
    StoredTable,
    corrected,
    in_whole_texts,
    is_covered,
    known_or_missing,
    read_answers,
    side_by_side,
)
from cimento.measures.unigrams import Unigrams
from cimento.measures.values import Missing, Value

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A stimulus and what measures are made from, or why there are none."""

    stimulus: Stimulus
    sentence: Sentence | Missing


def sentences(
    tokens: StoredTable,
    requests: StoredTable,
    *,
    model_kind: str = "",
    unigrams: Unigrams | None = None,
) -> list[ScoredSentence]:
    """Every stimulus of a requests table with what is known of it as a whole.

    Args:
        tokens: as for `each_sentence`.
        requests: as for `each_sentence`.
        model_kind: as for `each_sentence`.
        unigrams: as for `each_sentence`.
    """
    return list(each_sentence(tokens, requests, model_kind=model_kind, unigrams=unigrams))


def each_sentence(
    tokens: StoredTable,
    requests: StoredTable,
    *,
    model_kind: str = "",
    unigrams: Unigrams | None = None,
) -> Iterator[ScoredSentence]:
    """The same, one stimulus after the other.

    A sentence is missing, with the reason, where one of its tokens has no score or was not asked
    for. Tokens that are left out count in no sum and no length.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        model_kind: ``causal``, ``seq2seq``, ``masked`` or another, of which nothing is known.
        unigrams: frequencies, for the measures that need them.
    """
    pseudo = {"causal": False, "seq2seq": False, "masked": True}.get(model_kind)
    texts = chain.from_iterable(map(_texts, in_whole_texts(tokens)))
    for stimulus, text in side_by_side(requests, texts):
        answer, columns = text or ((), None)
        absent = _absent(stimulus, answer, columns)
        if absent is not None or columns is None:
            yield ScoredSentence(stimulus, absent or Missing(LEFT_OUT))
            continue
        sentence = _sentence(stimulus, columns, pseudo=pseudo, unigrams=unigrams)
        yield ScoredSentence(stimulus, sentence)


def scores_table(scored: Iterable[ScoredSentence], measures: Sequence[Measure]) -> pl.DataFrame:
    """The measures of some sentences as a table of the schema ``answers.SCORES``."""
    import polars as pl

    rows = []
    for each in scored:
        place = (each.stimulus.suite, each.stimulus.item, each.stimulus.condition)
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
        yield each.stimulus.item, each.stimulus.condition, (value,)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of the tokens table for one text."""

    tokens: tuple[str, ...]
    logprobs_nats: tuple[Value, ...]
    logits: tuple[float, ...] | Missing
    log_sigmoid_sums: tuple[float, ...] | Missing


def _texts(tokens: pl.DataFrame) -> Iterator[tuple[int, tuple[Answer, _Columns | None]]]:
    """The texts of a piece of the tokens table, each with its tokens and its columns."""
    columns = _columns(tokens)
    for number, answer in read_answers(tokens)[1]:
        yield number, (answer, columns.get(number))


def _columns(tokens: pl.DataFrame) -> Mapping[int, _Columns]:
    """Number of a text to its columns, without the tokens that are left out."""
    import polars as pl

    optional = [name for name in ("logit", "log_sigmoid_sum") if name in tokens.columns]
    kept = (
        corrected(tokens)
        .filter(pl.col("unscored_reason").ne_missing(LEFT_OUT))
        .sort("request", "position")
    )
    lists = kept.group_by("request", maintain_order=True).agg(
        "token", "logprob_nats", "unscored_reason", *optional
    )
    return {
        row["request"]: _Columns(
            tokens=tuple(row["token"]),
            logprobs_nats=tuple(
                map(known_or_missing, row["logprob_nats"], row["unscored_reason"], row["token"])
            ),
            logits=_all_or_missing(row.get("logit"), NO_LOGITS),
            log_sigmoid_sums=_all_or_missing(row.get("log_sigmoid_sum"), NO_LOGISTIC_SUMS),
        )
        for row in lists.iter_rows(named=True)
    }


def _all_or_missing(values: list[float | None] | None, missing: Missing) -> Numbers | Missing:
    known = tuple(value for value in values or () if value is not None)
    return known if values and len(known) == len(values) else missing


def _absent(stimulus: Stimulus, answer: Answer, columns: _Columns | None) -> Missing | None:
    """Why nothing can be said of a sentence as a whole."""
    if not answer:
        return Missing(NOTHING_SCORED if any(stimulus.needed) else NOT_ASKED)
    if columns is None:
        return Missing(LEFT_OUT)
    text = stimulus.text
    span = (len(text) - len(text.lstrip()), len(text.rstrip()))
    named = any(token.region is not None for token in answer)
    return None if named or is_covered(span, answer) else Missing(NOT_ASKED)


def _sentence(
    stimulus: Stimulus, columns: _Columns, *, pseudo: bool | None, unigrams: Unigrams | None
) -> Sentence | Missing:
    logprobs: list[float] = []
    for value in columns.logprobs_nats:
        if isinstance(value, Missing):
            return value
        logprobs.append(value)
    text = stimulus.text
    return Sentence(
        logprobs_nats=tuple(logprobs),
        n_words=len(text.split()),
        n_chars=len(text),
        pseudo=pseudo,
        logits=columns.logits,
        log_sigmoid_sums_nats=columns.log_sigmoid_sums,
        unigram_logprobs_nats=unigrams.logprobs_nats(columns.tokens, text)
        if unigrams
        else NO_UNIGRAMS,
    )

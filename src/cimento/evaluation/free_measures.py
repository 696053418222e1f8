"""Measures of whole sentences without a suite: LP, PenLP, perplexity and the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache
from cimento.evaluation.freetext import EMPTY, AnsweredTexts, answer_texts
from cimento.io.tables import REQUESTS, UNIGRAM
from cimento.measures import Measure, columns_needed, find_measures
from cimento.measures.normalizing import MODEL, load_unigrams
from cimento.measures.scores import each_sentence, scores_table
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking

if TYPE_CHECKING:
    import polars as pl


def measure_texts(
    texts: Sequence[str],
    model: str | AnyScorer,
    *,
    measures: Sequence[str],
    unigrams: str = "",
    contexts: Sequence[str] | None = None,
    asking: Asking | None = None,
    cache: AnswerCache | None = None,
    remark: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """Some measures of each text as a whole, from the log-probabilities of its tokens.

    Args:
        texts: the texts, scored independently.
        model: a name as for ``cimento run -m``, or any object that follows the `Scorer` protocol.
        measures: their names, such as ``lp``, ``penlp:0.6`` or ``ppl``.
        unigrams: source of the frequencies that slor and normlp need, as for `load_unigrams`.
        contexts: the context that precedes each text and is not scored, one for each.
        asking: the settings of scoring.
        cache: the cache of answers; None forgets them afterwards.
        remark: is told of special tokens of the model in the texts.

    Returns:
        One row for each text and measure: ``text`` (number of the text, from 1), ``sentence``,
        ``measure``, ``value``, ``unit`` (blank for a pure number), ``unscored_reason``.

    Raises:
        UsageError: there is no such measure, or options do not go together.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    wanted = find_measures(measures)
    frequencies = load_unigrams(unigrams, language="") if unigrams else None
    chosen = asking or Asking()
    columns = [*chosen.columns, *columns_needed(measures)]
    columns += [UNIGRAM] if unigrams == MODEL else []
    chosen = replace(chosen, columns=tuple(dict.fromkeys(columns)))
    answered = answer_texts(
        texts, model, contexts=contexts, chosen=chosen, cache=cache, remark=remark
    )
    sentences = each_sentence(
        answered.tokens,
        _requests(answered),
        model_kind=answered.kind,
        unigrams=frequencies,
        segmenter=chosen.policy.segmenter,
    )
    return _as_shown(scores_table(sentences, wanted), answered.asked, wanted)


def _requests(answered: AnsweredTexts) -> pl.DataFrame:
    """The texts as stimuli of a single region, of the schema ``REQUESTS``."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "request": request, "suite": "", "item": str(number), "condition": "", "region": 0,
                "text": one.text, "context": one.context, "start": 0, "end": len(one.text),
                "needed": True,
            }
            for number, (one, request) in enumerate(
                zip(answered.asked, answered.numbers, strict=True), start=1
            )
        ],
        schema=REQUESTS.polars(),
    )  # fmt: skip


def _as_shown(
    scores: pl.DataFrame, asked: Sequence[tuple[str, str]], measures: Sequence[Measure]
) -> pl.DataFrame:
    """The scores by text and measure; a text that has no token is named empty."""
    import polars as pl

    known = pl.DataFrame(
        [
            (number, text, measure.name)
            for number, (text, _) in enumerate(asked, start=1)
            for measure in measures
        ],
        schema={"text": pl.Int32, "sentence": pl.String, "measure": pl.String},
        orient="row",
    )
    made = scores.select(
        pl.col("item").cast(pl.Int32).alias("text"), "measure", "value", "unit", "unscored_reason"
    )
    table = known.join(made, on=["text", "measure"], how="left", maintain_order="left")
    reason = pl.when(pl.col("sentence") == "").then(pl.lit(EMPTY)).otherwise("unscored_reason")
    return table.with_columns(reason.alias("unscored_reason"))

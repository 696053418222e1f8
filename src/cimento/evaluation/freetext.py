"""Scores of free text without a suite: surprisals by token, word or sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, Unpack, get_args

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import ask
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import checked
from cimento.io.tables import MONTE_CARLO_ERROR, REPLICATE, TOKENS, collected
from cimento.kinds.option_types import ScoringKeywords
from cimento.measures import boundary_corrected, surprisal_bits
from cimento.models.base import TWO_SIDED, Score
from cimento.models.characters import containing
from cimento.models.in_memory import ModelLike, as_scorers, split_tokenizer
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking, Policy
from cimento.options import ScoringOptions
from cimento.suites.stimuli import Span, one_or_several, word_spans

if TYPE_CHECKING:
    import polars as pl


INSIDE_ANOTHER = "inside a token of the word before"

_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


VOCABULARY = "vocabulary"
"""The column with the names of tokens in the model's vocabulary."""

Level: TypeAlias = Literal["token", "word", "sentence"]
"""What each row of `score` is about."""


def score(
    texts: str | Sequence[str],
    model: ModelLike,
    *,
    level: Level = "token",
    contexts: str | Sequence[str] | None = None,
    cache: AnswerCache | None = None,
    **options: Unpack[ScoringKeywords],
) -> pl.DataFrame:
    """Compute the surprisal of every token, word or sentence of some texts.

    ``-log2 P(token | the tokens before it)``, summed over words and sentences (Hale 2001,
    https://aclanthology.org/N01-1021); for masked models see ``pll``.

    Args:
        texts: one text, or several that are scored independently.
        model: as for `evaluate`.
        level: ``token``, ``word``, or ``sentence`` for one row per text.
        contexts: the context that precedes each text and is not scored, one for each text.
        cache: the cache of answers; None forgets them afterwards.
        options: options of ``cimento score``, named after its flags: ``device``, ``bos``,
            ``pll`` ...

    Returns:
        Columns ``text`` (number of the text, from 1), ``position`` (from 1), ``token`` (the
        characters that it covers; a character split among tokens is in the row of each) or
        ``word``, ``surprisal_bits``, ``unscored_reason``; for tokens, ``vocabulary`` (the name in
        the model's vocabulary, such as ``Ġgatto``) and the requested columns follow.
        For sentences ``text``, ``sentence``, ``n_tokens``, ``surprisal_bits``,
        ``surprisal_bits_per_token``, ``unscored_reason``; a sentence with a token that has no score
        has no sum. Scores by samples (masked diffusion) also have ``monte_carlo_error``: half
        the width of the 95% interval of the surprisal, in bits.

    Raises:
        UsageError: an unknown level or option, or more or fewer contexts than texts.
        CimentoError: the model cannot be used, or a text is too long for it.

    Example:
        >>> table = score("Le lampade erano accese.", "demo-causal", level="word")
        >>> table["word"].to_list(), round(table["surprisal_bits"][1], 1)
        (['Le', 'lampade', 'erano', 'accese', '.'], 8.9)
    """
    if level not in get_args(Level):
        raise UsageError(
            where="level", seen=f"got {level!r}", todo=did_you_mean(str(level), get_args(Level))
        )
    named, tokenizer = split_tokenizer(options)
    asking = checked(ScoringOptions, named).asking
    [ready] = as_scorers([model], asking, tokenizer, keeps=cache is not None)
    return _scored(texts, ready, level, contexts=contexts, asking=asking, cache=cache)


def _sentences(texts: Sequence[str], tokens: pl.DataFrame) -> pl.DataFrame:
    """A table with one row for each text, made from the rows of its tokens."""
    import polars as pl

    known = pl.DataFrame(
        {"text": range(1, len(texts) + 1), "sentence": texts},
        schema={"text": pl.Int32, "sentence": pl.String},
    )
    bits = pl.col("surprisal_bits")
    sums = tokens.group_by("text", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n_tokens"),
        pl.when(bits.is_not_null().all()).then(bits.sum()).alias("surprisal_bits"),
        pl.col("unscored_reason").drop_nulls().first(),
    )
    n_tokens = pl.col("n_tokens").fill_null(0)
    reason = pl.when(n_tokens == 0).then(pl.lit(EMPTY)).otherwise(pl.col("unscored_reason"))
    return known.join(sums, on="text", how="left", maintain_order="left").select(
        "text",
        "sentence",
        n_tokens,
        "surprisal_bits",
        (bits / n_tokens).alias("surprisal_bits_per_token"),
        reason.alias("unscored_reason"),
    )


EMPTY = "the text is empty"
"""Why an empty text has no surprisal."""


def score_texts(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    *,
    contexts: str | Sequence[str] | None = None,
    asking: Asking | None = None,
    words: bool = False,
    cache: AnswerCache | None = None,
    remark: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """The surprisal of every token or word of some texts.

    Args:
        texts: one text, or several that are scored independently.
        model: a name as for ``cimento run -m``, or any object that follows the `Scorer` protocol.
        contexts: the context that precedes each text and is not scored; for several texts, one for
            each. None takes the context of `asking`.
        asking: the settings of scoring.
        words: whether there is one row for each word, with the sum over its tokens, instead of one
            for each token.
        cache: the cache of answers; None forgets them afterwards.
        remark: is told of special tokens of the model in the texts.

    Returns:
        Columns ``text`` (number of the text, from 1), ``position`` (from 1), ``token`` (the
        characters that it covers; a character split among tokens is in the row of each) or
        ``word``, ``surprisal_bits``, ``unscored_reason``; for tokens, ``vocabulary`` (the name in
        the model's vocabulary, such as ``Ġgatto``) and the requested columns follow.

    Raises:
        UsageError: columns are requested for words, which have none, or there are more or fewer
            contexts than texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    level: Level = "word" if words else "token"
    return _scored(
        texts, model, level, contexts=contexts, asking=asking, cache=cache, remark=remark
    )


def _scored(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    level: Level,
    *,
    contexts: str | Sequence[str] | None,
    asking: Asking | None,
    cache: AnswerCache | None,
    remark: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """The surprisals of texts at a level, with their errors if they are estimates by samples."""
    import polars as pl

    from cimento.measures.errors import half_widths, replicates_of

    chosen = asking or Asking()
    if level == "word" and chosen.columns:
        raise UsageError(
            where="--store", seen="words have no columns", todo="Ask for tokens (--tokens)."
        )
    answered = answer_texts(
        texts, model, contexts=contexts, chosen=chosen, cache=cache, remark=remark
    )
    asked, order, tokens = answered.asked, answered.numbers, answered.tokens
    table = _at_level(level, asked, order, tokens, chosen)
    parts = [
        _at_level(level, asked, order, collected(replicate, where=TOKENS.name), chosen)
        for replicate in replicates_of(tokens.lazy())
    ]
    if not parts:
        return table
    errors = half_widths([part["surprisal_bits"].cast(pl.Float64).to_numpy() for part in parts])
    return table.with_columns(pl.Series(MONTE_CARLO_ERROR, errors).fill_nan(None))


class AnsweredTexts(NamedTuple):
    """Texts with the answers of a model.

    Attributes:
        asked: each text with its context.
        numbers: the request of each text; equal texts share one.
        tokens: the answers, of the schema ``TOKENS``.
        kind: of the model.
    """

    asked: Sequence[_TextInContext]
    numbers: Sequence[int]
    tokens: pl.DataFrame
    kind: str


def answer_texts(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    *,
    contexts: str | Sequence[str] | None,
    chosen: Asking,
    cache: AnswerCache | None,
    remark: Callable[[str], None] | None = None,
) -> AnsweredTexts:
    """Ask a model about every token of some texts.

    Args:
        texts: one text, or several.
        model: a name, or an object that follows the `Scorer` protocol.
        contexts: what precedes each text; None takes the context of `chosen`.
        chosen: the settings of scoring.
        cache: the cache of answers; None forgets them afterwards.
        remark: is told of special tokens of the model in the texts.

    Raises:
        UsageError: a rule for masked models is given to another, or contexts do not fit.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    asked = _asked(one_or_several(texts), contexts, chosen)
    numbers = {wanted: number for number, wanted in enumerate(dict.fromkeys(asked))}
    requests = tuple(Score(wanted.text, wanted.context) for wanted in numbers)
    handle = ModelHandle(model, chosen)
    kept, policy = cache or MemoryCache(), handle.scoring.policy
    kind = handle.scorer.card.kind
    if policy.pll != Policy().pll and kind not in TWO_SIDED:
        raise UsageError(
            where=f"--pll={policy.pll}",
            seen=f"it is for masked models, and {handle.label} is {kind}",
            todo="Leave it out.",
        )
    tokens = ask(requests, handle.scorer, policy=policy, cache=kept, columns=chosen.columns)
    handle.tell_special_tokens((part for wanted in numbers for part in wanted), remark)
    return AnsweredTexts(asked, [numbers[wanted] for wanted in asked], tokens, kind)


def _at_level(
    level: Level,
    asked: Sequence[_TextInContext],
    numbers: Sequence[int],
    tokens: pl.DataFrame,
    asking: Asking,
) -> pl.DataFrame:
    """The rows of tokens, words or sentences of texts, given the tokens of their requests."""
    answered = tokens.partition_by("request", as_dict=True, maintain_order=True)
    is_word = level == "word"
    further = [name for name in tokens.columns if name not in TOKENS.columns]
    shown = [] if is_word else [name for name in further if not name.startswith(REPLICATE)]
    rows: list[_Row] = []
    for number, (wanted, request) in enumerate(zip(asked, numbers, strict=True), start=1):
        table = answered.get((request,))
        if table is not None:
            made = (
                _word_rows(wanted.text, table, asking)
                if is_word
                else _token_rows(wanted.text, table, shown)
            )
            rows += [(number, *row) for row in made]
    scored = _table(rows, "word" if is_word else "token", shown)
    return _sentences([one.text for one in asked], scored) if level == "sentence" else scored


class _TextInContext(NamedTuple):
    """A text and its context; texts that agree in both make a single request."""

    text: str
    context: str


def _asked(
    texts: Sequence[str], contexts: str | Sequence[str] | None, asking: Asking
) -> list[_TextInContext]:
    """Every text with its context.

    Raises:
        UsageError: there are more or fewer contexts than texts, or words are to be told by bars.
    """
    if asking.policy.segmenter == "bars":
        raise UsageError(
            where="--segmenter=bars",
            seen="only the texts of suites have bars",
            todo="Give letters or icu.",
        )
    before = [asking.context.text] * len(texts) if contexts is None else one_or_several(contexts)
    if len(before) != len(texts):
        raise UsageError(where="contexts", seen=f"{len(before)} for {len(texts)} texts")
    return [
        _TextInContext(text, context.strip()) for text, context in zip(texts, before, strict=True)
    ]


_Row: TypeAlias = "tuple[int | float | str | None, ...]"


def _table(rows: Iterable[_Row], unit: str, columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    schema: dict[str, pl.DataType] = {
        "text": pl.Int32(),
        "position": pl.Int32(),
        unit: pl.String(),
        "surprisal_bits": pl.Float64(),
        "unscored_reason": pl.String(),
        **({VOCABULARY: pl.String()} if unit == "token" else {}),
    }
    schema |= {column: TOKENS.polars(present=columns)[column] for column in columns}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _token_rows(text: str, table: pl.DataFrame, columns: Sequence[str]) -> list[_Row]:
    # The names of byte-level vocabularies (Ġgatto, Ã¨) are not text; special tokens have no other.
    return [
        (
            position + 1, (text[start or 0 : end or 0] or name).translate(_ESCAPES), _bits(logprob),
            reason, name.translate(_ESCAPES), *others,
        )
        for position, name, start, end, logprob, reason, *others in table.select(
            "position", "token", "start", "end", "logprob_nats", "unscored_reason", *columns
        ).iter_rows()
    ]  # fmt: skip


def _word_rows(text: str, table: pl.DataFrame, asking: Asking) -> list[_Row]:
    policy = asking.policy
    spans = word_spans(text, punctuation=policy.punctuation, segmenter=policy.segmenter)
    surprisals = surprisals_of_words(table, spans)
    return [
        (number, text[low:high], bits, reason)
        for number, ((low, high), (bits, reason)) in enumerate(
            zip(spans, surprisals, strict=True), start=1
        )
    ]


def surprisals_of_words(
    table: pl.DataFrame, spans: Sequence[Span]
) -> list[tuple[float | None, str | None]]:
    """The surprisal of each word in bits, or None and the reason.

    Args:
        table: the tokens of one text.
        spans: the character spans of its words, ascending; a token belongs to the word in which it
            begins.
    """
    sums: list[float | None] = [None] * len(spans)
    reasons: list[str | None] = [INSIDE_ANOTHER] * len(spans)
    for start, logprob, reason in (
        boundary_corrected(table).select("start", "logprob_nats", "unscored_reason").iter_rows()
    ):
        word = containing(spans, start)
        if reasons[word] == INSIDE_ANOTHER:
            sums[word], reasons[word] = 0.0, None
        bits, so_far = _bits(logprob), sums[word]
        if bits is None or so_far is None:
            sums[word], reasons[word] = None, reasons[word] or reason
        else:
            sums[word] = so_far + bits
    return list(zip(sums, reasons, strict=True))


def _bits(logprob_nats: float | None) -> float | None:
    return None if logprob_nats is None else surprisal_bits(logprob_nats)

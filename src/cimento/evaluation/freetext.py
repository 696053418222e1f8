"""Scores of free text without a suite: surprisals by token or word, and marks of sentence ends.

The log-probability of a question mark or a full stop after each word shows where a model takes a
question to be complete (Chowdhury and Zamparelli 2018, aclanthology.org/C18-1012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, Unpack, get_args

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import ask
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import checked
from cimento.io.option_types import ScoringKeywords
from cimento.io.tables import MONTE_CARLO_ERROR, REPLICATE, TOKENS, collected
from cimento.measures import boundary_corrected, surprisal_bits
from cimento.models.base import TWO_SIDED, Score, Scorer
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
    asked = _asked(one_or_several(texts), contexts, chosen)
    numbers = {wanted: number for number, wanted in enumerate(dict.fromkeys(asked))}
    requests = tuple(Score(wanted.text, wanted.context) for wanted, i in numbers.items())
    handle = ModelHandle(model, chosen)
    kept, policy = cache or MemoryCache(), handle.scoring.policy
    if policy.pll != Policy().pll and (kind := handle.scorer.card.kind) not in TWO_SIDED:
        raise UsageError(
            where=f"--pll={policy.pll}",
            seen=f"it is for masked models, and {handle.label} is {kind}",
            todo="Leave it out.",
        )
    tokens = ask(requests, handle.scorer, policy=policy, cache=kept, columns=chosen.columns)
    handle.tell_special_tokens((part for wanted in numbers for part in wanted), remark)
    order = [numbers[wanted] for wanted in asked]
    table = _at_level(level, asked, order, tokens, chosen)
    parts = [
        _at_level(level, asked, order, collected(replicate, where=TOKENS.name), chosen)
        for replicate in replicates_of(tokens.lazy())
    ]
    if not parts:
        return table
    errors = half_widths([part["surprisal_bits"].cast(pl.Float64).to_numpy() for part in parts])
    return table.with_columns(pl.Series(MONTE_CARLO_ERROR, errors).fill_nan(None))


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


_MarkRow: TypeAlias = "tuple[int, int, str, str, float | None, float | None, str | None]"

MARKS = ("?", ".")
MERGED = "the mark is part of a longer token here"
_FINAL = ".?!"


def score_end_marks(
    texts: Sequence[str],
    model: str | Scorer,
    *,
    marks: Sequence[str] = MARKS,
    asking: Asking | None = None,
    cache: AnswerCache | None = None,
) -> pl.DataFrame:
    """The log-probability of each mark after each word of some texts.

    A mark at the end of a text is removed first. The value is log P(mark | prefix) of a causal
    model; of a masked model, log P of the mark as the last, masked token of prefix and mark.

    Args:
        texts: the texts, scored independently.
        model: a name as for ``cimento run -m``, or any object that follows the `Scorer` protocol.
        marks: the marks that may end a sentence.
        asking: the settings of scoring.
        cache: the cache of answers; None forgets them afterwards.

    Returns:
        Columns ``text`` (number of the text, from 1), ``position`` (of the word, from 1),
        ``word``, ``mark``, ``logprob_nats``, ``surprisal_bits``, ``unscored_reason``.

    Raises:
        UsageError: there are no marks, or one is empty.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    if not marks or not all(mark.strip() for mark in marks):
        raise UsageError(where="--end-marks", seen="a mark is empty", todo="Write '?.'.")
    chosen = asking or Asking()
    places = [
        (number, position, word, mark, prefix)
        for number, text in enumerate(texts, start=1)
        for position, (word, prefix) in enumerate(prefixes(text), start=1)
        for mark in marks
    ]
    asked = {(prefix, mark): None for *_, mark, prefix in places}
    numbers = {pair: number for number, pair in enumerate(asked)}
    requests = _requests(numbers, chosen.context.text)
    handle = ModelHandle(model, chosen)
    policy = handle.scoring.policy
    tokens = ask(requests, handle.scorer, policy=policy, cache=cache or MemoryCache())
    logprobs = _of_marks(tokens, requests)
    rows = []
    for number, position, word, mark, prefix in places:
        logprob, reason = logprobs.get(numbers[prefix, mark], (None, MERGED))
        bits = None if logprob is None else surprisal_bits(logprob)
        rows.append((number, position, word, mark, logprob, bits, reason))
    return _marks_table(rows)


def _requests(numbers: Mapping[tuple[str, str], int], context: str) -> tuple[Score, ...]:
    """A request for each prefix with a mark, of which only the mark is scored."""
    return tuple(
        Score(
            prefix + mark,
            context,
            wanted=((len(prefix), len(prefix) + len(mark)),),
        )
        for (prefix, mark), number in numbers.items()
    )


def _marks_table(rows: Sequence[_MarkRow]) -> pl.DataFrame:
    import polars as pl

    schema = {
        "text": pl.Int32,
        "position": pl.Int32,
        "word": pl.String,
        "mark": pl.String,
        "logprob_nats": pl.Float64,
        "surprisal_bits": pl.Float64,
        "unscored_reason": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def prefixes(text: str) -> list[tuple[str, str]]:
    """Each word of a text with the text up to its end; the final mark of the text is left out."""
    body = text.rstrip().rstrip(_FINAL).rstrip()
    words = []
    at = 0
    for word in body.split():
        at = body.index(word, at) + len(word)
        words.append((word, body[:at]))
    return words


def _of_marks(
    tokens: pl.DataFrame, requests: Sequence[Score]
) -> dict[int, tuple[float | None, str | None]]:
    """The log-probability of the mark of each request by number, or why there is none."""
    starts = [request.wanted[0][0] if request.wanted else 0 for request in requests]
    totals: dict[int, tuple[float | None, str | None]] = {}
    for row in tokens.iter_rows(named=True):
        number = row["request"]
        if row["end"] <= starts[number]:
            continue
        before, reason = totals.get(number, (0.0, None))
        if row["start"] < starts[number] and row["start"] >= 0:
            # A mark's token may begin with the blank before it; any other character belongs to the
            # word.
            text = requests[number].text[row["start"] : starts[number]]
            if text.strip():
                totals[number] = (None, MERGED)
                continue
        if row["logprob_nats"] is None:
            totals[number] = (None, row["unscored_reason"])
        elif reason is None and before is not None:
            totals[number] = (before + row["logprob_nats"], None)
    return totals

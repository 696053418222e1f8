"""Measures of every sentence of a run, computed from its stored tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from cimento.errors import MissingDependencyError
from cimento.io.tables import (
    BOUNDARY,
    LEFT_OUT,
    REQUESTS,
    SCORES,
    TOKENS,
    UNIGRAM,
    Rows,
    RowsT,
    collected,
)
from cimento.io.values import NoValue, Numbers, Reasons, Unit, Value, stretches
from cimento.measures.normalizing import MODEL, Unigrams
from cimento.measures.ordered import OrderedTokens, ordered_requests
from cimento.measures.sentence import NO_LOGISTIC_SUMS, NO_LOGITS, NO_UNIGRAMS, Measure, Sentence
from cimento.suites.stimuli import SegmenterRule, count_words

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Flags, Floats, Integers


NOT_ASKED = "its tokens were not asked for; run again with --all-tokens"
NO_MODEL_UNIGRAMS = NoValue(
    "the model's own unigrams were not stored; run again with --unigrams model (and --bos, if"
    " nothing comes before a text)"
)
NO_WORDS = NoValue("the text has no words")
NO_SEGMENTER = NoValue(
    "its words were found by ICU, which is not installed here (pip install 'cimento[segment]')"
)
NOTHING_SCORED = "no token of this sentence was scored"

_STIMULI_AT_ONCE = 1 << 12

_PAIRS_AT_ONCE = 1 << 20
"""Number of pairs of a token and a span it may cover that are in memory at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenColumns:
    """The columns of a tokens table as arrays, sorted by text and position.

    Attributes:
        unit: unit of the surprisals, which is the unit of their source.
        request: number of the text of each token.
        position: position of the token in its text.
        start: offset of its first character.
        end: offset one past its last character.
        region: number of its region where the source itself named it; else -1.
        surprisal: its surprisal; NaN where there is none.
        reasons: number of the reason why it has no surprisal; -1 where it has one.
        left_out: whether it is left out of every sum and length.
        texts: the reasons by number.
    """

    unit: Unit
    request: Integers
    position: Integers
    start: Integers
    end: Integers
    region: Integers
    surprisal: Floats
    reasons: Integers
    left_out: Flags
    texts: Reasons


def scored_blocks(
    tokens: Rows, requests: Rows
) -> Iterator[tuple[AskedColumns, pl.DataFrame, TokenColumns]]:
    """Blocks of stimuli with the tokens of their texts, kept small to save memory.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.

    Returns:
        For each block its stimuli, then its tokens as a table and as columns; there is at least one
        block. All blocks have the same unit and share one numbering of the reasons.
    """
    ordered, texts = OrderedTokens.of(boundary_corrected(tokens.lazy())), Reasons()
    in_bits = _all_in_bits(ordered.rows)
    for asked in AskedColumns.blocks(requests):
        known = asked.request[asked.request >= 0]
        limits = (int(known.min()), int(known.max())) if len(known) else (0, -1)
        block = ordered.of_texts(*limits)
        yield asked, block, _token_columns(block, texts, in_bits=in_bits)


def _token_columns(tokens: pl.DataFrame, texts: Reasons, *, in_bits: bool) -> TokenColumns:
    """The columns of the tokens of a block; see `scored_blocks`."""
    import numpy as np

    surprisal = (0.0 - tokens["logprob_nats"]).to_numpy()
    if in_bits:
        surprisal = tokens["surprisal_bits"].to_numpy()
    left_out = np.zeros(len(tokens), dtype=np.bool_)
    if tokens["unscored_reason"].null_count() < len(tokens):
        left_out = (tokens["unscored_reason"] == LEFT_OUT).fill_null(value=False).to_numpy()
    reasons = np.full(len(tokens), -1, dtype=np.int64)
    unknown = np.flatnonzero(~np.isfinite(surprisal) & ~left_out)
    rows = tokens.select("logprob_nats", "unscored_reason", "token")[unknown].iter_rows()
    for row, (logprob, reason, token) in zip(unknown.tolist(), rows, strict=True):
        why = reason or f"the token {token!r} has no score"
        if logprob is not None:
            why = f"the surprisal of the token {token!r} is {float(surprisal[row])}"
        reasons[row] = texts.number(why)
    return TokenColumns(
        unit="bits" if in_bits else "nats",
        surprisal=np.where(left_out, np.nan, surprisal),
        reasons=reasons,
        left_out=left_out,
        texts=texts,
        **{name: _whole_numbers(tokens, name) for name in _WHOLE},
    )


_WHOLE = ("request", "position", "start", "end", "region")


def _whole_numbers(tokens: pl.DataFrame, name: str) -> Integers:
    """A column of whole numbers, -1 for null; without nulls it is not copied."""
    import numpy as np

    if name not in tokens.columns:
        return np.broadcast_to(np.int64(-1), len(tokens))
    column = tokens[name]
    whole: Integers = (column.fill_null(-1) if column.null_count() else column).to_numpy()
    return whole


def _all_in_bits(tokens: pl.LazyFrame) -> bool:
    """Whether the source gave every score in bits."""
    import polars as pl

    if "surprisal_bits" not in tokens.collect_schema():
        return False
    in_bits = pl.col("surprisal_bits").is_not_null() | pl.col("logprob_nats").is_null()
    return bool(collected(tokens.select(in_bits.all()), where=TOKENS.name).item())


def boundary_corrected(tokens: RowsT) -> RowsT:
    """The tokens table with log-probabilities corrected for word boundaries, if it has the terms.

    The boundary term of each token is added to its surprisal. Over whole words, and so over
    regions, the terms add up to ln Z(before) - ln Z(after) of Pimentel and Meister 2024
    (doi:10.18653/v1/2024.emnlp-main.1020).
    """
    import polars as pl

    if BOUNDARY not in tokens.collect_schema():
        return tokens
    return tokens.with_columns(
        logprob_nats=pl.col("logprob_nats") - pl.col(BOUNDARY).fill_null(0.0)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedColumns:
    """The columns of a requests table: those of its stimuli, then those of their regions.

    `suites` to `offsets` have one entry for each stimulus, the others one for each region.

    Attributes:
        suites: name of the suite of each stimulus.
        items: id of its item.
        conditions: name of its condition.
        request: number of its text; -1 for none.
        texts: the whole sentence.
        offsets: index of its first region; the number of regions follows at the end.
        start: offset of the first character of each region.
        end: offset one past its last character.
        needed: whether a prediction refers to it.
        stimulus: index of the stimulus to which it belongs.
    """

    suites: pl.Series
    items: pl.Series
    conditions: pl.Series
    request: Integers
    texts: list[str]
    offsets: Integers
    start: Integers
    end: Integers
    needed: Flags
    stimulus: Integers

    def bars(self, number: int) -> list[int]:
        """Where the regions of a stimulus begin in its text."""
        regions = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        bars: list[int] = self.start[regions].tolist()
        return bars

    @classmethod
    def blocks(cls, requests: Rows) -> Iterator[AskedColumns]:
        """The columns of a requests table, one block of stimuli at a time."""
        import numpy as np
        import polars as pl

        table, begins = ordered_requests(requests)
        for number in range(0, max(len(begins) - 1, 1), _STIMULI_AT_ONCE):
            block = begins[number : number + _STIMULI_AT_ONCE + 1]
            rows = collected(table.slice(block[0], block[-1] - block[0]), where=REQUESTS.name)
            first = block[:-1] - block[0]
            stimuli = rows.select("suite", "item", "condition", "request", "text")[first]
            offsets = np.concatenate((first, [len(rows)])).astype(np.int64)
            yield cls(
                suites=stimuli["suite"],
                items=stimuli["item"],
                conditions=stimuli["condition"],
                request=stimuli["request"].cast(pl.Int64).fill_null(-1).to_numpy(),
                texts=stimuli["text"].to_list(),
                offsets=offsets,
                start=rows["start"].cast(pl.Int64).to_numpy(),
                end=rows["end"].cast(pl.Int64).to_numpy(),
                needed=rows["needed"].to_numpy(),
                stimulus=np.repeat(np.arange(len(first)), np.diff(offsets)),
            )


def token_places(scored: TokenColumns, request: Integers) -> tuple[Integers, Integers]:
    """The index of the first token of each text, and the number of its tokens."""
    import numpy as np

    first = np.searchsorted(scored.request, request, side="left")
    return first, np.searchsorted(scored.request, request, side="right") - first


def covered(
    scored: TokenColumns, first: Integers, counts: Integers, start: Integers, end: Integers
) -> Flags:
    """Whether an unbroken run of tokens reaches from the first character of each span to its last.

    The characters in between need not be covered, since some tokenizers drop some of them.

    Args:
        scored: all tokens.
        first: index of the first token of the text of each span.
        counts: number of tokens of that text.
        start: offset of the first character of each span.
        end: offset one past its last character.
    """
    import numpy as np

    complete = np.zeros(len(start), dtype=np.bool_)
    sizes = np.cumsum(counts) // _PAIRS_AT_ONCE
    for part in np.split(np.arange(len(start)), np.flatnonzero(np.diff(sizes)) + 1):
        token = stretches(first[part], counts[part])
        span = np.repeat(np.arange(len(part)), counts[part])
        position = scored.position[token]
        begin, stop = scored.start[token], scored.end[token]
        opens = (begin <= start[part][span]) & (start[part][span] < stop)
        closes = (begin < end[part][span]) & (end[part][span] <= stop)
        never, limits = np.zeros(len(part), dtype=np.int64), np.iinfo(np.int64)
        opening, closing = never + limits.max, never + limits.min
        np.minimum.at(opening, span[opens], position[opens])
        np.maximum.at(closing, span[closes], position[closes])
        between = (opening[span] <= position) & (position <= closing[span])
        present = np.bincount(span[between], minlength=len(part))
        reached = (opening < limits.max) & (closing > limits.min)
        complete[part] = reached & (present == np.where(reached, closing - opening + 1, -1))
    return complete


_TOGETHER = 4096
"""Number of sentences whose tokens are Python objects at the same time."""


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A stimulus with the token scores from which measures are computed.

    Attributes:
        suite: name of its suite.
        item: id of its item.
        condition: name of its condition.
        text: the whole sentence.
        sentence: the token scores of the sentence, or the reason why they are missing.
    """

    suite: str
    item: str
    condition: str
    text: str
    sentence: Sentence | NoValue


def each_sentence(
    tokens: Rows,
    requests: Rows,
    *,
    model_kind: str = "",
    unigrams: Unigrams | Literal["model"] | None = None,
    segmenter: SegmenterRule = "letters",
) -> Iterator[ScoredSentence]:
    """Every stimulus of a requests table with the token scores of its whole sentence.

    A sentence is missing, with the reason, where one of its tokens has no score or was not asked
    for. Tokens that are left out count toward no sum and no length.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        model_kind: ``causal``, ``seq2seq``, ``masked``, ``diffusion`` or an unknown kind.
        unigrams: frequencies, for the measures that need them; ``model`` for the column of the
            tokens table.
        segmenter: what words are in scripts without blanks, as when the texts were scored.
    """
    pseudo = {"causal": False, "seq2seq": False, "diffusion": False, "masked": True}.get(model_kind)
    for asked, block, scored in scored_blocks(tokens, requests):
        first, counts = token_places(scored, asked.request)
        absent = _absent(asked, scored, first, counts)
        suites, items = asked.suites.to_list(), asked.items.to_list()
        conditions = asked.conditions.to_list()
        for begin in range(0, len(asked.items), _TOGETHER):
            some = slice(begin, begin + _TOGETHER)
            columns = _columns(block, scored, first[some], counts[some])
            for place, known in enumerate(columns, start=begin):
                text, reason = asked.texts[place], absent[place]
                sentence = (
                    NoValue(reason)
                    if reason
                    else _sentence(
                        text,
                        known,
                        n_words=_n_words(text, asked.bars(place), segmenter),
                        pseudo=pseudo,
                        unigrams=unigrams,
                    )
                )
                yield ScoredSentence(suites[place], items[place], conditions[place], text, sentence)


def scores_table(scored: Iterable[ScoredSentence], measures: Sequence[Measure]) -> pl.DataFrame:
    """The measures of some sentences as a table of the schema ``answers.SCORES``."""
    import polars as pl

    rows = []
    for stimulus in scored:
        place = (stimulus.suite, stimulus.item, stimulus.condition)
        for measure in measures:
            value = measure.of(stimulus.sentence)
            known = (None, value.reason) if isinstance(value, NoValue) else (value, None)
            rows.append((*place, measure.name, known[0], measure.unit, known[1]))
    return pl.DataFrame(rows, schema=SCORES.polars(), orient="row")


def each_cost(
    scored: Iterable[ScoredSentence], measure: Measure
) -> Iterator[tuple[str, str, tuple[Value]]]:
    """The value of a measure for each stimulus, with the sign that makes lower values better.

    Predictions are written about surprisals, and the better sentence has the lower surprisal. A
    measure that is higher for the better sentence is negated, so that a prediction keeps the
    meaning that its author intended.

    Returns:
        For each stimulus its item, its condition and a tuple of its value.
    """
    for stimulus in scored:
        value = measure.of(stimulus.sentence)
        if not isinstance(value, NoValue) and measure.higher_is_better:
            value = 0.0 - value
        yield stimulus.item, stimulus.condition, (value,)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of the tokens table for one text, without the tokens that are left out."""

    tokens: tuple[str, ...]
    logprobs_nats: tuple[float, ...]
    logits: tuple[float, ...] | NoValue
    log_sigmoid_sums: tuple[float, ...] | NoValue
    unigrams: tuple[float, ...] | NoValue


def _columns(
    tokens: pl.DataFrame, scored: TokenColumns, first: Integers, counts: Integers
) -> Iterator[_Columns]:
    """The columns of each of some texts.

    Args:
        tokens: the tokens of a block, see `scored_blocks`.
        scored: the same tokens as columns.
        first: index of the first token of each text.
        counts: number of tokens of each text.
    """
    import numpy as np

    places, text = stretches(first, counts), np.repeat(np.arange(len(counts)), counts)
    kept = ~scored.left_out[places]
    rows = tokens[places[kept]]
    ends = np.cumsum(np.bincount(text[kept], minlength=len(counts)))
    names = ("token", "logprob_nats", "logit", "log_sigmoid_sum", UNIGRAM)
    columns = [rows[name].to_list() if name in rows.columns else [] for name in names]
    for begin, end in pairwise([0, *ends.tolist()]):
        words, logprobs, logits, sums, alone = (tuple(column[begin:end]) for column in columns)
        yield _Columns(
            words,
            logprobs,
            _all_or_missing(logits, NO_LOGITS),
            _all_or_missing(sums, NO_LOGISTIC_SUMS),
            _all_or_missing(alone, NO_MODEL_UNIGRAMS),
        )


def _all_or_missing(values: tuple[float | None, ...], missing: NoValue) -> Numbers | NoValue:
    known = tuple(value for value in values if value is not None)
    return known if values and len(known) == len(values) else missing


def _absent(
    asked: AskedColumns, scored: TokenColumns, first: Integers, counts: Integers
) -> list[str]:
    """The reason why each sentence as a whole has no value; empty where it has one."""
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
    # Tokens are written in reverse, so that the first unscored token of a sentence gives the
    # reason.
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


def _n_words(text: str, bars: Collection[int], segmenter: SegmenterRule) -> int | NoValue:
    """The number of words of a text, or why it cannot be told here."""
    try:
        return count_words(text, segmenter=segmenter, bars=bars) or NO_WORDS
    except MissingDependencyError:
        return NO_SEGMENTER


def _sentence(
    text: str,
    columns: _Columns,
    *,
    n_words: int | NoValue,
    pseudo: bool | None,
    unigrams: Unigrams | Literal["model"] | None,
) -> Sentence:
    known: Numbers | NoValue = NO_UNIGRAMS
    if unigrams == MODEL:
        known = columns.unigrams
    elif unigrams is not None:
        known = unigrams.logprobs_nats(columns.tokens, text)
    return Sentence(
        logprobs_nats=columns.logprobs_nats,
        n_words=n_words,
        n_chars=len(text),
        n_bytes=len(text.encode()),
        pseudo=pseudo,
        logits=columns.logits,
        log_sigmoid_sums_nats=columns.log_sigmoid_sums,
        unigram_logprobs_nats=known,
    )

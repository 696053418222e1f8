"""How probable the marks of a sentence's end are after each word of a text.

The log-probability of a question mark or a full stop after each word shows where a model takes a
question to be complete (Chowdhury and Zamparelli 2018, aclanthology.org/C18-1012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import ask
from cimento.errors import UsageError
from cimento.measures import surprisal_bits
from cimento.models.base import Score, Scorer
from cimento.models.settings import Asking

if TYPE_CHECKING:
    import polars as pl

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

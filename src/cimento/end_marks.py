"""How probable an end of the sentence is after every prefix of it (Chowdhury and Zamparelli 2018).

The log-probability of a question mark or a full stop after each word says where a model takes a
question to be complete (aclanthology.org/C18-1012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.scores import ask
from cimento.errors import UsageError
from cimento.measures import surprisal_bits
from cimento.models.base import Scorer
from cimento.sources import Asking, open_scorer
from cimento.suites.stimuli import Plan, ScoreRequest

if TYPE_CHECKING:
    import polars as pl

_Row: TypeAlias = "tuple[int, int, str, str, float | None, float | None, str | None]"

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

    A mark at the end of a text is left off first. Of a causal model it is P(mark | prefix), of a
    masked model that of the mark as the last, masked token of prefix and mark.

    Args:
        texts: each by itself.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        marks: what may end a sentence.
        asking: how the model is asked.
        cache: where answers are kept; None forgets them afterwards.

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
    plan = Plan(suite="end marks", requests=requests, places=())
    scorer = open_scorer(model, chosen)
    tokens = ask(plan, scorer, policy=chosen.policy, cache=cache or MemoryCache())
    found = _of_marks(tokens, requests)
    rows = []
    for number, position, word, mark, prefix in places:
        logprob, reason = found.get(numbers[prefix, mark], (None, MERGED))
        bits = None if logprob is None else surprisal_bits(logprob)
        rows.append((number, position, word, mark, logprob, bits, reason))
    return _table(rows)


def _requests(numbers: Mapping[tuple[str, str], int], context: str) -> tuple[ScoreRequest, ...]:
    """One text for each prefix and mark, of which only the mark is scored."""
    return tuple(
        ScoreRequest(
            number,
            prefix + mark,
            context,
            wanted=((len(prefix), len(prefix) + len(mark)),),
        )
        for (prefix, mark), number in numbers.items()
    )


def _table(rows: Sequence[_Row]) -> pl.DataFrame:
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
    """Each word of a text with the text up to its end, the final mark of the text left off."""
    body = text.rstrip().rstrip(_FINAL).rstrip()
    found = []
    at = 0
    for word in body.split():
        at = body.index(word, at) + len(word)
        found.append((word, body[:at]))
    return found


def _of_marks(
    tokens: pl.DataFrame, requests: Sequence[ScoreRequest]
) -> dict[int, tuple[float | None, str | None]]:
    """Number of the request to the log-probability of its mark, or why there is none."""
    starts = {each.id: each.wanted[0][0] if each.wanted else 0 for each in requests}
    found: dict[int, tuple[float | None, str | None]] = {}
    for row in tokens.iter_rows(named=True):
        number = row["request"]
        if row["end"] <= starts[number]:
            continue
        before, reason = found.get(number, (0.0, None))
        if row["start"] < starts[number] and row["start"] >= 0:
            # A tokenizer may count the blank before a mark to it; other characters are the word's.
            text = requests[number].text[row["start"] : starts[number]]
            if text.strip():
                found[number] = (None, MERGED)
                continue
        if row["logprob_nats"] is None:
            found[number] = (None, row["unscored_reason"])
        elif reason is None and before is not None:
            found[number] = (before + row["logprob_nats"], None)
    return found

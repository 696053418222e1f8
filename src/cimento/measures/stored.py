"""The stored tables as measures read them: tokens of each text, regions of each stimulus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.answers import BOUNDARY, LEFT_OUT
from cimento.measures.values import Missing, Unit, Value

if TYPE_CHECKING:
    import polars as pl

    from cimento.requests import Span

NOT_ASKED = "its tokens were not asked for; run again with --all-tokens"
NOTHING_SCORED = "no token of this sentence was scored"


class StoredToken(NamedTuple):
    """A token as measures see it.

    Attributes:
        position: place in its text.
        start: its first character.
        end: one past its last character.
        region: number of the region, where the source itself named it.
        surprisal: in the unit of the source; None for a token that is left out of every value.
    """

    position: int
    start: int
    end: int
    region: int | None
    surprisal: Value | None


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What was asked for one condition of one item.

    Attributes:
        request: number of its text.
        suite: name of its suite.
        item: id of its item.
        condition: its name.
        text: the whole sentence.
        spans: characters of each region, in order.
        needed: whether a prediction refers to the region.
    """

    request: int
    suite: str
    item: str
    condition: str
    text: str
    spans: list[Span]
    needed: list[bool]


Answer: TypeAlias = "Sequence[StoredToken]"


def read_answers(tokens: pl.DataFrame) -> tuple[Unit, Iterator[tuple[int, list[StoredToken]]]]:
    """The unit of the source; and the texts by their numbers, ascending, with their tokens.

    A text is made when its turn comes: as objects, tokens take several times the room that they
    have in the table. A text of which nothing was asked does not come.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
    """
    import polars as pl

    tokens = corrected(tokens)
    unit: Unit = "nats"
    surprisal = 0.0 - pl.col("logprob_nats")
    if _all_in_bits(tokens):
        unit = "bits"
        surprisal = (
            pl.when(pl.col("logprob_nats").is_not_null())
            .then(pl.col("surprisal_bits"))
            .otherwise(None)
        )
    region = pl.col("region") if "region" in tokens.columns else pl.lit(None, dtype=pl.Int32)
    rows = _in_order(tokens).select(
        "request",
        "position",
        "start",
        "end",
        region.alias("region"),
        surprisal.alias("surprisal"),
        "unscored_reason",
        "token",
    )
    texts = groupby(rows.iter_rows(), key=itemgetter(0))
    return unit, ((request, [_stored(*row[1:]) for row in text]) for request, text in texts)


def _in_order(tokens: pl.DataFrame) -> pl.DataFrame:
    """The tokens by text and position; as they are where they are in order, without a copy."""
    import polars as pl

    place = tokens.select(pl.struct("request", "position")).to_series()
    return tokens if place.is_sorted() else tokens.sort("request", "position")


def _all_in_bits(tokens: pl.DataFrame) -> bool:
    """Whether the source gave bits for every token that has a score."""
    if "surprisal_bits" not in tokens.columns:
        return False
    scored, in_bits = tokens["logprob_nats"].is_not_null(), tokens["surprisal_bits"].is_not_null()
    return bool((in_bits | ~scored).all())


def _stored(
    position: int,
    start: int,
    end: int,
    region: int | None,
    value: float | None,
    reason: str | None,
    token: str,
) -> StoredToken:
    """A row of the tokens table."""
    known = None if reason == LEFT_OUT else known_or_missing(value, reason, token)
    return StoredToken(position, start, end, region, known)


def corrected(tokens: pl.DataFrame) -> pl.DataFrame:
    """The tokens table with log-probabilities that make those of words, where it can make them.

    A token's term for word boundaries is added to its surprisal; over whole words, and so over
    regions, the terms add up to ln Z(before) - ln Z(after) of Pimentel and Meister 2024
    (doi:10.18653/v1/2024.emnlp-main.1020).
    """
    import polars as pl

    if BOUNDARY not in tokens.columns:
        return tokens
    return tokens.with_columns(
        logprob_nats=pl.col("logprob_nats") - pl.col(BOUNDARY).fill_null(0.0)
    )


def known_or_missing(value: float | None, reason: str | None, token: str) -> Value:
    """The value of a token, or why there is none: it was not scored, or is not finite."""
    if value is None:
        return Missing(reason or f"the token {token!r} has no score")
    if not math.isfinite(value):
        return Missing(f"the surprisal of the token {token!r} is {value}")
    return value


def read_stimuli(requests: pl.DataFrame) -> list[Stimulus]:
    """The stimuli of a requests table, their regions in order.

    Args:
        requests: a table of the schema ``answers.REQUESTS``.
    """
    stimuli: dict[tuple[str, str], Stimulus] = {}
    rows = requests.sort("region", maintain_order=True).select(
        "request", "suite", "item", "condition", "text", "start", "end", "needed"
    )
    for request, suite, item, condition, text, start, end, needed in rows.iter_rows():
        stimulus = stimuli.setdefault(
            (item, condition), Stimulus(request, suite, item, condition, text, [], [])
        )
        stimulus.spans.append((start, end))
        stimulus.needed.append(needed)
    return list(stimuli.values())


def is_covered(span: Span, answer: Answer) -> bool:
    """Whether tokens in one unbroken row reach from the first character of `span` to its last.

    The characters between need not be covered: some tokenizers drop some.
    """
    first = [t.position for t in answer if t.start <= span[0] < t.end]
    last = [t.position for t in answer if t.start < span[1] <= t.end]
    if not first or not last:
        return False
    present = sum(first[0] <= t.position <= last[-1] for t in answer)
    return present == last[-1] - first[0] + 1

"""The stored tables as measures read them: tokens of each text, regions of each stimulus."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from cimento.answers import BOUNDARY, LEFT_OUT
from cimento.measures.values import Missing, Reasons, Unit, Value
from cimento.pieces import Pieces

if TYPE_CHECKING:
    import polars as pl

    from cimento.arrays import Flags, Floats, Integers
    from cimento.requests import Span

NOT_ASKED = "its tokens were not asked for; run again with --all-tokens"
NOTHING_SCORED = "no token of this sentence was scored"


def in_suite_order(requests: pl.DataFrame) -> pl.DataFrame:
    """A requests table in which the rows of an item, and of a stimulus in it, stand together.

    Those of a stimulus are in the order of its regions.
    """
    import polars as pl

    row = pl.col("row").first()
    order = (row.over("item"), row.over("item", "condition"), "region", "row")
    return requests.with_row_index("row").sort(*order).drop("row")


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
StoredTable: TypeAlias = "pl.DataFrame | Pieces"
_Text = TypeVar("_Text")
_Row: TypeAlias = tuple[int, int, int, int, int | None, float | None, str | None, str]
"""Number of a text, then the fields of a `StoredToken` and what its value is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenColumns:
    """A tokens table as measures read it: by text and position.

    Attributes:
        unit: of the surprisals: that of their source.
        request: number of the text of each token.
        position: its place there.
        start: its first character.
        end: one past its last character.
        region: number of the region, where the source itself named it; else -1.
        surprisal: NaN where there is none.
        reasons: numbers of the reasons why there is none.
        left_out: whether the token counts in nothing.
        texts: the reasons.
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


def token_columns(tokens: pl.DataFrame) -> TokenColumns:
    """The columns of a tokens table, with the correction for word boundaries where it has one.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
    """
    import numpy as np
    import polars as pl

    place = pl.struct("request", "position")
    if not tokens.select(place).to_series().is_sorted():
        tokens = tokens.sort("request", "position")
    tokens = corrected(tokens)
    in_bits = _all_in_bits(tokens)
    surprisal = (0.0 - tokens["logprob_nats"]).to_numpy()
    if in_bits:
        surprisal = tokens["surprisal_bits"].to_numpy()
    left_out = (tokens["unscored_reason"] == LEFT_OUT).fill_null(value=False).to_numpy()
    texts, reasons = Reasons(), np.full(len(tokens), -1, dtype=np.int64)
    unknown = np.flatnonzero(~np.isfinite(surprisal) & ~left_out)
    rows = tokens.select("logprob_nats", "unscored_reason", "token")[unknown].iter_rows()
    for row, (logprob, reason, token) in zip(unknown.tolist(), rows, strict=True):
        value = None if logprob is None else float(surprisal[row])
        reasons[row] = texts.number(_why_unknown(value, reason, token))
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
    """A column of whole numbers; -1 where there is none."""
    import numpy as np
    import polars as pl

    if name not in tokens.columns:
        return np.full(len(tokens), -1, dtype=np.int64)
    return tokens[name].cast(pl.Int64).fill_null(-1).to_numpy()


def side_by_side(
    requests: StoredTable, texts: Iterator[tuple[int, _Text]]
) -> Iterator[tuple[Stimulus, _Text | None]]:
    """The stimuli in the order of their suite, each with what there is of its text, or None.

    Args:
        requests: a table of the schema ``answers.REQUESTS``.
        texts: by their numbers, ascending.
    """
    asked = _in_suite_order(requests)
    rows = _Rows(asked)
    kept: dict[int, _Text] = {}
    following = next(texts, None)
    for stimulus in _stimuli(asked):
        number = stimulus.request
        while following is not None and following[0] <= number:
            if following[0] in rows:
                kept[following[0]] = following[1]
            following = next(texts, None)
        yield stimulus, kept.get(number)
        rows.use(number, len(stimulus.spans))
        if number not in rows:
            kept.pop(number, None)


class _Rows:
    """How many rows of a requests table each text still has to come: a few bytes for a text."""

    def __init__(self, requests: Pieces) -> None:
        import polars as pl

        rows = pl.col("len").sum()
        pieces = (piece.group_by("request").len() for piece in requests)
        counts = pl.concat(pieces).drop_nulls().group_by("request").agg(rows).sort("request")
        # Mostly all numbers from 0 on are there, and need no place of their own.
        first, last = counts["request"].min(), counts["request"].max()
        self._numbers: Sequence[int] = range(first, last + 1) if len(counts) else ()  # type: ignore[operator,arg-type]  # whole numbers
        if len(self._numbers) != len(counts):
            self._numbers = array("q", counts["request"].cast(pl.Int64).to_numpy().tobytes())
        self._left = array("i", counts["len"].cast(pl.Int32).to_numpy().tobytes())

    def __contains__(self, number: int) -> bool:
        place = self._place(number)
        return place is not None and self._left[place] > 0

    def use(self, number: int, rows: int) -> None:
        """Count some rows of a text as gone through."""
        place = self._place(number)
        if place is not None:
            self._left[place] -= rows

    def _place(self, number: int) -> int | None:
        numbers = self._numbers
        if isinstance(numbers, range):
            return number - numbers.start if number in numbers else None
        place = bisect_left(numbers, number)
        return place if place < len(numbers) and numbers[place] == number else None


def read_answers(tokens: StoredTable) -> tuple[Unit, Iterator[tuple[int, list[StoredToken]]]]:
    """The unit of the source; and the texts by their numbers, ascending, with their tokens.

    A text is made when its turn comes. A text of which nothing was asked does not come.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
    """
    pieces = _in_order(_in_pieces(tokens).changed(corrected))
    in_bits = all(map(_all_in_bits, pieces))
    rows = chain.from_iterable(_rows(piece, in_bits=in_bits) for piece in pieces)
    texts = groupby(rows, key=itemgetter(0))
    unit: Unit = "bits" if in_bits else "nats"
    return unit, ((request, [_stored(*row[1:]) for row in text]) for request, text in texts)


def in_whole_texts(tokens: StoredTable) -> Iterator[pl.DataFrame]:
    """A tokens table in order, in pieces each of which ends where a text ends.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
    """
    import polars as pl

    begun: list[pl.DataFrame] = []
    for piece in _in_order(_in_pieces(tokens)):
        table = pl.concat([*begun, piece])
        last = pl.col("request") == pl.col("request").last()
        yield table.filter(~last)
        begun = [table.filter(last)]
    yield from begun


def _in_pieces(table: StoredTable) -> Pieces:
    return table if isinstance(table, Pieces) else Pieces.of(table)


def _rows(tokens: pl.DataFrame, *, in_bits: bool) -> Iterator[_Row]:
    """The rows of a piece: the number of the text, then what `_stored` takes."""
    import polars as pl

    surprisal = 0.0 - pl.col("logprob_nats")
    if in_bits:
        known = pl.col("logprob_nats").is_not_null()
        surprisal = pl.when(known).then(pl.col("surprisal_bits")).otherwise(None)
    region = pl.col("region") if "region" in tokens.columns else pl.lit(None, dtype=pl.Int32)
    columns = (region.alias("region"), surprisal.alias("surprisal"), "unscored_reason", "token")
    return tokens.select("request", "position", "start", "end", *columns).iter_rows()


def _in_order(tokens: Pieces) -> Pieces:
    """The tokens by text and position; as they are where they are in order, without a copy."""
    import polars as pl

    place = pl.struct("request", "position")
    last = None
    for piece in tokens:
        places = piece.select(place).to_series()
        if not places.is_sorted() or (last is not None and len(places) and _pair(places[0]) < last):
            return Pieces.of(tokens.whole().sort("request", "position"))
        last = _pair(places[-1]) if len(places) else last
    return tokens


def _pair(place: dict[str, int]) -> tuple[int, int]:
    return place["request"], place["position"]


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
    if value is None or not math.isfinite(value):
        return Missing(_why_unknown(value, reason, token))
    return value


def _why_unknown(value: float | None, reason: str | None, token: str) -> str:
    if value is None:
        return reason or f"the token {token!r} has no score"
    return f"the surprisal of the token {token!r} is {value}"


def _in_suite_order(requests: StoredTable) -> Pieces:
    """A requests table in the order of its suite, which it has where it is in pieces."""
    return requests if isinstance(requests, Pieces) else Pieces.of(in_suite_order(requests))


def _stimuli(requests: Pieces) -> Iterator[Stimulus]:
    columns = ("item", "condition", "region", "request", "suite", "text", "start", "end", "needed")
    rows = chain.from_iterable(piece.select(columns).iter_rows() for piece in requests)
    for (item, condition), own in groupby(rows, key=itemgetter(0, 1)):
        regions = sorted((row[2:] for row in own), key=itemgetter(0))
        _, request, suite, text, *_ = regions[0]
        yield Stimulus(
            request=request,
            suite=suite,
            item=item,
            condition=condition,
            text=text,
            spans=[(start, end) for *_, start, end, _ in regions],
            needed=[needed for *_, needed in regions],
        )


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

"""Token strips: a stimulus cut into regions and these into pieces that carry a surprisal.

A strip shows the characters of the text itself and never a tokenizer's own marks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cimento.measures import surprisal_bits

if TYPE_CHECKING:
    import polars as pl

MERGED_REASON = "another token of the same characters has no score"


@dataclass(frozen=True, slots=True)
class Token:
    """One row of the tokens table.

    Attributes:
        text: the token as the tokenizer writes it.
        start: first character covered; -1 for a special token.
        end: one past the last character covered.
        surprisal_bits: None where it has no score.
        reason: why it has none; empty where it has one.
        region: number of the region, where the source itself named it.
    """

    text: str
    start: int
    end: int
    surprisal_bits: float | None
    reason: str = ""
    region: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a strip.

    Attributes:
        text: what to show.
        asked: whether the model was asked about it; blanks and text that no prediction needs
            are only shown.
        surprisal_bits: of all tokens that cover it; None where it has no score.
        reason: why it has none, where it was asked for.
    """

    text: str
    asked: bool = False
    surprisal_bits: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RegionStrip:
    """The pieces of one region, with the blank that follows it.

    Attributes:
        number: of the region, from 1.
        needed: whether a prediction refers to it.
        pieces: in text order.
    """

    number: int
    needed: bool
    pieces: tuple[Piece, ...]

    @property
    def touches_next(self) -> bool:
        """Whether nothing stands between it and the region after it, as in ``l'|uomo``."""
        return bool(self.pieces) and not self.pieces[-1].text[-1:].isspace()

    @property
    def begins_blank(self) -> bool:
        """Whether its first token takes the blank before it with it."""
        return bool(self.pieces) and self.pieces[0].text[:1].isspace()


@dataclass(frozen=True, slots=True)
class Strip:
    """One stimulus: a condition of an item."""

    condition: str
    regions: tuple[RegionStrip, ...]

    @property
    def text(self) -> str:
        """The stimulus as it is shown."""
        return "".join(piece.text for region in self.regions for piece in region.pieces).strip()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a region lies in its text: one row of the requests table."""

    number: int
    start: int
    end: int
    needed: bool


def strip(
    condition: str, text: str, *, stretches: Sequence[Stretch], tokens: Sequence[Token]
) -> Strip:
    """Cut a stimulus into regions and pieces.

    Args:
        condition: name of the condition.
        text: the stimulus.
        stretches: its regions, in order.
        tokens: what is known of its tokens, in order; those not asked for may be missing.
    """
    groups: dict[int, list[Token]] = {stretch.number: [] for stretch in stretches}
    for token in tokens:
        number = token.region or _region_of(token.start, stretches)
        if number in groups:
            groups[number].append(token)
    regions = []
    cursor = 0
    for index, stretch in enumerate(stretches):
        covered = merge(groups[stretch.number])
        # The blank before the next region belongs to this one; a token may reach over it.
        after = stretches[index + 1].start if index + 1 < len(stretches) else len(text)
        end = max([stretch.end, after, *(token.end for token in covered)])
        pieces = tuple(_pieces(text, cursor, end, covered))
        regions.append(RegionStrip(stretch.number, stretch.needed, pieces))
        cursor = max(cursor, end)
    return Strip(condition, tuple(regions))


def merge(tokens: Sequence[Token]) -> list[Token]:
    """Tokens that share characters as one, their surprisals added.

    Byte-level tokenizers cut inside a character; the parts then cover the same one. A token
    without a score leaves the whole without.

    Args:
        tokens: in text order.
    """
    merged: list[Token] = []
    for token in tokens:
        if merged and 0 <= token.start < merged[-1].end:
            merged[-1] = _joined(merged[-1], token)
        else:
            merged.append(token)
    return merged


def _joined(first: Token, second: Token) -> Token:
    end = max(first.end, second.end)
    if first.surprisal_bits is None or second.surprisal_bits is None:
        reason = first.reason or second.reason or MERGED_REASON
        return replace(first, end=end, surprisal_bits=None, reason=reason)
    return replace(first, end=end, surprisal_bits=first.surprisal_bits + second.surprisal_bits)


def _region_of(start: int, stretches: Sequence[Stretch]) -> int | None:
    """The last region with text that begins at or before a character, else the first with text."""
    if start < 0:
        return None
    filled = [stretch for stretch in stretches if stretch.end > stretch.start]
    if not filled:
        return None
    index = bisect_right(filled, start, key=lambda stretch: stretch.start) - 1
    return filled[max(index, 0)].number


def _pieces(text: str, cursor: int, end: int, tokens: Sequence[Token]) -> Iterator[Piece]:
    for token in tokens:
        if token.start < 0:
            # A special token of a recording that counts it in a region: shown by its name.
            yield _scored(token.text, token)
            continue
        if token.start > cursor:
            yield Piece(text[cursor : token.start])
        yield _scored(text[max(cursor, token.start) : token.end], token)
        cursor = max(cursor, token.end)
    if end > cursor:
        yield Piece(text[cursor:end])


def _scored(text: str, token: Token) -> Piece:
    # A token that is nothing but a blank has no characters of its own.
    return Piece(
        text if text.strip() else "␣",
        asked=True,
        surprisal_bits=token.surprisal_bits,
        reason=token.reason,
    )


def read_tokens(table: pl.DataFrame) -> dict[int, list[Token]]:
    """The rows of a tokens table by request, in token order."""
    columns = ("request", "token", "start", "end", "logprob_nats", "unscored_reason")
    extra = [name for name in ("region", "surprisal_bits") if name in table.columns]
    answers: dict[int, list[Token]] = {}
    for row in table.sort("request", "position").select(*columns, *extra).iter_rows(named=True):
        recorded = row.get("surprisal_bits")
        logprob = row["logprob_nats"]
        bits = None if logprob is None else surprisal_bits(logprob)
        token = Token(
            text=row["token"],
            start=-1 if row["start"] is None else row["start"],
            end=-1 if row["end"] is None else row["end"],
            surprisal_bits=bits if recorded is None else recorded,
            reason=row["unscored_reason"] or "",
            region=row.get("region"),
        )
        answers.setdefault(row["request"], []).append(token)
    return answers

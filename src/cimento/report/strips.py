"""Token strips: stimuli divided into regions, and regions into pieces with a surprisal.

A strip shows the characters of the text itself, never a tokenizer's own marks. The conditions of an
item are aligned, to make the words that differ easy to find. Regions that a suite declares are
aligned as they are. If no region decides alone, as in pairs of whole sentences, stimuli are divided
into stretches of words that are equal or different.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from cimento.measures import BITS_PER_NAT

if TYPE_CHECKING:
    import polars as pl


MERGED_REASON = "another token of the same characters has no score"


class StripToken(NamedTuple):
    """One row of the tokens table.

    Attributes:
        text: the token as written by the tokenizer.
        start: index of the first character covered; -1 for a special token.
        end: one past the index of the last character covered.
        surprisal_bits: surprisal in bits; None if the token has no score.
        reason: reason why it has none; empty if it has one.
        region: number of the region, if the source itself named it.
    """

    text: str
    start: int
    end: int
    surprisal_bits: float | None
    reason: str = ""
    region: int | None = None


class Piece(NamedTuple):
    """A part of a strip.

    Attributes:
        text: text to show.
        asked: whether the model was asked about it; spaces, and text that no prediction needs, are
            only shown.
        surprisal_bits: sum over all tokens that cover the piece; None if it has no score.
        reason: reason why it has none, if the model was asked about it.
    """

    text: str
    asked: bool = False
    surprisal_bits: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RegionStrip:
    """The pieces of one region, with the space that follows it.

    Attributes:
        number: number of the region, from 1.
        needed: whether a prediction refers to it.
        pieces: pieces in text order.
    """

    number: int
    needed: bool
    pieces: tuple[Piece, ...]

    @property
    def touches_next(self) -> bool:
        """Whether no space separates it from the next region, as in ``l'|uomo``."""
        return bool(self.pieces) and not self.pieces[-1].text[-1:].isspace()

    @property
    def begins_blank(self) -> bool:
        """Whether its first token includes the preceding space."""
        return bool(self.pieces) and self.pieces[0].text[:1].isspace()


@dataclass(frozen=True, slots=True)
class Strip:
    """One stimulus: a condition of an item."""

    condition: str
    regions: tuple[RegionStrip, ...]

    @property
    def text(self) -> str:
        """The stimulus as displayed."""
        return "".join(piece.text for region in self.regions for piece in region.pieces).strip()


@dataclass(frozen=True, slots=True)
class Stretch:
    """The place of a region in its text, which is one row of the requests table."""

    number: int
    start: int
    end: int
    needed: bool


def strip(
    condition: str, text: str, *, stretches: Sequence[Stretch], tokens: Sequence[StripToken]
) -> Strip:
    """A stimulus divided into regions and pieces.

    Args:
        condition: name of the condition.
        text: the stimulus.
        stretches: its regions, in order.
        tokens: its scored tokens, in order; tokens that were not asked for may be missing.
    """
    groups = _by_region(tokens, stretches)
    regions = []
    cursor = 0
    for index, stretch in enumerate(stretches):
        covered = merge_tokens(groups[stretch.number])
        # The space before the next region belongs to this one; a token may extend beyond it.
        after = stretches[index + 1].start if index + 1 < len(stretches) else len(text)
        end = max([stretch.end, after, *(token.end for token in covered)])
        pieces = _pieces(text, cursor, end, covered)
        regions.append(RegionStrip(stretch.number, stretch.needed, pieces))
        cursor = max(cursor, end)
    return Strip(condition, tuple(regions))


def merge_tokens(tokens: Sequence[StripToken]) -> list[StripToken]:
    """The tokens, with those that share characters merged and their surprisals added.

    Byte-level tokenizers may split a character, so that the parts cover the same one. If one of the
    parts has no score, the merged token has none.

    Args:
        tokens: tokens in text order.
    """
    merged: list[StripToken] = []
    for token in tokens:
        if merged and 0 <= token.start < merged[-1].end:
            merged[-1] = _joined(merged[-1], token)
        else:
            merged.append(token)
    return merged


def _joined(first: StripToken, second: StripToken) -> StripToken:
    end = max(first.end, second.end)
    if first.surprisal_bits is None or second.surprisal_bits is None:
        reason = first.reason or second.reason or MERGED_REASON
        return first._replace(end=end, surprisal_bits=None, reason=reason)
    return first._replace(end=end, surprisal_bits=first.surprisal_bits + second.surprisal_bits)


def _by_region(
    tokens: Sequence[StripToken], stretches: Sequence[Stretch]
) -> dict[int, list[StripToken]]:
    """The tokens of each region: that named by the source, or the last that has begun by then."""
    groups: dict[int, list[StripToken]] = {stretch.number: [] for stretch in stretches}
    filled = [stretch for stretch in stretches if stretch.end > stretch.start]
    starts = [stretch.start for stretch in filled]
    for token in tokens:
        number = token.region
        if not number and token.start >= 0 and filled:
            # A token before the first region belongs to it.
            number = filled[max(bisect_right(starts, token.start) - 1, 0)].number
        if number in groups:
            groups[number].append(token)
    return groups


def _pieces(text: str, cursor: int, end: int, tokens: Sequence[StripToken]) -> tuple[Piece, ...]:
    # Pages have hundreds of thousands of pieces: keyword arguments would double the time.
    pieces = []
    for name, start, end_of_token, bits, reason, _ in tokens:
        if start < 0 or (start == end_of_token and name.strip("▁Ġ ")):
            # A special token that a recording counts as part of a region is shown by its name.
            shown = name
        else:
            if start > cursor:
                pieces.append(Piece(text[cursor:start]))
                cursor = start
            shown = text[cursor:end_of_token]
            cursor = max(cursor, end_of_token)
        # A token that is only a space has no visible characters.
        shown = shown if shown and not shown.isspace() else "␣"
        pieces.append(Piece(shown, True, bits, reason))  # noqa: FBT003  # see above
    if end > cursor:
        pieces.append(Piece(text[cursor:end]))
    return tuple(pieces)


def read_tokens(table: pl.DataFrame) -> dict[int, list[StripToken]]:
    """The rows of a tokens table by request, in token order."""
    import polars as pl

    bits = (0.0 - pl.col("logprob_nats").cast(pl.Float64)) * BITS_PER_NAT
    if "surprisal_bits" in table.columns:
        bits = pl.coalesce("surprisal_bits", bits)
    rows = table.sort("request", "position").select(
        "request",
        "token",
        pl.col("start", "end").fill_null(-1),
        bits.alias("bits"),
        pl.col("unscored_reason").fill_null(""),
        *(["region"] if "region" in table.columns else []),
    )
    answers: defaultdict[int, list[StripToken]] = defaultdict(list)
    requests, *columns = (column.to_list() for column in rows)
    for request, token in zip(requests, map(StripToken, *columns), strict=True):
        answers[request].append(token)
    return answers


_PAIR = 2
LONGEST_ALIGNED = 400
"""Most words of an aligned text; longer texts are compared only from both ends, which is fast."""

PieceWord = tuple[Piece, ...]
Cut = tuple[int, bool]
"""The end of a stretch, and whether it differs."""


def aligned(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """The strips with their stretches as regions, or unchanged if there is nothing to align.

    Args:
        strips: the conditions of one item.
    """
    if len(strips) < _PAIR or not all(map(_is_whole, strips)):
        return tuple(strips)
    if len(strips) > _PAIR and any(len(strip.regions) > 1 for strip in strips):
        return tuple(strips)  # more than two conditions share little: their regions say more
    texts = [
        _words([piece for region in strip.regions for piece in region.pieces]) for strip in strips
    ]
    keys = [[_text(word) for word in words] for words in texts]
    if len(set(map(tuple, keys))) == 1:
        return tuple(strips)
    is_short_pair = len(keys) == _PAIR and max(map(len, keys)) <= LONGEST_ALIGNED
    cuts = _pair_cuts(*keys) if is_short_pair else _end_cuts(keys)
    return tuple(
        replace(strip, regions=_regions(words, cut))
        for strip, words, cut in zip(strips, texts, cuts, strict=True)
    )


def _is_whole(strip: Strip) -> bool:
    """Whether no region decides alone."""
    filled = [region for region in strip.regions if region.pieces]
    return len(filled) == 1 or (len(filled) > 1 and all(region.needed for region in filled))


def _words(pieces: Sequence[Piece]) -> list[PieceWord]:
    """The words, as pieces not separated by spaces; a space belongs to the word before it."""
    words: list[list[Piece]] = []
    after_blank = True
    for piece in pieces:
        text = piece.text
        begins = (after_blank or text[:1].isspace()) and bool(text) and not text.isspace()
        if begins or not words:
            words.append([])
        words[-1].append(piece)
        after_blank = text[-1:].isspace()
    return [tuple(word) for word in words]


def _text(word: PieceWord) -> str:
    return "".join(piece.text for piece in word).strip()


def _pair_cuts(first: Sequence[str], second: Sequence[str]) -> tuple[list[Cut], list[Cut]]:
    """The stretches of two texts, from their longest common runs of words."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    changes = [(end, other, tag != "equal") for tag, _, end, _, other in matcher.get_opcodes()]
    return (
        [(end, differs) for end, _, differs in changes],
        [(other, differs) for _, other, differs in changes],
    )


def _end_cuts(keys: Sequence[Sequence[str]]) -> list[list[Cut]]:
    """The stretches of texts: a common beginning, a common end, and the rest between them."""
    shortest = min(map(len, keys))
    start = next((n for n in range(shortest) if len({key[n] for key in keys}) > 1), shortest)
    rest = shortest - start
    end = next((n for n in range(rest) if len({key[-1 - n] for key in keys}) > 1), rest)
    return [[(start, False), (len(key) - end, True), (len(key), False)] for key in keys]


def _regions(words: Sequence[PieceWord], cuts: Sequence[Cut]) -> tuple[RegionStrip, ...]:
    regions = []
    at = 0
    for number, (end, differs) in enumerate(cuts, start=1):
        pieces = tuple(piece for word in words[at:end] for piece in word)
        regions.append(RegionStrip(number, differs, pieces))
        at = end
    return tuple(regions)

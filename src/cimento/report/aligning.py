"""The conditions of an item under each other, so that the eye lands on the words that differ.

Regions that a suite declares are aligned as they are. Where no region decides alone, as in pairs of
whole sentences, stimuli are cut into stretches of words that are the same and that are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from cimento.report.strips import Piece, RegionStrip, Strip

PAIR = 2
LONGEST = 400
"""Words; longer texts are compared from both ends only, which takes no time."""

Word = tuple[Piece, ...]
Cut = tuple[int, bool]
"""Where a stretch ends, and whether it differs."""


def aligned(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """The strips with their stretches as regions; as they are where there is nothing to align.

    Args:
        strips: the conditions of one item.
    """
    if len(strips) < PAIR or not all(map(_is_whole, strips)):
        return tuple(strips)
    if len(strips) > PAIR and any(len(strip.regions) > 1 for strip in strips):
        return tuple(strips)  # four conditions have little in common: their regions say more
    texts = [
        _words([piece for region in strip.regions for piece in region.pieces]) for strip in strips
    ]
    keys = [[_text(word) for word in words] for words in texts]
    if len(set(map(tuple, keys))) == 1:
        return tuple(strips)
    cuts = _pair_cuts(*keys) if _is_short_pair(keys) else _end_cuts(keys)
    return tuple(
        replace(strip, regions=_regions(words, own))
        for strip, words, own in zip(strips, texts, cuts, strict=True)
    )


def _is_whole(strip: Strip) -> bool:
    """Whether no region decides alone."""
    filled = [region for region in strip.regions if region.pieces]
    return len(filled) == 1 or (len(filled) > 1 and all(region.needed for region in filled))


def _words(pieces: Sequence[Piece]) -> list[Word]:
    """Pieces that follow each other without a blank, together; a blank goes with what precedes."""
    words: list[list[Piece]] = []
    after_blank = True
    for piece in pieces:
        if (after_blank or piece.text[:1].isspace()) and piece.text.strip():
            words.append([])
        if not words:
            words.append([])
        words[-1].append(piece)
        after_blank = piece.text[-1:].isspace()
    return [tuple(word) for word in words]


def _text(word: Word) -> str:
    return "".join(piece.text for piece in word).strip()


def _is_short_pair(keys: Sequence[Sequence[str]]) -> bool:
    return len(keys) == PAIR and max(map(len, keys)) <= LONGEST


def _pair_cuts(first: Sequence[str], second: Sequence[str]) -> tuple[list[Cut], list[Cut]]:
    """Stretches of two texts by the longest common ones."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    found = [(end, other, tag != "equal") for tag, _, end, _, other in matcher.get_opcodes()]
    return (
        [(end, differs) for end, _, differs in found],
        [(other, differs) for _, other, differs in found],
    )


def _end_cuts(keys: Sequence[Sequence[str]]) -> list[list[Cut]]:
    """What all texts begin with, what all end with, and what is between."""
    shortest = min(map(len, keys))
    start = next((n for n in range(shortest) if len({key[n] for key in keys}) > 1), shortest)
    rest = shortest - start
    end = next((n for n in range(rest) if len({key[-1 - n] for key in keys}) > 1), rest)
    return [[(start, False), (len(key) - end, True), (len(key), False)] for key in keys]


def _regions(words: Sequence[Word], cuts: Sequence[Cut]) -> tuple[RegionStrip, ...]:
    regions = []
    at = 0
    for number, (end, differs) in enumerate(cuts, start=1):
        pieces = tuple(piece for word in words[at:end] for piece in word)
        regions.append(RegionStrip(number, differs, pieces))
        at = end
    return tuple(regions)

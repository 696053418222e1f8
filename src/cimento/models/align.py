"""Characters, words and tokens: which token belongs to which stretch of a text.

Everything goes by character offsets in the text as written, so that it holds for every kind of
tokenizer; a token belongs where its first non-blank character is.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from cimento.models.base import PunctuationRule
from cimento.requests import Span


def word_spans(text: str, *, punctuation: PunctuationRule = "split") -> list[Span]:
    """The words of a text: maximal runs without white space.

    Args:
        text: any text.
        punctuation: ``split`` makes every punctuation mark or symbol (Unicode categories P and S)
            a word of its own, as in ``l``, ``'``, ``amico``; ``keep`` leaves it with its word.
    """
    spans: list[Span] = []
    start: int | None = None
    for index, char in enumerate(text):
        single = punctuation == "split" and unicodedata.category(char)[0] in "PS"
        if (char.isspace() or single) and start is not None:
            spans.append((start, index))
            start = None
        if single:
            spans.append((index, index + 1))
        elif not char.isspace() and start is None:
            start = index
    if start is not None:
        spans.append((start, len(text)))
    return spans


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Token offsets without the blanks before the token's first character.

    A token of blanks only (SentencePiece's lone ``▁``) gets an empty span at the next non-blank
    character, or at the end of the text.
    """
    trimmed = []
    for start, end in spans:
        first = start
        while first < len(text) and text[first].isspace():
            first += 1
        trimmed.append((first, max(first, end)))
    return trimmed


def containing(spans: Sequence[Span], position: int) -> int:
    """Index of the last of the ascending `spans` that starts at or before `position`; else 0."""
    return max(bisect_right(spans, position, key=lambda span: span[0]) - 1, 0)


def tokens_in(token_spans: Sequence[Span], wanted: Sequence[Span]) -> list[int]:
    """Indices of the tokens whose first character lies in one of the `wanted` stretches.

    Args:
        token_spans: trimmed offsets in text order; negative ones stand for special tokens.
        wanted: non-empty character stretches, ascending. An empty-span token at the end of the
            text belongs to a stretch that ends there.
    """
    chosen = []
    for index, (start, end) in enumerate(token_spans):
        if start < 0:
            continue
        for low, high in wanted:
            if low <= start < high or (start == end == high):
                chosen.append(index)
                break
    return chosen


def crossing_tokens(token_spans: Sequence[Span], boundaries: Iterable[int]) -> list[int]:
    """Indices of the tokens that cover characters on both sides of one of the boundaries."""
    edges = sorted(set(boundaries))
    return [
        index
        for index, (start, end) in enumerate(token_spans)
        if bisect_right(edges, start) < bisect_right(edges, end - 1)
    ]

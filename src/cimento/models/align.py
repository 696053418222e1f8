"""Characters, words and tokens: which token belongs to which stretch of a text.

Everything goes by character offsets in the text as written, so that it holds for every kind of
tokenizer; a token belongs where its first non-blank character is.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cimento.models.base import PunctuationRule
from cimento.suites.stimuli import Span

_NOT_BLANK = re.compile(r"\S+")


def word_spans(text: str, *, punctuation: PunctuationRule = "split") -> list[Span]:
    """The words of a text: maximal runs without white space.

    Args:
        text: any text.
        punctuation: ``split`` makes every punctuation mark or symbol (Unicode categories P and S)
            a word of its own, as in ``l``, ``'``, ``amico``; ``keep`` leaves it with its word.
    """
    spans: list[Span] = []
    for run in _NOT_BLANK.finditer(text):
        start, end = run.span()
        # Letters and digits are never marks, so that most runs need no look at each character.
        if punctuation == "keep" or run.group().isalnum():
            spans.append((start, end))
        else:
            spans += _cut_at_marks(text, start, end)
    return spans


def _cut_at_marks(text: str, start: int, end: int) -> Iterator[Span]:
    """A stretch of `text` without blanks, cut before and after every mark."""
    for index in range(start, end):
        if unicodedata.category(text[index])[0] in "PS":
            if start < index:
                yield (start, index)
            yield (index, index + 1)
            start = index + 1
    if start < end:
        yield (start, end)


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Token offsets without the blanks before the token's first character.

    A token of blanks only (SentencePiece's lone ``▁``) gets an empty span at the next non-blank
    character, or at the end of the text.
    """
    trimmed = []
    length = len(text)
    for start, end in spans:
        first = start
        while first < length and text[first].isspace():
            first += 1
        trimmed.append((first, max(first, end)))
    return trimmed


def containing(spans: Sequence[Span], position: int) -> int:
    """Index of the last of the ascending `spans` that starts at or before `position`; else 0."""
    begins = [start for start, _ in spans]
    return max(bisect_right(begins, position) - 1, 0)


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

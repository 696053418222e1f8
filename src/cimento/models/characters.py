"""Characters, words and tokens: the assignment of tokens to spans of a text.

Everything goes by character offsets in the text as written, so that it holds for every kind of
tokenizer; a token belongs where its first non-blank character is. `Characters` goes through many
texts at once, as columns; the functions go through one.

Tokenizers that are written in Python (of bytes and characters, such as that of ByT5, and some for
Japanese) tell the tokens of a text, but not where they stand. A token may stand for one byte (a
character up to U+00FF in its place, or ``<0xE3>``), for bytes in the alphabet of byte-level
tokenizers, or for the characters of its name without the marks of words (``▁``, ``##``, ``</w>``).
The reading by which the tokens add up to the text is the correct one.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from cimento.suites.stimuli import (
    WITHOUT_BLANKS,
    PunctuationRule,
    SegmenterRule,
    Span,
    begins_by_rule,
    is_letter_alone,
    is_mark,
    joins_letter,
)

if TYPE_CHECKING:
    import numpy as np

    from cimento.io.values import Flags, Integers

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
BYTE_LETTERS = {octet: chr(octet) for octet in _PRINTABLE} | {
    octet: chr(0x100 + number)
    for number, octet in enumerate(sorted(set(range(0x100)) - set(_PRINTABLE)))
}
"""The characters that byte-level tokenizers write for bytes: printable bytes of Latin-1 stand for
themselves, the others are numbered from U+0100 on (Radford et al. 2019, "Language models are
unsupervised multitask learners")."""
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
OCTETS = {letter: octet for octet, letter in BYTE_LETTERS.items()}
_LATIN = 0x100
_SPACE = 0x20
_LATER = 0b10
"""The first bits of the bytes of a character after its first one."""


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Token offsets without the blanks before the token's first character.

    A token of blanks only (SentencePiece's lone ``▁``) gets an empty span at the next non-blank
    character, or at the end of the text.
    """
    trimmed, length = [], len(text)
    for start, end in spans:
        after_blanks = (place for place in range(start, length) if not text[place].isspace())
        first = next(after_blanks, max(start, length))
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
    return [
        index
        for index, (start, end) in enumerate(token_spans)
        if start >= 0 and any(low <= start < high or start == end == high for low, high in wanted)
    ]


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of some texts, each text followed by one more place, which is blank.

    Attributes:
        texts: one after the other, each with a line break after it.
        codes: Unicode code point of each character.
        begin: place of the first character of each text; one more at the end.
        blank: whether a character is white space.
    """

    texts: str
    codes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]
    begin: Integers
    blank: Flags

    @classmethod
    def of(cls, texts: Sequence[str]) -> Characters:
        """The characters of some texts."""
        import numpy as np

        joined = "\n".join((*texts, ""))
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        begin = np.cumsum([0, *(len(text) + 1 for text in texts)], dtype=np.int64)
        return cls(joined, codes, begin, _having(str.isspace, joined, codes))

    def trimmed(self, text: Integers, start: Integers, end: Integers) -> tuple[Integers, Integers]:
        """Offsets of tokens without the blanks before their first characters; see `trim_spans`.

        Args:
            text: number of the text of each token.
            start: its first character.
            end: one past its last character.
        """
        import numpy as np

        places = np.where(self.blank, len(self.codes), np.arange(len(self.codes)))
        following = np.minimum.accumulate(places[::-1])[::-1]
        length = self.begin[text + 1] - 1 - self.begin[text]
        inside = self.begin[text] + np.minimum(start, length)
        first = np.minimum(following[inside] - self.begin[text], length)
        first = np.where(start < length, first, start)
        return first, np.maximum(first, end)

    def word_begins(
        self,
        punctuation: PunctuationRule,
        segmenter: SegmenterRule = "letters",
        bars: Sequence[Collection[int]] = (),
    ) -> Flags:
        """Whether a word begins at each character; see `word_spans`.

        Args:
            punctuation: whether marks are words.
            segmenter: the words of scripts without blanks.
            bars: for ``bars``, where the regions of each text begin.

        Raises:
            MissingDependencyError: ICU is needed and is not installed.
        """
        import numpy as np

        after_blank = np.concatenate(([True], self.blank[:-1]))[: len(self.blank)]
        if punctuation == "split":
            mark = _having(is_mark, self.texts, self.codes)
            after_blank |= mark
            after_blank[1:] |= mark[:-1]
        if WITHOUT_BLANKS.search(self.texts):
            alone = _having(is_letter_alone, self.texts, self.codes)
            joins = _having(joins_letter, self.texts, self.codes)
            if punctuation == "split":
                joins &= ~mark  # a word of its own ends the letter's
            # The last character before each one that joins no other.
            last = np.maximum.accumulate(np.where(joins, 0, np.arange(len(joins))))
            at_letter = alone.copy()
            at_letter[1:] |= alone[last[:-1]] & ~joins[1:]
            if segmenter != "letters":
                at_letter &= self.begins_at(self._by_rule(segmenter, bars))
            after_blank |= at_letter
        begins: Flags = ~self.blank & after_blank
        return begins

    def _by_rule(
        self, segmenter: SegmenterRule, bars: Sequence[Collection[int]]
    ) -> Iterable[Collection[int]]:
        """Where a rule lets words begin in each text."""
        for number, (begin, stop) in enumerate(pairwise(self.begin.tolist())):
            text = self.texts[begin : stop - 1]
            yield begins_by_rule(text, segmenter, bars[number] if bars else ()) or ()

    def begins_at(self, positions: Iterable[Iterable[int]]) -> Flags:
        """Whether something begins at each character.

        Args:
            positions: for each text, where something does.
        """
        import numpy as np

        begins = np.zeros(len(self.codes), dtype=np.bool_)
        for begin, inside in zip(self.begin.tolist(), positions, strict=False):
            begins[[begin + position for position in inside]] = True
        return begins

    def containing(self, begins: Flags, text: Integers, start: Integers) -> Integers:
        """Number of the last stretch that begins at or before each token; see `align.containing`.

        Args:
            begins: where stretches begin.
            text: number of the text of each token.
            start: its first character.
        """
        import numpy as np

        counts = np.concatenate(([0], np.cumsum(begins)))
        stop = np.minimum(self.begin[text] + start + 1, self.begin[text + 1])
        n_starts: Integers = np.maximum(counts[stop] - counts[self.begin[text]] - 1, 0)
        return n_starts

    def inside(
        self, wanted: Iterable[Sequence[Span]], text: Integers, start: Integers, end: Integers
    ) -> Flags:
        """Whether each token begins in one of the stretches that are wanted; see `tokens_in`.

        Args:
            wanted: for each text, its stretches.
            text: number of the text of each token.
            start: its first character.
            end: one past its last character.
        """
        import numpy as np

        wanted = [*wanted]
        if all(len(several) == 1 for several in wanted):  # mostly the whole text
            lows, highs = np.array(wanted, dtype=np.int64).reshape(-1, 2)[text].T
            begins: Flags = (lows <= start) & ((start < highs) | ((start == end) & (end == highs)))
            return begins
        bounds = pairwise(self.begin.tolist())
        spans = [
            (min(begin + low, stop - 1), min(begin + high, stop - 1))
            for (begin, stop), several in zip(bounds, wanted, strict=True)
            for low, high in several
        ]
        lows, highs = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        closed = np.zeros(len(self.codes), dtype=np.bool_)
        closed[highs] = True
        # How many stretches more begin than end up to each character.
        steps = np.bincount(lows, minlength=len(closed)) - np.bincount(highs, minlength=len(closed))
        covered = np.cumsum(steps) > 0
        place = np.minimum(self.begin[text] + start, self.begin[text + 1] - 1)
        flags: Flags = covered[place] | ((start == end) & closed[place])
        return flags


def _having(
    is_such: Callable[[str], bool],
    texts: str,
    codes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]],
) -> Flags:
    """Which characters are such; each different one is looked at once."""
    import numpy as np

    most = int(codes.max(initial=0))
    if most < _MOST_ALPHABETIC:
        return cast("Flags", _alphabetic(is_such)[codes])
    table = np.zeros(most + 1, dtype=np.bool_)
    table[[ord(character) for character in set(texts) if is_such(character)]] = True
    flags: Flags = table[codes]
    return flags


_MOST_ALPHABETIC = 0x3000
"""Code point below which most alphabets are, and which is low enough for a table of all."""


@functools.cache
def _alphabetic(is_such: Callable[[str], bool]) -> Flags:
    import numpy as np

    return np.array([is_such(chr(code)) for code in range(_MOST_ALPHABETIC)], dtype=np.bool_)


def byte_offsets(text: str, tokens: Sequence[str], *, unknown: str = "") -> list[Span] | None:
    """The character offsets of the tokens of a text; None if no reading adds up to it.

    A token of a part of a character has the offsets of that character, as in byte-level tokenizers.

    Args:
        text: the text.
        tokens: its tokens, as the tokenizer spells them.
        unknown: the token for what is not in the vocabulary, which stands for one character.

    Example:
        >>> byte_offsets("è q", ["Ã", "¨", " ", "q"])
        [(0, 1), (0, 1), (1, 2), (2, 3)]
    """
    data = text.encode()
    starts = [place for place, character in enumerate(text) for _ in character.encode()]
    for spell in (_as_byte, _as_letters, _as_name):
        spans = _walk(data, tokens, spell, unknown)
        if spans is not None:
            return [
                (starts[low], starts[high - 1] + 1) if high > low else _empty(starts, low, text)
                for low, high in spans
            ]
    return None


def _empty(starts: Sequence[int], place: int, text: str) -> Span:
    at = starts[place] if place < len(starts) else len(text)
    return (at, at)


def _walk(
    data: bytes, tokens: Sequence[str], spell: Callable[[str], bytes | None], unknown: str
) -> list[Span] | None:
    """The byte offsets of tokens, between which only blanks may be left out."""
    spans: list[Span] = []
    at = 0
    for token in tokens:
        piece = None if token == unknown else spell(token)
        if piece is None and token != unknown:
            return None
        start = at
        while start < len(data) and data[start] == _SPACE and not (piece or b"x").startswith(b" "):
            start += 1
        if piece is None:
            at = start + 1
            while at < len(data) and data[at] >> 6 == _LATER:
                at += 1
        elif data.startswith(piece, start):
            at = start + len(piece)
        else:
            return None
        spans.append((start, at))
    return spans if not data[at:].strip() else None


def _as_byte(token: str) -> bytes | None:
    """One byte: ByT5 writes it as the character of that number."""
    if match := _BYTE.fullmatch(token):
        return bytes([int(match[1], 16)])
    return bytes([ord(token)]) if len(token) == 1 and ord(token) < _LATIN else None


def _as_letters(token: str) -> bytes | None:
    """Bytes in the alphabet of byte-level tokenizers."""
    octets = [OCTETS.get(letter) for letter in token]
    return None if None in octets else bytes(octet for octet in octets if octet is not None)


def _as_name(token: str) -> bytes | None:
    """The characters of a token's name, without the marks of words."""
    if match := _BYTE.fullmatch(token):
        return bytes([int(match[1], 16)])
    plain = token.removeprefix("##").removesuffix("</w>").removesuffix("@@")
    return plain.replace("▁", " ").lstrip().encode()

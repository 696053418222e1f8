"""Characters, words and tokens: the assignment of tokens to spans of a text.

Everything goes by character offsets in the text as written, so that it holds for every kind of
tokenizer; a token belongs where its first non-blank character is. `Characters` goes through many
texts at once, as columns; the functions go through one.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from cimento.suites.stimuli import Span
from cimento.suites.words import (
    WITHOUT_BLANKS,
    PunctuationRule,
    SegmenterRule,
    begins_by_rule,
    is_letter_alone,
    is_mark,
    joins_letter,
)

if TYPE_CHECKING:
    import numpy as np

    from cimento.io.arrays import Flags, Integers


_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
BYTE_LETTERS = {octet: chr(octet) for octet in _PRINTABLE} | {
    octet: chr(0x100 + number)
    for number, octet in enumerate(sorted(set(range(0x100)) - set(_PRINTABLE)))
}
"""The characters that byte-level tokenizers write for bytes: printable bytes of Latin-1 stand for
themselves, the others are numbered from U+0100 on (Radford et al. 2019, "Language models are
unsupervised multitask learners")."""


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
        self, wanted: Iterable[Iterable[Span]], text: Integers, start: Integers, end: Integers
    ) -> Flags:
        """Whether each token begins in one of the stretches that are wanted; see `tokens_in`.

        Args:
            wanted: for each text, its stretches.
            text: number of the text of each token.
            start: its first character.
            end: one past its last character.
        """
        import numpy as np

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

"""The characters of many texts as columns: blanks, marks and words, and where tokens lie.

The functions of `align` do the same for one text; here all texts of a unit are gone through at
once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.models.base import PunctuationRule

if TYPE_CHECKING:
    import numpy as np

    from cimento.io.arrays import Flags, Integers
    from cimento.suites.stimuli import Span


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

    def word_begins(self, punctuation: PunctuationRule) -> Flags:
        """Whether a word begins at each character; see `word_spans`."""
        import numpy as np

        after_blank = np.concatenate(([True], self.blank[:-1]))[: len(self.blank)]
        if punctuation == "split":
            mark = _having(_is_mark, self.texts, self.codes)
            after_blank |= mark
            after_blank[1:] |= mark[:-1]
        begins: Flags = ~self.blank & after_blank
        return begins

    def begins_at(self, positions: Iterable[Iterable[int]]) -> Flags:
        """Whether something begins at each character.

        Args:
            positions: for each text, where something does.
        """
        import numpy as np

        begins = np.zeros(len(self.codes), dtype=np.bool_)
        for begin, own in zip(self.begin.tolist(), positions, strict=False):
            begins[[begin + position for position in own]] = True
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
        found: Integers = np.maximum(counts[stop] - counts[self.begin[text]] - 1, 0)
        return found

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

        covered = np.zeros(len(self.codes), dtype=np.bool_)
        closed = np.zeros(len(self.codes), dtype=np.bool_)
        for begin, spans in zip(self.begin.tolist(), wanted, strict=False):
            for low, high in spans:
                covered[begin + low : begin + high] = True
                closed[begin + high] = True
        place = np.minimum(self.begin[text] + start, self.begin[text + 1] - 1)
        found: Flags = covered[place] | ((start == end) & closed[place])
        return found


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _having(
    is_such: Callable[[str], bool],
    texts: str,
    codes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]],
) -> Flags:
    """Which characters are such; each different one is looked at once."""
    import numpy as np

    table = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    table[[ord(character) for character in set(texts) if is_such(character)]] = True
    found: Flags = table[codes]
    return found

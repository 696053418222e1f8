"""A text as a tokenizer may have rewritten it before cutting it, and the way back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from cimento.models.recorded import Tokenizer
from cimento.suites.stimuli import Span

_Change: TypeAlias = Callable[[str], str]

_BYTE_MARK = "Ġ"


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A text as a tokenizer may have rewritten it, and the way back.

    Attributes:
        source: the text as the suite has it.
        chars: the text rewritten.
        origin: for each of `chars`, and for their end, the offset in `source`.
        owner: for each of `chars` its region, from 1, or 0 between regions; for their end the
            last region.
        ends: for each region one past its last character, in `chars`.
    """

    source: str
    chars: str
    origin: tuple[int, ...]
    owner: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Offsets in `source` of a stretch of `chars`, without blanks at its end."""
        end = start + len(self.chars[start:end].rstrip())
        return self.origin[start], self.origin[end - 1] + 1 if end > start else self.origin[start]

    def words(self, start: int, end: int) -> list[str]:
        """The words of a stretch of `chars`, as the suite has them."""
        first, last = self.span(start, end)
        return self.source[first:last].split()

    def end_of_region(self, pos: int) -> int:
        """One past the last character of the region that `pos` is in."""
        return self.ends[self.owner[pos] - 1]


def rewritings(text: str, regions: Sequence[Span], tokenizer: Tokenizer) -> list[RewrittenText]:
    """The forms that a text may have been given before it was cut, the plainest first.

    Args:
        text: the sentence.
        regions: character spans of its regions, in order.
        tokenizer: in lower case, unless it is ``cased``; further forms depend on its marks.
    """
    base: _Change = str if tokenizer.cased else str.lower
    changes = [base]
    if not tokenizer.cased:
        changes.append(lambda char: _without_accents(base(char)))
    if tokenizer.metaspace:
        changes.append(lambda char: unicodedata.normalize("NFKC", base(char)))
    if tokenizer.sentinel_pattern == _BYTE_MARK:
        changes.append(lambda char: _bytes_as_letters(base(char)))
    return [_rewrite(text, regions, change) for change in changes]


def _without_accents(text: str) -> str:
    """As uncased BERT does: decomposed, and all non-spacing marks left out."""
    parts = unicodedata.normalize("NFD", text)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def _bytes_as_letters(char: str) -> str:
    """As GPT-2 does: each byte of the UTF-8 form as one printable character.

    Printable bytes of Latin-1 stand for themselves; the others, in order, for the characters
    from 256 on (Radford et al. 2019, "Language models are unsupervised multitask learners").
    Blanks are left, since their mark is dealt with apart.
    """
    if char.isspace():
        return char
    # A suite in JSON may hold half a surrogate pair.
    return "".join(_BYTE_LETTERS[byte] for byte in char.encode(errors="surrogatepass"))


def _byte_letters() -> tuple[str, ...]:
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in plain else next(others)) for byte in range(0x100))


_BYTE_LETTERS = _byte_letters()


def _rewrite(text: str, regions: Sequence[Span], change: _Change) -> RewrittenText:
    pieces = [change(char) for char in text]
    offsets = [0, *accumulate(len(piece) for piece in pieces)]
    owner = [0] * offsets[-1]
    for number, (start, end) in enumerate(regions, start=1):
        for pos in range(offsets[start], offsets[end]):
            owner[pos] = number
    return RewrittenText(
        source=text,
        chars="".join(pieces),
        origin=(*(i for i, piece in enumerate(pieces) for _ in piece), len(text)),
        owner=(*owner, len(regions)),
        ends=tuple(offsets[end] for _, end in regions),
    )

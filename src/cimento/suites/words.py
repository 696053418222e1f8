"""Words of a text, in every script: where they begin, and how many there are.

Most scripts put blanks between words. Han, kana, Thai, Lao, Burmese and Khmer put none, so that
where a word ends is a matter of analysis, and a rule says whose: each letter alone, the dictionary
of ICU, or the bars between the regions of a suite.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias

from cimento.errors import MissingDependencyError, needing
from cimento.suites.stimuli import Span

PunctuationRule: TypeAlias = Literal["split", "keep"]
SegmenterRule: TypeAlias = Literal["letters", "icu", "bars"]

_NOT_BLANK = re.compile(r"\S+")
_ICU = "icu4py"
_PURPOSE = "--segmenter icu, which finds words by the dictionaries of ICU"

WITHOUT_BLANKS = re.compile(
    "["
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]"
)
"""Characters of scripts that put no blanks between words."""


def word_spans(
    text: str,
    *,
    punctuation: PunctuationRule = "split",
    segmenter: SegmenterRule = "letters",
    bars: Collection[int] = (),
) -> list[Span]:
    """The words of a text: maximal runs without white space, and in some scripts parts of them.

    Args:
        text: any text.
        punctuation: ``split`` makes every punctuation mark or symbol (Unicode categories P and S)
            a word of its own, as in ``l``, ``'``, ``amico``; ``keep`` leaves it with its word.
        segmenter: the words of scripts without blanks. ``letters``: each letter, with the marks
            that combine with it; ``icu``: what ICU's dictionaries find; ``bars``: what lies between
            the bars of the suite.
        bars: where regions begin, for ``bars``.

    Raises:
        MissingDependencyError: ICU is needed and is not installed.
    """
    spans: list[Span] = []
    unspaced = WITHOUT_BLANKS.search(text) is not None
    begins = begins_by_rule(text, segmenter, bars) if unspaced else None
    for run in _NOT_BLANK.finditer(text):
        start, end = run.span()
        # Letters and digits are never marks, so that most runs need no look at each character.
        if not unspaced and (punctuation == "keep" or run.group().isalnum()):
            spans.append((start, end))
        else:
            spans += _cut(text, start, end, punctuation, begins)
    return spans


def count_words(
    text: str, *, segmenter: SegmenterRule = "letters", bars: Collection[int] = ()
) -> int:
    """The number of words of a text, in which marks are part of the word that they touch.

    In a text without letters of scripts without blanks it is the number of runs between blanks. In
    others, what consists of marks only is no word, unless blanks surround it.

    Args:
        text: any text.
        segmenter: the words of scripts without blanks; see `word_spans`.
        bars: where regions begin, for ``bars``.

    Raises:
        MissingDependencyError: ICU is needed and is not installed.
    """
    if text.isascii() or WITHOUT_BLANKS.search(text) is None:
        return len(text.split())
    runs = {run.span() for run in _NOT_BLANK.finditer(text)}
    spans = word_spans(text, punctuation="keep", segmenter=segmenter, bars=bars)
    return sum(
        (start, end) in runs or any(map(str.isalnum, text[start:end])) for start, end in spans
    )


def has_icu() -> bool:
    """Whether the package is installed by which ICU finds words."""
    return importlib.util.find_spec(_ICU) is not None


def need_segmenter(segmenter: SegmenterRule | None) -> None:
    """Refuse a rule whose package is missing, before anything is asked.

    Raises:
        MissingDependencyError: it is.
    """
    if segmenter == "icu" and not has_icu():
        raise MissingDependencyError(package=_ICU, extra="segment", purpose=_PURPOSE)


def icu_begins(text: str) -> frozenset[int]:
    """Where words begin by ICU's rules and dictionaries, in characters; blanks begin some too.

    The locale has no influence: the dictionaries are chosen by script.

    Raises:
        MissingDependencyError: ICU is not installed.
    """
    with needing(_ICU, extra="segment", purpose=_PURPOSE):
        from icu4py.breakers import WordBreaker
    begins = [start for start, _ in WordBreaker(text, "root").segments()]
    if text.isascii() or max(text) <= "\uffff":
        return frozenset(begins)
    # ICU counts a character beyond U+FFFF as two.
    places = [place for place, letter in enumerate(text) for _ in range(1 + (letter > "\uffff"))]
    return frozenset(places[begin] for begin in begins if begin < len(places))


def begins_by_rule(
    text: str, segmenter: SegmenterRule, bars: Collection[int] = ()
) -> Collection[int] | None:
    """Where a rule lets words begin in scripts without blanks; None for each letter.

    Raises:
        MissingDependencyError: ICU is needed and is not installed.
    """
    if segmenter == "letters":
        return None
    if segmenter == "bars":
        return frozenset(bars)
    return icu_begins(text) if WITHOUT_BLANKS.search(text) else ()


def _cut(
    text: str, start: int, end: int, punctuation: PunctuationRule, begins: Collection[int] | None
) -> Iterator[Span]:
    """The words in a stretch of `text` without blanks."""
    alone = is_letter_alone(text[start])
    for index in range(start + 1, end):
        before, here = text[index - 1], text[index]
        letter, joins = is_letter_alone(here), joins_letter(here)
        at_letter = letter or (alone and not joins)
        if begins is not None:
            at_letter = at_letter and index in begins
        at_mark = punctuation == "split" and (is_mark(before) or is_mark(here))
        if at_mark or at_letter:
            yield (start, index)
            start = index
        alone = letter or (alone and joins)
    yield (start, end)


def is_letter_alone(character: str) -> bool:
    """Whether a character is a letter of a script without blanks, and so may begin a word."""
    is_such = WITHOUT_BLANKS.match(character) is not None
    return is_such and unicodedata.category(character)[0] == "L"


def joins_letter(character: str) -> bool:
    """Whether a character belongs to the letter before it: combining marks, and marks kept."""
    return unicodedata.category(character)[0] in "MPS"


def is_mark(character: str) -> bool:
    """Whether a character is a punctuation mark or a symbol."""
    return unicodedata.category(character)[0] in "PS"

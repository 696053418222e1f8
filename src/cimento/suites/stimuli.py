"""Stimuli, the sentences made from regions with spans; and the words of texts in every script.

All sentences with offsets are made here. Most scripts put blanks between words. Han, kana, Thai,
Lao, Burmese and Khmer put none, so that where a word ends is a matter of analysis, and a rule says
whose: each letter alone, the dictionary of ICU, or the bars between the regions of a suite.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from cimento.errors import MissingDependencyError, UsageError, did_you_mean, needing
from cimento.suites import (
    BLANK_BEFORE_MARK,
    Condition,
    ItemColumns,
    JoinRule,
    Region,
    Suite,
    sentence,
)

Span: TypeAlias = tuple[int, int]
"""Half-open character offsets, start and end."""

PunctuationRule: TypeAlias = Literal["split", "keep"]
"""Whether a punctuation mark is a word of its own."""
SegmenterRule: TypeAlias = Literal["letters", "icu", "bars"]
"""How words are found in scripts without blanks: each letter, dictionaries of ICU, or bars."""

_NOT_BLANK = re.compile(r"\S+")
_ICU = "icu4py"
_PURPOSE = "--segmenter=icu, which finds words by the dictionaries of ICU"

WITHOUT_BLANKS = re.compile(
    "["
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]"
)
"""Characters of scripts that put no blanks between words."""


SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_SHOWN = 60


def one_or_several(texts: str | Sequence[str]) -> list[str]:
    """Texts as a list; a str is a single text, not a sequence of characters.

    Raises:
        UsageError: one of them is not a str, or has half of a character.
    """
    several = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    for text in several:
        if not isinstance(text, str):
            raise UsageError(
                where="texts",
                seen=f"{text!r} is of type {type(text).__name__}, not str",
                todo="Give one str or several.",
            )
        if half := SURROGATE.search(text):
            raise UsageError(
                where=f"text {text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN]!r}",
                seen=f"{half.group()!r} at character {half.start() + 1} is half of a character,"
                " which no file and no model can hold",
                todo="Read the text again with its encoding, or leave the character out.",
            )
    return several


@dataclass(frozen=True, slots=True)
class Context:
    """The context before the texts of a suite, which is not scored.

    Attributes:
        text: a context that is the same for every text.
        column: the free column of the suite that holds the context of each condition; a condition
            without a value has no context.
    """

    text: str = ""
    column: str = ""

    def of_stimuli(self, stimuli: ItemColumns) -> list[str]:
        """The context of each stimulus; may be empty."""
        if not self.column:
            return [self.text.strip()] * (len(stimuli.bounds) - 1)
        return [(cell or "").strip() for cell in stimuli.free[self.column]]

    def check(self, suite: Suite) -> None:
        """Refuse a suite without the column.

        Raises:
            UsageError: the suite does not have the column, or both a text and a column are given.
        """
        if self.column and self.text:
            raise UsageError(
                where="--context",
                seen="a text and a column are both given",
                todo="Give one of --context and --context-column.",
            )
        if self.column and self.column not in suite.column_names:
            raise UsageError(
                where="--context-column",
                seen=f"the suite {suite.name!r} has no column {self.column!r}",
                todo=did_you_mean(self.column, suite.column_names),
            )


NO_CONTEXT = Context()


def joined(stimuli: ItemColumns, *, rule: JoinRule) -> tuple[list[str], list[tuple[Span, ...]]]:
    """The sentence of each stimulus, and the character spans of its regions; see `join_regions`."""
    if stimuli.is_whole and rule == "blank":
        texts = stimuli.sentences(rule)
        # Sentences of one length share a span.
        spans = {length: ((0, length),) for length in set(map(len, texts))}
        return texts, [spans[len(text)] for text in texts]
    parts = [(text, number in stimuli.glued) for number, text in enumerate(stimuli.texts)]
    sentences = [_join(parts[begin:end], rule) for begin, end in pairwise(stimuli.bounds)]
    return [text for text, _ in sentences], [tuple(spans) for _, spans in sentences]


def join_regions(regions: Sequence[Region], *, rule: JoinRule = "blank") -> tuple[str, list[Span]]:
    """The sentence of some regions, and the character span of each region in it.

    Two neighboring non-empty regions are joined by one blank, or by nothing if every region after
    the first, up to and including the second, is glued. An empty region has an empty span at the
    start of the next non-empty one (at the end of the text where there is none).

    Args:
        regions: the regions in order; blanks around a region's text are dropped.
        rule: ``detok`` also removes blanks before ``. , ! ? ; :``, inside regions and between;
            ``none`` joins all regions by nothing.
    """
    return _join([(region.text, region.glued) for region in regions], rule)


def _join(regions: Iterable[tuple[str, bool]], rule: JoinRule) -> tuple[str, list[Span]]:
    pieces: list[str] = []
    spans: list[Span] = []
    waiting: list[int] = []
    glued = True
    length = 0
    for index, (region, is_glued) in enumerate(regions):
        text = region.strip()
        glued = (glued and is_glued) or rule == "none"
        spans.append((length, length))
        if not text:
            waiting.append(index)
            continue
        if rule == "detok":
            text = BLANK_BEFORE_MARK.sub("", text)
        if pieces and not glued and not (rule == "detok" and text[0] in ".,!?;:"):
            pieces.append(" ")
            length += 1
        spans[index] = (length, length + len(text))
        for empty in waiting:
            spans[empty] = (length, length)
        waiting.clear()
        pieces.append(text)
        length += len(text)
        glued = True
    for empty in waiting:
        spans[empty] = (length, length)
    return "".join(pieces), spans


stimulus_text = sentence
"""The sentence of one condition, as a model sees it."""


def regions_of_words(suite: Suite, condition: Condition) -> tuple[str, ...]:
    """The name of the region that each word of a sentence begins in, words being between blanks.

    Returns:
        As many names as words; none in suites of whole sentences.
    """
    if len(suite.region_names) <= 1:
        return ()
    text, spans = join_regions(condition.regions, rule=suite.join)
    starts = [start for start, _ in spans]
    words = _NOT_BLANK.finditer(text)
    return tuple(suite.region_names[bisect_right(starts, word.start()) - 1] for word in words)


def stimulus_texts(suite: Suite) -> dict[tuple[str, str], str]:
    """The sentences of a suite, by item and condition."""
    return {
        (item.id, condition.name): stimulus_text(condition, rule=suite.join)
        for item, condition in suite.stimuli()
    }


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
    others, what consists of marks only is not a word, unless blanks surround it.

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


def need_segmenter(segmenter: SegmenterRule | None) -> None:
    """Refuse a rule whose package is missing, before anything is asked.

    Raises:
        MissingDependencyError: it is.
    """
    if segmenter == "icu" and importlib.util.find_spec(_ICU) is None:
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
        # A mark that is a word of its own ends the letter's word, whatever combines with the mark.
        apart = punctuation == "split" and is_mark(here)
        alone = letter or (alone and joins and not apart)
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

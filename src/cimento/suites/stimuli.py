"""Stimuli: the sentences made from regions, with the character spans of the regions.

All sentences with offsets are made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.suites.model import Condition, ItemColumns, JoinRule, Region, Suite

Span: TypeAlias = tuple[int, int]
"""Half-open character offsets, start and end."""

# Matching starts only at the first of several blanks, since otherwise long runs of blanks take
# quadratic time.
_BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def one_or_several(texts: str | Sequence[str]) -> list[str]:
    """Texts as a list; a str is a single text, not a sequence of characters.

    Raises:
        UsageError: one of them is not a str.
    """
    several = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    for text in several:
        if not isinstance(text, str):
            raise UsageError(
                where="texts",
                seen=f"{text!r} is of type {type(text).__name__}, not str",
                todo="Give one str or several.",
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
            text = _BLANK_BEFORE_MARK.sub("", text)
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


def stimulus_text(condition: Condition, *, rule: JoinRule = "blank") -> str:
    """The sentence of one condition, as a model sees it."""
    return join_regions(condition.regions, rule=rule)[0]

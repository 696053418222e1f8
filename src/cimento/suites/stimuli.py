"""Stimuli: the sentences that regions make, each asked once, and which characters of it matter.

Regions become sentences here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.suites.design import regions_measured
from cimento.suites.formula import regions_used
from cimento.suites.model import Condition, JoinRule, Region, Suite
from cimento.suites.reading import no_collection

Span: TypeAlias = tuple[int, int]
"""Half-open character offsets, start and end."""

# Only from the first of several blanks: else very many of them take very long.
_BLANK_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[.,!?;:])")


def one_or_several(texts: str | Sequence[str]) -> list[str]:
    """Texts as a list; a str is one text, and not a sequence of its characters.

    Raises:
        UsageError: one of them is no str.
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
    """What stands before the texts of a suite and is not scored.

    Attributes:
        text: the same before every text.
        column: the free column of the suite that holds it, for each condition of each item; a
            condition without it has no context.
    """

    text: str = ""
    column: str = ""

    def of(self, condition: Condition) -> str:
        """What stands before one stimulus; empty where nothing does."""
        return (condition.columns.get(self.column, "") if self.column else self.text).strip()

    def check(self, suite: Suite) -> None:
        """See that the suite has the column.

        Raises:
            UsageError: it has not, or a text and a column are both given.
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


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """One text whose tokens a model is asked to score.

    Attributes:
        id: position in the plan, from 0.
        text: what is scored.
        context: what stands before it and is not scored; joined to it by a blank.
        wanted: character spans of `text` whose tokens are needed; None for all of them.
        regions: character spans that a masked model masks whole under ``--pll region``; a text
            that has none is one region.
        blank: whether a blank stands before a text without context; None leaves it to the policy.
    """

    id: int
    text: str
    context: str = ""
    wanted: tuple[Span, ...] | None = None
    regions: tuple[Span, ...] = ()
    blank: bool | None = None


class Place(NamedTuple):
    """Where in the suite a part of a request's answer belongs.

    Attributes:
        request: id of the request.
        item: id of the item.
        condition: name of the condition.
        region: number of the region, from 1.
        start: first character of the region in the request's text.
        end: one past its last character; equal to `start` for an empty region.
        needed: whether a prediction refers to it, so that its tokens are asked for.
    """

    request: int
    item: str
    condition: str
    region: int
    start: int
    end: int
    needed: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a suite asks of a model: distinct requests, and what each is for."""

    suite: str
    requests: tuple[ScoreRequest, ...]
    places: tuple[Place, ...]


class RequestKey(NamedTuple):
    """What makes two stimuli one request."""

    text: str
    context: str
    regions: tuple[Span, ...]


def join_regions(regions: Sequence[Region], *, rule: JoinRule = "blank") -> tuple[str, list[Span]]:
    """The sentence that regions make, and the character span of each region in it.

    Two neighbouring non-empty regions are joined by one blank, or by nothing where every region
    after the first of them, up to the second, is glued. An empty region has an empty span at the
    start of the next non-empty one (at the end of the text where there is none).

    Args:
        regions: in order; blanks at the ends of a region's text are dropped.
        rule: ``detok`` also removes blanks before ``. , ! ? ; :``, inside regions and between.
    """
    if rule == "blank" and len(regions) == 1:
        text = regions[0].text.strip()
        return text, [(0, len(text))]
    pieces: list[str] = []
    spans: list[Span] = []
    waiting: list[int] = []
    glued = True
    length = 0
    for index, region in enumerate(regions):
        text = region.text.strip()
        glued = glued and region.glued
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


@no_collection()
def plan_suite(
    suite: Suite,
    *,
    all_tokens: bool = False,
    by_region: bool = False,
    context: Context = NO_CONTEXT,
    merged: bool = True,
) -> Plan:
    """What must be asked so that every prediction of the suite can be judged.

    Args:
        suite: a valid suite.
        all_tokens: ask for every token, not only those of regions that predictions or licensing
            windows name. A suite without predictions asks for all.
        by_region: whether a token's score depends on the region it is in, so that one sentence
            cut into regions in two ways is asked twice.
        context: what stands before the texts.
        merged: whether stimuli that ask the same are one request.

    Raises:
        UsageError: the suite lacks the column that should hold the contexts.
    """
    context.check(suite)
    needed = regions_used(prediction.formula for prediction in suite.predictions)
    measured = regions_measured(suite)
    ids: dict[RequestKey, int] = {}
    asked: list[RequestKey] = []
    wanted: list[set[Span]] = []
    places: list[Place] = []
    for item, condition in suite.stimuli():
        text, spans = join_regions(condition.regions, rule=suite.join)
        filled = tuple([span for span in spans if span[0] < span[1]]) if by_region else ()
        key = RequestKey(text, context.of(condition), filled)
        request = ids.setdefault(key, len(asked)) if merged else len(asked)
        if request == len(asked):
            asked.append(key)
            wanted.append(set())
        numbers = needed.get(condition.name, frozenset())
        also = measured.get(condition.name, ())
        for number, span in enumerate(spans, start=1):
            need = "*" in numbers or number in numbers
            places.append(Place(request, item.id, condition.name, number, *span, need))
            if span[0] < span[1] and (need or number in also):
                wanted[request].add(span)
    # A suite without predictions does not say which tokens matter.
    ask_all = all_tokens or not suite.predictions
    stretches = [None if ask_all else tuple(sorted(each)) for each in wanted]
    requests = _requests(asked, stretches, blank=suite.leading_blank)
    return Plan(suite=suite.name, requests=requests, places=tuple(places))


def _requests(
    keys: Sequence[RequestKey],
    wanted: Sequence[tuple[Span, ...] | None],
    *,
    blank: bool | None,
) -> tuple[ScoreRequest, ...]:
    """What is asked, by number, with the stretches that are wanted of each."""
    # Sentences of one length want the same stretches: one record serves all of them.
    shared: dict[tuple[Span, ...] | None, tuple[Span, ...] | None] = {}
    return tuple(
        ScoreRequest(
            id=number,
            text=asked.text,
            context=asked.context,
            wanted=shared.setdefault(each, each),
            regions=asked.regions,
            blank=blank,
        )
        for number, (asked, each) in enumerate(zip(keys, wanted, strict=True))
    )

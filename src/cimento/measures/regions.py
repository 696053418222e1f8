"""From scored tokens to one value for each region: pure functions, no model.

Values are surprisals, -log P, in the unit in which the source gave them: bits where it recorded
bits, else nats. So that a tie is a tie, they are never converted before they are compared.
"""

from __future__ import annotations

import statistics
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import TableError, UsageError
from cimento.measures.stored import (
    NOT_ASKED,
    NOTHING_SCORED,
    Answer,
    Stimulus,
    StoredTable,
    StoredToken,
    is_covered,
    read_answered,
)
from cimento.measures.values import Missing, Unit, Value, total
from cimento.suites.model import METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cimento.requests import Span

FinalMarkRule: TypeAlias = Literal["keep", "drop"]


@dataclass(frozen=True, slots=True)
class RegionValues:
    """The value of every region of every stimulus.

    Attributes:
        unit: of the values: that of their source.
        metric: how the surprisals of a region's tokens became one value.
        values: item to condition to the values of its regions, in order.
    """

    unit: Unit
    metric: Metric
    values: Mapping[str, Mapping[str, tuple[Value, ...]]]


def _mean(values: Sequence[float]) -> float:
    return total(values) / len(values)


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


_METRICS: Mapping[Metric, Callable[[Sequence[float]], float]] = {
    "sum": total,
    "mean": _mean,
    "median": statistics.median,
    "range": _range,
    "max": max,
    "min": min,
}


def region_metric(surprisals: Sequence[float], *, metric: Metric) -> Value:
    """The value of one region: one of SyntaxGym's six metrics over its tokens' surprisals.

    Args:
        surprisals: of the region's tokens, in token order; all finite.
        metric: ``sum``, ``mean``, ``median`` (of an even number, the mean of the middle two),
            ``range`` (largest minus smallest), ``max`` or ``min``.

    Returns:
        The value in the unit of the surprisals. The sum over no token is 0; the others are
        undefined there.

    Raises:
        UsageError: there is no such metric.
    """
    if metric not in METRICS:
        raise UsageError(
            where="metric",
            seen=f"there is no metric {metric!r}",
            todo=f"Known: {', '.join(METRICS)}.",
        )
    if not surprisals and metric != "sum":
        return Missing(f"the {metric} over no token is undefined")
    return _METRICS[metric](surprisals)


def region_values(
    tokens: StoredTable,
    requests: StoredTable,
    *,
    metric: Metric,
    final_marks: FinalMarkRule = "keep",
) -> RegionValues:
    """The value of every region of every stimulus in a requests table.

    A token belongs to the last non-empty region that starts at or before its first non-blank
    character (to the first non-empty region where none does), or to the region that the source
    itself named. A region has no value, but a reason, where one of its tokens has no score, where
    it has text and no token begins in it, and where its tokens were never asked for.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        metric: how the surprisals of a region's tokens become one value.
        final_marks: ``drop`` leaves out the tokens that begin in the punctuation at the end of a
            region, such as the period of ``lunga.``; a region of nothing but marks keeps them.

    Raises:
        UsageError: there is no such metric.
        TableError: the source named a region that there is not.
    """
    unit, found = values_in_order(tokens, requests, metric=metric, final_marks=final_marks)
    values: dict[str, dict[str, tuple[Value, ...]]] = {}
    for item, condition, own in found:
        values.setdefault(item, {})[condition] = own
    return RegionValues(unit=unit, metric=metric, values=values)


def values_in_order(
    tokens: StoredTable,
    requests: StoredTable,
    *,
    metric: Metric,
    final_marks: FinalMarkRule = "keep",
) -> tuple[Unit, Iterator[tuple[str, str, tuple[Value, ...]]]]:
    """The same, one stimulus at a time: its item, its condition, and the values of its regions.

    Args:
        tokens: as for `region_values`.
        requests: as for `region_values`.
        metric: as for `region_values`.
        final_marks: as for `region_values`.

    Raises:
        UsageError: as for `region_values`, when the first is made.
        TableError: likewise.
    """
    unit, answered = read_answered(tokens, requests)
    return unit, (
        (
            stimulus.item,
            stimulus.condition,
            _stimulus_values(stimulus, answer, metric, final_marks),
        )
        for stimulus, answer in answered
    )


def _stimulus_values(
    stimulus: Stimulus, answer: Answer, metric: Metric, final_marks: FinalMarkRule
) -> tuple[Value, ...]:
    """The values of the regions of one stimulus."""
    inside: list[list[StoredToken]] = [[] for _ in stimulus.spans]
    filled = [index for index, (start, end) in enumerate(stimulus.spans) if start < end]
    starts = [stimulus.spans[index][0] for index in filled]
    for token in answer:
        if token.region is not None:
            if not 1 <= token.region <= len(inside):
                raise TableError(
                    where=f"item {stimulus.item!r}, condition {stimulus.condition!r}",
                    seen=f"a token is said to be in region {token.region} of {len(inside)}",
                    todo="The tokens table belongs to another suite, or is damaged.",
                )
            inside[token.region - 1].append(token)
        elif filled:
            inside[filled[max(bisect_right(starts, token.start) - 1, 0)]].append(token)
    named = any(token.region is not None for token in answer)
    whole = bool(filled) and is_covered((starts[0], stimulus.spans[filled[-1]][1]), answer)
    return tuple(
        _absent(span, asked=needed or whole, answer=answer, own=own, named=named)
        or _region_value(_kept(own, span, stimulus.text, final_marks), metric)
        for span, needed, own in zip(stimulus.spans, stimulus.needed, inside, strict=True)
    )


def _absent(span: Span, *, asked: bool, answer: Answer, own: Answer, named: bool) -> Missing | None:
    """Why a region that has text has no tokens, or not all of them; None where it has them."""
    empty = span[0] == span[1]
    if empty or named:
        return None
    if not asked and not is_covered(span, answer):
        return Missing(NOT_ASKED)
    if not answer:
        return Missing(NOTHING_SCORED)
    if not own:
        return Missing("no token begins in this region")
    return None


def _kept(own: Answer, span: Span, text: str, final_marks: FinalMarkRule) -> Answer:
    """The tokens of a region that count."""
    if final_marks == "keep":
        return own
    end = span[1]
    while end > span[0] and unicodedata.category(text[end - 1]).startswith("P"):
        end -= 1
    return [token for token in own if token.start < end] if end > span[0] else own


def _region_value(own: Answer, metric: Metric) -> Value:
    surprisals: list[float] = []
    for token in own:
        if isinstance(token.surprisal, Missing):
            return token.surprisal
        if token.surprisal is not None:
            surprisals.append(token.surprisal)
    return region_metric(surprisals, metric=metric)

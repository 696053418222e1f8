"""From scored tokens to one value for each region: pure functions, no model.

Values are surprisals, -log P, in the unit in which the source gave them: bits where it recorded
bits, else nats. So that a tie is a tie, they are never converted before they are compared.
"""

from __future__ import annotations

import functools
import math
import operator
import statistics
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from cimento.errors import TableError, UsageError
from cimento.suites.model import METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from cimento.requests import Span

Unit: TypeAlias = Literal["bits", "nats"]

BITS_PER_NAT = 1 / math.log(2)

NOT_ASKED = "its tokens were not asked for; run again with --all-tokens"


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands where a value is undefined: why."""

    reason: str


Value: TypeAlias = "float | Missing"


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


def surprisal_bits(logprob_nats: float) -> float:
    """Surprisal in bits of a log-probability in nats: ``-log2 P`` (Hale 2001)."""
    return (0.0 - logprob_nats) * BITS_PER_NAT


def total(values: Sequence[float]) -> float:
    """The float64 sum from left to right, each step rounded; 0 for no values.

    Neither `sum` (which compensates from Python 3.12 on) nor numpy's (which adds in pairs) is
    that, and the order decides which sentences tie.
    """
    return functools.reduce(operator.add, values, 0.0)


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


def region_values(tokens: pl.DataFrame, requests: pl.DataFrame, *, metric: Metric) -> RegionValues:
    """The value of every region of every stimulus in a requests table.

    A token belongs to the last non-empty region that starts at or before its first non-blank
    character (to the first non-empty region where none does), or to the region that the source
    itself named. A region has no value, but a reason, where one of its tokens has no score, where
    it has text and no token begins in it, and where its tokens were never asked for.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        metric: how the surprisals of a region's tokens become one value.

    Raises:
        UsageError: there is no such metric.
        TableError: the source named a region that there is not.
    """
    unit, answers = _answers(tokens)
    values: dict[str, dict[str, tuple[Value, ...]]] = {}
    for stimulus in _stimuli(requests):
        answer = answers.get(stimulus.request, [])
        values.setdefault(stimulus.item, {})[stimulus.condition] = _stimulus_values(
            stimulus, answer, metric
        )
    return RegionValues(unit=unit, metric=metric, values=values)


class _Token(NamedTuple):
    position: int
    start: int
    end: int
    region: int | None
    surprisal: Value


class _Stimulus(NamedTuple):
    request: int
    item: str
    condition: str
    spans: list[Span]
    needed: list[bool]


def _answers(tokens: pl.DataFrame) -> tuple[Unit, dict[int, list[_Token]]]:
    """The unit of the source, and request id to its tokens in order."""
    import polars as pl

    scored = tokens.filter(pl.col("logprob_nats").is_not_null())
    unit: Unit = "nats"
    surprisal = 0.0 - pl.col("logprob_nats")
    if "surprisal_bits" in tokens.columns and not scored["surprisal_bits"].has_nulls():
        unit = "bits"
        surprisal = (
            pl.when(pl.col("logprob_nats").is_not_null())
            .then(pl.col("surprisal_bits"))
            .otherwise(None)
        )
    region = pl.col("region") if "region" in tokens.columns else pl.lit(None, dtype=pl.Int32)
    rows = tokens.sort("request", "position").select(
        "request",
        "position",
        "start",
        "end",
        region.alias("region"),
        surprisal.alias("surprisal"),
        "unscored_reason",
        "token",
    )
    answers: dict[int, list[_Token]] = {}
    for request, position, start, end, number, value, reason, token in rows.iter_rows():
        known = _known(value, reason, token)
        answers.setdefault(request, []).append(_Token(position, start, end, number, known))
    return unit, answers


def _known(surprisal: float | None, reason: str | None, token: str) -> Value:
    if surprisal is None:
        return Missing(reason or f"the token {token!r} has no score")
    if not math.isfinite(surprisal):
        return Missing(f"the surprisal of the token {token!r} is {surprisal}")
    return surprisal


def _stimuli(requests: pl.DataFrame) -> list[_Stimulus]:
    """The stimuli of a requests table, their regions in order."""
    stimuli: dict[tuple[str, str], _Stimulus] = {}
    rows = requests.sort("region", maintain_order=True).select(
        "request", "item", "condition", "start", "end", "needed"
    )
    for request, item, condition, start, end, needed in rows.iter_rows():
        stimulus = stimuli.setdefault(
            (item, condition), _Stimulus(request, item, condition, [], [])
        )
        stimulus.spans.append((start, end))
        stimulus.needed.append(needed)
    return list(stimuli.values())


def _stimulus_values(
    stimulus: _Stimulus, answer: Sequence[_Token], metric: Metric
) -> tuple[Value, ...]:
    """The values of the regions of one stimulus."""
    inside: list[list[_Token]] = [[] for _ in stimulus.spans]
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
    whole = bool(filled) and _is_covered((starts[0], stimulus.spans[filled[-1]][1]), answer)
    return tuple(
        _absent(span, asked=needed or whole, answer=answer, own=own, named=named)
        or _region_value(own, metric)
        for span, needed, own in zip(stimulus.spans, stimulus.needed, inside, strict=True)
    )


def _absent(
    span: Span, *, asked: bool, answer: Sequence[_Token], own: Sequence[_Token], named: bool
) -> Missing | None:
    """Why a region that has text has no tokens, or not all of them; None where it has them."""
    empty = span[0] == span[1]
    if empty or named:
        return None
    if not asked and not _is_covered(span, answer):
        return Missing(NOT_ASKED)
    if not answer:
        return Missing("no token of this sentence was scored")
    if not own:
        return Missing("no token begins in this region")
    return None


def _is_covered(span: Span, answer: Sequence[_Token]) -> bool:
    """Whether tokens in one unbroken row reach from the first character of `span` to its last.

    The characters between need not be covered: some tokenizers drop some.
    """
    first = [t.position for t in answer if t.start <= span[0] < t.end]
    last = [t.position for t in answer if t.start < span[1] <= t.end]
    if not first or not last:
        return False
    present = sum(first[0] <= t.position <= last[-1] for t in answer)
    return present == last[-1] - first[0] + 1


def _region_value(own: Sequence[_Token], metric: Metric) -> Value:
    surprisals: list[float] = []
    for token in own:
        if isinstance(token.surprisal, Missing):
            return token.surprisal
        surprisals.append(token.surprisal)
    return region_metric(surprisals, metric=metric)

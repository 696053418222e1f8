"""Values of regions from the scores of their tokens: pure functions on columns, without a model.

Values are surprisals, -log P, in the unit in which the source gave them: bits where it recorded
bits, else nats. They are compared in that unit, because a conversion rounds and could make or break
ties.
"""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import TableError, UsageError
from cimento.io.tables import BOUNDARY, LEFT_OUT, NO_LEFT_CONTEXT, TOKENS, Rows, RowsT, collected
from cimento.io.values import NoValue, Reasons, Unit, Value, stretches, total, totals
from cimento.measures.scores import (
    NOT_ASKED,
    NOTHING_SCORED,
    AskedColumns,
    TokenColumns,
    covered,
    scored_blocks,
    token_places,
)
from cimento.suites import METRICS, Metric

if TYPE_CHECKING:
    import polars as pl

    from cimento.io.values import Flags, Floats, Integers


FirstTokenRule: TypeAlias = Literal["missing", "drop", "zero"]


def with_first_tokens(tokens: RowsT, rule: FirstTokenRule) -> RowsT:
    """The tokens table with a rule for unscored first tokens applied.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        rule: ``missing`` leaves them as they are, ``drop`` leaves them out of every sum and
            length, ``zero`` gives them a surprisal of 0.
    """
    import polars as pl

    first = pl.col("unscored_reason").eq_missing(NO_LEFT_CONTEXT)
    if rule == "drop":
        return tokens.with_columns(
            unscored_reason=pl.when(first)
            .then(pl.lit(LEFT_OUT))
            .otherwise(pl.col("unscored_reason"))
        )
    if rule == "zero":
        return tokens.with_columns(
            logprob_nats=pl.when(first).then(0.0).otherwise(pl.col("logprob_nats")),
            unscored_reason=pl.when(first).then(None).otherwise(pl.col("unscored_reason")),
        )
    return tokens


def count_first_tokens(tokens: Rows) -> int:
    """The number of tokens without a score because nothing precedes them."""
    import polars as pl

    first = pl.col("unscored_reason").eq_missing(NO_LEFT_CONTEXT)
    return int(collected(tokens.lazy().select(first.sum()), where=TOKENS.name).item())


def items_with_one_first_token(tokens: Rows, requests: pl.DataFrame) -> set[str]:
    """The items whose sentences all begin with the same token, which has no left context.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``, which assigns sentences to items.
    """
    import polars as pl

    unscored = pl.col("unscored_reason").eq_missing(NO_LEFT_CONTEXT)
    first = collected(tokens.lazy().filter(unscored), where=TOKENS.name)
    places = requests.select("request", "item").unique().join(first, on="request")
    counts = places.group_by("item").agg(n=pl.struct("token", "token_id").n_unique())
    return set(counts.filter(n=1)["item"])


def with_equal_costs(tokens: RowsT) -> RowsT:
    """The tokens table with a surprisal of one nat for every token that has one.

    Args:
        tokens: a table of the schema ``answers.TOKENS``; tokens without a finite score stay
            unchanged.
    """
    import polars as pl

    known = pl.col("logprob_nats").is_finite()  # null where it is null
    other = [name for name in (BOUNDARY, "surprisal_bits") if name in tokens.collect_schema()]
    return tokens.drop(other).with_columns(
        logprob_nats=pl.when(known).then(-1.0).otherwise(pl.col("logprob_nats"))
    )


FinalMarkRule: TypeAlias = Literal["keep", "drop"]

NOTHING_BEGINS = "no token begins in this region"


@dataclass(frozen=True, slots=True)
class RegionValues:
    """The value of every region of every stimulus, as a mapping.

    Attributes:
        unit: the unit of the values, which is the unit of their source.
        metric: the metric that made one value of the surprisals of a region's tokens.
        values: for each item and condition, the values of the regions in order.
    """

    unit: Unit
    metric: Metric
    values: Mapping[str, Mapping[str, tuple[Value, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionColumns:
    """The value of every region of every stimulus, as columns.

    Attributes:
        unit: unit of the values.
        items: id of the item of each stimulus.
        conditions: name of the condition of each stimulus.
        offsets: index of each stimulus's first region among the values, and the number of values at
            the end.
        values: one value for each region; NaN where it is undefined.
        counts: number of tokens that each value is made of; none where values came one by one.
        reasons: for each region, the number of the reason why it has no value.
        texts: the reasons in the order of their numbers.
    """

    unit: Unit
    items: pl.Series
    conditions: pl.Series
    offsets: Integers
    values: Floats
    counts: Integers
    reasons: Integers
    texts: Reasons

    def with_equal_costs(self, metric: Metric) -> RegionColumns:
        """The values if every token that has a surprisal had one nat, as `with_equal_costs`.

        Args:
            metric: the metric of the values.
        """
        import numpy as np

        values = self.counts if metric == "sum" else np.full(len(self.counts), metric != "range")
        return replace(
            self, unit="nats", values=np.where(np.isnan(self.values), np.nan, values.astype(float))
        )

    @classmethod
    def of(
        cls, stimuli: Iterable[tuple[str, str, Sequence[Value]]], *, unit: Unit
    ) -> RegionColumns:
        """The columns of values that come one stimulus at a time: item, condition, regions."""
        import numpy as np
        import polars as pl

        rows, texts = list(stimuli), Reasons()
        cells = [value for _, _, values in rows for value in values]
        numbers = [texts.number(v.reason) if isinstance(v, NoValue) else -1 for v in cells]
        known = [np.nan if isinstance(value, NoValue) else value for value in cells]
        return cls(
            unit=unit,
            items=pl.Series([item for item, _, _ in rows], dtype=pl.String),
            conditions=pl.Series([condition for _, condition, _ in rows], dtype=pl.String),
            offsets=np.cumsum([0, *(len(values) for _, _, values in rows)], dtype=np.int64),
            values=np.array(known, dtype=np.float64),
            counts=np.array([], dtype=np.int64),
            reasons=np.array(numbers, dtype=np.int64),
            texts=texts,
        )


_METRICS: Mapping[Metric, Callable[[Sequence[float]], float]] = {
    "sum": total,
    "mean": lambda values: total(values) / len(values),
    "median": statistics.median,
    "range": lambda values: max(values) - min(values),
    "max": max,
    "min": min,
}


def region_metric(surprisals: Sequence[float], *, metric: Metric) -> Value:
    """The value of one region: one of SyntaxGym's six metrics over its tokens' surprisals.

    Args:
        surprisals: surprisals of the region's tokens, in token order; all finite.
        metric: ``sum``, ``mean``, ``median`` (of an even number, the mean of the middle two),
            ``range`` (largest minus smallest), ``max`` or ``min``.

    Returns:
        The value in the unit of the surprisals. Over no tokens, the sum is 0 and the other metrics
        are undefined.

    Raises:
        UsageError: there is no such metric.
    """
    _check_metric(metric)
    if not surprisals and metric != "sum":
        return NoValue(_over_nothing(metric))
    return _METRICS[metric](surprisals)


def _check_metric(metric: Metric) -> None:
    if metric not in METRICS:
        raise UsageError(
            where="metric",
            seen=f"there is no metric {metric!r}",
            todo=f"Known: {', '.join(METRICS)}.",
        )


def _over_nothing(metric: Metric) -> str:
    return f"the {metric} over no token is undefined"


def region_values(
    tokens: Rows,
    requests: Rows,
    *,
    metric: Metric,
    final_marks: FinalMarkRule = "keep",
) -> RegionValues:
    """The value of every region of every stimulus, by item and condition; see `region_columns`.

    Args:
        tokens: as for `region_columns`.
        requests: as for `region_columns`.
        metric: as for `region_columns`.
        final_marks: as for `region_columns`.

    Raises:
        UsageError: as for `region_columns`.
        TableError: as for `region_columns`.
    """
    columns = region_columns(tokens, requests, metric=metric, final_marks=final_marks)
    texts = columns.texts.texts()
    cells: list[Value] = [
        value if reason < 0 else NoValue(texts[reason])
        for value, reason in zip(columns.values.tolist(), columns.reasons.tolist(), strict=True)
    ]
    values: dict[str, dict[str, tuple[Value, ...]]] = {}
    offsets = columns.offsets.tolist()
    for place, (item, condition) in enumerate(zip(columns.items, columns.conditions, strict=True)):
        regions = tuple(cells[offsets[place] : offsets[place + 1]])
        values.setdefault(item, {})[condition] = regions
    return RegionValues(unit=columns.unit, metric=metric, values=values)


def region_columns(
    tokens: Rows,
    requests: Rows,
    *,
    metric: Metric,
    final_marks: FinalMarkRule = "keep",
) -> RegionColumns:
    """The value of every region of every stimulus in a requests table.

    A token belongs to the last non-empty region that starts at or before its first non-blank
    character (to the first non-empty region where none does), or to the region that the source
    itself named. A region has no value, but a reason, where one of its tokens has no score, where
    it has text and no token begins in it, and where its tokens were never asked for.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        metric: the metric that combines the surprisals of a region's tokens into one value.
        final_marks: ``drop`` leaves out the tokens that begin in the punctuation at the end of a
            region, such as the period of ``lunga.``; a region of nothing but marks keeps them.

    Raises:
        UsageError: there is no such metric.
        TableError: the source named a region that there is not.
    """
    import numpy as np
    import polars as pl

    _check_metric(metric)
    items, conditions, lengths, values, counts, reasons = [], [], [], [], [], []
    for asked, _, scored in scored_blocks(tokens, requests):
        items.append(asked.items)
        conditions.append(asked.conditions)
        lengths.append(np.diff(asked.offsets))
        block_values, inside, block_reasons = _block_values(asked, scored, metric, final_marks)
        values.append(block_values)
        counts.append(inside)
        reasons.append(block_reasons)
    return RegionColumns(
        unit=scored.unit,
        items=pl.concat(items),
        conditions=pl.concat(conditions),
        offsets=np.concatenate(([0], np.cumsum(np.concatenate(lengths)))),
        values=np.concatenate(values),
        counts=np.concatenate(counts),
        reasons=np.concatenate(reasons),
        texts=scored.texts,
    )


def _block_values(
    asked: AskedColumns, scored: TokenColumns, metric: Metric, final_marks: FinalMarkRule
) -> tuple[Floats, Integers, Integers]:
    """The values of the regions of a block, their numbers of tokens, and reasons for no value."""
    import numpy as np

    placed = _RegionTokens.of(asked, scored)
    token, region = placed.token, placed.region
    if final_marks == "drop":
        kept = scored.start[token] < _without_marks(asked)[region]
        token, region = token[kept], region[kept]
    reasons = _reasons(asked, scored, placed, token, region)
    counts = ~scored.left_out[token]
    inside = np.bincount(region[counts], minlength=len(reasons))
    values = _measured(scored.surprisal[token[counts]], inside, metric)
    if metric != "sum":
        reasons[(inside == 0) & (reasons < 0)] = scored.texts.number(_over_nothing(metric))
    return np.where(reasons >= 0, np.nan, values), inside, reasons


def _measured(surprisals: Floats, lengths: Integers, metric: Metric) -> Floats:
    """The metric over each segment of an array; over an empty one, 0 for the sum and else NaN."""
    import numpy as np

    offsets = np.concatenate(([0], np.cumsum(lengths)))
    if metric == "sum":
        return totals(surprisals, offsets)
    values = surprisals.tolist()
    ends = offsets.tolist()
    return np.array(
        [
            _METRICS[metric](values[begin:end]) if begin < end else np.nan
            for begin, end in pairwise(ends)
        ],
        dtype=np.float64,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _RegionTokens:
    """The tokens of all regions, grouped by region and in order within it.

    Attributes:
        first: index of the first token of each stimulus.
        counts: number of tokens of each stimulus.
        token: indices of tokens.
        region: index of the region of each of these tokens.
        named: for each stimulus, whether the source itself named the regions of tokens.
    """

    first: Integers
    counts: Integers
    token: Integers
    region: Integers
    named: Flags

    @classmethod
    def of(cls, asked: AskedColumns, scored: TokenColumns) -> _RegionTokens:
        """The tokens of each stimulus, each in the region to which it belongs.

        Raises:
            TableError: the source named a region that there is not.
        """
        import numpy as np

        first, counts = token_places(scored, asked.request)
        token = stretches(first, counts)
        stimulus = np.repeat(np.arange(len(counts)), counts)
        region = _region_of(asked, stimulus, scored.start[token])
        declared = scored.region[token]
        names = declared >= 0
        _check_named(asked, stimulus[names], declared[names])
        region = np.where(names, asked.offsets[stimulus] + declared - 1, region)
        named = np.zeros(len(counts), dtype=np.bool_)
        named[stimulus[names]] = True
        inside = region >= 0
        token, region = token[inside], region[inside]
        order = np.argsort(region, kind="stable")
        return cls(
            first=first, counts=counts, token=token[order], region=region[order], named=named
        )


def _region_of(asked: AskedColumns, stimulus: Integers, start: Integers) -> Integers:
    """The region in which each of some tokens begins; -1 where its stimulus has no text."""
    import numpy as np

    filled = np.flatnonzero(asked.start < asked.end)
    owner = asked.stimulus[filled]
    numbers = np.arange(len(asked.items))
    lowest = np.searchsorted(owner, numbers, side="left")[stimulus]
    highest = np.searchsorted(owner, numbers, side="right")[stimulus] - 1
    # One ascending array for all stimuli lets one search place all tokens.
    width = int(max(asked.end.max(initial=0), start.max(initial=0))) + 2
    begins = owner * width + asked.start[filled]
    places = np.searchsorted(begins, stimulus * width + np.maximum(start, 0), side="right") - 1
    places = np.clip(places, lowest, np.maximum(highest, lowest))
    nowhere = lowest > highest
    return np.where(nowhere, -1, filled[np.where(nowhere, 0, places)] if len(filled) else -1)


def _check_named(asked: AskedColumns, stimulus: Integers, named: Integers) -> None:
    """Refuse regions that the source named and the stimulus does not have."""
    import numpy as np

    count = np.diff(asked.offsets)[stimulus]
    wrong = np.flatnonzero((named < 1) | (named > count))
    if len(wrong):
        place = wrong[0]
        owner = int(stimulus[place])
        raise TableError(
            where=f"item {asked.items[owner]!r}, condition {asked.conditions[owner]!r}",
            seen=f"a token is said to be in region {named[place]} of {count[place]}",
            todo="The tokens table belongs to another suite, or is damaged.",
        )


def _reasons(
    asked: AskedColumns,
    scored: TokenColumns,
    placed: _RegionTokens,
    token: Integers,
    region: Integers,
) -> Integers:
    """The reason why each region has no value: one of its tokens has no score, or is absent."""
    import numpy as np

    reasons, texts = np.full(len(asked.start), -1, dtype=np.int64), scored.texts
    unknown = scored.reasons[token] >= 0
    # Tokens are written in reverse, so that the first unscored token of a region gives the reason.
    reasons[region[unknown][::-1]] = scored.reasons[token[unknown]][::-1]
    open_to_doubt = (asked.start < asked.end) & ~placed.named[asked.stimulus]
    inside = np.bincount(placed.region, minlength=len(reasons))
    reasons[open_to_doubt & (inside == 0)] = texts.number(NOTHING_BEGINS)
    reasons[open_to_doubt & (placed.counts == 0)[asked.stimulus]] = texts.number(NOTHING_SCORED)
    unneeded = np.flatnonzero(open_to_doubt & ~asked.needed)
    if not len(unneeded):
        return reasons
    # A reason that holds for the whole sentence holds for all of its regions.
    stimuli = np.unique(asked.stimulus[unneeded])
    filled = np.flatnonzero(asked.start < asked.end)
    owner = asked.stimulus[filled]
    start = asked.start[filled[np.searchsorted(owner, stimuli, side="left")]]
    end = asked.end[filled[np.searchsorted(owner, stimuli, side="right") - 1]]
    whole = np.zeros(len(asked.items), dtype=np.bool_)
    first, counts = placed.first, placed.counts
    whole[stimuli] = covered(scored, first[stimuli], counts[stimuli], start, end)
    doubtful = unneeded[~whole[asked.stimulus[unneeded]]]
    owners = asked.stimulus[doubtful]
    there = covered(
        scored, first[owners], counts[owners], asked.start[doubtful], asked.end[doubtful]
    )
    reasons[doubtful[~there]] = texts.number(NOT_ASKED)
    return reasons


def _without_marks(asked: AskedColumns) -> Integers:
    """The end of each region without its final marks; beyond every text if it has marks only."""
    import numpy as np

    ends = []
    for owner, start, end in zip(
        asked.stimulus.tolist(), asked.start.tolist(), asked.end.tolist(), strict=True
    ):
        text, last = asked.texts[owner], end
        while last > start and unicodedata.category(text[last - 1]).startswith("P"):
            last -= 1
        ends.append(last if last > start else np.iinfo(np.int64).max)
    return np.array(ends, dtype=np.int64)

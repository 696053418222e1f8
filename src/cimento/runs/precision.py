"""Movement of a model's scores with the shape of a batch and with the number format.

Floating-point sums depend on their order, and the order depends on the other texts in a batch. So a
text gets slightly different scores in different batches, with larger differences in number formats
of fewer digits. A verdict whose margin is smaller than these differences is not informative. This
module measures them for a model: it scores the items of suites one text at a time, a few at a time
and all together, and then in a wider number format.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cimento.engine.cache import MemoryCache
from cimento.engine.requests import Requests
from cimento.engine.scores import ask
from cimento.measures.regions import region_columns
from cimento.measures.sentence import surprisal_bits
from cimento.models.base import Policy, Score
from cimento.models.dtypes import DtypeName
from cimento.models.registry import AnyScorer
from cimento.paradigms.regions.predictions import VERDICTS, judged_items, parse_predictions
from cimento.paradigms.regions.requests import region_requests
from cimento.suites.model import Suite

TOGETHER = (1, 8, 0)
"""Numbers of texts that a model is given at once; 0 for all."""

WIDER: Mapping[DtypeName, DtypeName] = {
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64",
}
"""The wider number format with which each format is compared."""


@dataclass(frozen=True, slots=True)
class Movement:
    """The movement of numbers between two ways to compute them, in bits.

    Attributes:
        n: how many numbers are compared.
        median: movement that half of them do not exceed; None without numbers.
        most: movement that 99 of 100 do not exceed.
        largest: the largest movement.
    """

    n: int
    median: float | None
    most: float | None
    largest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The result of comparing two ways of scoring.

    Attributes:
        token: movement of the surprisals of tokens.
        sentence: movement of their sums over sentences.
        margin: movement of the margins of predictions.
        turned: number of verdicts that differ.
    """

    token: Movement
    sentence: Movement
    margin: Movement
    turned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The numerical precision of a model's scores.

    Attributes:
        dtype: its number format.
        n_items: number of items scored.
        n_texts: number of texts scored, where each text counts once for every way.
        by_batch: movement with the shape of the batch: the same texts alone, eight at a time and
            together.
        wider: the wider number format; empty where there is none.
        by_format: movement between the two formats, over all batch shapes; None without a wider
            format.
    """

    dtype: str
    n_items: int
    n_texts: int
    by_batch: Moved
    wider: str = ""
    by_format: Moved | None = None

    @property
    def near_tie_bits(self) -> float | None:
        """The largest margin that may come from numerical error alone, rounded up to two digits."""
        found = [self.by_batch.margin.largest]
        found += [self.by_format.margin.largest] if self.by_format is not None else []
        known = [value for value in found if value]
        return _upwards(max(known)) if known else None


def _upwards(value: float) -> float:
    """A positive number rounded up to two significant digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.2g}")


def measure_precision(
    suites: Iterable[Suite],
    scorer: AnyScorer,
    *,
    policy: Policy,
    wider: AnyScorer | None = None,
    items: int | None = None,
) -> Precision:
    """Score the items of some suites in several ways.

    Args:
        suites: suites with predictions, whose margins are compared.
        scorer: the loaded model.
        policy: the policy it was loaded with.
        wider: the same model in a wider number format; None where there is none.
        items: number of items of each suite, from the first; None for all.
    """
    by_batch, by_format = _Differences(), _Differences()
    n_items = n_texts = 0
    for suite in suites:
        own = replace(suite, items=suite.items[:items])
        requests = region_requests(own, all_tokens=True)
        n_items += len(own.items)
        n_texts += len(requests.asked)
        alone, *others = [_way(own, requests, scorer, policy, size) for size in TOGETHER]
        for other in others:
            by_batch.add(alone, other)
        if wider is not None:
            exact = _way(own, requests, wider, replace(policy, dtype=_dtype(wider)), 1)
            for one in (alone, *others):
                by_format.add(exact, one)
    return Precision(
        dtype=scorer.card.dtype,
        n_items=n_items,
        n_texts=n_texts,
        by_batch=by_batch.told(),
        wider=wider.card.dtype if wider is not None else "",
        by_format=by_format.told() if wider is not None else None,
    )


def _dtype(scorer: AnyScorer) -> DtypeName:
    return next(name for name in WIDER.values() if name == scorer.card.dtype)


@dataclass(frozen=True, slots=True)
class _Way:
    """The results of one way of scoring a suite, by place, in bits."""

    tokens: Mapping[Hashable, float]
    sentences: Mapping[Hashable, float]
    margins: Mapping[Hashable, float]
    verdicts: Mapping[Hashable, str]


def _way(suite: Suite, requests: Requests, scorer: AnyScorer, policy: Policy, size: int) -> _Way:
    import polars as pl

    asked = [request for request in requests.asked if isinstance(request, Score)]
    step = size or max(len(asked), 1)
    tables = []
    for start in range(0, len(asked), step):
        some = asked[start : start + step]
        table = ask(some, scorer, policy=policy, cache=MemoryCache())
        tables.append(table.with_columns(pl.col("request") + start))
    tokens = pl.concat(tables)
    scored = tokens.filter(tokens["logprob_nats"].is_not_null())
    sums = scored.group_by("request").agg(pl.col("logprob_nats").sum())
    values = region_columns(tokens, requests.places, metric=suite.metric)
    judged = judged_items(suite, parse_predictions(suite), values, unit="bits")
    items = list(suite.columns.ids)
    places = scored.select("request", "position", "logprob_nats").iter_rows()
    return _Way(
        tokens={(number, place): surprisal_bits(value) for number, place, value in places},
        sentences={number: surprisal_bits(value) for number, value in sums.iter_rows()},
        margins={
            (item, number): margin
            for number, each in enumerate(judged)
            for item, margin in zip(items, each.margins_bits.tolist(), strict=True)
            if not math.isnan(margin)
        },
        verdicts={
            (item, number): VERDICTS[kind]
            for number, each in enumerate(judged)
            for item, kind in zip(items, each.verdicts.tolist(), strict=True)
        },
    )


@dataclass(slots=True)
class _Differences:
    """The differences between ways of scoring, gathered over suites."""

    tokens: list[float] = field(default_factory=list)
    sentences: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    turned: int = 0

    def add(self, one: _Way, other: _Way) -> None:
        """Add the differences between two ways of scoring one suite."""
        self.tokens += _apart(one.tokens, other.tokens)
        self.sentences += _apart(one.sentences, other.sentences)
        self.margins += _apart(one.margins, other.margins)
        self.turned += sum(
            verdict != other.verdicts.get(place) for place, verdict in one.verdicts.items()
        )

    def told(self) -> Moved:
        """A summary of all differences."""
        return Moved(
            token=_movement(self.tokens),
            sentence=_movement(self.sentences),
            margin=_movement(self.margins),
            turned=self.turned,
        )


def _apart(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> list[float]:
    """The absolute differences of numbers that both have, leaving out non-finite ones."""
    found = (abs(value - other[place]) for place, value in one.items() if place in other)
    return [value for value in found if math.isfinite(value)]


def _movement(values: Sequence[float]) -> Movement:
    if not values:
        return Movement(0, None, None, None)
    known = sorted(values)
    median, most = (known[math.ceil(len(known) * share) - 1] for share in (0.5, 0.99))
    return Movement(len(known), median, most, known[-1])

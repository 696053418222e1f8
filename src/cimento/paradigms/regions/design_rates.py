"""Rates over the items of a design: how often one cell scores above another, and DD above 0.

The cells that are compared are those of the suite's own predictions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cimento.io.values import NoValue
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.paradigms.regions.two_by_two import NO_ITEMS, Scores, item_effect, score_of
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.statistics.means import Mean, mean_if_all, mean_of
from cimento.suites import Suite
from cimento.suites.design import DesignCell, Square, over
from cimento.suites.formula import Comparison, Formula, Junction, Reference

Clusters: TypeAlias = Mapping[str, Hashable]
"""The cluster of each item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRate:
    """A rate over items.

    Attributes:
        name: what should hold: one condition over another, or ``DD > 0``.
        better: the condition that should score above another; empty for DD.
        worse: the other condition; empty for DD.
        held: compared items, each with whether the comparison held.
        tied: number of items with two equal sides, which count as not held.
        unscored: number of items that could not be compared and are in no other count.
        interval: 95% confidence interval, or the reason why it, or also the accuracy, is None.
    """

    name: str
    better: str = ""
    worse: str = ""
    held: Mapping[str, bool] = field(default_factory=dict)
    tied: int = 0
    unscored: int
    interval: Interval

    @property
    def n(self) -> int:
        """The number of compared items."""
        return len(self.held)

    @property
    def passed(self) -> int:
        """The number of items in which the comparison held."""
        return sum(self.held.values())

    @property
    def accuracy(self) -> float | None:
        """The proportion of compared items in which the comparison held; None without items."""
        return self.passed / self.n if self.held else None


def rates_of_pairs(
    suite: Suite, square: Square, scores: Scores, items: Sequence[str]
) -> tuple[DesignRate, ...]:
    """How often each cell that should be better than another scores above it.

    Args:
        suite: the suite; see `cells_compared`.
        square: its design.
        scores: scores by item and condition, signed so that more is better.
        items: the items.
    """
    clusters = suite.clusters()
    return tuple(
        _pair(better, worse, scores, items, clusters)
        for better, worse in cells_compared(suite, square)
    )


def rate_above(
    square: Square, scores: Scores, items: Sequence[str], clusters: Clusters
) -> DesignRate:
    """How often the DD of an item is above 0."""
    return _rate("DD > 0", {item: item_effect(square, scores, item).dd for item in items}, clusters)


def cells_compared(suite: Suite, square: Square) -> tuple[tuple[DesignCell, DesignCell], ...]:
    """The cells of a square of which the first should be better than the second.

    They are those of whose whole sentences the suite's predictions say so. Where no prediction
    compares two cells, as if there is only that of DD, they are those of the design.
    """
    cells = {cell.condition: cell for cell in square.cells}
    pairs = dict.fromkeys(
        (cells[low], cells[high])
        for tree in parse_predictions(suite)
        for low, high in _compared(tree, of_one=len(suite.region_names) == 1)
        if low in cells and high in cells
    )
    return tuple(pairs) or square.compared


def _compared(tree: Formula, *, of_one: bool) -> Iterator[tuple[str, str]]:
    """The conditions of which the whole sentence of the first should be less surprising.

    Args:
        tree: a prediction.
        of_one: whether the first region is the whole sentence.
    """
    whole = ("*", 1) if of_one else ("*",)
    match tree:
        case Junction("&", left, right):
            yield from _compared(left, of_one=of_one)
            yield from _compared(right, of_one=of_one)
        case Comparison("<", Reference() as low, Reference() as high) | Comparison(
            ">", Reference() as high, Reference() as low
        ) if low.region in whole and high.region in whole:
            yield low.condition, high.condition


def _pair(
    better: DesignCell,
    worse: DesignCell,
    scores: Scores,
    items: Sequence[str],
    clusters: Clusters,
) -> DesignRate:
    """The rate at which one cell scores above another."""
    margins: dict[str, float | None] = {}
    for item in items:
        good = score_of(scores, item, better.condition)
        bad = score_of(scores, item, worse.condition)
        known = not isinstance(good, NoValue) and not isinstance(bad, NoValue)
        margins[item] = good - bad if known else None  # type: ignore[operator]  # both known
    return replace(
        _rate(over(better.name, worse.name), margins, clusters),
        better=better.name,
        worse=worse.name,
    )


def _rate(name: str, margins: Mapping[str, float | None], clusters: Clusters) -> DesignRate:
    scored = {item: margin for item, margin in margins.items() if margin is not None}
    held = {item: margin > 0 for item, margin in scored.items()}
    interval = share_interval(list(held.values()), Design.of(held, clusters))
    return DesignRate(
        name=name,
        held=held,
        tied=sum(margin == 0 for margin in scored.values()),
        unscored=len(margins) - len(scored),
        interval=interval if scored else replace(interval, reason=NO_ITEMS),
    )


def average_of_shares(
    groups: Sequence[Sequence[DesignRate]], clusters: Clusters, *, seed: int
) -> Mean:
    """The unweighted mean over groups of items of the unweighted mean of each group's rates.

    Its interval is that of a mean over items. The value of each item is the mean plus the item's
    influence, ``N Σ_k (h_ik - p_gk) / (G K_g n_gk)`` for N items in G groups and K_g rates p_gk of
    n_gk items (h_ik is 1 if rate k holds in item i, else 0), times ``sqrt(n_g (N - 1) / ((n_g - 1)
    N))``. The variance is then that of a stratified mean (Cochran 1977, Sampling Techniques,
    section 5.3), because the groups are fixed and not sampled.

    Args:
        groups: rates of each group.
        clusters: cluster of each item; empty if every item is independent.
        seed: seed of the resampling.

    Returns:
        The mean, from 0 to 1; without a value if a rate has none.
    """
    shares = [share for group in groups for share in group]
    items = [
        list(dict.fromkeys(item for share in group for item in share.held)) for group in groups
    ]
    units = [item for stratum in items for item in stratum]
    design = Design.of(units, clusters or None)
    value = mean_if_all([mean_if_all([share.accuracy for share in group]) for group in groups])
    if value is None:
        lacking = next((share.interval.reason for share in shares if not share.held), None)
        return replace(mean_of([], Design.independent(0), seed=seed), reason=lacking or NO_ITEMS)
    n = len(units)
    values = [
        value + n / len(groups) * _stratum(len(stratum), n) * _influence(item, group)
        for group, stratum in zip(groups, items, strict=True)
        for item in stratum
    ]
    mean = mean_of(values, design, seed=seed)
    if mean.low is None or mean.high is None:
        return replace(mean, value=value)
    return replace(mean, value=value, low=max(0.0, mean.low), high=min(1.0, mean.high))


def _stratum(size: int, n: int) -> float:
    """The factor that turns the variance over all items into that over the items of one group."""
    return math.sqrt(size * (n - 1) / ((size - 1) * n)) if size > 1 else 0.0


def _influence(item: str, group: Sequence[DesignRate]) -> float:
    """The contribution of an item to the mean of its group's rates."""
    terms = (
        (share.held[item] - (share.accuracy or 0.0)) / share.n
        for share in group
        if item in share.held
    )
    return math.fsum(terms) / len(group)

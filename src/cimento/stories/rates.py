"""Accuracy, consistency and verifiability, overall and by group, with their intervals.

Accuracy is the share of stories that are right at the first tier; consistency the share of
implausible stories that are right at the first two; verifiability at all three (Storks et al.
2021, doi:10.18653/v1/2021.findings-emnlp.422; Pensa et al. 2024, CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cimento.statistics.intervals import Interval, share_interval
from cimento.stories.grouping import GROUPS, Grouping
from cimento.stories.records import CONFLICT, STATE, STORY, Tier
from cimento.stories.tiers import Chain

METRICS: Mapping[str, tuple[Tier, str | None]] = {
    "Accuracy": (STORY, None),
    "Consistency": (CONFLICT, None),
    "Verifiability": (STATE, None),
    "Cloze Accuracy": (STORY, "cloze"),
    "Order Accuracy": (STORY, "order"),
    "Plausible Accuracy": (STORY, "plausible"),
    "Cloze Consistency": (CONFLICT, "cloze"),
    "Order Consistency": (CONFLICT, "order"),
    "Cloze Verifiability": (STATE, "cloze"),
    "Order Verifiability": (STATE, "order"),
}
"""Name of each metric, to its tier and the group it is about (None for all)."""

EMPTY = "there are no such stories"

__all__ = ["GROUPS", "METRICS", "Rate", "rate_of", "rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One metric of one model under one grouping.

    Attributes:
        name: of the metric.
        value: None where it cannot be told.
        count: stories that are right, and stories that count.
        interval: of the share, 95 %, stories of one triple together; None without a value.
        reason: why there is no value.
        unscored: stories left out because an answer could not be scored.
    """

    name: str
    value: float | None
    count: tuple[int, int] | None
    interval: Interval | None = None
    reason: str = ""
    unscored: int = 0


def rates(chained: Chain, grouping: Grouping) -> dict[str, Rate]:
    """All ten metrics of a model under a grouping."""
    return {name: _rate(name, chained, grouping) for name in METRICS}


def _rate(name: str, chained: Chain, grouping: Grouping) -> Rate:
    tier = METRICS[name][0]
    if not chained.known(tier):
        return Rate(name=name, value=None, count=None, reason=chained.reasons[tier])
    values = metric_values(name, chained, grouping)
    return rate_of(name, values, chained, reason=EMPTY)


def rate_of(name: str, values: Mapping[int, bool | None], chained: Chain, *, reason: str) -> Rate:
    """How often stories are right, with the interval over triples.

    Args:
        name: of the metric.
        values: row to whether the story is right; None for one that could not be scored.
        chained: knows which stories belong together.
        reason: what is said where there is no story.
    """
    known = {row: value for row, value in values.items() if value is not None}
    unscored = len(values) - len(known)
    if not known:
        return Rate(name=name, value=None, count=(0, 0), reason=reason, unscored=unscored)
    right = list(known.values())
    return Rate(
        name=name,
        value=sum(right) / len(right),
        count=(sum(right), len(right)),
        interval=share_interval(right, chained.design(known)),
        unscored=unscored,
    )


def metric_values(name: str, chained: Chain, grouping: Grouping) -> dict[int, bool | None]:
    """Of each story that a metric counts, by row, whether it is right."""
    tier, group = METRICS[name]
    rows = grouping.rows(group, later=tier != STORY)
    passed = chained.passed[tier]
    return {row: passed.get(row) for row in rows}

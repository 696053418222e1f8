"""Accuracy, consistency and verifiability, overall and by group, with two kinds of intervals.

Accuracy is the share of stories that are right at the first tier; consistency the share of
implausible stories that are right at the first two; verifiability at all three (Storks et al.
2021, doi:10.18653/v1/2021.findings-emnlp.422; Pensa et al. 2024, CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.statistics.intervals import wilson
from cimento.stories.grouping import GROUPS, Grouping
from cimento.stories.records import CONFLICT, STATE, STORY, Story, Tier
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
DRAWS = 10_000
ALL_DRAWS_EQUAL = "all draws are equal"

__all__ = ["DRAWS", "GROUPS", "METRICS", "Rate", "bootstrap_intervals", "rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One metric of one model under one grouping.

    Attributes:
        name: of the metric.
        value: None where it cannot be told.
        count: stories that are right, and stories that count.
        wilson95: Wilson's interval.
        reason: why there is no value.
        unscored: stories left out because an answer could not be scored.
    """

    name: str
    value: float | None
    count: tuple[int, int] | None
    wilson95: tuple[float, float] | None
    reason: str = ""
    unscored: int = 0


def rates(chained: Chain, grouping: Grouping) -> dict[str, Rate]:
    """All ten metrics of a model under a grouping."""
    return {name: _rate(name, chained, grouping) for name in METRICS}


def _rate(name: str, chained: Chain, grouping: Grouping) -> Rate:
    tier = METRICS[name][0]
    if not chained.known(tier):
        return Rate(name=name, value=None, count=None, wilson95=None, reason=chained.reasons[tier])
    values = metric_values(name, chained, grouping)
    known = [value for value in values.values() if value is not None]
    if not known:
        return Rate(name=name, value=None, count=(0, 0), wilson95=None, reason=EMPTY)
    share = sum(known) / len(known)
    return Rate(
        name=name,
        value=share,
        count=(sum(known), len(known)),
        wilson95=wilson(share, len(known)),
        unscored=len(values) - len(known),
    )


def metric_values(name: str, chained: Chain, grouping: Grouping) -> dict[int, bool | None]:
    """Of each story that a metric counts, by row, whether it is right."""
    tier, group = METRICS[name]
    rows = grouping.rows(group, later=tier != STORY)
    passed = chained.passed[tier]
    return {row: passed.get(row) for row in rows}


def bootstrap_intervals(
    stories: Sequence[Story],
    chained: Chain,
    grouping: Grouping,
    *,
    seed: int,
    draws: int = DRAWS,
) -> dict[str, tuple[float, float] | None]:
    """The percentile bootstrap interval (95 %) of each metric, whole triples drawn again.

    Where all draws are equal, which a share of 0 or 1 always gives, both ends are the value:
    read Wilson's interval there.

    Returns:
        None for metrics that have no value.
    """
    from cimento.statistics.design import Design
    from cimento.statistics.resampling import bootstrap

    numbers = {story.row: story.story_id for story in stories}
    found: dict[str, tuple[float, float] | None] = {}
    for name, (tier, _) in METRICS.items():
        values = {
            row: value
            for row, value in metric_values(name, chained, grouping).items()
            if value is not None
        }
        if not values or not chained.known(tier):
            found[name] = None
            continue
        clusters = tuple(numbers[row] for row in values)
        drawn = bootstrap(
            [float(value) for value in values.values()],
            lambda rows: float(rows.mean()),
            Design(clusters, clusters),
            seed=seed,
            draws=draws,
            method="percentile",
        )
        if drawn.low is not None and drawn.high is not None:
            found[name] = (drawn.low, drawn.high)
        elif drawn.reason == ALL_DRAWS_EQUAL and drawn.estimate is not None:
            found[name] = (drawn.estimate, drawn.estimate)
        else:
            found[name] = None
    return found

"""Accuracy, consistency and verifiability, by group and by kind of conflict, with baselines.

Accuracy is the proportion of stories that are right at the first tier; consistency the proportion
of implausible stories that are right at the first two; verifiability at all three (Storks et al.
2021, doi:10.18653/v1/2021.findings-emnlp.422; Pensa et al. 2024, CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from cimento.io.values import group_by
from cimento.paradigms.stories.options import Grouping
from cimento.paradigms.stories.outcomes import Chain, TierOutcome, at, chain, judge_all
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.stories import (
    CONFLICT,
    FALSE,
    OPTIONS,
    STATE,
    STATES,
    STORY,
    TIERS,
    TRUE,
    Story,
    Tier,
    TierAnswer,
    most_frequent,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One metric of one model under one grouping.

    Attributes:
        name: name of the metric.
        value: None where it cannot be told.
        count: stories that are right, and stories that count.
        interval: interval of the share, 95%, stories of one triple together; None without a value.
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
    return {
        name: rate_of(name, metric_values(name, chained, grouping), chained, reason=EMPTY)
        if chained.known(tier)
        else Rate(name=name, value=None, count=None, reason=chained.reasons[tier])
        for name, (tier, _) in METRICS.items()
    }


def rate_of(name: str, values: Mapping[int, bool | None], chained: Chain, *, reason: str) -> Rate:
    """The proportion of stories that are right, with the interval over triples.

    Args:
        name: name of the metric.
        values: row to whether the story is right; None for one that could not be scored.
        chained: knows which stories belong together.
        reason: given if there is no story.
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
    """For the row of each story that a metric counts, whether the story is right."""
    tier, group = METRICS[name]
    rows = grouping.rows(group, later=tier != STORY)
    passed = chained.passed[tier]
    return {row: passed.get(row) for row in rows}


FAMILIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "access": frozenset({"open", "occupied", "location"}),
        "working": frozenset({"power", "functional"}),
        "being": frozenset({"exist", "in pieces", "solid"}),
        "condition": frozenset({"clean", "wet", "edible", "temperature"}),
        "person": frozenset({"conscious", "wearing"}),
    }
)
"""States that are near each other; a convention of this project."""


@dataclass(frozen=True, slots=True)
class Survivors:
    """The numbers of implausible stories of a kind that pass each tier and all before it.

    Attributes:
        n: stories of the kind.
        story_ok: right at the first tier; None where the tier says nothing.
        conflict_ok: and at the second.
        state_ok: and at the third.
    """

    n: int
    story_ok: int | None
    conflict_ok: int | None
    state_ok: int | None


CONFLICT_KINDS = ("state", "distance", "breakpoint", "pair", "place", "domain")
"""What conflicts are told apart by."""


def kinds_of(story: Story) -> dict[str, str]:
    """The kind of a story's conflict by each of `CONFLICT_KINDS`.

    Plausible stories have a place and a domain too.
    """
    kinds: dict[str, object] = {"place": story.location.strip(), "domain": story.domain}
    if not story.plausible:
        kinds = {
            "state": story.state,
            "distance": story.distance,
            "breakpoint": story.breakpoint if story.breakpoint >= 0 else None,
            "pair": story.gold(CONFLICT),
            **kinds,
        }
    return {name: str(value) for name, value in kinds.items() if value not in (None, "")}


def survivors(stories: Sequence[Story], chained: Chain, kind: str) -> dict[str, Survivors]:
    """The implausible stories of each kind of conflict.

    Args:
        stories: all stories of the suite.
        chained: chain of the tiers of these stories.
        kind: one of `CONFLICT_KINDS`.

    Returns:
        States in the order of the study, places by how many stories they have, domains as they
        come, all others sorted.
    """
    conflicts = [story for story in stories if not story.plausible and kind in kinds_of(story)]
    groups = group_by(conflicts, lambda story: kinds_of(story)[kind])
    orders: Mapping[str, Callable[[str], int | str]] = {
        "state": STATES.index,
        "distance": int,
        "breakpoint": int,
        "pair": str,
        "place": lambda name: -len(groups[name]),
    }
    names = sorted(groups, key=orders[kind]) if kind in orders else list(groups)
    return {name: _count(groups[name], chained) for name in names}


def _count(stories: Sequence[Story], chained: Chain) -> Survivors:
    passed = [
        sum(chained.passed[tier][one.row] is True for one in stories)
        if chained.known(tier)
        else None
        for tier in TIERS
    ]
    return Survivors(len(stories), *passed)


def by_true_shots(
    stories: Sequence[Story], outcomes: Sequence[TierOutcome]
) -> dict[int, tuple[int, int]]:
    """Accuracy of the first tier by how many of the worked examples are plausible stories.

    Returns:
        Number of such examples to (right, all); empty where examples were not recorded. Answers
        with an example that is not among the stories are left out.
    """
    gold = {story.row: story.gold(STORY) for story in stories}
    counts: dict[int, tuple[int, int]] = {}
    for outcome in at(outcomes, STORY).values():
        shots = outcome.answer.shots
        if outcome.correct is None or not shots or not gold.keys() >= {*shots}:
            continue
        number = sum(gold[shot] == TRUE for shot in shots)
        right, n = counts.get(number, (0, 0))
        counts[number] = (right + outcome.correct, n + 1)
    return dict(sorted(counts.items()))


def confusions(outcomes: Sequence[TierOutcome]) -> dict[str, dict[str, int]]:
    """At the third tier, the right state to the states chosen, both in alphabetical order."""
    states = sorted(_labels(outcomes, STATE))
    return {
        gold: dict(Counter(chosen for _, chosen in pairs))
        for gold, pairs in group_by(states, lambda pair: pair[0]).items()
    }


def _labels(outcomes: Sequence[TierOutcome], tier: Tier) -> list[tuple[str, str]]:
    """The right and the chosen label of each answer at a tier that has both."""
    return [
        (outcome.gold, outcome.chosen)
        for outcome in outcomes
        if outcome.tier == tier and outcome.gold is not None and outcome.chosen is not None
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialCredit:
    """The nearness of wrong answers, over all answers with a label at the later tiers.

    Attributes:
        n_pairs: answers at the second tier.
        pair_right: number of stories with both sentences right.
        one_right: exactly one of the two sentences is in the right pair.
        breakpoint_right: the breakpoint, whatever the other sentence.
        conflicting_right: the conflicting sentence, whatever the breakpoint.
        mean_distance: mean of the sum of distances of both sentences; None without answers.
        n_states: answers at the third tier.
        state_right: number of stories with the state right.
        family_right: a state of the same family (`FAMILIES`), the correct one included.
    """

    n_pairs: int
    pair_right: int
    one_right: int
    breakpoint_right: int
    conflicting_right: int
    mean_distance: float | None
    n_states: int
    state_right: int
    family_right: int


def partial_credit(outcomes: Sequence[TierOutcome]) -> PartialCredit:
    """Counts of answers that are partly right."""
    pairs = [(_sentences(gold), _sentences(chosen)) for gold, chosen in _labels(outcomes, CONFLICT)]
    states = _labels(outcomes, STATE)
    distances = [abs(g[0] - c[0]) + abs(g[1] - c[1]) for g, c in pairs]
    return PartialCredit(
        n_pairs=len(pairs),
        pair_right=sum(gold == chosen for gold, chosen in pairs),
        one_right=sum(len(set(gold) & set(chosen)) == 1 for gold, chosen in pairs),
        breakpoint_right=sum(gold[1] == chosen[1] for gold, chosen in pairs),
        conflicting_right=sum(gold[0] == chosen[0] for gold, chosen in pairs),
        mean_distance=sum(distances) / len(distances) if distances else None,
        n_states=len(states),
        state_right=sum(gold == chosen for gold, chosen in states),
        family_right=sum(family(gold) == family(chosen) for gold, chosen in states),
    )


def family(state: str) -> str:
    """The family of a state."""
    return next(name for name, states in FAMILIES.items() if state in states)


def _sentences(pair: str) -> tuple[int, int]:
    first, second = pair.split(" and ")
    return int(first), int(second)


CONSTANT = "false / majority pair / majority state"
TRUE_ONLY = "true"
FIRST_OPTION = "first option"
CHANCE = "chance"
_SHORT = {CONSTANT: "always false", TRUE_ONLY: "always true", FIRST_OPTION: "first option"}
"""The answers without any knowledge, with short names for the headers of tables."""


def short_constant(name: str) -> tuple[str, str]:
    """The short name of answers without any knowledge, and what they are at the other tiers."""
    whole, _, answers = name.partition(" (")
    return _SHORT.get(whole, whole), answers.removesuffix(")")


def distinct(groupings: Sequence[Grouping]) -> list[Grouping]:
    """The groupings without those that divide the stories as an earlier one does."""
    kept: list[Grouping] = []
    for grouping in groupings:
        divided = (grouping.groups, grouping.implausible)
        if all((known.groups, known.implausible) != divided for known in kept):
            kept.append(grouping)
    return kept


def constant_answers(
    stories: Sequence[Story], labels: Mapping[Tier, str]
) -> tuple[TierAnswer, ...]:
    """A system that gives every story the same answer."""
    return tuple(
        TierAnswer(row=story.row, tier=tier, options=OPTIONS[tier], label=labels[tier])
        for tier in TIERS
        for story in stories
        if tier == STORY or not story.plausible
    )


def majority_labels(stories: Sequence[Story]) -> dict[Tier, str]:
    """The label "false" and, over implausible stories, the most frequent pair and state."""
    conflicts = [story for story in stories if not story.plausible]
    pairs = most_frequent(gold for story in conflicts if (gold := story.gold(CONFLICT)))
    states = most_frequent(gold for story in conflicts if (gold := story.gold(STATE)))
    return {
        STORY: FALSE,
        CONFLICT: next(iter(pairs), OPTIONS[CONFLICT][0]),
        STATE: next(iter(states), OPTIONS[STATE][0]),
    }


def baselines(stories: Sequence[Story], grouping: Grouping) -> dict[str, dict[str, float | None]]:
    """The metrics of constant answers, of always the first option, and of drawing lots.

    Chance is the expectation of drawing an option at random at each tier that is reached.
    """
    majority = majority_labels(stories)
    first: dict[Tier, str] = {tier: OPTIONS[tier][0] for tier in TIERS}
    return {
        f"{CONSTANT} ({majority[CONFLICT]}, {majority[STATE]})": _constant(
            stories, grouping, majority
        ),
        TRUE_ONLY: _constant(stories, grouping, {**majority, STORY: TRUE}),
        f"{FIRST_OPTION} ({', '.join(first.values())})": _constant(stories, grouping, first),
        CHANCE: {name: chance_of(tier, chained=True) for name, (tier, _) in METRICS.items()},
    }


def _constant(
    stories: Sequence[Story], grouping: Grouping, labels: Mapping[Tier, str]
) -> dict[str, float | None]:
    outcomes = judge_all(constant_answers(stories, labels), stories)
    by_metric: Mapping[str, Rate] = rates(chain(stories, outcomes), grouping)
    return {name: rate.value for name, rate in by_metric.items()}


def chance_of(tier: Tier, *, chained: bool = False) -> float:
    """The accuracy of options drawn at random at a tier, or there and at all tiers before."""
    tiers = TIERS[: TIERS.index(tier) + 1] if chained else (tier,)
    return 1 / math.prod(len(OPTIONS[name]) for name in tiers)

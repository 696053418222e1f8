"""Everything that is said about one model's answers to a file of stories, as one record."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.stories.baselines import baselines, constant_answers, majority_labels
from cimento.stories.breakdown import (
    by_breakpoint,
    by_distance,
    by_domain,
    by_pair,
    by_place,
    by_state,
    by_true_shots,
    confusions,
    partial_credit,
)
from cimento.stories.choices import choices, scaled_confidence
from cimento.stories.detection import detect, detection_intervals, unbiased_mcc
from cimento.stories.judging import Judged, judge_stories
from cimento.stories.rates import Rate, rate_of, rates
from cimento.stories.records import CONFLICT, STATE, STORY, TIERS, Story, Tier
from cimento.stories.tiers import Chain, conditional, flow, untiered
from cimento.studies.stories.as_json import as_json
from cimento.suites.model import JsonValue


def summarize(judged: Judged, *, seed: int) -> dict[str, JsonValue]:
    """All measures of one model as JSON.

    Args:
        judged: its answers.
        seed: of folds.
    """
    stories, outcomes, chained = judged.stories, judged.outcomes, judged.chained
    first = judged.groupings[0]
    return {
        "grouping": first.name,
        "n_recorded": {tier: sum(each.tier == tier for each in outcomes) for tier in TIERS},
        "rates": {each.name: as_json(rates(chained, each)) for each in judged.groupings},
        "flow": as_json(flow(stories, chained)),
        "conditional": as_json(conditional_rates(chained)),
        "untiered": {tier: as_json(untiered_rate(judged, tier)) for tier in TIERS},
        "baselines": as_json(baselines(stories, first)),
        "baselines_by_grouping": {
            each.name: as_json(baselines(stories, each)) for each in judged.groupings
        },
        "constant": constant_summary(stories),
        "detection": as_json(detect(stories, outcomes)),
        "detection_intervals": as_json(detection_intervals(stories, outcomes)),
        "threshold": as_json(unbiased_mcc(stories, outcomes, seed=seed)),
        "per_task": {
            tier: as_json(choices(outcomes, tier))
            for tier in TIERS
            if any(each.tier == tier for each in outcomes)
        },
        "temperature": {
            tier: as_json(scaled_confidence(outcomes, tier, stories=stories, seed=seed))
            for tier in TIERS
        },
        "by_state": as_json(by_state(stories, chained)),
        "by_distance": as_json(by_distance(stories, chained)),
        "by_breakpoint": as_json(by_breakpoint(stories, chained)),
        "by_pair": as_json(by_pair(stories, chained)),
        "by_place": as_json(by_place(stories, chained)),
        "by_domain": as_json(by_domain(stories, chained)),
        "by_true_shots": as_json(by_true_shots(stories, outcomes)),
        "confusion_physical_state": as_json(confusions(outcomes)),
        "partial_credit": as_json(partial_credit(outcomes)),
    }


def constant_summary(stories: Sequence[Story]) -> dict[str, JsonValue]:
    """What "false" with the majority pair and state gets, broken down as a model's answers are."""
    answers = constant_answers(stories, majority_labels(stories))
    judged = judge_stories(stories, answers)
    return {
        "flow": as_json(flow(stories, judged.chained)),
        "detection": as_json(detect(stories, judged.outcomes)),
        "by_state": as_json(by_state(stories, judged.chained)),
        "by_distance": as_json(by_distance(stories, judged.chained)),
        "by_breakpoint": as_json(by_breakpoint(stories, judged.chained)),
        "partial_credit": as_json(partial_credit(judged.outcomes)),
    }


def conditional_rates(chained: Chain) -> dict[str, Rate]:
    """How many of the implausible stories that reach a later tier pass it."""
    names: dict[str, Tier] = {"conflict_given_story": CONFLICT, "state_given_conflict": STATE}
    found = {}
    for name, tier in names.items():
        values = conditional(chained, tier)
        found[name] = (
            Rate(name=name, value=None, count=None, reason=chained.reasons[tier])
            if values is None
            else rate_of(name, values, chained, reason="no story reached it")
        )
    return found


def untiered_rate(judged: Judged, tier: Tier) -> Rate:
    """Accuracy at one tier over all stories that have a right answer there, whatever came before.

    It is None where only some of them were asked, because these are then the model's own choice.
    """
    found = untiered(judged.stories, judged.outcomes, tier)
    wanted = sum(tier == STORY or not story.plausible for story in judged.stories)
    if len(found) < wanted:
        reason = f"{len(found)} of {wanted} stories were asked" if found else "not asked"
        return Rate(name="untiered", value=None, count=None, reason=reason)
    values = {each.row: each.correct for each in found}
    return rate_of("untiered", values, judged.chained, reason="there is no such story")

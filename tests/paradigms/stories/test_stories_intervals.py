"""Intervals and tests of runs of stories: the stories of a triple belong together."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cimento.paradigms.stories.classification import detect, detection_intervals
from cimento.paradigms.stories.judging import judge_stories
from cimento.paradigms.stories.metrics import rates
from cimento.paradigms.stories.options import by_type
from cimento.paradigms.stories.outcomes import NOT_ASKED, judge_all
from cimento.statistics.differences import BONETT_PRICE_CLUSTERED
from cimento.statistics.intervals import WILSON_CLUSTERED, wilson
from cimento.studies.stories import compare_at_tier
from cimento.suites.stories import STATE, STORY, TierAnswer
from tests.helpers.stories_small import ANSWERS, STORIES, chose

MANY = tuple(
    replace(story, row=3 * number + story.row, story_id=number)
    for number in range(20)
    for story in STORIES[:3]
)
"""Twenty triples."""


def right_by_triple(story):
    """An answer that is right in three triples of five, and then in all of the triple."""
    gold = story.gold(STORY)
    wrong = "true" if gold == "false" else "false"
    return chose(story.row, STORY, gold if story.story_id % 5 < 3 else wrong)


def answered_at_random(stories, *, seed=1):
    """Answers of which about two in three are right, with margins of either sign."""
    drawn = random.Random(seed)  # noqa: S311  # keeps no secret
    answers = []
    for story in stories:
        gold = story.gold(STORY)
        wrong = "true" if gold == "false" else "false"
        label = gold if drawn.random() < 2 / 3 else wrong
        answers.append(chose(story.row, STORY, label, margin=drawn.uniform(0.5, 3)))
    return answers


def test_detection_has_intervals_over_triples():
    outcomes = judge_all(answered_at_random(MANY), MANY)
    estimates = detect(MANY, outcomes)
    intervals = detection_intervals(MANY, outcomes)
    for name, interval in intervals.items():
        estimate = getattr(estimates, name).value
        assert 0 < interval.low < estimate < interval.high < 1
        assert "cluster" in interval.method
    # Told that each story stands alone, the program would be surer or less sure than it may be.
    alone = [replace(story, story_id=story.row) for story in MANY]
    assert detection_intervals(alone, outcomes)["auc"] != intervals["auc"]


def test_no_interval_comes_from_two_triples():
    judged = judge_stories(STORIES, ANSWERS)
    for interval in detection_intervals(STORIES, judged.outcomes).values():
        assert (interval.low, interval.high) == (None, None)
        assert interval.reason == "2 clusters: an interval needs 5 or more"
    for rate in rates(judged.chained, by_type(STORIES)).values():
        assert (rate.interval.low, rate.interval.high) == (None, None)
        assert "an interval needs 5 or more" in rate.interval.reason
    assert detection_intervals(STORIES, ())["auc"].reason == "nothing was scored"


def test_rates_have_one_interval_that_respects_triples():
    """Where the stories of a triple are right or wrong together, a triple is one observation."""
    chained = judge_stories(MANY, [right_by_triple(story) for story in MANY]).chained
    rate = rates(chained, by_type(MANY))["Accuracy"]
    assert rate.count == (36, 60)
    # 12 of 20 triples, which is what the interval rests on; Wilson's of 36 of 60 is narrower.
    low, high = wilson(0.6, 20)
    assert rate.interval.low < low + 0.01
    assert rate.interval.high > high - 0.01
    assert rate.interval.method == WILSON_CLUSTERED


def test_models_are_compared_by_triples():
    """60 stories of 20 triples that change together: 12 against 0 triples, not 36 stories."""
    right = judge_stories(MANY, [chose(s.row, STORY, s.gold(STORY)) for s in MANY]).chained
    mine = judge_stories(MANY, [right_by_triple(story) for story in MANY]).chained
    (comparison,) = compare_at_tier({"a": mine, "b": right})
    assert (comparison.only_first_correct, comparison.only_second_correct) == (0, 24)
    assert comparison.test.method == comparison.change.method
    # McNemar's exact test of 24 to 0 would say 1e-7.
    assert 1e-4 < comparison.test.p < 0.01
    assert comparison.change.method == BONETT_PRICE_CLUSTERED
    assert comparison.change.estimate == pytest.approx(0.4)
    assert comparison.p_holm is None


def test_a_tie_is_right_only_where_the_first_option_is_taken_as_the_study_did():
    tied = TierAnswer(row=0, tier=STORY, options=("true", "false"), logprobs_nats=(-1.0, -1.0))
    answers = (tied, *ANSWERS[1:])
    other = judge_stories(STORIES, ANSWERS).chained
    (comparison,) = compare_at_tier({"a": judge_stories(STORIES, answers).chained, "b": other})
    assert comparison.only_second_correct == 1
    first = judge_stories(STORIES, answers, first_of_ties=True).chained
    (comparison,) = compare_at_tier({"a": first, "b": other})
    assert comparison.only_second_correct == 0


def test_models_are_compared_on_the_same_stories():
    right = judge_stories(STORIES, [chose(s.row, STORY, s.gold(STORY)) for s in STORIES]).chained
    mine = judge_stories(STORIES, ANSWERS).chained
    (comparison,) = compare_at_tier({"b": mine, "a": right})
    assert (comparison.first, comparison.second, comparison.n) == ("a", "b", 6)
    assert (comparison.only_first_correct, comparison.only_second_correct) == (2, 0)
    # Two triples are too few for a test over triples.
    assert (comparison.test.p, comparison.change.low) == (None, None)
    assert "an interval needs 5 or more" in comparison.test.reason
    (silent,) = compare_at_tier({"a": right, "b": mine}, tier=STATE)
    assert (silent.test, silent.reason) == (None, f"a: {NOT_ASKED}")


def test_several_pairs_of_models_are_corrected():
    chains = {
        name: judge_stories(MANY, answered_at_random(MANY, seed=seed)).chained
        for seed, name in enumerate("abc")
    }
    comparisons = compare_at_tier(chains)
    smallest = min(comparisons, key=lambda comparison: comparison.test.p)
    assert smallest.p_holm == pytest.approx(min(1, 3 * smallest.test.p))

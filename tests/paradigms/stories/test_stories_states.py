"""The two sides of a code of states, and variation over prompts and seeds, by hand."""

from __future__ import annotations

import pytest

from cimento.paradigms.stories.conditions import PromptCondition
from cimento.paradigms.stories.judging import judge_stories
from cimento.paradigms.stories.variation import compare_rankings, variation
from cimento.suites.stories import (
    ATTRIBUTES,
    CHANGES,
    STATE,
    STORY,
    is_default,
    side_value,
)
from tests.helpers.stories_small import ANSWERS, STORIES, chose


def test_prompts_and_seeds_make_a_difference():
    always = judge_stories(STORIES, [chose(s.row, STORY, s.gold(STORY)) for s in STORIES]).chained
    mine = judge_stories(STORIES, ANSWERS).chained
    varied = variation(
        {
            PromptCondition("a", 1): always,
            PromptCondition("a", 2): always,
            PromptCondition("b", 1): mine,
            PromptCondition("b", 2): mine,
        }
    )
    assert (varied.mean, varied.low, varied.high) == (
        pytest.approx(5 / 6),
        pytest.approx(2 / 3),
        1.0,
    )
    assert varied.n_common == 6
    assert varied.same_throughout == pytest.approx(4 / 6)
    # Total 24 * 5/6 * 1/6 = 10/3; prompts 12 * 2 * (1/6)² = 2/3; no difference between seeds.
    assert varied.shares.shares["prompt"] == pytest.approx(0.2)
    assert varied.shares.shares["seed"] == pytest.approx(0.0)
    assert sum(varied.shares.shares.values()) == pytest.approx(1)


def test_one_prompt_says_nothing_of_variation():
    mine = judge_stories(STORIES, ANSWERS).chained
    varied = variation({PromptCondition("a", 1): mine})
    assert (varied.sd, varied.kappa, varied.reason) == (None, None, "one prompt and one seed only")
    only_first = judge_stories(STORIES, ANSWERS[:6]).chained
    assert variation({PromptCondition("a", 1): only_first}, tier=STATE) is None
    uncrossed = variation({PromptCondition("a", 1): mine, PromptCondition("b", 2): mine})
    assert uncrossed.shares.reason == "not every prompt was asked with every seed"


def test_models_may_change_places():
    a, b = PromptCondition("a", 1), PromptCondition("b", 1)
    ranking = compare_rankings(
        {"x": {a: 0.9, b: 0.5}, "y": {a: 0.8, b: 0.6}, "z": {a: 0.1, b: 0.2}}
    )
    assert ranking.orders == {a: ("x", "y", "z"), b: ("y", "x", "z")}
    # Of three pairs of models two keep their order: (2 - 1) / 3.
    assert ranking.mean_tau == pytest.approx(1 / 3)
    assert ranking.same_best == 0.0
    assert ranking.kept["x", "y"] == 0.5
    assert ranking.kept["y", "z"] == 1.0
    assert compare_rankings({"x": {a: 0.9}}).mean_tau is None


def test_sides_of_a_code():
    assert side_value("open", 4, "precondition") is False
    assert side_value("open", 4, "effect") is True
    assert side_value("open", 0, "effect") is None
    assert side_value("location", 6, "effect") == 6
    assert side_value("h_location", 0, "effect") is None
    assert is_default("functional", value=True)
    assert not is_default("functional", value=False)
    assert not is_default("open", value=True)
    assert set(CHANGES) == set(range(9))
    assert len(ATTRIBUTES) == 20

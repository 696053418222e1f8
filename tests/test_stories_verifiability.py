"""Verifiability over the states of sentences, and variation over prompts and seeds, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cimento.stories.judging import judge_stories
from cimento.stories.outcomes import judge_all
from cimento.stories.records import CONFLICT, STATE, STORY, SentenceStates
from cimento.stories.states import ATTRIBUTES, CHANGES
from cimento.stories.tiers import chain
from cimento.stories.variation import Condition, ranking, variation
from cimento.stories.verifiability import (
    NOTHING_SAID,
    WRONG_BEFORE,
    WRONG_STATE,
    is_default,
    side_value,
    verifiability,
    verify,
)
from tests.stories_small import ANSWERS, STORIES, chose, story


def test_prompts_and_seeds_make_a_difference():
    always = judge_stories(STORIES, [chose(s.row, STORY, s.gold(STORY)) for s in STORIES]).chained
    mine = judge_stories(STORIES, ANSWERS).chained
    found = variation(
        {
            Condition("a", 1): always,
            Condition("a", 2): always,
            Condition("b", 1): mine,
            Condition("b", 2): mine,
        }
    )
    assert (found.mean, found.low, found.high) == (pytest.approx(5 / 6), pytest.approx(2 / 3), 1.0)
    assert found.n_common == 6
    assert found.same_throughout == pytest.approx(4 / 6)
    # Total 24 * 5/6 * 1/6 = 10/3; prompts 12 * 2 * (1/6)² = 2/3; no difference between seeds.
    assert found.shares.shares["prompt"] == pytest.approx(0.2)
    assert found.shares.shares["seed"] == pytest.approx(0.0)
    assert sum(found.shares.shares.values()) == pytest.approx(1)


def test_one_prompt_says_nothing_of_variation():
    mine = judge_stories(STORIES, ANSWERS).chained
    found = variation({Condition("a", 1): mine})
    assert (found.sd, found.kappa, found.reason) == (None, None, "one prompt and one seed only")
    only_first = judge_stories(STORIES, ANSWERS[:6]).chained
    assert variation({Condition("a", 1): only_first}, tier=STATE) is None
    uncrossed = variation({Condition("a", 1): mine, Condition("b", 2): mine})
    assert uncrossed.shares.reason == "not every prompt was asked with every seed"


def test_models_may_change_places():
    a, b = Condition("a", 1), Condition("b", 1)
    found = ranking({"x": {a: 0.9, b: 0.5}, "y": {a: 0.8, b: 0.6}, "z": {a: 0.1, b: 0.2}})
    assert found.orders == {a: ("x", "y", "z"), b: ("y", "x", "z")}
    # Of three pairs of models two keep their order: (2 - 1) / 3.
    assert found.mean_tau == pytest.approx(1 / 3)
    assert found.same_best == 0.0
    assert found.kept["x", "y"] == 0.5
    assert found.kept["y", "z"] == 1.0
    assert ranking({"x": {a: 0.9}}).mean_tau is None


def block(**attributes):
    return SentenceStates({name: tuple(entries) for name, entries in attributes.items()})


# The vase breaks; flowers are put into it.
BROKEN = story(
    0, "cloze", number=9, pair=(0, 2), state="functional", actor="Nina", objects="vaso, fiori"
)
BROKEN = replace(
    BROKEN,
    sentence_states=(
        block(functional=[("vaso", 3)], pieces=[("vaso", 4)], conscious=[("Nina", 2)]),
        block(),
        block(functional=[("vaso", 2)], location=[("fiori", 6)]),
        block(),
        block(),
    ),
)


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


def test_states_are_verified_where_all_that_is_said_is_right():
    right = block(functional=[("vaso", 3)], conscious=[("Nina", 2)])
    assert verify(BROKEN, right, block()).ok is True
    assert verify(BROKEN, right, block(location=[("fiori", 6)])).checked == 2
    wrong = verify(BROKEN, block(functional=[("vaso", 3)], wet=[("vaso", 4)]), block())
    assert (wrong.ok, wrong.checked, wrong.right, wrong.reason) == (False, 2, 1, WRONG_STATE)
    nothing = verify(BROKEN, block(conscious=[("Nina", 2)]), block())
    assert (nothing.ok, nothing.reason) == (False, NOTHING_SAID)
    assert verify(STORIES[1], right, block()).ok is None


def test_states_count_after_the_tiers_before():
    def chained(label):
        answers = (chose(0, STORY, "false"), chose(0, CONFLICT, label))
        return chain((BROKEN,), judge_all(answers, (BROKEN,)))

    predicted = {(0, 0): block(functional=[("vaso", 3)])}
    assert verifiability((BROKEN,), chained("0 and 2"), predicted)[0].ok is True
    failed = verifiability((BROKEN,), chained("0 and 1"), predicted)[0]
    assert (failed.ok, failed.reason) == (False, WRONG_BEFORE)
    assert verifiability((BROKEN,), chained("0 and 2"), {})[0].reason == NOTHING_SAID

"""Worked examples: never the story itself, never a sibling, the same for all that can have them."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.paradigms.stories.prompts import MODES, Shots, are_siblings, choose_shots
from cimento.suites.stories import CONFLICT, STATE, STORY, TIERS
from tests.helpers.stories import TRIPLES

SAFE = [mode for mode in MODES if mode != "paper"]


def rows(drawn):
    return [[shot.row for shot in shots] for shots in drawn]


@settings(deadline=None)
@given(
    mode=st.sampled_from(SAFE),
    tier=st.sampled_from(TIERS),
    seed=st.integers(0, 10_000),
    n=st.integers(0, 4),
)
def test_neither_the_story_nor_a_sibling_is_ever_shown(mode, tier, seed, n):
    items = [story for story in TRIPLES if tier == STORY or not story.plausible]
    for item, shots in zip(
        items, choose_shots(tier, items, TRIPLES, Shots(n=n, mode=mode, seed=seed)), strict=True
    ):
        assert len(shots) == n
        assert item.story_id not in {shot.story_id for shot in shots}
        assert not any(are_siblings(item, shot) for shot in shots)
        assert len({shot.story_id for shot in shots}) == n
        assert all(shot.gold(tier) for shot in shots)


@settings(deadline=None)
@given(mode=st.sampled_from(SAFE), seed=st.integers(0, 1000), data=st.data())
def test_examples_do_not_depend_on_what_else_is_asked(mode, seed, data):
    drawing = Shots(n=2, mode=mode, seed=seed)
    whole = dict(zip(range(15), rows(choose_shots(STORY, TRIPLES, TRIPLES, drawing)), strict=True))
    some = data.draw(st.lists(st.sampled_from(TRIPLES), unique_by=lambda story: story.row))
    for story, shots in zip(some, rows(choose_shots(STORY, some, TRIPLES, drawing)), strict=True):
        assert shots == whole[story.row]


def test_siblings_are_known_by_their_sentences_where_the_number_is_wrong():
    misfiled = dataclasses.replace(TRIPLES[1], story_id=99)
    assert are_siblings(misfiled, TRIPLES[0])
    assert not are_siblings(misfiled, TRIPLES[3])


def test_fixed_examples_are_the_same_but_for_siblings():
    drawn = choose_shots(STORY, TRIPLES, TRIPLES, Shots(n=3, seed=7))
    common = max(rows(drawn), key=rows(drawn).count)
    for item, shots in zip(TRIPLES, rows(drawn), strict=True):
        shown = {TRIPLES[row].story_id for row in common}
        if item.story_id not in shown:
            assert shots == common
    assert rows(drawn).count(common) == 6


def test_balanced_examples_take_labels_in_turns():
    for seed in range(20):
        for shots in choose_shots(STORY, TRIPLES, TRIPLES, Shots(n=4, mode="balanced", seed=seed)):
            assert sorted(shot.plausible for shot in shots) == [False, False, True, True]


def test_varied_examples_repeat_no_state_while_there_are_others():
    items = [story for story in TRIPLES if not story.plausible]
    for shots in choose_shots(STATE, items, TRIPLES, Shots(n=4, mode="varied", seed=3)):
        assert len({shot.state for shot in shots}) == 4
        assert len({shot.pair for shot in shots}) >= 3


def test_the_studys_draws_are_one_sequence():
    generator = random.Random(1234)  # noqa: S311  # keeps no secret
    expected = []
    for item in range(15):
        four = generator.sample(range(15), 4)
        expected.append([row for row in four if row != item][:3])
    assert rows(choose_shots(STORY, TRIPLES, TRIPLES, Shots(mode="paper"))) == expected


@pytest.mark.parametrize(("mode", "n"), [("fixed", 5), ("per-item", 5), ("paper", 10)])
def test_too_few_stories_are_said(mode, n):
    items = [story for story in TRIPLES if not story.plausible]
    with pytest.raises(UsageError, match=r"conflict_detec has \d+ .* shots=0"):
        choose_shots(CONFLICT, items, TRIPLES, Shots(n=n, mode=mode))


def test_no_story_survives_and_nothing_is_drawn():
    for mode in MODES:
        assert choose_shots(CONFLICT, [], [], Shots(n=3, mode=mode)) == []
    with pytest.raises(UsageError, match="shots-mode"):
        Shots(mode="balance")
    with pytest.raises(UsageError, match="0 or more"):
        Shots(n=-1)

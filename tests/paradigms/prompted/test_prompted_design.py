"""The design of prompts: what is crossed with what, and in which languages it is asked."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import UsageError
from cimento.kinds.registry import load_suite, sentence_suite
from cimento.paradigms.prompted.prompts import (
    PromptedOptions,
    judgment_wording,
    prompt_cells,
    prompts_of,
    shifts,
    source_name,
)
from tests.helpers.prompting import PAIRS, pairs

LANGUAGES = ("en", "it", "es", "pt", "ru")


@given(shift=st.integers(0, 100), labels=st.sampled_from([2, 4]))
def test_every_item_gets_every_wording_and_every_pair_of_answers_equally_often(shift, labels):
    design = prompt_cells(labels, 4, balance="latin", shift=shift)
    assert len(design) == 8
    assert set(Counter(cell.wording for cell in design).values()) == {2}
    assert set(Counter(cell.labels for cell in design).values()) == {8 // labels}
    assert Counter((cell.wording, cell.labels) for cell in design if cell.order == 0) == Counter(
        (cell.wording, cell.labels) for cell in design if cell.order == 1
    )


@pytest.mark.parametrize("labels", [2, 4])
def test_over_as_many_items_as_labels_a_latin_square_has_every_combination_once(labels):
    seen = Counter(
        (cell.wording, cell.labels, cell.order)
        for shift in range(labels)
        for cell in prompt_cells(labels, 4, balance="latin", shift=shift)
    )
    assert len(seen) == 4 * labels * 2
    assert set(seen.values()) == {1}


@pytest.mark.parametrize("labels", [2, 4])
def test_rotated_items_have_one_combination_each_and_all_of_them_together(labels):
    seen = [prompt_cells(labels, 4, balance="rotated", shift=shift) for shift in range(4 * labels)]
    assert all(len(design) == 2 for design in seen)
    assert {(cell.wording, cell.labels) for design in seen for cell in design} == {
        (wording, label) for wording in range(4) for label in range(labels)
    }
    # Items that follow each other differ in both, so that few items have all levels already.
    for factor in ("wording", "labels"):
        assert len({getattr(design[0], factor) for design in seen[:labels]}) == labels


def test_the_full_design_has_all_combinations_for_each_item():
    design = prompt_cells(4, 4, balance="full", shift=3)
    assert len(set(design)) == len(design) == 32


@given(items=st.integers(1, 60), seed=st.integers(0, 5))
def test_places_in_the_design_are_used_in_turn(items, seed):
    assert sorted(shifts(items, seed)) == list(range(items))


def test_the_seed_decides_who_gets_which_wording_and_nothing_else():
    def asked(seed):
        return [prompt.asked for prompt in prompts_of(pairs(), PromptedOptions(seed=seed))]

    assert asked(0) == asked(0)
    assert asked(0) != asked(1)
    full = [
        {prompt.asked for prompt in prompts_of(pairs(), PromptedOptions(seed=seed, balance="full"))}
        for seed in (0, 1)
    ]
    assert full[0] == full[1]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["choice", "yesno", "rating"])
def test_every_prompt_shows_the_sentences_and_names_its_answers(language, form):
    options = PromptedOptions(task=form, balance="full", language=language)
    prompts = [*prompts_of(pairs(1), options)]
    good, bad = PAIRS[0]
    assert len({prompt.asked for prompt in prompts}) == len(prompts)
    for prompt in prompts:
        assert "{" not in prompt.asked
        sentences = {"good": good, "bad": bad}
        assert all(sentences[name] in prompt.body for name in prompt.conditions)
        assert prompt.answers[0] in prompt.instruction
        assert prompt.answers[-1] in prompt.instruction
        assert prompt.good in prompt.answers
        # What comes first in the record is named first in the prompt.
        one, two = (rf"\b{answer}\b" for answer in (prompt.answers[0], prompt.answers[-1]))
        assert re.search(f"{one}.*{two}", prompt.instruction)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wordings_are_four_different_ones_in_each_language(language):
    wording = judgment_wording(language)
    assert wording["id"] == f"{language}-judgments"
    for form in ("choice", "yesno", "rating"):
        assert len({entry["instruction"] for entry in wording[form]["wordings"]}) == 4


def test_the_better_sentence_has_its_label_where_it_is_shown():
    for prompt in prompts_of(pairs(), PromptedOptions(balance="full")):
        number = int(prompt.item) - 1
        line = next(x for x in prompt.body.splitlines() if x.startswith(f"{prompt.good}: "))
        assert line == f"{prompt.good}: {PAIRS[number][0]}"
        assert prompt.body.startswith(f"{prompt.answers[0]}: ")


def test_letters_of_yes_or_no_mean_what_the_prompt_says():
    options = PromptedOptions(task="yesno", balance="full", language="en")
    lettered = [p for p in prompts_of(pairs(1), options) if p.kind == "letters"]
    assert len(lettered) == 2 * 2 * 2 * 4
    for prompt in lettered:
        other = next(answer for answer in prompt.answers if answer != prompt.good)
        assert f"{prompt.good} if it is acceptable" in prompt.instruction
        assert f"{other} if it is unacceptable" in prompt.instruction


def test_both_directions_of_the_scale_are_asked():
    options = PromptedOptions(task="rating", language="en", points=5)
    prompts = [*prompts_of(pairs(1), options)]
    assert {prompt.good for prompt in prompts} == {"5", "1"}
    for prompt in prompts:
        assert f"{prompt.good} (fully acceptable)" in prompt.instruction


def test_what_applies_to_a_suite_is_asked():
    single = sentence_suite(load_suite("it-acceptability"))
    assert PromptedOptions(task="all").forms_of(pairs()) == ("choice", "yesno", "rating")
    assert PromptedOptions(task="all").forms_of(single) == ("yesno", "rating")
    assert PromptedOptions().forms_of(pairs()) == ("choice",)
    assert PromptedOptions().forms_of(single) == ("rating",)
    with pytest.raises(UsageError, match="task=yesno or task=rating"):
        PromptedOptions(task="choice").forms_of(single)


def test_a_prompted_suite_says_which_suite_it_is_of():
    assert source_name(pairs()) == "it-few"

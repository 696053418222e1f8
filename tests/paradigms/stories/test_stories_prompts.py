"""Prompts of the story tasks: the recorded ones to the byte, and our own."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from cimento import UsageError
from cimento.kinds.prompting import chat, flat, system_rule
from cimento.paradigms.stories.prompts import (
    PromptStyle,
    Shots,
    TierPrompt,
    choose_shots,
    default_prompt,
    dialogue,
    find_prompt,
    prompts,
    wordings,
    words_in_list,
)
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import (
    CONFLICT,
    OBJECT_LOCATION_CODES,
    OPTIONS,
    STATE,
    STORY,
    TIERS,
)
from tests.helpers.some_slow import some_slow
from tests.helpers.stories import TRIPLES, render_of

# Two ways of writing turns, with the marks of Llama 3.1 and of Gemma 2 (which refuses system
# turns); both trim what they are given.
LLAMA = (
    "{{ bos_token }}{% set head = '<|start_header_id|>' %}"
    "{% set found = messages | selectattr('role', 'equalto', 'system') | list %}"
    "{{ head }}system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
    "Today Date: 26 Jul 2024\n\n{{ found[0].content | trim if found }}<|eot_id|>"
    "{% for turn in messages if turn.role != 'system' %}"
    "{{ head }}{{ turn.role }}<|end_header_id|>\n\n{{ turn.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}{{ head }}assistant<|end_header_id|>\n\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for turn in messages %}"
    "{% if turn.role == 'system' %}{{ raise_exception('no system turns') }}{% endif %}"
    "<start_of_turn>{{ 'model' if turn.role == 'assistant' else turn.role }}\n"
    "{{ turn.content | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
DROPS = "{% for turn in messages if turn.role != 'system' %}{{ turn.content }}\n{% endfor %}"

RECORDED = {
    "Meta-Llama-3.1-8B": None,
    "gemma-2-27b": None,
    "gemma-2-9b-it": (GEMMA, "<bos>"),
    "Meta-Llama-3.1-8B-Instruct": (LLAMA, "<|begin_of_text|>"),
    "Meta-Llama-3.1-70B-Instruct": (LLAMA, "<|begin_of_text|>"),
}
MORE = {"Meta-Llama-3.1-70B": None, "gemma-2-9b": None, "gemma-2-27b-it": (GEMMA, "<bos>")}


def rendered(stories, row, template, *, style=PromptStyle()):  # noqa: B008  # frozen
    story = stories[row["doc"]]
    asked = TierPrompt(row["task"], find_prompt("paper-en"), style)
    parts = dialogue(asked, story, [stories[number] for number in row["shots"]])
    if template is None:
        return flat(parts)
    render = render_of(*template)
    rule = system_rule(render, name="recorded")
    return chat(parts, render, system=rule, before_answer=" ")


@pytest.mark.slow
@pytest.mark.golden
@pytest.mark.parametrize("model", some_slow([*RECORDED, *MORE], quick=2))
def test_every_recorded_prompt_is_rebuilt(shared, model):
    folder = shared / "golden" / "stories"
    stories = read_stories(folder / "dataset" / "gita4calamita.jsonl").stories
    responses = (
        folder / "responses" if model in RECORDED else shared / "data/stories/more_responses"
    )
    template = {**RECORDED, **MORE}[model]
    lines = (responses / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("prompt_sha256")]

    wrong = [
        (row["doc"], row["task"])
        for row in rows[::4]  # all of them: tests/studies/test_study_stories.py
        if hashlib.sha256(
            rendered(stories, row, template).text.encode()
        ).hexdigest() != row["prompt_sha256"]
    ]  # fmt: skip

    assert not wrong
    assert len(rows) >= 356


@pytest.mark.golden
def test_answers_follow_the_recorded_prompts_as_in_the_study(shared):
    folder = shared / "golden" / "stories"
    stories = read_stories(folder / "dataset" / "gita4calamita.jsonl").stories
    examples = json.loads((folder / "prompt_examples.json").read_text(encoding="utf-8"))
    for model, tasks in examples.items():
        for task, example in tasks.items():
            prompt = rendered(stories, {**example, "task": task}, RECORDED[model])
            asked = TierPrompt(task, find_prompt("paper-en"), PromptStyle())
            assert prompt.text == example["prompt"]
            words = [prompt.before_answer + asked.answer(label) for label in asked.labels]
            assert words == example["continuations"]


@pytest.mark.golden
def test_both_variants_of_line_breaks_are_those_of_the_task_files(shared):
    tasks = json.loads((shared / "golden" / "stories" / "tasks.json").read_text(encoding="utf-8"))
    for tier in TIERS:
        for newlines, name in (("recorded", "as_recorded"), ("task-file", "yaml")):
            asked = TierPrompt(tier, find_prompt("paper-en"), PromptStyle(newlines=newlines))
            assert asked.instruction + asked.gap == tasks[tier][f"description_{name}"]
        assert list(asked.labels) == tasks[tier]["choices"]


@pytest.mark.golden
def test_the_draws_of_the_study_are_drawn_again(shared):
    folder = shared / "golden" / "stories"
    stories = read_stories(folder / "dataset" / "gita4calamita.jsonl").stories
    name = "fewshot_story_class_seed1234.json"
    expected = json.loads((folder / name).read_text(encoding="utf-8"))

    drawn = choose_shots(STORY, stories, stories, Shots(n=3, mode="paper", seed=1234))

    assert [[shot.row for shot in shots] for shots in drawn] == expected["shots"]


@pytest.mark.golden
@pytest.mark.parametrize("model", ["Meta-Llama-3.1-8B", "gemma-2-27b", "gemma-2-9b-it"])
def test_later_tiers_drew_from_what_the_model_had_got_right(shared, model):
    folder = shared / "golden" / "stories"
    stories = read_stories(folder / "dataset" / "gita4calamita.jsonl").stories
    lines = (folder / "responses" / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for tier in (CONFLICT, STATE):
        tier_rows = [row for row in rows if row["task"] == tier]
        survivors = [stories[row["doc"]] for row in tier_rows]
        drawn = choose_shots(tier, survivors, survivors, Shots(mode="paper"))
        assert [[shot.row for shot in shots] for shots in drawn] == [
            row["shots"] for row in tier_rows
        ]


def test_there_are_five_wordings_of_our_own_in_each_language():
    ours = [prompt for prompt in prompts().values() if prompt.id != "paper-en"]
    assert [prompt.id for prompt in ours] == [
        f"{lang}-{n}" for lang in ("en", "es", "it", "pt", "ru") for n in "12345"
    ]
    for tier in TIERS:
        texts = {TierPrompt(tier, p, PromptStyle()).instruction for p in prompts().values()}
        assert len(texts) == 26


@pytest.mark.parametrize("name", prompts())
@pytest.mark.parametrize("definitions", [False, True])
def test_nothing_is_left_to_fill_in_and_answers_differ(name, definitions):
    style = PromptStyle(definitions=definitions)
    for tier in TIERS:
        asked = TierPrompt(tier, find_prompt(name), style)
        text = asked.instruction + asked.body(TRIPLES[1])
        assert "{" not in text
        assert "}" not in text
        assert len({asked.answer(label) for label in asked.labels}) == len(OPTIONS[tier])


def test_braces_in_a_story_stay_as_they_are():
    story = dataclasses.replace(TRIPLES[0], sentences=("Anna scrive {options}.",) * 5)
    assert "{options}" in TierPrompt(STORY, find_prompt("it-1"), PromptStyle()).body(story)


def test_sentences_are_counted_from_one_and_answers_with_them():
    story = TRIPLES[1]
    asked = TierPrompt(CONFLICT, find_prompt("it-1"), PromptStyle(numbering=1))
    assert f"1. {story.sentences[0]}" in asked.body(story)
    assert asked.answer("0 and 3") == "1 e 4"
    assert TierPrompt(CONFLICT, find_prompt("it-1"), PromptStyle()).answer("0 and 3") == "0 e 3"


def test_definitions_can_be_left_out_of_the_studys_wording():
    asked = TierPrompt(STATE, find_prompt("paper-en"), PromptStyle(definitions=False))
    assert asked.instruction.endswith("in the story. Select one of them after reading the story.")


@pytest.mark.parametrize("order", ["alphabetical", "reversed", "shuffled"])
def test_options_change_their_order_and_stay_the_same(order):
    for tier in TIERS:
        asked = TierPrompt(tier, find_prompt("it-2"), PromptStyle(order=order, order_seed=1))
        assert sorted(asked.labels) == sorted(OPTIONS[tier])
    assert asked.labels != OPTIONS[STATE]
    words = [asked.answer(label) for label in asked.labels]
    assert words != sorted(words) or order == "alphabetical"
    assert ", ".join(words[:-1]) in asked.instruction


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(UsageError, match="'it-1'"):
        find_prompt("it1")
    with pytest.raises(UsageError, match="alphabetical"):
        PromptStyle(order="alphabetic")
    with pytest.raises(UsageError, match="0 or 1"):
        PromptStyle(numbering=2)


@pytest.mark.parametrize(
    ("language", "question", "state", "pair"),
    [
        ("es", "¿es verosímil la historia?", "mojado", "0 y 3"),
        ("it", "la storia è plausibile?", "bagnato", "0 e 3"),
        ("pt", "a história é plausível?", "molhado", "0 e 3"),
        ("ru", "эта история правдоподобна", "мокрый", "0 и 3"),
    ],
)
def test_stories_are_asked_about_in_their_language(language, question, state, pair):
    prompt = default_prompt(language)
    assert prompt.id == f"{language}-1"
    assert question in TierPrompt(STORY, prompt, PromptStyle()).body(TRIPLES[0])
    assert TierPrompt(STATE, prompt, PromptStyle()).answer("wet") == state
    assert TierPrompt(CONFLICT, prompt, PromptStyle()).answer("0 and 3") == pair
    wording, italian = wordings(language), wordings("it")
    assert (wording["language"], wording["pair"]["id"]) == (language, f"{language}-pair")
    assert wording["attributes"]["words"].keys() == italian["attributes"]["words"].keys()
    assert len(wording["attributes"]["codes"]["location"]) == len(OBJECT_LOCATION_CODES)


def test_lists_end_as_each_language_has_it():
    assert words_in_list(("roto", "limpio", "ocupado"), "es") == "roto, limpio u ocupado"
    assert words_in_list(("não", "sim"), "pt") == "não ou sim"
    assert words_in_list(("нет", "да"), "ru") == "нет или да"

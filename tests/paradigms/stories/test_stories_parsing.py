"""Replies in words: what is an answer, what is none, and why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.paradigms.stories.answers import ParsedReply, parse_reply
from cimento.paradigms.stories.prompts import PromptStyle, TierPrompt, find_prompt, prompts
from cimento.paradigms.stories.suite import CONFLICT, OPTIONS, STATE, STORY, TIERS


@pytest.mark.golden
def test_every_proposed_case(shared):
    path = shared / "golden" / "stories" / "parsing_cases.jsonl"
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [
        (case, parsed)
        for case in cases
        if (parsed := parse_reply(case["task"], case["raw"])).label != case["expect"]
        or bool(parsed.reason) != (case["expect"] is None)
    ]
    assert len(cases) == 55
    assert wrong == []


@pytest.mark.parametrize("name", prompts())
@pytest.mark.parametrize("numbering", [0, 1])
def test_the_answers_of_every_prompt_are_read(name, numbering):
    for tier in TIERS:
        asked = TierPrompt(tier, find_prompt(name), PromptStyle(numbering=numbering))
        for label in OPTIONS[tier]:
            for reply in (asked.answer(label), f" {asked.answer(label).capitalize()}.\n\nStoria:"):
                assert parse_reply(tier, reply, numbering=numbering) == ParsedReply(label)


@pytest.mark.parametrize(
    ("tier", "reply", "label", "reason"),
    [
        (STORY, "La storia non è affatto plausibile.", "false", ""),
        (STORY, "It isn’t true.", "false", ""),
        (STORY, "Non è falso", "true", ""),
        (STORY, "No, the story is plausible.", None, "several answers"),
        (STORY, "Si racconta di Marco.", None, "no answer"),
        (STORY, "There is no milk left, so it is false.", "false", ""),
        (STORY, "Let me see: the fridge is closed.\nAnswer: false", "false", ""),
        (STORY, "<think>It may be true.</think>\nFalse", "false", ""),
        (STORY, "<think>It may be true", None, "reasoning cut short"),
        (STORY, " \n ", None, "empty"),
        (STORY, "true\nThe story is false.", "true", ""),
        (CONFLICT, "Le frasi 3 e 2", "2 and 3", ""),
        (CONFLICT, "**1** and **4**", "1 and 4", ""),
        (CONFLICT, "2", None, "only one number"),
        (CONFLICT, "2 and 2", None, "the same sentence twice"),
        (CONFLICT, "3 and 7", None, "no such sentence"),
        (CONFLICT, "1, 2 e 3", None, "too many numbers"),
        (CONFLICT, "non so", None, "no answer"),
        (STATE, "Lo stato è: «in pezzi».", "in pieces", ""),
        (STATE, "posizione", "location", ""),
        (STATE, "wet or clean", None, "several answers"),
    ],
)
def test_replies(tier, reply, label, reason):
    assert parse_reply(tier, reply) == ParsedReply(label, reason)


def test_sentences_may_be_counted_from_one():
    assert parse_reply(CONFLICT, "1 e 5", numbering=1) == ParsedReply("0 and 4")
    assert parse_reply(CONFLICT, "0 e 4", numbering=1).reason == "no such sentence"


@settings(deadline=None)
@given(st.sampled_from(TIERS), st.text(max_size=200))
def test_any_text_has_a_label_or_a_reason(tier, reply):
    parsed = parse_reply(tier, reply)
    assert (parsed.label is None) == bool(parsed.reason)
    assert parsed.label is None or parsed.label in OPTIONS[tier]

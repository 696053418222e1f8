"""Questions beside the tiers: which of two stories, and what is true of things."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from cimento import UsageError, evaluation, open_run
from cimento.cli.main import invoke
from cimento.kinds.prompting import PromptFormat
from cimento.paradigms.stories.answers import parse_words
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.prompts import are_siblings
from cimento.paradigms.stories.rounds import (
    attribute_questions,
    pair_questions,
    question_prompts,
)
from cimento.suites.stories import SentenceStates
from cimento.testing import FakeScorer
from tests.helpers.servers.replies import reply_server
from tests.helpers.stories import TRIPLES, TRIPLES_FILE, ask

pytestmark = pytest.mark.usefixtures("fresh_cache")


def with_states(story):
    """Of «Elena chiude a chiave il cassetto» (1) and «Elena prende la busta dal cassetto» (2)."""
    blocks = [SentenceStates() for _ in range(5)]
    blocks[1] = SentenceStates({"open": (("cassetto", 3), ("busta", 0)), "exist": (("busta", 2),)})
    blocks[2] = SentenceStates(
        {"open": (("cassetto", 2),), "location": (("busta", 7),), "h_location": (("Elena", 0),)}
    )
    return dataclasses.replace(story, sentence_states=tuple(blocks))


STORIES = [with_states(s) if s.example_id == "1-C0" else s for s in TRIPLES]


def test_each_implausible_story_stands_before_and_after_its_plausible_one():
    questions = pair_questions(TRIPLES, "it")
    assert len(questions) == 20
    for question in questions:
        base = next(s for s in TRIPLES if s.story_id == question.story.story_id and s.plausible)
        first = question.body.index(" ".join(base.sentences))
        second = question.body.index(" ".join(question.story.sentences))
        assert (first < second) == (question.gold == "first")
    assert {question.answer for question in questions} == {"A", "B"}


def test_attributes_are_asked_where_they_are_not_what_is_always_so():
    questions = attribute_questions(STORIES, "it")
    assert [(question.about, question.gold) for question in questions] == [
        ("1 effect open cassetto", "negative"),
        ("2 precondition open cassetto", "positive"),
        ("2 precondition location busta", "7"),
    ]
    assert [question.answer for question in questions] == [
        "chiuso", "aperto", "viene tirato fuori da un contenitore",
    ]  # fmt: skip
    assert "che cosa è vero di «cassetto»: chiuso o aperto?" in questions[0].body
    english = attribute_questions(STORIES, "en")
    assert [question.answer for question in english] == [
        "closed", "open", "is taken out of a container",
    ]  # fmt: skip


def test_examples_are_about_other_stories_and_differ_in_place():
    questions = pair_questions(TRIPLES, "it")
    asks = question_prompts(
        questions, questions, language="it",
        options=StoryOptions(shots=3), prompt_format=PromptFormat(),
    )  # fmt: skip
    for question, asked in zip(questions, asks, strict=True):
        assert len(asked.shots) == 3
        assert not any(are_siblings(question.story, TRIPLES[row]) for row in asked.shots)
        assert " A\n\n" in asked.rendered.text
        assert " B\n\n" in asked.rendered.text


def test_a_model_that_prefers_the_first_story_is_seen_through(tmp_path):
    scorer = FakeScorer(lambda tokens, index: -1.0 if tokens[index] == "A" else -2.0)
    run = ask(scorer, tmp_path, task="pair", shots=0)
    whole, both, first = run.estimates()
    assert (whole.right, whole.n, both.right, both.n) == (10, 20, 0, 10)
    assert (whole.chance, both.chance) == (0.5, 0.25)
    assert first.value == 1.0
    again = open_run(run.folder)
    assert again.outcomes().equals(run.outcomes())
    assert again.estimates() == run.estimates()


def test_a_tie_between_two_stories_is_not_right_in_either_order():
    run = ask(FakeScorer(lambda _tokens, _index: -1.0), task="pair", shots=0)
    whole, both, first = run.estimates()
    assert (whole.right, whole.tied, both.right, both.tied) == (0, 20, 0, 10)
    assert first.value == 0.0


def test_a_story_is_verified_where_all_is_right(tmp_path):
    path = tmp_path / "with-states.jsonl"
    from cimento.suites.formats.stories import write_jsonl

    write_jsonl(STORIES, path)

    def knows(messages):
        asked = messages[-1]["content"]
        if "Subito" in asked:
            return "Il cassetto è chiuso." if "dopo la frase «Elena chiude" in asked else "aperto"
        return "viene tirato fuori da un contenitore"

    with reply_server(knows) as server:
        run = evaluation.evaluate(
            path, server.address, task="attributes", shots=0, answer="generate"
        )
    questions, stories = run.estimates()
    assert (questions.right, questions.n, stories.right, stories.n) == (3, 3, 1, 1)


def test_a_reply_with_both_words_is_no_answer():
    labels = {"aperto": "positive", "chiuso": "negative"}
    assert parse_words("Aperto.", labels).label == "positive"
    assert parse_words("aperto o chiuso", labels).reason == "several answers"
    assert parse_words("boh", labels).reason == "no answer"
    assert parse_words(" ", labels).reason == "empty"


def test_a_latin_letter_stands_for_the_cyrillic_one_that_looks_the_same():
    labels = {"\N{CYRILLIC SMALL LETTER A}": "first", "\N{CYRILLIC SMALL LETTER BE}": "second"}
    assert parse_words("A.", labels).label == "first"
    assert parse_words("\N{CYRILLIC CAPITAL LETTER A}", labels).label == "first"
    assert parse_words("\N{CYRILLIC CAPITAL LETTER BE}", labels).label == "second"


def test_where_nothing_can_be_asked_it_is_said():
    with pytest.raises(UsageError, match="the states of each sentence"):
        ask(FakeScorer(lambda _tokens, _index: -1.0), task="attributes")
    with pytest.raises(UsageError, match="norm='pmi'"):
        ask(FakeScorer(lambda _tokens, _index: -1.0), task="pair", norm="pmi")


def test_the_command_prints_them(tmp_path, capsys):
    arguments = ["run", str(TRIPLES_FILE), "-m", "demo-causal", "-o", str(tmp_path)]
    settings = ["--set", "task=pair", "--set", "shots=0", "--limit", "3"]
    assert invoke([*arguments, *settings]) == 0
    # The share with three decimals, and how many of how many are right.
    shown = re.search(r" questions +(\d\.\d{3}) +- +(\d) +4 +0\.50\n", capsys.readouterr().out)
    assert shown
    assert float(shown[1]) == int(shown[2]) / 4
    assert invoke([*arguments, *settings, "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["estimates"][0]["n"] == 4

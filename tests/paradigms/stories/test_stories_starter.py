"""The stories that come with cimento: sound, complete, balanced, and proper text."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest

from cimento.paradigms.stories.checks import audit
from cimento.paradigms.stories.text import count_stories
from cimento.suites.builtin import builtin_names, find_suite, list_builtin
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import ATTRIBUTES, STATES, by_triple

TRIPLES = {"it-stories": 60, "es-stories": 20, "pt-stories": 20}


@pytest.fixture(params=TRIPLES)
def file(request):
    return read_stories(find_suite(request.param))


def test_all_of_them_are_listed():
    assert set(builtin_names(kind="stories")) == set(TRIPLES)
    assert {suite.name: suite.items for suite in list_builtin(kind="stories")} == {
        name: 3 * n for name, n in TRIPLES.items()
    }


def test_nothing_is_wrong_with_them(file):
    assert audit(file) == ()
    about = count_stories(file.stories)
    assert about.complete == about.triples == TRIPLES[file.name]
    assert file.meta.license == "CC-BY-4.0"
    assert file.meta.status == "draft, not yet reviewed by native speakers"


def test_pairs_states_and_domains_are_balanced(file):
    about = count_stories(file.stories)
    assert len(about.domains) == 5
    assert len(set(about.domains.values())) == 1
    assert len(about.pairs) == 10
    assert len(set(about.pairs.values())) == 1
    assert set(about.states) == set(STATES)
    assert max(about.states.values()) - min(about.states.values()) <= 1


@pytest.mark.parametrize("type_", ["order", "cloze"])
def test_both_types_are_balanced(file, type_):
    stories = [story for story in file.stories if story.type == type_]
    assert len(set(Counter(story.pair for story in stories).values())) == 1
    counts = Counter(story.state for story in stories)
    assert set(counts) == set(STATES)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_every_sentence_has_states_and_proper_text(file):
    for story in file.stories:
        assert len(story.sentence_states) == len(story.sentences)
        assert any(block.entries for block in story.sentence_states)
        for sentence in story.sentences:
            assert unicodedata.is_normalized("NFC", sentence)
            assert sentence[0].isupper()
            assert "  " not in sentence


def test_codes_of_one_entity_are_given_once_in_a_sentence(file):
    for story in file.stories:
        for block in story.sentence_states:
            for attribute, entries in block.entries.items():
                assert len({entity for entity, _ in entries}) == len(entries)
                assert all(code in ATTRIBUTES[attribute].codes for _, code in entries)


def test_triples_do_not_repeat_each_other(file):
    sentences = Counter(
        sentence
        for triple in by_triple(file.stories).values()
        for sentence in {sentence for story in triple for sentence in story.sentences}
    )
    assert [sentence for sentence, n in sentences.items() if n > 1] == []

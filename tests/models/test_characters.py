"""What is said of the characters of many texts at once is what is said of each by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.models.characters import (
    Characters,
    containing,
    tokens_in,
    trim_spans,
)
from cimento.suites.stimuli import word_spans

TEXTS = st.lists(st.text("aB1 \t\u00a0,.'\u20ac\u00b2\u4e2d\U0001f600", max_size=12), max_size=5)
SPAN = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)


@st.composite
def with_tokens(draw):
    """Texts, and spans in each of them."""
    texts = draw(TEXTS)
    spans = [draw(st.lists(SPAN, max_size=6)) for _ in texts]
    return texts, [
        [(min(low, len(text)), min(high, len(text))) for low, high in own]
        for text, own in zip(texts, spans, strict=True)
    ]


def columns(spans):
    """Number of the text, first and last character of spans."""
    flat = [(number, *span) for number, own in enumerate(spans) for span in own]
    return np.array(flat, dtype=np.int64).reshape(-1, 3).T


@settings(deadline=None)
@given(with_tokens())
def test_tokens_are_trimmed_as_in_one_text(case):
    texts, spans = case
    first, last = Characters.of(texts).trimmed(*columns(spans))
    expected = [
        span for text, own in zip(texts, spans, strict=True) for span in trim_spans(text, own)
    ]
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(with_tokens(), st.sampled_from(["split", "keep"]))
def test_tokens_are_in_the_words_that_they_are_in_in_one_text(case, punctuation):
    texts, spans = case
    text, start, _ = columns(spans)
    characters = Characters.of(texts)
    found = characters.containing(characters.word_begins(punctuation), text, start)
    words = [word_spans(each, punctuation=punctuation) for each in texts]
    expected = [
        containing(words[number], begin)
        for number, begin in zip(text.tolist(), start.tolist(), strict=True)
    ]
    assert found.tolist() == expected


@settings(deadline=None)
@given(with_tokens(), st.data())
def test_tokens_are_wanted_that_are_wanted_in_one_text(case, data):
    texts, spans = case
    wanted = []
    for text in texts:
        edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
        wanted.append(list(zip(edges[::2], edges[1::2], strict=False)))
    characters = Characters.of(texts)
    first, last = characters.trimmed(*columns(spans))
    found = characters.inside(wanted, columns(spans)[0], first, last).tolist()
    for text, own, some in zip(texts, spans, wanted, strict=True):
        trimmed = trim_spans(text, own)
        chosen = set(tokens_in(trimmed, some))
        assert found[: len(own)] == [index in chosen for index in range(len(own))]
        del found[: len(own)]


def test_regions_begin_where_they_are_said_to():
    characters = Characters.of(["ab cd", "", "e"])
    begins = characters.begins_at([[0, 3], [], [0]])
    text, start = np.array([0, 0, 2]), np.array([2, 4, 0])
    assert characters.containing(begins, text, start).tolist() == [0, 1, 0]

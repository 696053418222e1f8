"""Which token belongs to which stretch of a text, whatever the tokenizer."""

from __future__ import annotations

import polars as pl
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Condition, Item, Meta, Policy, Prediction, Region, Suite
from cimento.io.tables import TOKENS
from cimento.measures import NoValue, region_values
from cimento.models.characters import containing, tokens_in, trim_spans
from cimento.models.tokenizing import Frame, TextEncoder
from cimento.paradigms.regions.requests import region_requests
from cimento.suites.stimuli import word_spans
from tests.helpers import plain, zoo

KINDS = sorted(zoo.TOKENIZERS)

# Accents of one character and of two, elision, marks, Cyrillic, emoji of several characters, and
# blanks of every kind.
FRAGMENTS = st.sampled_from(
    [
        "casa", "l'", "dell'", "amica", "Città", "citta\u0300", "cafe\u0301", "è", "e\u0300",
        "ñandú", "São", "хорошо", "хорошо\u0301", "мы", "x", "re-read", "don't", "«", "»", "“",
        ".", ",", "...", "?!", "(", ")", "—", "3.14", "100%", "€", "😀", "👩‍🚀", "❤️", "北京", "ﬁn",
        "ね", "ที่", " ", "  ", "\t", "\n", "\u00a0", "\u2009",
    ]
)  # fmt: skip
TEXT = st.lists(FRAGMENTS, max_size=12).map("".join)
SPANS = st.lists(st.integers(0, 20), max_size=8, unique=True).map(sorted)


def in_text(text: str, spans) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "split", "keep"),
    [
        ("L'amica canta.", ["L", "'", "amica", "canta", "."], ["L'amica", "canta."]),
        ("¿Qué?", ["¿", "Qué", "?"], ["¿Qué?"]),
        ("re-read 3.14", ["re", "-", "read", "3", ".", "14"], ["re-read", "3.14"]),
        ("citta\u0300, е\u0301", ["citta\u0300", ",", "е\u0301"], ["citta\u0300,", "е\u0301"]),
        ("a\u00a0b\tc\n", ["a", "b", "c"], ["a", "b", "c"]),
        ("1 € 😀", ["1", "€", "😀"], ["1", "€", "😀"]),
        ("", [], []),
        (" \t ", [], []),
        # Scripts without blanks between words: each letter with its combining marks.
        ("我喜欢猫。", ["我", "喜", "欢", "猫", "。"], ["我", "喜", "欢", "猫。"]),
        ("ねこ3匹 cat", ["ね", "こ", "3", "匹", "cat"], ["ね", "こ", "3", "匹", "cat"]),
        ("ที่นี่", ["ที่", "นี่"], ["ที่", "นี่"]),
        ("用Python写", ["用", "Python", "写"], ["用", "Python", "写"]),
        ("か\u3099は", ["か\u3099", "は"], ["か\u3099", "は"]),
    ],
)  # fmt: skip
def test_words_by_hand(text, split, keep):
    assert in_text(text, word_spans(text)) == split
    assert in_text(text, word_spans(text, punctuation="keep")) == keep


@settings(deadline=None)
@given(TEXT)
def test_words_are_what_a_regular_expression_finds(text):
    for punctuation, pattern in plain.WORDS.items():
        spans = [match.span() for match in regex.finditer(pattern, text)]
        assert word_spans(text, punctuation=punctuation) == spans


@settings(deadline=None)
@given(TEXT, st.sampled_from(["split", "keep"]))
def test_words_hold_every_character_that_is_not_blank_once(text, punctuation):
    covered = [
        i for start, end in word_spans(text, punctuation=punctuation) for i in range(start, end)
    ]
    assert covered == [i for i, char in enumerate(text) if not char.isspace()]


def test_blanks_before_a_token_are_not_part_of_it():
    text = "il  gatto "
    assert trim_spans(text, [(0, 2), (2, 3), (2, 9), (9, 10)]) == [(0, 2), (4, 4), (4, 9), (10, 10)]


@settings(deadline=None)
@given(SPANS, st.integers(0, 25))
def test_the_last_stretch_that_has_begun(starts, position):
    spans = [(start, start + 1) for start in starts]
    begun = [i for i, start in enumerate(starts) if start <= position]
    assert containing(spans, position) == (begun[-1] if begun else 0)


def test_tokens_of_a_stretch_by_hand():
    #        [CLS]     il      gat     to      .       (blank) [SEP]
    spans = [(-1, -1), (0, 2), (3, 6), (6, 8), (8, 9), (9, 9), (-1, -1)]
    assert tokens_in(spans, [(0, 2)]) == [1]
    assert tokens_in(spans, [(3, 8)]) == [2, 3]
    assert tokens_in(spans, [(4, 8)]) == [3]
    assert tokens_in(spans, [(0, 2), (8, 9)]) == [1, 4, 5]
    assert tokens_in(spans, []) == []


def one_stimulus(pieces) -> Suite:
    """A suite of one sentence that is cut into regions, and asks for all of them."""
    regions = tuple(Region(text=text, glued=glued) for text, glued in pieces)
    names = tuple(str(number) for number in range(1, len(regions) + 1))
    item = Item(id="1", conditions=(Condition(name="only", regions=regions),))
    prediction = Prediction(formula="(*;%only%) > 0")
    return Suite(Meta(name="cut"), names, (prediction,), (item,))


def encoded(kind, requests):
    frame = Frame(before=(0,), after=(0,))
    return encoder(zoo.tokenizer(kind), frame=frame).encode(requests)


def encoder(tokenizer, **options):
    options = {"policy": Policy(), "window": None, "vocabulary": 10_000, **options}
    return TextEncoder(tokenizer=tokenizer, **options)


PIECES = st.lists(st.tuples(TEXT, st.booleans()), min_size=1, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(pieces=PIECES)
def test_every_token_is_in_one_region_and_the_regions_make_the_whole(kind, pieces):
    """Whatever the tokenizer and wherever the cuts: inside tokens, before marks, at nothing."""
    plan = region_requests(one_stimulus(pieces))
    requests = plan.places
    places = requests.select("start", "end").rows()
    filled = [span for span in places if span[0] < span[1]]
    (encoding,) = encoded(kind, plan.asked)
    text_places = [i for i, span in enumerate(encoding.spans) if span[0] >= 0]

    # All are asked for, each once, and each starts in one region.
    assert list(encoding.wanted) == text_places == list(range(1, len(encoding.ids) - 1))
    assert all(
        sum(low <= encoding.spans[i][0] < high for low, high in filled) == 1 for i in text_places
    )
    by_region = [tokens_in(encoding.spans, [span]) for span in filled]
    assert sorted(i for some in by_region for i in some) == text_places

    # Powers of two, so that a sum says of what it is the sum.
    rows = [
        (0, i, encoding.tokens[i], encoding.ids[i], *encoding.spans[i], -(2.0**number), None)
        for number, i in enumerate(text_places)
    ]
    table = pl.DataFrame(rows, schema=TOKENS.polars(), orient="row")
    values = region_values(table, requests, metric="sum").values["1"]["only"]
    known = [value for value in values if not isinstance(value, NoValue)]
    assert sum(known) == 2.0 ** len(text_places) - 1
    for span, value in zip(places, values, strict=True):
        inside = [
            2.0**n for n, i in enumerate(text_places) if span[0] <= encoding.spans[i][0] < span[1]
        ]
        assert value == (sum(inside) if inside or span[0] == span[1] else NoValue(value.reason))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(text=TEXT)
def test_tokens_start_where_the_tokenizer_says(kind, text):
    (encoding,) = encoded(kind, region_requests(one_stimulus([(text, False)])).asked)
    tokenizer = zoo.tokenizer(kind).backend_tokenizer
    expected = plain.starts_of(tokenizer, text.strip())

    assert [encoding.spans[i][0] for i in encoding.wanted] == expected
    assert expected == sorted(expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("punctuation", ["split", "keep"])
def test_tokens_are_in_the_word_they_begin_in(kind, punctuation):
    tokenizer = zoo.tokenizer(kind)
    for text in plain.TEXTS:
        starts = plain.starts_of(tokenizer.backend_tokenizer, text)
        frame, policy = Frame(before=(0,), after=()), Policy(punctuation=punctuation)
        (encoding,) = encoder(tokenizer, frame=frame, policy=policy).encode(
            region_requests(one_stimulus([(text, False)])).asked
        )
        numbers = plain.word_numbers(text, starts, punctuation=punctuation)
        cut = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).offsets
        # Blanks before other blanks or at the end are part of no word.
        apart = [not text[a:b].strip() and not text[b : b + 1].strip() for a, b in cut]
        known = list(encoding.words)[1:]
        in_words = [n for n, is_apart in zip(known, apart, strict=True) if not is_apart]
        assert in_words == [n for n, is_apart in zip(numbers, apart, strict=True) if not is_apart]
        alone = [n for n, is_apart in zip(known, apart, strict=True) if is_apart]
        assert len({*alone, -1, *in_words}) == len(alone) + 1 + len({*in_words})

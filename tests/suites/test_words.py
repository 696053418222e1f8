"""Words in every script; sentences were written for these tests and cut by hand."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import MissingDependencyError
from cimento.models.characters import Characters
from cimento.suites.stimuli import count_words, need_segmenter, word_spans

needs_icu = pytest.mark.skipif(
    importlib.util.find_spec("icu4py") is None, reason="icu4py (cimento[segment]) is not installed"
)

# With bars where a reader of the language puts them.
BY_HAND = (
    "我们|明天|去|北京|。",
    "这|本|书|很|有意思|。",
    "我|买|了|iPhone 15|和|两|本|书|。",
    "猫|が|窓|の|外|を|見|て|いる|。",
    "私|の|友達|は|東京|に|住んで|います|。",
    "แม่|ซื้อ|ปลา|ที่|ตลาด",
    "ฉัน|ดื่ม|กาแฟ|ทุก|เช้า",
    "ຂ້ອຍ|ໄປ|ຕະຫຼາດ|ກັບ|ແມ່",
    "ខ្ញុំ|ទៅ|ផ្សារ|ជាមួយ|ម្ដាយ",
    "الكتب على الطاولة",
    "הילדים משחקים בגן",
)
# ICU cuts the verbs of this one further than a reader does.
FINER = {"私|の|友達|は|東京|に|住んで|います|。": "私|の|友達|は|東京|に|住|んで|い|ます|。"}


def cut(text, **rules):
    return [text[start:end] for start, end in word_spans(text, **rules)]


@needs_icu
@pytest.mark.parametrize("barred", BY_HAND)
def test_icu_finds_the_words_that_a_reader_finds(barred):
    expected = FINER.get(barred, barred).replace(" ", "|").split("|")
    assert cut(barred.replace("|", ""), segmenter="icu") == expected


@needs_icu
def test_characters_beyond_the_first_plane_count_as_one():
    assert cut("𠮷野家で食べる", segmenter="icu")[0].startswith("𠮷")
    text = "🐕と🐈が見える"
    assert "".join(cut(text, segmenter="icu")) == text
    assert "が" in cut(text, segmenter="icu")


@pytest.mark.parametrize("barred", BY_HAND)
def test_bars_give_the_words_of_a_suite(barred):
    text, bars, place = barred.replace("|", ""), [], 0
    for part in barred.split("|"):
        bars.append(place)
        place += len(part)
    assert cut(text, segmenter="bars", bars=bars) == barred.replace(" ", "|").split("|")


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("我们明天去北京。", 7),
        ("「猫」は可愛い。", 5),
        ("แม่ซื้อปลา", 7),  # แ ม่ ซื้ อ ป ล า
        ("The keys, they said, are here - now.", 8),
        ("Il gatto dell'amico dorme.", 4),
        ("الكتب على الطاولة", 3),
        ("הילדים משחקים בגן", 3),
        ("我买了iPhone 15和两本书。", 9),
        ("", 0),
    ],
)
def test_words_are_counted_without_marks_in_scripts_without_blanks(text, letters):
    assert count_words(text) == letters


@needs_icu
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我们明天去北京。", 4),
        ("「猫」は可愛い。", 3),
        ("แม่ซื้อปลาที่ตลาด", 5),
        ("The keys are here.", 4),
    ],
)
def test_words_are_counted_by_icu(text, words):
    assert count_words(text, segmenter="icu") == words


def test_words_are_counted_by_bars():
    assert count_words("我们明天去北京。", segmenter="bars", bars=[0, 2, 4, 5, 7]) == 4


RULES = ["letters", "bars", *(["icu"] if importlib.util.find_spec("icu4py") else [])]


@settings(deadline=None)
@given(
    st.lists(st.text("aB1 .,'「」我们去。แม่ซื้อปลา猫がᄀ🐕𠮷", max_size=10), max_size=4),
    st.sampled_from(["split", "keep"]),
    st.sampled_from(RULES),
    st.sets(st.integers(0, 9)),
)
def test_many_texts_have_the_words_of_each(texts, punctuation, rule, bars):
    characters = Characters.of(texts)
    inside = [{bar for bar in bars if bar <= len(text)} for text in texts]
    begins = characters.word_begins(punctuation, rule, inside).nonzero()[0].tolist()
    expected = [
        int(place) + start
        for place, text in zip(characters.begin, texts, strict=False)
        for start, _ in word_spans(text, punctuation=punctuation, segmenter=rule, bars=bars)
    ]
    assert begins == expected


def test_a_missing_segmenter_is_told_before_anything_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"cimento\[segment\]"):
        need_segmenter("icu")
    need_segmenter("letters")

"""The one rule by which words are compared; oracle: the Unicode Standard's own examples."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.suites.letters import one_spelling
from tests.helpers.spellings import spellings


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("perche\u0301", "perch\u00e9"),
        ("l\u2019amica", "l'amica"),
        ("l\u02bcamica", "l'amica"),
        ("n\u0303ame", "\u00f1ame"),
        ("\u0438\u0306", "\u0439"),  # a Russian short i
        ("\u1100\u1161", "\uac00"),  # Annex 15, table 2: Hangul letters that make a syllable
        ("\u212b", "\u00c5"),  # Annex 15, figure 3: the angstrom sign
        ("\ufb01ne", "\ufb01ne"),  # a ligature is not a canonical equivalent (figure 6)
        ("L\u2018eco", "L\u2018eco"),  # an opening quotation mark is not an apostrophe
        ("Istanbul", "Istanbul"),
        ("\u0130stanbul", "\u0130stanbul"),  # the size of letters is left alone
    ],
)
def test_letters_have_one_spelling(written, compared):
    assert one_spelling(written) == compared


@given(st.text())
def test_the_rule_changes_nothing_twice_and_no_letter_at_all(text):
    once = one_spelling(text)
    assert one_spelling(once) == once
    plain = text.replace("\u2019", "'").replace("\u02bc", "'")
    assert unicodedata.normalize("NFD", once) == unicodedata.normalize("NFD", plain)


@given(st.data(), st.text(alphabet="abceènñOÔй'’ .", max_size=30))
def test_all_spellings_of_a_text_are_compared_as_one(data, text):
    assert one_spelling(data.draw(spellings(text))) == one_spelling(data.draw(spellings(text)))

"""Other spellings of a text: accents composed or not, and typed or printed apostrophes."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

APOSTROPHES = "'\u2019\u02bc"


@st.composite
def spellings(draw, text: str) -> str:
    """A text in which each character is NFC or NFD, and each apostrophe one of three."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(
        draw(st.sampled_from(APOSTROPHES))
        if character in APOSTROPHES
        else unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), character)
        for character in composed
    )


def decomposed(text: str) -> str:
    """A text in NFD with printed apostrophes, as macOS and word processors write it."""
    return unicodedata.normalize("NFD", text).replace("'", "\u2019")

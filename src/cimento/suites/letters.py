"""Letters as words are compared: one rule for suites, answers, corpora and dictionaries.

The same letter has several spellings. An accented letter is one character (NFC) or a letter and an
accent after it (NFD, as file names of macOS and some PDFs have it); an apostrophe is typed as ``'``
and printed as ``’``. Whoever reads sees no difference, so a comparison of words should see none.

Texts are stored, shown and asked of models as they are written: a model does see the difference,
which checks report (CIM-S044, CIM-S045).
"""

from __future__ import annotations

import unicodedata
from itertools import product
from typing import Literal, TypeAlias

APOSTROPHE = "'"
"""The apostrophe that the others are compared as, U+0027."""

_OTHERS = str.maketrans(dict.fromkeys("\u2019\u02bc", APOSTROPHE))
"""The right single quotation mark, which typesetters use, and the modifier letter apostrophe."""


def one_spelling(text: str) -> str:
    """A text in the spelling in which words are compared: NFC, with one apostrophe.

    The characters of Unicode's canonical equivalence become one (Unicode Standard Annex 15, form
    C), and U+2019 and U+02BC become U+0027. Whether small and capital letters differ is decided
    where words are compared: fold the case of the result, not of the argument. Words have to be
    found in the result too, since accents of their own divide words for most patterns.

    Args:
        text: a word, or a text of several.
    """
    # Most texts of most languages need no look at their characters.
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).translate(_OTHERS)


def folded_text(text: str) -> str:
    """A text as it is compared with an option: in one spelling, small letters, no blanks around."""
    return one_spelling(text).strip().casefold()


Spelling: TypeAlias = tuple[Literal["NFC", "NFD"], str]
"""A form of Unicode, and an apostrophe, in which all letters of a text are written."""

_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")

SPELLINGS: tuple[Spelling, ...] = (*product(_FORMS, (APOSTROPHE, "\u2019", "\u02bc")),)
"""The spellings that a text may have from its first letter to its last, the likeliest first."""


def respelled(text: str, spelling: Spelling) -> str:
    """A text with all its letters in one spelling; `one_spelling` of it stays the same."""
    form, apostrophe = spelling
    return unicodedata.normalize(form, one_spelling(text)).replace(APOSTROPHE, apostrophe)


def spellings_of(word: str) -> tuple[str, ...]:
    """A word as it is written, and then in every other spelling that may stand for it.

    For vocabularies that can be asked but not searched, such as those of n-gram models.
    """
    if word.isascii() and APOSTROPHE not in word:
        return (word,)
    return tuple(dict.fromkeys((word, *(respelled(word, spelling) for spelling in SPELLINGS))))

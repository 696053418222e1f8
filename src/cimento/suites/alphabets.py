"""Encodings of one byte a letter, in which spreadsheet programs of Windows write CSV."""

from __future__ import annotations

import re

_ALL_ACCENTED = re.compile(r"[^\W\d_a-zA-Z]{4}")
"""Accented letters in a row, which no Western European word has: another alphabet's encoding."""
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_OTHERS = re.compile(r"[^\x00-\x7fА-Яа-яЁё«»„“”‘’–—…№°§\xa0]")
_FREQUENT = frozenset("оеаинт")
_LEAST_FREQUENT = 0.33
"""Least share of the six most frequent letters: 0.45 in Russian, 0.2 in Greek read as Russian."""


def from_cyrillic(data: bytes) -> str:
    """The text of cp1251 if its letters are those of Russian; empty for other bytes.

    Cyrillic letters are nearly all small ones and as frequent as in Russian, and no others are
    there; texts of UTF-8 with damage, KOI8-R, cp866 or another alphabet would not look so.
    """
    text = data.decode("cp1251", "replace")
    letters = _CYRILLIC.findall(text)
    n_frequent = sum(letter in _FREQUENT for letter in letters)
    is_russian = n_frequent > _LEAST_FREQUENT * len(letters) and not _OTHERS.search(text)
    return text if is_russian and _ALL_ACCENTED.search(data.decode("cp1252", "replace")) else ""


def from_western(data: bytes) -> str:
    """The text of cp1252; empty if it has words that no Western European language has.

    Raises:
        UnicodeDecodeError: a byte is none of cp1252.
    """
    text = data.decode("cp1252")
    return "" if _ALL_ACCENTED.search(text) else text

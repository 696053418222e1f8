"""Encodings of one byte a letter, in which spreadsheet programs of Windows write CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ALL_ACCENTED = re.compile(r"[^\W\d_a-zA-Z]{4}")
"""Accented letters in a row, which no Western European word has: another alphabet's encoding."""
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_OTHERS = re.compile(r"[^\x00-\x7fА-Яа-яЁё«»„“”‘’–—…№°§\xa0]")
_FREQUENT = frozenset("оеаинт")
_LEAST_FREQUENT = 0.33
"""Least part of the six most frequent letters: 0.45 in Russian, 0.2 in Greek read as Russian."""


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


_CENTRAL = {
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "hu": "áéíóöőúüű",
    "sl": "čšž",
    "hr": "čćđšž",
    "ro": "ăâîşţ",
}
"""The letters beside ASCII of languages that Windows writes in cp1250, by ISO 639-1 code."""
_LETTER = re.compile(r"[^\W\d_a-zA-Z]")
_LEAST_OWN = 0.9
"""Least part of a text's letters beside ASCII that are those of its language, not of names."""


_WESTERN = {
    "ca": "àçèéíïòóúü", "da": "æøåéèóòôü", "de": "äöüßé", "fr": "àâæçéèêëîïôœùûüÿ",
    "is": "áðéíóúýþæö", "it": "àèéìîòóù", "nl": "áàéèêëïóöü", "pt": "áàâãçéêíóôõúüªº",
    "es": "áéíñóúüªº", "sv": "åäöéà",
}  # fmt: skip
"""Those of languages that Windows writes in cp1252; Danish has those of Norwegian too."""
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])(?:[¢£¤¥¦§¨©¬®¯°±²³´µ¶¸¹»¼½¾\ufffd](?=[^\W\d_])|¿)")


def from_central(data: bytes, language: str) -> str:
    """The text of cp1250 if its letters are those of a language that is written so; else empty.

    Args:
        data: the bytes.
        language: ISO 639-1 code of the language that the text is said to be in, or with a region.
    """
    alphabet = _CENTRAL.get(language.partition("-")[0], "")
    try:
        text = data.decode("cp1250") if alphabet else ""
    except UnicodeDecodeError:
        return ""
    letters = _LETTER.findall(text)
    return text if letters and _share(letters, alphabet) >= _LEAST_OWN else ""


def told_central(data: bytes) -> str:
    """The text of cp1250 if its letters are those of one language, and those of cp1252 of none.

    Polish read as cp1252 has signs in its words (*z³e* for *złe*), and Czech letters of several
    languages (*øídí* for *řídí*). Empty for other bytes.
    """
    central = max((from_central(data, language) for language in _CENTRAL), key=len)
    western = data.decode("cp1252", "replace")
    letters = [*filter(str.isalpha, _LETTER.findall(western)), *_SIGN_IN_WORD.findall(western)]
    if not central or central == western or not letters:
        return ""
    best = max(_share(letters, alphabet) for alphabet in _WESTERN.values())
    return central if best < _LEAST_OWN else ""


def _share(letters: Sequence[str], alphabet: str) -> float:
    return sum(letter.lower() in alphabet for letter in letters) / len(letters)


def from_western(data: bytes) -> str:
    """The text of cp1252; empty if it has words that no Western European language has.

    Raises:
        UnicodeDecodeError: a byte is none of cp1252.
    """
    text = data.decode("cp1252")
    return "" if _ALL_ACCENTED.search(text) else text

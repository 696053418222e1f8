"""The language of sentences, guessed from their own words to be proposed to somebody who knows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cimento.suites.derived import OTHER, closed_class

_LISTED = ("en", "es", "it", "pt")
"""Languages in Latin letters of which words of closed classes are listed."""
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 12
_FEWEST_SENTENCES = 3
_LEAST = 0.25
"""Least part of the words that are in the lists of a language: 0.3 to 0.5 in ours, 0 in German."""
_NEXT = 0.6
"""Most that another language may have beside it: French has nearly as many of Italian's."""
_ACCENTED = {"es": "áéíñóúü", "it": "àèéìîòóù", "pt": "áàâãçéêíóôõúü"}
"""The letters beside ASCII of some of them: Catalan has words of Spanish, and others of these."""
_LEAST_OWN = 0.9
"""Least part of a text's letters beside ASCII that are those of its language, not of names."""
_OTHER_LETTER = re.compile(r"[^\W\d_a-z]")
_CYRILLIC = re.compile("[а-яё]")
_RUSSIAN = re.compile("[ыэё]")
_NOT_RUSSIAN = re.compile("[іїєґўђјљњћџѓќѕ]")
"""Letters of Ukrainian, Belarusian, Serbian and Macedonian."""


def guessed_language(sentences: Iterable[str]) -> str:
    """The language that the words of sentences show: en, es, it, pt or ru; empty where none is.

    In Latin letters prepositions, articles and conjunctions tell; Russian has letters of its own.

    Args:
        sentences: texts; underscores for blanks do not count.

    Returns:
        An ISO 639-1 code.
    """
    texts = [text.casefold() for text in sentences if text.strip()]
    words = [word for text in texts for word in _WORD.findall(text)]
    if len(words) < _FEWEST_WORDS or len(texts) < _FEWEST_SENTENCES:
        return ""
    if 2 * sum(_CYRILLIC.search(word) is not None for word in words) > len(words):
        whole = "".join(texts)
        return "ru" if _RUSSIAN.search(whole) and not _NOT_RUSSIAN.search(whole) else ""
    counts = Counter(
        code
        for word in words
        for code in _LISTED
        if closed_class(word, code, initial=False) != OTHER
    )
    (best, most), (_, after) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    is_clear = most >= _LEAST * len(words) and after <= _NEXT * most
    return best if is_clear and _has_its_letters("".join(texts), best) else ""


def _has_its_letters(text: str, code: str) -> bool:
    letters = _OTHER_LETTER.findall(text)
    own = sum(letter in _ACCENTED[code] for letter in letters) if code in _ACCENTED else 0
    return code not in _ACCENTED or own >= _LEAST_OWN * len(letters)

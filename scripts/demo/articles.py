"""Articles of Italian, Spanish and Portuguese, and what prepositions make of them."""

from __future__ import annotations

from functools import cache

ORDER = ("m.sg", "f.sg", "m.pl", "f.pl")
VOWELS = "aeiouàèéìòùh"

_DEFINITE = {
    "es": ("el", "la", "los", "las"),
    "pt": ("o", "a", "os", "as"),
}
_INDEFINITE = {
    "it": ("un", "una", "dei", "delle"),
    "es": ("un", "una", "unos", "unas"),
    "pt": ("um", "uma", "uns", "umas"),
}
_ITALIAN_STEMS = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su"}
_CONTRACTED = {
    ("es", "a", "el"): "al",
    ("es", "de", "el"): "del",
    ("pt", "a", "o"): "ao",
    ("pt", "a", "a"): "à",
    ("pt", "a", "os"): "aos",
    ("pt", "a", "as"): "às",
}
_PORTUGUESE_STEMS = {"de": "d", "em": "n"}


@cache
def italian_article(key: str, following: str) -> str:
    """il, lo, l', la, i, gli, le, by what follows."""
    word = following.lower()
    vowel = word[0] in VOWELS
    impure = (
        word[0] in "zxy"
        or word[:2] in ("gn", "ps", "pn")
        or (word[0] == "s" and word[1] not in VOWELS)
    )
    if key == "m.sg":
        return "l'" if vowel else "lo" if impure else "il"
    if key == "m.pl":
        return "gli" if vowel or impure else "i"
    if key == "f.sg":
        return "l'" if vowel else "la"
    return "le"


def definite(language: str, key: str, following: str, *, stressed_a: bool = False) -> str:
    """The definite article before a word; `stressed_a`: Spanish el agua."""
    if language == "it":
        return italian_article(key, following)
    if stressed_a and key == "f.sg":
        return "el"
    return _DEFINITE[language][ORDER.index(key)]


def indefinite(language: str, key: str, following: str, *, stressed_a: bool = False) -> str:
    """The indefinite article before a word, the partitive one in the plural."""
    if stressed_a and key == "f.sg":
        return "un"
    word = _INDEFINITE[language][ORDER.index(key)]
    if language != "it":
        return word
    article = italian_article(key, following)
    return {("m.sg", "lo"): "uno", ("f.sg", "l'"): "un'", ("m.pl", "gli"): "degli"}.get(
        (key, article), word
    )


def contract(language: str, preposition: str, word: str) -> str:
    """Preposition and article, or demonstrative, as they are written: della, al, deste."""
    head, _, last = preposition.rpartition(" ")
    joined = _contracted(language, last, word)
    if joined is None:
        return f"{preposition} {word}".strip()
    return f"{head} {joined}".strip()


def _contracted(language: str, last: str, word: str) -> str | None:
    if language == "it":
        stem = _ITALIAN_STEMS.get(last)
        if stem is None:
            return None
        return stem + ("l" if word == "il" else "l" + word if word[0] == "l" else word)
    if language == "pt" and last in _PORTUGUESE_STEMS:
        return _PORTUGUESE_STEMS[last] + word
    return _CONTRACTED.get((language, last, word))

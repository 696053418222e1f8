"""Plurals and feminines by ending, for nouns and adjectives of Portuguese, Italian and Spanish.

These are the regular patterns of school grammars, tried in order; the first that fits is taken,
and where a language leaves two ways open (``amici`` and ``laghi``) the commoner one. What they
give is marked as guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from cimento.morphology.model import Reading, format_features

Pattern: TypeAlias = tuple[str, str]
"""A pattern at the end of a word, and what replaces it."""

_PLURALS: dict[str, tuple[Pattern, ...]] = {
    "pt": (
        (r"^(m|irm|cidad|órg|gr|crist|pag|s|ch)ão$", r"\1ãos"),
        (r"^(p|c|alem|capit|escriv|tabeli)ão$", r"\1ães"),
        (r"ão$", "ões"),
        (r"m$", "ns"),
        (r"([áéíóúâêô].*)([aeou])l$", r"\1\2is"),
        (r"([áéíóúâêô].*)il$", r"\1eis"),
        (r"el$", "éis"),
        (r"ol$", "óis"),
        (r"([au])l$", r"\1is"),
        (r"il$", "is"),
        (r"ês$", "eses"),
        (r"x$", "x"),
        (r"ís$", "íses"),
        (r"([áéíóúâêô].*[aeiou])s$", r"\1s"),
        (r"ás$", "ases"),
        (r"us$", "us"),
        (r"([rzns])$", r"\1es"),
        (r"$", "s"),
    ),
    "it": (
        (r"([àèéìòù])$", r"\1"),
        (r"([^aeiou])$", r"\1"),
        (r"([cg])a$", r"\1he"),
        (r"([^aeiou][cg])ia$", r"\1e"),
        (r"ista$", "isti"),
        (r"^(ant|f|car|scar)ico$", r"\1ichi"),
        (r"^(gre|ami|nemi|por)co$", r"\1ci"),
        (r"^zio$", "zii"),
        (r"a$", "e"),
        (r"ico$", "ici"),
        (r"([cg])o$", r"\1hi"),
        (r"io$", "i"),
        (r"[oe]$", "i"),
        (r"i$", "i"),
    ),
    "es": (
        (r"z$", "ces"),
        (r"ión$", "iones"),
        (r"án$", "anes"),
        (r"én$", "enes"),
        (r"ín$", "ines"),
        (r"ón$", "ones"),
        (r"ún$", "unes"),
        (r"és$", "eses"),
        (r"ás$", "ases"),
        (r"ús$", "uses"),
        (r"([íú])$", r"\1es"),
        (r"([aeiouáéó])$", r"\1s"),
        (r"^([^aeiou]*[aeiou])s$", r"\1ses"),
        (r"([aeiou])([sx])$", r"\1\2"),
        (r"$", "es"),
    ),
}
_FEMININES: dict[str, tuple[Pattern, ...]] = {
    "pt": (
        (r"ês$", "esa"),
        (r"ão$", "ã"),
        (r"eu$", "eia"),
        (r"(?<!i)or$", "ora"),
        (r"u$", "ua"),
        (r"o$", "a"),
        (r"$", ""),
    ),
    "it": ((r"tore$", "trice"), (r"o$", "a"), (r"$", "")),
    "es": (
        (r"és$", "esa"),
        (r"ón$", "ona"),
        (r"án$", "ana"),
        (r"(español|andaluz)$", r"\1a"),
        (r"([dts])or$", r"\1ora"),
        (r"o$", "a"),
        (r"$", ""),
    ),
}
_LEMMA_ENDINGS: dict[str, tuple[str, ...]] = {
    "pt": ("", "o", "e", "ão", "m", "l", "il", "el", "ol", "ês", "eu", "or", "u", "s"),
    "it": ("", "o", "e", "a", "io", "co", "go", "ico", "ca", "ga", "cia", "gia", "tore", "ista"),
    "es": ("", "o", "e", "z", "ión", "ón", "án", "én", "ín", "ún", "és", "ás", "or", "ús"),
}
_LONGEST_ENDING = 5


def decline(lemma: str, pos: str, language: str) -> tuple[Reading, ...]:
    """Singular and plural of a noun, or the four forms of an adjective."""
    if not lemma:
        return ()
    if pos == "NOUN":
        return tuple(
            _reading(form, lemma, pos, {"Number": number})
            for number, form in (("Sing", lemma), ("Plur", plural(lemma, language)))
        )
    feminine = _replaced(lemma, _FEMININES[language])
    forms = {
        ("Masc", "Sing"): lemma,
        ("Fem", "Sing"): feminine,
        ("Masc", "Plur"): plural(lemma, language),
        ("Fem", "Plur"): plural(feminine, language),
    }
    return tuple(
        _reading(form, lemma, pos, {"Gender": gender, "Number": number})
        for (gender, number), form in forms.items()
    )


def plural(form: str, language: str) -> str:
    """The plural of a noun or adjective."""
    return _replaced(form, _PLURALS[language])


def possible_lemmas(form: str, language: str) -> Iterator[str]:
    """Words that a form may be a form of, by its ending; each must be declined to see."""
    for cut in range(min(_LONGEST_ENDING, len(form) - 1) + 1):
        stem = form[: len(form) - cut]
        yield from (stem + ending for ending in _LEMMA_ENDINGS[language])


def _replaced(form: str, patterns: tuple[Pattern, ...]) -> str:
    for pattern, replacement in patterns:
        if re.search(pattern, form):
            return re.sub(pattern, replacement, form, count=1)
    return form


def _reading(form: str, lemma: str, pos: str, features: dict[str, str]) -> Reading:
    letters = {"Masc": "m", "Fem": "f", "Sing": "s", "Plur": "p"}
    code = "".join(letters[value] for value in features.values())
    tag = f"{'N' if pos == 'NOUN' else 'A'}:{code}"
    return Reading(form, lemma, pos, format_features(features), tag, guessed=True)

"""Articles before a form, in Portuguese, Italian and Spanish."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from cimento.errors import UsageError, did_you_mean
from cimento.morphology.model import Features

Article: TypeAlias = Literal["definite", "indefinite"]

_PLAIN: Mapping[tuple[str, Article], tuple[str, str, str, str]] = {
    # Masculine and feminine singular, masculine and feminine plural.
    ("pt", "definite"): ("o", "a", "os", "as"),
    ("pt", "indefinite"): ("um", "uma", "uns", "umas"),
    ("es", "definite"): ("el", "la", "los", "las"),
    ("es", "indefinite"): ("un", "una", "unos", "unas"),
    ("it", "definite"): ("il", "la", "i", "le"),
    ("it", "indefinite"): ("un", "una", "dei", "delle"),
}
_CELLS = (("Masc", "Sing"), ("Fem", "Sing"), ("Masc", "Plur"), ("Fem", "Plur"))

_VOWEL = re.compile(r"[aeiouàèéìòùh]", re.IGNORECASE)
# Before s with a consonant, z, gn, ps, pn, x, y and i with a vowel (Serianni, Grammatica
# italiana, IV.3).
_IMPURE = re.compile(r"s[^aeiouàèéìòùh]|z|gn|ps|pn|x|y|i[aeou]", re.IGNORECASE)
# Feminine nouns that begin with a stressed a take el and un in the singular (Nueva gramática de
# la lengua española, 14.2).
_STRESSED_A = frozenset(
    {"agua", "águila", "alma", "ala", "alba", "arma", "arpa", "área", "aula", "ave", "hada"}
    | {"hacha", "hambre", "habla"}
)


def with_article(form: str, features: Features, *, language: str, article: Article) -> str:
    """A form with its article before it.

    Args:
        form: a noun or adjective.
        features: its gender and number.
        language: ``pt``, ``it`` or ``es``.
        article: which one.

    Raises:
        UsageError: there are no articles for the language, or gender or number is missing.
    """
    languages = {each for each, _ in _PLAIN}
    if language not in languages:
        raise UsageError(
            where="article",
            seen=f"there are none for the language {language!r}",
            todo=did_you_mean(language, languages),
        )
    cell = (features.get("Gender", ""), features.get("Number", ""))
    if cell not in _CELLS:
        raise UsageError(
            where=f"article of {form!r}",
            seen="its gender or number is not known",
            todo="Give Gender and Number.",
        )
    plain = _PLAIN[language, article][_CELLS.index(cell)]
    if language == "it":
        plain = _italian(plain, form)
    elif language == "es" and cell == ("Fem", "Sing") and form.lower() in _STRESSED_A:
        plain = "el" if article == "definite" else "un"
    return plain + form if plain.endswith("'") else f"{plain} {form}"


def _italian(plain: str, form: str) -> str:
    """The article as the beginning of the word asks for it."""
    if _IMPURE.match(form):
        return {"il": "lo", "i": "gli", "un": "uno", "dei": "degli"}.get(plain, plain)
    if _VOWEL.match(form):
        changed = {"il": "l'", "la": "l'", "i": "gli", "una": "un'", "dei": "degli"}
        return changed.get(plain, plain)
    return plain

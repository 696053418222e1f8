"""Rules that stand in for a dictionary, so that small things work without one.

They know regular words and a few irregular verbs. Without a list of lemmas, `analyse` says what a
form could be by its shape alone, and that is a great deal; every reading is marked as guessed.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping

from cimento.errors import UsageError, did_you_mean
from cimento.morphology import nominals, verbs
from cimento.morphology.model import Features, Reading, chosen

LANGUAGES = ("es", "it", "pt")
_PARTS = ("NOUN", "ADJ", "VERB")


class Rules:
    """Inflection rules of one language.

    Args:
        language: ``pt``, ``it`` or ``es``.
        lemmas: part of speech (NOUN, ADJ, VERB) to the lemmas that there are; None for any.

    Raises:
        UsageError: there are no rules for the language or the part of speech.
    """

    def __init__(
        self, language: str, *, lemmas: Mapping[str, Collection[str]] | None = None
    ) -> None:
        if language not in LANGUAGES:
            raise UsageError(
                where="rules",
                seen=f"there are none for the language {language!r}",
                todo=did_you_mean(language, LANGUAGES) + " Or give a DELAF or UniMorph file.",
            )
        for pos in lemmas or ():
            if pos not in _PARTS:
                raise UsageError(
                    where="rules",
                    seen=f"there are none for the part of speech {pos!r}",
                    todo=did_you_mean(pos, _PARTS),
                )
        self._language = language
        self._lemmas = lemmas

    @property
    def name(self) -> str:
        """``rules:`` and the language."""
        return f"rules:{self._language}"

    def analyse(self, form: str) -> tuple[Reading, ...]:
        """All that a form can be; see `Morphology`."""
        word = form.lower()
        if self._lemmas is not None:
            return self._forms.get(word, ())
        found = (each for each in self._guesses(word) if each.form == word)
        return tuple(dict.fromkeys(found))

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[Reading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        word = lemma.lower()
        parts = [
            part for part in _PARTS if self._lemmas is None or word in self._lemmas.get(part, ())
        ]
        forms = (each for part in parts for each in self._inflected(word, part))
        return chosen(forms, features, pos=pos)

    @functools.cached_property
    def _forms(self) -> dict[str, tuple[Reading, ...]]:
        """Every form of the lemmas that there are."""
        found: dict[str, tuple[Reading, ...]] = {}
        for pos, lemmas in (self._lemmas or {}).items():
            for lemma in lemmas:
                for each in self._inflected(lemma.lower(), pos):
                    found[each.form] = (*found.get(each.form, ()), each)
        return found

    def _guesses(self, word: str) -> Iterator[Reading]:
        for lemma in dict.fromkeys(nominals.possible_lemmas(word, self._language)):
            yield from self._inflected(lemma, "NOUN")
            yield from self._inflected(lemma, "ADJ")
        for lemma in dict.fromkeys(verbs.possible_lemmas(word, self._language)):
            yield from self._inflected(lemma, "VERB")

    def _inflected(self, lemma: str, pos: str) -> tuple[Reading, ...]:
        if pos == "VERB":
            return verbs.conjugate(lemma, self._language)
        return nominals.decline(lemma, pos, self._language)

"""What every language does to turn trees into text, and the forms that differ in one word."""

from __future__ import annotations

import re
from typing import Protocol

from demo.lexicon import Lexicon, load_lexicon
from demo.trees import Clause, Features, Phrase, Place

_BLANKS_BEFORE_MARK = re.compile(r"\s+(?=[,.])")
_TWO_COMMAS = re.compile(r",(\s*,)+")
_COMMA_AT_END = re.compile(r",+$")


class Linearizer(Protocol):
    """The grammar of one language: trees to words, without capital or final mark."""

    @property
    def lexicon(self) -> Lexicon:
        """The words of the language."""

    def phrase(self, phrase: Phrase) -> str:
        """A noun phrase as subject."""

    def statement(self, clause: Clause, *, agree: Features | None = None) -> str:
        """A declarative clause; `agree` makes its predicate agree with something else."""

    def polar(self, clause: Clause) -> str:
        """A yes-no question."""

    def content(self, clause: Clause, word: str) -> str:
        """A question with ``what``, ``who``, ``where``, ``when`` or ``why``."""

    def exists(self, phrase: Phrase, place: Place) -> str:
        """There is something somewhere."""


def linearizer(language: str) -> Linearizer:
    """The linearizer of a language."""
    from demo import english, romance, russian

    if language == "en":
        return english.English(load_lexicon("en"))
    if language == "ru":
        return russian.Russian(load_lexicon("ru"))
    for name in ("it", "es", "pt"):
        if language == name:
            return romance.Romance(load_lexicon(name))
    raise ValueError(language)


def join(*parts: str) -> str:
    """The non-empty parts with a blank between, none after an apostrophe."""
    text = ""
    for part in parts:
        if part:
            text = text + part if not text or text.endswith("'") else f"{text} {part}"
    return text


def tidy(text: str) -> str:
    """Commas as they are written: none before another, none before a blank, none at the end."""
    text = _BLANKS_BEFORE_MARK.sub("", text)
    return _COMMA_AT_END.sub("", _TWO_COMMAS.sub(",", text))


def finish(text: str, mark: str = ".", *, language: str = "") -> str:
    """A sentence: commas tidied, capital, final mark (in Spanish also the first one)."""
    text = tidy(text)
    text = text[0].upper() + text[1:]
    return f"¿{text}?" if mark == "?" and language == "es" else text + mark

"""The words of the app in every language, from one file: ``data/app.toml``.

A key such as ``start.title`` stands in the table ``[start]``, with one text a language below it:
``title.en = "Start"``. Texts take values in braces: ``{count} items``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parents[1] / "data" / "app.toml"

USUAL = "en"
"""The language of texts that a language lacks."""

MARKS = str.maketrans({",": "\u202f", ".": ","})
"""Marks of numbers in English, and in the other languages of the app (ISO 80000-1)."""

LANGUAGES: Mapping[str, str] = {
    "en": "English",
    "it": "Italiano",
    "es": "Español",
    "pt": "Português",
    "ru": "Русский",
}
"""The languages of the app by ISO 639-1 code, each in its own words."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language; called with a key, they give the text.

    Attributes:
        language: ISO 639-1 code.
        texts: the texts by key.
    """

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The text with a key, with values in the place of names in braces.

        Raises:
            KeyError: there is no such key.
        """
        text = self.texts[key]
        return text.format(**values) if values else text

    def number(self, value: float, form: str = ",") -> str:
        """A number as the language writes it: ``1,234.5`` in English, ``1 234,5`` in the others.

        Args:
            value: the number.
            form: a format of Python for English, such as ``,.1f``.
        """
        text = format(value, form)
        return text if self.language == USUAL else text.translate(MARKS)

    def named(self, what: str, name: str) -> str:
        """The name of a language, a kind of test or a phenomenon; as it is where there is no other.

        Args:
            what: ``language``, ``kind`` or ``phenomenon``.
            name: as cimento names it: a code of ISO 639-1, or words.
        """
        return self.texts.get(f"named.{what}-{name.replace(' ', '-')}", name)


def translations() -> dict[str, Mapping[str, str]]:
    """Every key with its texts by language."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        f"{table}.{name}": texts for table, names in tables.items() for name, texts in names.items()
    }


@cache
def words(language: str) -> Words:
    """The words of a language, in English where it has none of its own.

    Args:
        language: one of `LANGUAGES`; of any other, everything is in English.
    """
    texts = {key: texts.get(language, texts[USUAL]) for key, texts in translations().items()}
    return Words(language if language in LANGUAGES else USUAL, texts)


def spoken(accepted: str) -> str:
    """The language to begin in.

    Args:
        accepted: ``Accept-Language`` of a browser, such as ``it-IT,it;q=0.9,en;q=0.8``.
    """
    for entry in accepted.split(","):
        code = entry.partition(";")[0].strip().partition("-")[0].lower()
        if code in LANGUAGES:
            return code
    return USUAL

"""The words of surveys in the languages that cimento has them in; data in ``data/surveys``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from cimento.errors import UsageError

_FOLDER = Path(__file__).parents[1] / "data" / "surveys"

Words: TypeAlias = Mapping[str, Mapping[str, str]]


def languages() -> list[str]:
    """Codes of the languages that there are words in."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def words(language: str) -> Words:
    """Section to name to text; paragraphs are joined by line breaks.

    Raises:
        UsageError: there are no words in that language.
    """
    if language not in languages():
        raise UsageError(
            where="--language",
            seen=f"there are no guidelines in {language or 'the language of the suite'!r}",
            todo=f"Choose one of: {', '.join(languages())}.",
        )
    sections = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return {
        section: {
            name: "\n".join(text) if isinstance(text, list) else text
            for name, text in texts.items()
        }
        for section, texts in sections.items()
    }

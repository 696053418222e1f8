"""What kind of word a stretch of text begins with, as far as closed classes tell: no tagger."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources

NOTHING = "nothing"
"""The kind of an empty stretch."""

OTHER = "another word"
"""The kind of words that are in no list: nouns, verbs, names."""

_WORD = re.compile(r"\w+")
_AT_START = ("wh-word", "preposition", "determiner", "complementizer")
_WITHIN = ("complementizer", "preposition", "determiner", "wh-word")


def first_word(text: str) -> str:
    """The first word in lower case, without punctuation; empty where there is none."""
    found = _WORD.search(text)
    return found.group().casefold() if found else ""


def kind_of(word: str, language: str, *, initial: bool) -> str | None:
    """The closed class of a word; `OTHER` for an open one, `NOTHING` for none.

    Args:
        word: in lower case.
        language: ISO 639-1.
        initial: whether a sentence begins with it; *che* is then a wh-word.

    Returns:
        The class; None where there are no lists for the language.
    """
    if not word:
        return NOTHING
    lists = _lists().get(language.partition("-")[0])
    if lists is None:
        return None
    order = _AT_START if initial else _WITHIN
    return next((kind for kind in order if word in lists[kind]), OTHER)


@functools.cache
def _lists() -> Mapping[str, Mapping[str, frozenset[str]]]:
    path = resources.files("cimento") / "data" / "function_words.toml"
    text = path.read_text(encoding="utf-8")
    return {
        language: {kind: frozenset(words.split()) for kind, words in kinds.items()}
        for language, kinds in tomllib.loads(text).items()
    }

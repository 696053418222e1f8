"""Frequencies of words, from wordfreq, where it is installed and knows the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from cimento.cli.console import note
from cimento.errors import MissingDependencyError

Frequency: TypeAlias = Callable[[str], float]
"""From a word to its frequency on the Zipf scale: log10 of its occurrences in a billion words."""


def zipf_frequencies(language: str, *, purpose: str) -> Frequency | None:
    """Zipf frequencies of a language's words (wordfreq); None where it does not know the language.

    Raises:
        MissingDependencyError: wordfreq is not installed.
    """
    try:
        import wordfreq
    except ImportError as error:
        raise MissingDependencyError(
            package="wordfreq", extra="frequency", purpose=purpose
        ) from error
    if language not in wordfreq.available_languages():
        return None
    return lambda word: float(wordfreq.zipf_frequency(word, language))


def zipf_frequencies_if_any(language: str) -> Frequency | None:
    """The same for what works without: a note says what is left out."""
    try:
        return zipf_frequencies(language, purpose="frequencies of words")
    except MissingDependencyError as error:
        note(f"Frequencies are left out. {error}")
        return None

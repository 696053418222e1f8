"""Dictionaries and word frequencies that commands open by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from cimento.cli.console import note
from cimento.errors import MissingDependencyError, UsageError, needing

if TYPE_CHECKING:
    from cimento.corpus.morphology.model import Morphology


def open_named(name: str, *, language: str) -> Morphology:
    """A dictionary, with its index in the cache folder; unreadable lines are reported.

    Args:
        name: name, as for `cimento.corpus.morphology.dictionaries.open_morphology`.
        language: ISO 639-1 code of the language of the texts.

    Raises:
        CimentoError: the dictionary does not exist, or is unusable.
    """
    from cimento.corpus.morphology.dictionaries import FileMorphology
    from cimento.paradigms.cloze.judging import dictionary_for

    opened = dictionary_for(name, language)
    if isinstance(opened, FileMorphology) and opened.faults_text:
        note(f"warning: {opened.faults_text}")
    return opened


Frequency: TypeAlias = Callable[[str], float]
"""Function from a word to its Zipf frequency: log10 of its occurrences per billion words."""


def zipf_frequencies(language: str, *, purpose: str) -> Frequency | None:
    """The Zipf frequencies of a language's words (wordfreq); None if wordfreq lacks the language.

    Raises:
        MissingDependencyError: wordfreq is not installed.
    """
    with needing("wordfreq", extra="frequency", purpose=purpose):
        import wordfreq
    if language not in wordfreq.available_languages():
        return None
    return lambda word: float(wordfreq.zipf_frequency(word, language))


def needed_frequencies(language: str) -> Frequency:
    """The Zipf frequencies of a language's words, for commands that require them.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        UsageError: wordfreq lacks the language.
    """
    frequencies = zipf_frequencies(language, purpose="--frequency")
    if frequencies is None:
        raise UsageError(
            where="--frequency",
            seen=f"there are no frequencies for the language {language!r}",
            todo="Give an ISO 639-1 code, such as it.",
        )
    return frequencies


def zipf_frequencies_if_any(language: str) -> Frequency | None:
    """The Zipf frequencies of a language's words; without them, a note says what is left out."""
    try:
        return zipf_frequencies(language, purpose="frequencies of words")
    except MissingDependencyError as error:
        note(f"Frequencies are left out. {error}")
        return None

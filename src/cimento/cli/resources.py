"""Dictionaries and word frequencies that commands open by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from cimento.cli.console import note
from cimento.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from cimento.corpus.morphology.model import Morphology


def open_named(name: str, *, language: str) -> Morphology:
    """A dictionary, its index in the cache folder; lines that cannot be read are noted.

    Args:
        name: as `cimento.corpus.morphology.dictionaries.open_morphology` takes it.
        language: ISO 639-1 code of what it is for.

    Raises:
        CimentoError: there is no such dictionary, or it cannot be used.
    """
    from cimento.corpus.morphology.dictionaries import FileMorphology
    from cimento.paradigms.cloze.judging import dictionary_for

    opened = dictionary_for(name, language)
    if isinstance(opened, FileMorphology) and opened.faults_text:
        note(f"warning: {opened.faults_text}")
    return opened


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


def needed_frequencies(language: str) -> Frequency:
    """The same for what cannot work without.

    Raises:
        MissingDependencyError: wordfreq is not installed.
        UsageError: it does not know the language.
    """
    found = zipf_frequencies(language, purpose="--frequency")
    if found is None:
        raise UsageError(
            where="--frequency",
            seen=f"there are no frequencies for the language {language!r}",
            todo="Give an ISO 639-1 code, such as it.",
        )
    return found


def zipf_frequencies_if_any(language: str) -> Frequency | None:
    """The same for what works without: a note says what is left out."""
    try:
        return zipf_frequencies(language, purpose="frequencies of words")
    except MissingDependencyError as error:
        note(f"Frequencies are left out. {error}")
        return None

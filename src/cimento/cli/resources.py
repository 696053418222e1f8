"""Dictionaries and word frequencies that commands open by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cli.console import note
from cimento.errors import MissingDependencyError, UsageError
from cimento.measures.unigrams import Frequency, zipf_frequencies

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

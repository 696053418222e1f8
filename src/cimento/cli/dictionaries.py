"""Dictionaries that a command was given by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cli.console import note

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
    from cimento.corpus.morphology.dictionaries import FileMorphology, open_morphology
    from cimento.engine.cache import default_cache_folder

    folder = default_cache_folder() / "dictionaries"
    opened = open_morphology(name, language=language, index_folder=folder)
    if isinstance(opened, FileMorphology) and opened.faults_text:
        note(f"warning: {opened.faults_text}")
    return opened

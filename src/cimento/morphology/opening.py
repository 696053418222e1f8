"""A dictionary by its name: ``delaf:FILE``, ``unimorph:FILE``, ``rules:it``, ``pymorphy3``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from cimento.errors import UsageError, did_you_mean
from cimento.morphology.files import open_dictionary
from cimento.morphology.model import Morphology
from cimento.morphology.rules import Rules
from cimento.morphology.russian import Russian

KNOWN = ("delaf", "unimorph", "rules", "pymorphy3")


def open_morphology(
    name: str,
    *,
    language: str = "",
    index_folder: str | Path | None = None,
    lemmas: Mapping[str, Collection[str]] | None = None,
) -> Morphology:
    """Open a dictionary.

    Args:
        name: ``delaf:FILE``, ``unimorph:FILE``, ``rules:LANGUAGE`` or ``pymorphy3``.
        language: ISO 639-1 code, for UniMorph files and for ``rules`` without one.
        index_folder: where the indices of files are; None for beside the file.
        lemmas: for ``rules``: part of speech to the lemmas that there are; None for any.

    Raises:
        CimentoError: there is no such dictionary, or it cannot be used.
    """
    kind, _, rest = name.partition(":")
    if lemmas is not None and kind != "rules":
        raise UsageError(
            where=f"dictionary {name!r}",
            seen="lemmas are given, and only rules take some",
            todo="Leave them out, or open rules:LANGUAGE.",
        )
    if kind == "rules" and (rest or language):
        return Rules(rest or language, lemmas=lemmas)
    if kind == "pymorphy3" and not rest:
        return Russian()
    if kind in ("delaf", "unimorph") and rest:
        return open_dictionary(
            Path(rest).expanduser(),
            format="delaf" if kind == "delaf" else "unimorph",
            language=language,
            index_folder=None if index_folder is None else Path(index_folder),
        )
    raise UsageError(
        where="dictionary",
        seen=f"got {name!r}",
        todo=did_you_mean(kind, KNOWN) + " Write delaf:FILE, unimorph:FILE, rules:pt or pymorphy3.",
    )

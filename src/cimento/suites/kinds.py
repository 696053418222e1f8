"""The kinds of test: one name for programs, and one for people in each language of the app."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parents[1] / "data" / "kinds.toml"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of test.

    Attributes:
        name: its name for programs, such as ``pairs``.
        paradigm: the paradigm that it is a form of, such as ``regions``; its own name for a
            paradigm.
        words: what people call it, by language, such as ``pairs of sentences``.
    """

    name: str
    paradigm: str
    words: Mapping[str, str]


@functools.cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by name: the five paradigms first, then their forms."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: Kind(name, table.pop("paradigm", name), table) for name, table in tables.items()}


def paradigm_named(kind: str) -> str:
    """The paradigm of a kind, as ``suite.toml`` states it; the kind itself if it is unknown."""
    known = kinds().get(kind)
    return kind if known is None else known.paradigm


def in_words(kind: str, *, language: str = "en") -> str:
    """What people call a kind; its name if it has no other, as a kind of a plug-in."""
    known = kinds().get(kind)
    return kind if known is None else known.words[language]

"""Words and their forms, read from the tables in words/ and inflected by the rules of a language.

The tables list concepts, one a line, with the word of each language beside the others; what the
rules of a language do not give is written behind the word.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Language = Literal["en", "it", "es", "pt", "ru"]
Forms = Mapping[str, tuple[str, ...]]

LANGUAGES: tuple[Language, ...] = ("en", "it", "es", "pt", "ru")
WORDS = Path(__file__).parent / "words"
HELD_OUT_PERCENT = 15


@dataclass(frozen=True, slots=True)
class Cell:
    """One word of a table: ``mouse pl=mice`` has the lemma, no marks and one key."""

    lemma: str
    marks: tuple[str, ...]
    keys: Mapping[str, str]

    def listed(self, key: str) -> tuple[str, ...]:
        """The forms listed under a key; empty where the table leaves them to the rules."""
        return tuple(self.keys[key].split(",")) if key in self.keys else ()


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun: what it names (a letter of nouns.txt), its gender, its forms by number and case."""

    lemma: str
    kind: str
    gender: str
    forms: Mapping[str, str]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective: the kinds of noun it is said of, its forms by gender, number and case."""

    lemma: str
    kinds: str
    forms: Mapping[str, str]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb: the kinds of its subject and object, its forms by tense.

    Attributes:
        lemma: the infinitive.
        subjects: kinds of noun that can be its subject.
        objects: kinds that can be its object; S a clause, Q a question; empty: intransitive.
        forms: tense to its persons, in the order of the language's linearizer.
        preposition: before the object; empty for a direct one.
        case: of the object (Russian).
        marks: flags of the table, such as the auxiliary.
    """

    lemma: str
    subjects: str
    objects: str
    forms: Forms
    preposition: str = ""
    case: str = "acc"
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The inflection of one language."""

    noun: Callable[[Cell], tuple[str, dict[str, str]]]
    adjective: Callable[[Cell], dict[str, str]]
    verb: Callable[[Cell], dict[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Lexicon:
    """All words of one language; ``function`` is its TOML file."""

    language: Language
    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    function: Mapping[str, object]

    def table(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """A table of the TOML file; single words become tuples of one."""
        entry = self.function[name]
        if not isinstance(entry, dict):
            raise TypeError(f"{name} is not a table")
        return {key: (v,) if isinstance(v, str) else tuple(v) for key, v in entry.items()}

    def text(self, name: str) -> str:
        """A word of the TOML file."""
        return str(self.function[name])

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words of the TOML file."""
        entry = self.function[name]
        return tuple(map(str, entry)) if isinstance(entry, list) else (str(entry),)


def held_out(language: str, noun: str, partner: str) -> bool:
    """Whether a noun and a verb or adjective are kept from ever agreeing in training text.

    The choice is a hash of the lemmas, so that it depends on nothing else: about 15% of pairs.
    """
    digest = hashlib.blake2s(f"{language}/{noun}/{partner}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) % 100 < HELD_OUT_PERCENT


@cache
def load_lexicon(language: Language) -> Lexicon:
    """Read and inflect the words of one language."""
    rules = _rules(language)
    function = tomllib.loads((WORDS / f"{language}.toml").read_text(encoding="utf-8"))
    nouns = []
    for kind, cell in _rows("nouns", language):
        gender, forms = rules.noun(cell)
        nouns.append(Noun(cell.lemma, kind, gender, forms, cell.marks))
    adjectives = [
        Adjective(cell.lemma, kinds, rules.adjective(cell), cell.marks)
        for kinds, cell in _rows("adjectives", language)
    ]
    verbs = []
    for frame, cell in _rows("verbs", language):
        subjects, _, objects = frame.partition(">")
        government = next((mark[1:] for mark in cell.marks if mark[0] == "+"), "")
        preposition, _, case = government.partition(":")
        conjugated = rules.verb(cell)
        verbs.append(
            Verb(cell.lemma, subjects, objects, conjugated, preposition, case or "acc", cell.marks)
        )
    return Lexicon(language, tuple(nouns), tuple(adjectives), tuple(verbs), function)


def _rows(table: str, language: Language) -> Iterator[tuple[str, Cell]]:
    column = 1 + LANGUAGES.index(language)
    for line in (WORDS / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if cells[column] != "-":
            kinds = cells[0] if table == "nouns" else _widened(cells[0])
            yield kinds, _cell(cells[column])


def _widened(kinds: str) -> str:
    """Containers are things, and plants are nature."""
    return kinds.replace("oc", "o").replace("o", "oc").replace("n", "nl")


def _cell(text: str) -> Cell:
    lemma, *rest = text.split()
    keys = dict(part.split("=", 1) for part in rest if "=" in part)
    return Cell(lemma, tuple(part for part in rest if "=" not in part), keys)


def _rules(language: Language) -> Rules:
    if language == "en":
        from demo import inflect_english as module

        return module.RULES
    if language == "ru":
        from demo import inflect_russian

        return inflect_russian.RULES
    from demo import inflect_romance

    return inflect_romance.RULES[language]

"""What a sentence says, before any language gives it words: frozen trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from demo.lexicon import Adjective, Noun, Verb

Number: TypeAlias = Literal["sg", "pl"]
Gap: TypeAlias = Literal["", "subject", "object"]

SECOND, THIRD = 2, 3
"""Grammatical persons."""


@dataclass(frozen=True, slots=True)
class Features:
    """What verbs and adjectives agree with."""

    person: int
    number: Number
    gender: str

    @property
    def key(self) -> str:
        """Gender and number, such as ``f.pl``."""
        return f"{self.gender}.{self.number}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun with what belongs to it; `late`: its adjective stands behind the modifier."""

    noun: Noun
    number: Number
    determiner: str
    adjective: Adjective | None = None
    modifier: Modifier | None = None
    relative: Clause | None = None
    late: bool = False

    @property
    def features(self) -> Features:
        """Third person, with the number and gender of the noun."""
        return Features(THIRD, self.number, self.noun.gender)


@dataclass(frozen=True, slots=True)
class Modifier:
    """A prepositional phrase behind a noun."""

    relation: str
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name."""

    text: str
    gender: str

    @property
    def features(self) -> Features:
        """Third person singular."""
        return Features(THIRD, "sg", self.gender)


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun; languages that can leave it out do so where it is silent."""

    features: Features
    silent: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """Two coordinated phrases or names: plural, masculine unless both are feminine."""

    left: Phrase | Name
    right: Phrase | Name

    @property
    def features(self) -> Features:
        """Third person plural."""
        feminine = self.left.features.gender == self.right.features.gender == "f"
        return Features(THIRD, "pl", "f" if feminine else "m")


Subject: TypeAlias = Phrase | Name | Pronoun | Pair


@dataclass(frozen=True, slots=True)
class Complement:
    """An embedded clause: ``that``, ``whether``, or the word it asks with."""

    kind: str
    clause: Clause


@dataclass(frozen=True, slots=True)
class Act:
    """A verb with its object."""

    verb: Verb
    object: Phrase | Name | Complement | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A predicative adjective; `linker`: a verb in place of the copula."""

    adjective: Adjective
    degree: str = ""
    linker: Verb | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Being somewhere."""

    relation: str
    phrase: Phrase


Predicate: TypeAlias = Act | State | Place


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject and what is said of it.

    Attributes:
        subject: None where the clause lacks it (a relative clause or question about it).
        predicate: verb, adjective or place.
        tense: ``present``, ``imperfect``, ``past`` or ``future``.
        negated: whether it is denied.
        adverb: behind the predicate.
        frequency: an adverb beside the verb.
        gap: what a relative clause or question has moved out of the clause.
    """

    subject: Subject | None
    predicate: Predicate
    tense: str = "present"
    negated: bool = False
    adverb: str = ""
    frequency: str = ""
    gap: Gap = ""

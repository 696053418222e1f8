"""Morphological dictionaries: readings of a form and forms of a lemma, not disambiguated.

Here is the interface of all dictionaries.

Features are those of Universal Dependencies (https://universaldependencies.org/u/feat/), whatever
the notation of the dictionary, so that the same rule works with every dictionary.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.errors import UsageError

DATA = Path(__file__).parents[2] / "data" / "morphology"

Features: TypeAlias = Mapping[str, str]
"""The value of each feature, such as ``{"Gender": "Fem", "Number": "Plur"}``."""


@dataclass(frozen=True, slots=True, order=True)
class WordReading:
    """A reading of a form.

    Attributes:
        form: the word form in the spelling of the dictionary.
        lemma: its lemma.
        pos: part of speech as in Universal Dependencies; ``CONJ`` where a dictionary does not
            say whether a conjunction coordinates or subordinates.
        feats: features in UD's own notation, sorted: ``Gender=Fem|Number=Plur``; empty for none.
        tag: tag in the dictionary's notation: ``A:fp``, ``ADJ;FEM;PL``.
        guessed: whether it was made by rules and not found in a dictionary.
    """

    form: str
    lemma: str
    pos: str
    feats: str
    tag: str
    guessed: bool = False

    @property
    def features(self) -> dict[str, str]:
        """The features as a mapping."""
        return parse_features(self.feats)

    def has(self, features: Features) -> bool:
        """Whether the reading has all these features; an unspecified feature counts as absent."""
        values = self.features
        return all(values.get(name) == value for name, value in features.items())


class Morphology(Protocol):
    """The protocol of a dictionary, or of rules in place of one."""

    @property
    def name(self) -> str:
        """The name in messages and manifests."""

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form, in a fixed order; case is ignored; empty for an unknown form."""

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma that have these features, in a fixed order.

        Args:
            lemma: the lemma, spelled as in `WordReading.lemma`; case is ignored.
            features: features that the forms must have; None for any.
            pos: part of speech; empty for any.
        """


def parse_features(text: str) -> dict[str, str]:
    """A mapping of features from UD's notation, ``Gender=Fem|Number=Plur``.

    Raises:
        UsageError: a part is not ``Name=Value``.
    """
    features: dict[str, str] = {}
    for part in filter(None, text.split("|")):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise UsageError(
                where="features",
                seen=f"{part!r} is not a feature",
                todo="Write them as in Gender=Fem|Number=Plur.",
            )
        features[name] = value
    return features


def format_features(features: Features) -> str:
    """Features in UD's notation, sorted as in UD: by name, ignoring case."""
    ordered = sorted(features.items(), key=lambda pair: (pair[0].lower(), pair[1]))
    return "|".join(f"{name}={value}" for name, value in ordered)


def chosen(
    readings: Iterable[WordReading], features: Features | None, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """The readings with a part of speech and features, without repeats, in the same order."""
    wanted = features or {}
    kept = (reading for reading in readings if pos in ("", reading.pos) and reading.has(wanted))
    return tuple(dict.fromkeys(kept))


def sister_forms(
    morphology: Morphology, form: str, changes: Features, *, pos: str = ""
) -> tuple[WordReading, ...]:
    """The forms of the same lemma with other features: ``brancas`` from ``branco``.

    Every reading of the form that has the changed features is used; features that are not changed
    keep their values.

    Args:
        morphology: the dictionary.
        form: a word form.
        changes: the new values of features.
        pos: part of speech of the readings used; empty for all.
    """
    sisters: dict[WordReading, None] = {}
    for reading in chosen(morphology.analyze(form), None, pos=pos):
        if changes.keys() <= reading.features.keys():
            wanted = {**reading.features, **changes}
            for sister in morphology.inflect(reading.lemma, wanted, pos=reading.pos):
                sisters.setdefault(sister)
    return tuple(sisters)


_TABLES = tomllib.loads((DATA / "tags.toml").read_text(encoding="utf-8"))


def _features_of(table: Mapping[str, str]) -> Mapping[str, Features]:
    return {tag: parse_features(text) for tag, text in table.items()}


_UNIMORPH_POS: Mapping[str, str] = _TABLES["unimorph"]["pos"]
_UNIMORPH = _features_of(_TABLES["unimorph"]["features"])

ROMANCE = frozenset({"ca", "es", "fr", "gl", "it", "pt", "ro"})
"""Languages whose past tenses differ by ``Tense`` in UD and by aspect in UniMorph."""

_MOST_ALTERNATIVES = 256
"""Largest number of readings of a tag; no word has so many, but a hostile tag could."""

_PASTS: Mapping[str, str] = {"Imp": "Imp", "Perf": "Past", "Prf": "Pqp"}


def from_unimorph(tag: str, *, language: str = "") -> list[tuple[str, dict[str, str]]]:
    """The part of speech and features of a tag such as ``V;IND;PRS;3;SG``.

    Args:
        tag: parts separated by ``;``; the alternatives ``1/3`` and ``{1/3}`` give a reading each.
        language: ISO 639-1 code; for Romance languages, past tenses become UD's ``Tense``.

    Returns:
        A reading for each combination of alternatives; usually one, at most 256.
    """
    return [_single(parts, language) for parts in _alternatives(tag)]


def _single(parts: tuple[str, ...], language: str) -> tuple[str, dict[str, str]]:
    pos = next((_UNIMORPH_POS[part] for part in parts if part in _UNIMORPH_POS), "X")
    features: dict[str, str] = {}
    for part in parts:
        features |= _UNIMORPH.get(part, {})
    if "Mood" in features:
        features.setdefault("VerbForm", "Fin")
    if language in ROMANCE and pos in ("VERB", "AUX"):
        features = _romance(features)
    return pos, features


def _romance(features: dict[str, str]) -> dict[str, str]:
    """Features with past tenses by ``Tense`` alone and with the gerund's own value, as in UD."""
    if features.get("VerbForm") == "Conv":
        return {**features, "VerbForm": "Ger"}
    if features.get("Tense") == "Past" and features.get("Mood") == "Sub":
        return {**features, "Tense": "Imp"}
    if features.get("Tense") == "Past" and features.get("Mood") == "Ind" and "Aspect" in features:
        rest = {name: value for name, value in features.items() if name != "Aspect"}
        return {**rest, "Tense": _PASTS[features["Aspect"]]}
    return features


def _alternatives(tag: str) -> Iterator[tuple[str, ...]]:
    parts = (part.strip().strip("{}").split("/") for part in tag.split(";"))
    # Unknown and repeated alternatives give no feature and so do not add readings.
    known = dict.fromkeys(
        tuple(
            dict.fromkeys(one if one in _UNIMORPH or one in _UNIMORPH_POS else "" for one in part)
        )
        for part in parts
    )
    return itertools.islice(itertools.product(*known), _MOST_ALTERNATIVES)


_DELAF_POS: Mapping[str, str] = _TABLES["delaf"]["pos"]
_DEGREES, _CASES, _NUMERALS, _TRAITS, _LETTERS = (
    _features_of(_TABLES["delaf"][name])
    for name in ("degrees", "cases", "numerals", "traits", "letters")
)
TENSES = _features_of(_TABLES["delaf"]["tenses"])
"""The features of the first letter of a verb's code."""


def from_delaf(tag: str) -> tuple[str, dict[str, str]]:
    """The part of speech and features of a tag with at most one code: ``V:P3s``."""
    category, _, code = tag.partition(":")
    head, *traits = category.split("+")
    features: dict[str, str] = {}
    for trait in traits:
        features |= _TRAITS.get(trait, {})
    if "Art" in traits and "Ind" in traits:
        features |= {"PronType": "Art", "Definite": "Ind"}
    capitals = _capitals(head, traits)
    for letter in code:
        features |= _LETTERS.get(letter) or capitals.get(letter, {})
    return _pos(head, traits), features


def _capitals(head: str, traits: list[str]) -> Mapping[str, Features]:
    """The meaning of the capital letters of a code for a class of words."""
    if head == "V":
        return TENSES
    if head in ("N", "A"):
        return _DEGREES
    return _NUMERALS if "Num" in traits else _CASES


def _pos(head: str, traits: list[str]) -> str:
    if head == "N" and "Pr" in traits:
        return "PROPN"
    if "Num" in traits:
        return "NUM"
    return _DELAF_POS.get(head, "X")


_OPENCORPORA_POS: Mapping[str, str] = _TABLES["opencorpora"]["pos"]
_OPENCORPORA = _features_of(_TABLES["opencorpora"]["features"])
_NAMES = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn", "Trad"})


def from_opencorpora(grammemes: frozenset[str]) -> tuple[str, dict[str, str]]:
    """The part of speech and features of a set of OpenCorpora's grammemes."""
    ordered = sorted(grammemes)
    entry = next((_OPENCORPORA_POS[name] for name in ordered if name in _OPENCORPORA_POS), "X")
    pos, _, more = entry.partition(" ")
    features = parse_features(more)
    for name in ordered:
        features |= _OPENCORPORA.get(name, {})
    if pos == "NOUN" and grammemes & _NAMES:
        pos = "PROPN"
    return pos, features

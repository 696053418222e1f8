"""Tags of UniMorph, DELAF and OpenCorpora in UD, by the tables of ``data/morphology/tags.toml``.

UniMorph: Sylak-Glassman 2016, "The composition and use of the universal morphological feature
schema". The order of a tag's parts has no meaning, and an unknown part gives no feature. The two
schemes are compared in McCarthy et al. 2018 (doi:10.18653/v1/W18-6011). DELAF: the codes are those
of UNITEX-PB (Muniz, Nunes and Laporte 2005, "UNITEX-PB, a set of flexible language resources for
Brazilian Portuguese"); the letters for tenses are also used by Unitex's other Romance dictionaries.
An unknown code gives no feature, but stays in the tag.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping

from cimento.corpus.morphology.model import DATA, Features, parse_features

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

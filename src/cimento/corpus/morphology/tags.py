"""Tags of UniMorph and DELAF dictionaries as Universal Dependencies.

UniMorph: Sylak-Glassman 2016, "The composition and use of the universal morphological feature
schema". The order of a tag's parts says nothing, and a part that is not known gives no feature.
The two schemes as a whole are compared in McCarthy et al. 2018 (doi:10.18653/v1/W18-6011). DELAF:
the codes are those of UNITEX-PB (Muniz, Nunes and Laporte 2005, "UNITEX-PB, a set of flexible
language resources for Brazilian Portuguese"); the letters for tenses are the ones that Unitex's
other Romance dictionaries use too. A code that is not known gives no feature; the tag keeps it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from cimento.corpus.morphology.model import Features

_UNIMORPH_POS: Mapping[str, str] = {
    "N": "NOUN",
    "PROPN": "PROPN",
    "ADJ": "ADJ",
    "V": "VERB",
    "V.PTCP": "VERB",
    "V.CVB": "VERB",
    "V.MSDR": "VERB",
    "AUX": "AUX",
    "ADV": "ADV",
    "ADP": "ADP",
    "PRO": "PRON",
    "DET": "DET",
    "ART": "DET",
    "NUM": "NUM",
    "CONJ": "CONJ",
    "PART": "PART",
    "INTJ": "INTJ",
}
_VALUES: Mapping[str, tuple[str, str]] = {
    "IND": ("Mood", "Ind"),
    "SBJV": ("Mood", "Sub"),
    "IMP": ("Mood", "Imp"),
    "COND": ("Mood", "Cnd"),
    "PRS": ("Tense", "Pres"),
    "PST": ("Tense", "Past"),
    "FUT": ("Tense", "Fut"),
    "IPFV": ("Aspect", "Imp"),
    "PFV": ("Aspect", "Perf"),
    "PRF": ("Aspect", "Prf"),
    "1": ("Person", "1"),
    "2": ("Person", "2"),
    "3": ("Person", "3"),
    "SG": ("Number", "Sing"),
    "PL": ("Number", "Plur"),
    "DU": ("Number", "Dual"),
    "MASC": ("Gender", "Masc"),
    "FEM": ("Gender", "Fem"),
    "NEUT": ("Gender", "Neut"),
    "NOM": ("Case", "Nom"),
    "GEN": ("Case", "Gen"),
    "DAT": ("Case", "Dat"),
    "ACC": ("Case", "Acc"),
    "INS": ("Case", "Ins"),
    "ESS": ("Case", "Loc"),
    "VOC": ("Case", "Voc"),
    "ANIM": ("Animacy", "Anim"),
    "INAN": ("Animacy", "Inan"),
    "ACT": ("Voice", "Act"),
    "PASS": ("Voice", "Pass"),
    "CMPR": ("Degree", "Cmp"),
    "SPRL": ("Degree", "Sup"),
    "DEF": ("Definite", "Def"),
    "NDEF": ("Definite", "Ind"),
    "POS": ("Polarity", "Pos"),
    "NEG": ("Polarity", "Neg"),
    "FORM": ("Polite", "Form"),
    "INFM": ("Polite", "Infm"),
    "NFIN": ("VerbForm", "Inf"),
    "V.PTCP": ("VerbForm", "Part"),
    "V.CVB": ("VerbForm", "Conv"),
    "V.MSDR": ("VerbForm", "Vnoun"),
}
ROMANCE = frozenset({"ca", "es", "fr", "gl", "it", "pt", "ro"})
"""Languages whose past tenses UD tells apart by ``Tense`` and UniMorph by aspect."""

_MOST_ALTERNATIVES = 256
"""Readings of one tag: no word has so many, and a few dozen parts make more than can be read."""

_PASTS: Mapping[str, str] = {"Imp": "Imp", "Perf": "Past", "Prf": "Pqp"}


def from_unimorph(tag: str, *, language: str = "") -> list[tuple[str, dict[str, str]]]:
    """Part of speech and features of a tag, ``V;IND;PRS;3;SG``.

    Args:
        tag: parts with ``;`` between; ``1/3`` and ``{1/3}`` are one reading for each.
        language: ISO 639-1 code; Romance past tenses become UD's ``Tense``.

    Returns:
        One for each combination of alternatives; usually one, at most 256.
    """
    return [_single(parts, language) for parts in _alternatives(tag)]


def _single(parts: tuple[str, ...], language: str) -> tuple[str, dict[str, str]]:
    pos = next((_UNIMORPH_POS[part] for part in parts if part in _UNIMORPH_POS), "X")
    found = dict(_VALUES[part] for part in parts if part in _VALUES)
    if "Mood" in found:
        found.setdefault("VerbForm", "Fin")
    if language in ROMANCE and pos in ("VERB", "AUX"):
        found = _romance(found)
    return pos, found


def _romance(found: dict[str, str]) -> dict[str, str]:
    """Past tenses by ``Tense`` alone, and the gerund by its own name, as UD has them."""
    if found.get("VerbForm") == "Conv":
        return {**found, "VerbForm": "Ger"}
    if found.get("Tense") == "Past" and found.get("Mood") == "Sub":
        return {**found, "Tense": "Imp"}
    if found.get("Tense") == "Past" and found.get("Mood") == "Ind" and "Aspect" in found:
        rest = {name: value for name, value in found.items() if name != "Aspect"}
        return {**rest, "Tense": _PASTS[found["Aspect"]]}
    return found


def _head(pos: str, features: Features) -> str:
    """The first part of a tag: the part of speech, or a verb form that has one of its own."""
    form = features.get("VerbForm", "")
    heads = {"Part": "V.PTCP", "Conv": "V.CVB", "Vnoun": "V.MSDR"}
    if pos in ("VERB", "AUX") and form in heads:
        return heads[form]
    return next((tag for tag, name in _UNIMORPH_POS.items() if name == pos), "X")


def _alternatives(tag: str) -> Iterator[tuple[str, ...]]:
    parts = (part.strip().strip("{}").split("/") for part in tag.split(";"))
    # What is not known gives no feature, however many such there are; the same once more neither.
    known = dict.fromkeys(
        tuple(
            dict.fromkeys(each if each in _VALUES or each in _UNIMORPH_POS else "" for each in part)
        )
        for part in parts
    )
    return itertools.islice(itertools.product(*known), _MOST_ALTERNATIVES)


_DELAF_POS: Mapping[str, str] = {
    "N": "NOUN",
    "A": "ADJ",
    "V": "VERB",
    "ADV": "ADV",
    "PREP": "ADP",
    "CONJ": "CONJ",
    "DET": "DET",
    "PRO": "PRON",
    "PREPXDET": "ADP",
    "PREPXPRO": "ADP",
    "PFX": "X",
    "SIGL": "PROPN",
    "ABREV": "X",
    "INTERJ": "INTJ",
}

_FINITE = {"VerbForm": "Fin"}
TENSES: Mapping[str, Features] = {
    "W": {"VerbForm": "Inf"},
    "G": {"VerbForm": "Ger"},
    "K": {"VerbForm": "Part"},
    "P": {**_FINITE, "Mood": "Ind", "Tense": "Pres"},
    "I": {**_FINITE, "Mood": "Ind", "Tense": "Imp"},
    "J": {**_FINITE, "Mood": "Ind", "Tense": "Past"},
    "Q": {**_FINITE, "Mood": "Ind", "Tense": "Pqp"},
    "F": {**_FINITE, "Mood": "Ind", "Tense": "Fut"},
    "C": {**_FINITE, "Mood": "Cnd"},
    "S": {**_FINITE, "Mood": "Sub", "Tense": "Pres"},
    "T": {**_FINITE, "Mood": "Sub", "Tense": "Imp"},
    "U": {**_FINITE, "Mood": "Sub", "Tense": "Fut"},
    "Y": {**_FINITE, "Mood": "Imp"},
}
"""The first letter of a verb's code, and what it says."""

_DEGREES: Mapping[str, Features] = {
    "A": {"Degree": "Aug"},
    "D": {"Degree": "Dim"},
    "S": {"Degree": "Abs"},
}
_CASES: Mapping[str, Features] = {
    "N": {"Case": "Nom"},
    "A": {"Case": "Acc"},
    "D": {"Case": "Dat"},
    "O": {"PrepCase": "Pre"},
    "R": {"Reflex": "Yes"},
}
_NUMERALS: Mapping[str, Features] = {
    "C": {"NumType": "Card"},
    "O": {"NumType": "Ord"},
    "M": {"NumType": "Mult"},
    "F": {"NumType": "Frac"},
}
_TRAITS: Mapping[str, Features] = {
    "Art": {"PronType": "Art"},
    "Def": {"Definite": "Def"},
    "Ind": {"PronType": "Ind"},
    "Dem": {"PronType": "Dem"},
    "Rel": {"PronType": "Rel"},
    "Int": {"PronType": "Int"},
    "Pes": {"PronType": "Prs"},
    "Pos": {"PronType": "Prs", "Poss": "Yes"},
    "Tra": {"PronType": "Prs", "Polite": "Form"},
}
_SMALL: Mapping[str, Features] = {
    "1": {"Person": "1"},
    "2": {"Person": "2"},
    "3": {"Person": "3"},
    "m": {"Gender": "Masc"},
    "f": {"Gender": "Fem"},
    "n": {"Gender": "Neut"},
    "s": {"Number": "Sing"},
    "p": {"Number": "Plur"},
}


def from_delaf(tag: str) -> tuple[str, dict[str, str]]:
    """Part of speech and features of a tag with one code at most: ``V:P3s``, ``DET+Art+Def:ms``."""
    category, _, code = tag.partition(":")
    head, *traits = category.split("+")
    found: dict[str, str] = {}
    for trait in traits:
        found |= _TRAITS.get(trait, {})
    if "Art" in traits and "Ind" in traits:
        found |= {"PronType": "Art", "Definite": "Ind"}
    capitals = _capitals(head, traits)
    for letter in code:
        found |= _SMALL.get(letter) or capitals.get(letter, {})
    return _pos(head, traits), found


def _capitals(head: str, traits: list[str]) -> Mapping[str, Features]:
    """What the capital letters of a code mean for a class of words."""
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

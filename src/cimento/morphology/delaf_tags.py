"""Between the tags of DELAF dictionaries and Universal Dependencies.

The codes are those of UNITEX-PB (Muniz, Nunes and Laporte 2005, "UNITEX-PB, a set of flexible
language resources for Brazilian Portuguese"); the letters for tenses are the ones that Unitex's
other Romance dictionaries use too. A code that is not known gives no feature; the tag keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

from cimento.morphology.model import Features

_POS: Mapping[str, str] = {
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
    return _POS.get(head, "X")

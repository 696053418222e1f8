"""Inflection of English words: plural, third person, past and participle."""

from __future__ import annotations

from demo.lexicon import Cell, Rules

_VOWELS = "aeiou"


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ied"
    return word + "ed"


def noun(cell: Cell) -> tuple[str, dict[str, str]]:
    """Gender (none) and the forms ``sg`` and ``pl``."""
    return "m", {"sg": cell.lemma, "pl": cell.keys.get("pl", _with_s(cell.lemma))}


def adjective(cell: Cell) -> dict[str, str]:
    """The one form of an adjective."""
    return {"": cell.lemma}


def verb(cell: Cell) -> dict[str, tuple[str, ...]]:
    """Present (plain, third person singular), past and participle."""
    past = cell.keys.get("past", _with_ed(cell.lemma))
    return {
        "present": (cell.lemma, _with_s(cell.lemma)),
        "past": (past,),
        "participle": (cell.keys.get("pp", past),),
    }


RULES = Rules(noun, adjective, verb)

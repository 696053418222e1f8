"""Words for good and bad sentences in five languages, with their inflections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_GOOD = (
    "ok ✓ good grammatical acceptable correct well-formed gram gramm"
    " buon|a|e|o|i bene corrett|a|e|o|i giust|a|e|o|i grammatical|e|i accettabil|e|i"
    " buen|a|as|o|os bien correct|a|as|o|os gramatical||es aceptable||s"
    " bo|a|as bom bons bem corret|a|as|o|os cert|a|as|o|os gramaticais aceitáve|l|is"
    " верн|ое|ые|о|ый|ая правильн|ое|ые|о|ый|ая грамматичн|ое|ые|о|ый|ая"
    " приемлем|ое|ые|о|ый|ая корректн|ое|ые|о|ый|ая хорош|ее|ие|о|ий|ая"
)
_BAD = (
    "* ✗ bad ungrammatical unacceptable incorrect wrong ill-formed ungram ungramm agram agramm"
    " cattiv|a|e|o|i male scorrett|a|e|o|i sbagliat|a|e|o|i errat|a|e|o|i"
    " agrammatical|e|i sgrammatical|e|i inaccettabil|e|i"
    " mal|a|as|o|os mal incorrect|a|as|o|os errone|a|as|o|os erróne|a|as|o|os agramatical||es"
    " inaceptable||s má más mau maus incorret|a|as|o|os errad|a|as|o|os errône|a|as|o|os"
    " agramaticais inaceitáve|l|is"
    " неверн|ое|ые|о|ый|ая неправильн|ое|ые|о|ый|ая неграмматичн|ое|ые|о|ый|ая аграмматичн|ое|ые|о"
    " неприемлем|ое|ые|о|ый|ая некорректн|ое|ые|о|ый|ая плох|ое|ие|о|ой|ая ошибочн|ое|ые|о|ый|ая"
)
_NEGATIONS = ("non", "no", "not", "não", "nao", "не")


_SHORT = 3
_UNACCENTED = str.maketrans("áàâãéèêíìóòôõúùçñё", "aaaaeeeiioooouucnе")


def with_unaccented(words: Iterable[str]) -> tuple[str, ...]:
    """Words, and after them those without accents of the words that have any.

    Short ones are others without: *ma* is not *má*.
    """
    words = tuple(words)
    plain = (word.translate(_UNACCENTED) for word in words if len(word) > _SHORT)
    return tuple(dict.fromkeys([*words, *plain]))


def _inflected(words: str) -> tuple[str, ...]:
    """Words, of which some are a stem and its endings after bars."""
    forms = list[str]()
    for stem, *endings in (word.split("|") for word in words.split()):
        forms += [stem + ending for ending in endings or ("",)]
    return with_unaccented(forms)


SIDES: Mapping[str, Sequence[str]] = {
    "good": (good := _inflected(_GOOD)),
    "bad": (*_inflected(_BAD), *(f"{no} {word}" for word in good[2:] for no in _NEGATIONS)),
}
"""All words for the sides of a pair, without capitals."""

CLEAR: Mapping[str, Sequence[str]] = {
    side: [word for word in words if word not in {"male", "más"}] for side, words in SIDES.items()
}
"""The words that mean nothing else in any of the languages, as *male* does in English."""

OF_DIALECTS = {"good", "bad", "grammatical", "ungrammatical"}
"""Words that published tables use as names of columns, with other columns beside them."""

_NEGATIVE = re.compile(
    r"(?<!\w)(?:(?:un|in|non-?|a|s|not |non |no |não |не ?|а)"
    r"(?:gram+at|accept|accett|acept|aceit|correct|corrett|corret|грам+атич|приемлем|правильн"
    r"|корректн|верн))"
    r"|^(?:error|errore|erro|violations?|violazione|violación|violação|ошибка|нарушение)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^)]*\)")


def is_negative(header: str) -> bool:
    """Whether the name of a column asks what is wrong with a sentence, such as *Agrammaticale*."""
    word = _ASIDE.sub("", header.casefold()).strip(" ?¿:.")
    return word in SIDES["bad"] or _NEGATIVE.search(word) is not None

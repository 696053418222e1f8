"""Points of a rating scale that are words, such as *fully acceptable*, and numbers for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cimento.intake.marks import numbers_for
from cimento.intake.names import meaning
from cimento.intake.words import with_unaccented, word_list

_DEGREES: Mapping[str, float] = {"fully": 4, "very": 3.5, "partly": 2, "": 3}
"""How far from the middle a word takes what is good or bad; without one it is in between."""
_DENIED: Mapping[str, float] = {"never": -4, "hardly": -2, "not": -3}
"""Where what is good lies after a word that denies it."""
_AROUND = {
    word: kind
    for kind in (*filter(None, _DEGREES), *_DENIED)
    for word in with_unaccented(word_list(f"rating_words.{kind}"))
}
_SIDES = {
    word: side
    for side in ("good", "bad", "odd")
    for word in with_unaccented(word_list(f"rating_words.{side}"))
}
_NEITHER = with_unaccented(word_list("rating_words.neither"))
_MIDDLE = with_unaccented(word_list("rating_words.middle"))
_SOUNDS = sorted(with_unaccented(word_list("rating_words.sounds")), key=len, reverse=True)
_ENDS = {
    word: place
    for kind, place in {"perfect": 4.0, "best": 3.75, "worst": -3.75}.items()
    for word in with_unaccented(word_list(f"rating_words.{kind}"))
}
"""Points that are one word, with their places."""
_ODD = -0.5
_FEWEST = 2
"""Different points that a scale has."""


def numbers_of_words(words: Iterable[str]) -> dict[str, int]:
    """A number for each point of a scale in words, from 1 and higher for better ones.

    Each word has to be known, and no two may have one place; else there are no numbers. Points
    that nobody chose are not known, so that numbers are a proposal.

    >>> numbers_of_words(["Accettabile", "Per niente accettabile", "Poco accettabile"])
    {'Per niente accettabile': 1, 'Poco accettabile': 2, 'Accettabile': 3}
    >>> numbers_of_words(["Accettabile", "Verde"])
    {}

    Args:
        words: the answers as people gave them; capitals do not matter.
    """
    written = list(dict.fromkeys(words))
    places = {word: _place(" ".join(word.casefold().replace("’", "'").split())) for word in written}
    known = {place for place in places.values() if place is not None}
    spellings = {word.casefold() for word in written}
    if None in places.values() or len(known) < max(_FEWEST, len(spellings)):
        return dict(sorted(numbers_for(written).items(), key=lambda entry: entry[1]))
    ranks = sorted(known)
    numbers = {word: ranks.index(place) + 1 for word, place in places.items() if place is not None}
    return dict(sorted(numbers.items(), key=lambda entry: entry[1]))


def _place(text: str) -> float | None:
    """The place of a point between the worst, -4, and the best, 4; None if it is not known."""
    text = text.strip(" .!")
    for word in _SOUNDS:
        text = text.removeprefix(f"{word} ")
    if text in _ENDS:
        return _ENDS[text]
    if text in _MIDDLE or text.split(" ")[0].strip(",") in _NEITHER:
        return 0
    if (side := _side(text)) is not None:
        return _DEGREES[""] * side
    # The longest word counts: "not at all" before "not".
    for word in sorted(_AROUND, key=len, reverse=True):
        kind = _AROUND[word]
        if text.startswith(f"{word} "):
            side = _side(text[len(word) :].strip())
        elif text.endswith(f" {word}") and kind in _DEGREES:  # "agree strongly"
            side = _side(text[: -len(word)].strip())
        else:
            continue
        if side is not None and not (kind in _DENIED and side < 0):
            return _DENIED[kind] if kind in _DENIED else _DEGREES[kind] * side
    return None


def _side(word: str) -> float | None:
    """1 for good, -1 for bad, less for what is odd; None for a word that is none of them."""
    side = _SIDES.get(word) or meaning(word)
    return {"good": 1.0, "bad": -1.0, "odd": _ODD}.get(side)

"""Checks of the text itself: blanks, characters that cannot be seen, ways of writing one letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Listing, Located, Stimulus
from cimento.suites.faults import fault

_BLANKS = re.compile(r"\s{2,}")
_APOSTROPHE = re.compile(r"(?<=\w)['’]|['’](?=\w)")
_NO_TEXT = {"Cc", "Cs"}
_VISIBLE_OR_NEW = {"Cn"}  # letters and signs newer than this Python
_LAYOUT = "\t\n\r"
_REPLACEMENT = "\ufffd"
# UTF-8 read as cp1252: what the first byte of a letter becomes, then what a later one becomes.
_LATER_BYTES = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
_MOJIBAKE = re.compile(f"[ÂÃÄÅÐÑâ][{re.escape(_LATER_BYTES)}]")


def text_checks() -> list[Check]:
    """Codes CIM-S040 to CIM-S046."""
    return [_Texts()]


class _Texts:
    """The text of each stimulus, and which apostrophes there are in all."""

    def __init__(self) -> None:
        self._found: list[Fault] = []
        self._apostrophes = _Apostrophes()

    def see(self, located: Located) -> None:
        for stimulus in located.stimuli:
            text = " | ".join([region.text for region in stimulus.condition.regions])
            self._found.extend(_faults(stimulus, text))
            self._apostrophes.see(stimulus, text)

    def faults(self) -> Iterator[Fault]:
        yield from self._found
        yield from self._apostrophes.faults()


def _faults(stimulus: Stimulus, text: str) -> Iterator[Fault]:
    yield from _blanks(stimulus)
    if not text.isprintable() or _REPLACEMENT in text:
        yield from _unseen(stimulus, text)
    if not unicodedata.is_normalized("NFC", text):
        composed = unicodedata.normalize("NFC", text)
        seen = f"{_differing(text, composed)!r} is written with separate accents."
        yield fault("CIM-S045", where=stimulus.where, seen=seen)
    yield from _mojibake(stimulus, text)


def _blanks(stimulus: Stimulus) -> Iterator[Fault]:
    for number, region in enumerate(stimulus.condition.regions, start=1):
        if region.text != region.text.strip():
            seen = f"Region {number} {region.text!r} has blanks at its ends."
            yield fault("CIM-S040", where=stimulus.where, seen=seen)
        if _BLANKS.search(region.text.strip()):
            seen = f"Region {number} {region.text!r} has several blanks in a row."
            yield fault("CIM-S041", where=stimulus.where, seen=seen)


def _unseen(stimulus: Stimulus, text: str) -> Iterator[Fault]:
    for character in sorted(set(text)):
        category = unicodedata.category(character)
        name = f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
        if character == _REPLACEMENT:
            seen = f"The text has {name}: a letter was lost when it was decoded."
            yield fault("CIM-S042", where=stimulus.where, seen=seen)
        elif category in _NO_TEXT and character not in _LAYOUT:
            yield fault("CIM-S042", where=stimulus.where, seen=f"The text has {name}.")
        elif not character.isprintable() and category not in _VISIBLE_OR_NEW:
            yield fault("CIM-S043", where=stimulus.where, seen=f"The text has {name}.")


def _differing(text: str, composed: str) -> str:
    """The first word that two forms of a text write differently."""
    pairs = zip(text.split(), composed.split(), strict=False)
    return next((word for word, other in pairs if word != other), text)


def _mojibake(stimulus: Stimulus, text: str) -> Iterator[Fault]:
    """UTF-8 that was read as cp1252 on its way: undoing that gives other text, not an error."""
    if not _MOJIBAKE.search(text):
        return
    word = next(found for found in text.split(" ") if _MOJIBAKE.search(found))
    try:
        right = word.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return
    seen = f"{word!r} looks like {right!r} decoded wrongly."
    yield fault("CIM-S046", where=stimulus.where, seen=seen)


class _Apostrophes:
    """Both apostrophes in one suite: models see two different words."""

    def __init__(self) -> None:
        self._listings = {"'": Listing(), "’": Listing()}
        self._places: dict[str, set[str]] = {"'": set(), "’": set()}

    def see(self, stimulus: Stimulus, text: str) -> None:
        for mark in set(_APOSTROPHE.findall(text)):
            where = stimulus.where
            self._listings[mark].add(where)
            self._places[mark].add(where)

    def faults(self) -> Iterator[Fault]:
        found = self._listings
        rarer, other = sorted(found, key=lambda mark: found[mark].count)
        if found[rarer].count:
            both = len(self._places[rarer] & self._places[other])
            seen = (
                f"{found[rarer].count} stimuli have {rarer} (U+{ord(rarer):04X}) and "
                f"{found[other].count} have {other} (U+{ord(other):04X})"
                + (f", {both} of them both." if both else ".")
            )
            yield fault("CIM-S044", where=str(found[rarer]), seen=seen)

"""Checks of the text itself: blanks, characters that cannot be seen, ways of writing one letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Stimulus, listed
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


def check_texts(stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    """Codes CIM-S040 to CIM-S046."""
    for stimulus in stimuli:
        text = " | ".join(region.text for region in stimulus.condition.regions)
        yield from _blanks(stimulus)
        if not text.isprintable() or _REPLACEMENT in text:
            yield from _unseen(stimulus, text)
        if not unicodedata.is_normalized("NFC", text):
            composed = unicodedata.normalize("NFC", text)
            seen = f"{_differing(text, composed)!r} is written with separate accents."
            yield fault("CIM-S045", where=stimulus.where, seen=seen)
        yield from _mojibake(stimulus, text)
    yield from _apostrophes(stimuli)


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


def _apostrophes(stimuli: Sequence[Stimulus]) -> Iterator[Fault]:
    """Both apostrophes in one suite: models see two different words."""
    places: dict[str, list[str]] = {"'": [], "’": []}
    for stimulus in stimuli:
        text = " | ".join(region.text for region in stimulus.condition.regions)
        for mark in set(_APOSTROPHE.findall(text)):
            places[mark].append(stimulus.where)
    rarer, other = sorted(places, key=lambda mark: len(places[mark]))
    if places[rarer]:
        both = len(set(places[rarer]) & set(places[other]))
        seen = (
            f"{len(places[rarer])} stimuli have {rarer} (U+{ord(rarer):04X}) and "
            f"{len(places[other])} have {other} (U+{ord(other):04X})"
            + (f", {both} of them both." if both else ".")
        )
        yield fault("CIM-S044", where=listed(places[rarer]), seen=seen)

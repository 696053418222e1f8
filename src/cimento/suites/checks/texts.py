"""Checks of the text itself: blanks, characters that cannot be seen, ways of writing one letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cimento.errors import Fault
from cimento.suites.checks.stimuli import Check, Listing, Stimuli
from cimento.suites.faults import fault
from cimento.suites.model import Condition

_BLANKS = re.compile(r"\s{2,}")
_APOSTROPHE = re.compile(r"(?<=\w)['’]|['’](?=\w)")
_NO_TEXT = {"Cc", "Cs"}
_VISIBLE_OR_NEW = {"Cn"}  # letters and signs newer than this Python
_LAYOUT = "\t\n\r"
_REPLACEMENT = "\ufffd"
# UTF-8 read as cp1252: what the first byte of a letter becomes, then what a later one becomes.
_LATER_BYTES = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
_MOJIBAKE = re.compile(f"[ÂÃÄÅÐÑâ][{re.escape(_LATER_BYTES)}]")


def _letters(stimuli: Stimuli) -> Iterator[Fault]:
    """Blanks, characters and ways of writing letters that are not what they should be."""
    for number, condition in enumerate(stimuli.conditions):
        text = " | ".join([region.text for region in condition.regions])
        # Nothing can be wrong with most texts, which is quickly seen.
        if not (text.isascii() and text.isprintable() and " ".join(text.split()) == text):
            where = stimuli.where(number)
            yield from _blanks(condition, where)
            yield from _characters(text, where)


def _blanks(condition: Condition, where: str) -> Iterator[Fault]:
    for number, region in enumerate(condition.regions, start=1):
        if region.text != region.text.strip():
            seen = f"Region {number} {region.text!r} has blanks at its ends."
            yield fault("CIM-S040", where=where, seen=seen)
        if _BLANKS.search(region.text.strip()):
            seen = f"Region {number} {region.text!r} has several blanks in a row."
            yield fault("CIM-S041", where=where, seen=seen)


def _characters(text: str, where: str) -> Iterator[Fault]:
    if not text.isprintable() or _REPLACEMENT in text:
        yield from _unseen(text, where)
    if not unicodedata.is_normalized("NFC", text):
        composed = unicodedata.normalize("NFC", text)
        seen = f"{_differing(text, composed)!r} is written with separate accents."
        yield fault("CIM-S045", where=where, seen=seen)
    yield from _mojibake(text, where)


def _unseen(text: str, where: str) -> Iterator[Fault]:
    for character in sorted(set(text)):
        category = unicodedata.category(character)
        name = f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
        if character == _REPLACEMENT:
            seen = f"The text has {name}: a letter was lost when it was decoded."
            yield fault("CIM-S042", where=where, seen=seen)
        elif category in _NO_TEXT and character not in _LAYOUT:
            yield fault("CIM-S042", where=where, seen=f"The text has {name}.")
        elif not character.isprintable() and category not in _VISIBLE_OR_NEW:
            yield fault("CIM-S043", where=where, seen=f"The text has {name}.")


def _differing(text: str, composed: str) -> str:
    """The first word that two forms of a text write differently."""
    pairs = zip(text.split(), composed.split(), strict=False)
    return next((word for word, other in pairs if word != other), text)


def _mojibake(text: str, where: str) -> Iterator[Fault]:
    """UTF-8 that was read as cp1252 on its way: undoing that gives other text, not an error."""
    if not _MOJIBAKE.search(text):
        return
    word = next(found for found in text.split(" ") if _MOJIBAKE.search(found))
    try:
        right = word.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return
    seen = f"{word!r} looks like {right!r} decoded wrongly."
    yield fault("CIM-S046", where=where, seen=seen)


def _apostrophes(stimuli: Stimuli) -> Iterator[Fault]:
    """Both apostrophes in one suite: models see two different words."""
    if not all(any(mark in text for text in stimuli.texts) for mark in "'’"):
        return
    found = {"'": Listing(), "’": Listing()}
    both = 0
    for number, condition in enumerate(stimuli.conditions):
        text = " | ".join([region.text for region in condition.regions])
        marks = set(_APOSTROPHE.findall(text))
        both += len(marks) > 1
        for mark in marks:
            found[mark].add(stimuli.where(number))
    rarer, other = sorted(found, key=lambda mark: found[mark].count)
    if found[rarer].count:
        seen = (
            f"{found[rarer].count} stimuli have {rarer} (U+{ord(rarer):04X}) and "
            f"{found[other].count} have {other} (U+{ord(other):04X})"
            + (f", {both} of them both." if both else ".")
        )
        yield fault("CIM-S044", where=str(found[rarer]), seen=seen)


TEXT_CHECKS: tuple[Check, ...] = (_letters, _apostrophes)
"""Codes CIM-S040 to CIM-S046."""

"""Checks of texts: invisible characters, and wording that looks like a slip of the pen."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import eq

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.suites.checks.notation import judged, numbered, optional, special, typed
from cimento.suites.checks.structure import (
    WORDS_APART,
    Check,
    Listing,
    Stimuli,
    are_plain,
    names_by_key,
    unlike,
)
from cimento.suites.letters import one_spelling

_BLANKS = re.compile(r"\s{2,}")
_APOSTROPHE = re.compile(r"(?<=\w)['’]|['’](?=\w)")
_NO_TEXT = {"Cc", "Cs"}
_VISIBLE_OR_NEW = {"Cn"}  # characters newer than this Python's Unicode tables
_LAYOUT = "\t\n\r"
_REPLACEMENT = "\ufffd"
# UTF-8 read as cp1252: the forms of a letter's first byte, then those of a later byte.
_LATER_BYTES = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
_MOJIBAKE = re.compile(f"[ÂÃÄÅÐÑâ][{re.escape(_LATER_BYTES)}]")


def _letters(stimuli: Stimuli) -> Iterator[Fault]:
    """Faulty blanks, invisible characters and decomposed letters."""
    for number in () if stimuli.is_plain else unlike(stimuli.lines, are_plain):
        where = stimuli.where(number)
        yield from _blanks(stimuli.regions(number), where)
        yield from letter_faults(stimuli.lines[number], where)


def _blanks(regions: Sequence[str], where: str) -> Iterator[Fault]:
    for number, text in enumerate(regions, start=1):
        if text != text.strip():
            seen = f"Region {number} {text!r} has spaces at its ends."
            yield fault("CIM-S040", where=where, seen=seen)
        if _BLANKS.search(text.strip()):
            seen = f"Region {number} {text!r} has several spaces in a row."
            yield fault("CIM-S041", where=where, seen=seen)


def letter_faults(text: str, where: str, *, what: str = "") -> Iterator[Fault]:
    """The faults of the characters of a text, which every kind of suite may have.

    Args:
        text: what a model reads, or scores.
        where: its place.
        what: what it is, where that matters to the result, such as ``The option``.
    """
    if are_plain([text]):
        return
    if not text.isprintable() or _REPLACEMENT in text:
        yield from _unseen(text, where)
    if not unicodedata.is_normalized("NFC", text):
        composed = unicodedata.normalize("NFC", text)
        seen = f"{_differing(text, composed)!r} is written with separate accents."
        if what:
            seen = (
                f"{what} {_differing(text, composed)!r} is written with separate accents, as models"
                " have hardly read it: they score it far below the same word in NFC."
            )
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
    """UTF-8 text that was once read as cp1252, so that reversing this succeeds and changes it."""
    if not _MOJIBAKE.search(text):
        return
    word = next(part for part in text.split(" ") if _MOJIBAKE.search(part))
    try:
        right = word.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return
    seen = f"{word!r} looks like {right!r}, wrongly decoded."
    yield fault("CIM-S046", where=where, seen=seen)


def _apostrophes(stimuli: Stimuli) -> Iterator[Fault]:
    yield from mixed_apostrophes(stimuli.lines, stimuli.where)


def mixed_apostrophes(lines: Sequence[str], where: Callable[[int], str]) -> Iterator[Fault]:
    """Straight and curly apostrophes in one suite, which models see as different words.

    Args:
        lines: the texts of the suite.
        where: the place of the text of a number.
    """
    if not all(any(mark in text for text in lines) for mark in "'’"):
        return
    places = {"'": Listing(), "’": Listing()}
    both = 0
    for number, text in enumerate(lines):
        marks = set(_APOSTROPHE.findall(text))
        both += len(marks) > 1
        for mark in marks:
            places[mark].append(where(number))
    rarer, other = sorted(places, key=lambda mark: len(places[mark]))
    if listing := places[rarer]:
        seen = (
            f"{counted(len(listing), 'stimulus has', 'stimuli have')} {rarer}"
            f" (U+{ord(rarer):04X}) and "
            f"{counted(len(places[other]), 'has', 'have')} {other} (U+{ord(other):04X})"
            + (f"; {counted(both, 'has', 'have')} both." if both else ".")
        )
        yield fault("CIM-S044", where=str(listing), seen=seen, places=listing)


MOST = 0.5
"""Proportion of stimuli above which a habit is the suite's, so that deviations are reported."""
DISTINCT = 0.8
"""Proportion of items with distinct common words above which repetitions are reported."""
_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_FINAL = (".", "?", "!", "…", ":", ";", "。", "？", "！", "؟", "۔", "।")
_CLOSING = "\"'’”»)]"
_BETWEEN = " \0 "
"""A separator between texts, which counts as a word."""


def _final_marks(stimuli: Stimuli) -> Iterator[Fault]:
    """Sentences without a final mark, where most have one."""
    bare = [n for n, text in enumerate(stimuli.texts) if not text.endswith(_FINAL)]
    bare = [n for n in bare if not stimuli.texts[n].rstrip(_CLOSING).endswith(_FINAL)]
    marked, count = len(stimuli.texts) - len(bare), len(stimuli.texts)
    if marked <= MOST * count:
        return
    for number in bare:
        if text := stimuli.texts[number]:
            seen = f"{text!r} has no final mark, unlike {marked} of {count} stimuli."
            yield fault("CIM-S053", where=stimuli.where(number), seen=seen)


def _small_letters(stimuli: Stimuli) -> Iterator[Fault]:
    """Sentences that begin with a small letter, where most do not."""
    small = [n for n, text in enumerate(stimuli.texts) if text[:1].islower()]
    if small and len(small) < (1 - MOST) * len(stimuli.texts):
        seen = (
            f"{stimuli.texts[small[0]].split()[0]!r} begins with a small letter, unlike"
            f" {len(stimuli.texts) - len(small)} of {len(stimuli.texts)} stimuli."
        )
        listing = Listing(map(stimuli.where, small))
        yield fault("CIM-S054", where=str(listing), seen=seen, places=listing)


def _doubled(stimuli: Stimuli) -> Iterator[Fault]:
    for number in unlike(stimuli.texts, _have_no_double):
        text = stimuli.texts[number]
        if match := _DOUBLED.search(one_spelling(text)):
            seen = f"{match[0]!r} in {text!r}."
            yield fault("CIM-S055", where=stimuli.where(number), seen=seen)


def _have_no_double(texts: Sequence[str]) -> bool:
    """Whether no word can be doubled; a quick test that most texts without doubling pass."""
    lines = _BETWEEN.join(texts)
    if not lines.isascii() or lines.count("\0") >= len(texts):
        return False
    words = lines.encode().translate(b"\0" + WORDS_APART[1:]).split()
    return not any(map(eq, words, words[1:]))


def _shared_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Items with the same words common to their conditions as another item, where most have not."""
    ids = stimuli.suite.columns.ids
    if not stimuli.suite.factors:
        return
    words_of = (_common_words([stimuli.texts[k] for k in stimuli.of(n)]) for n in range(len(ids)))
    groups = names_by_key((words, id_) for words, id_ in zip(words_of, ids, strict=True) if words)
    if sum(len(alike) == 1 for alike in groups.values()) < DISTINCT * len(ids):
        return
    for words, alike in groups.items():
        if len(alike) > 1:
            seen = (
                f"Items {alike} have the same words in all their conditions: "
                f"{', '.join(sorted(words))}."
            )
            places = [f"item {name}" for name in alike]
            yield fault("CIM-S056", where=places[1], seen=seen, places=places)


def _common_words(texts: Sequence[str]) -> frozenset[str]:
    sets = [frozenset(_WORD.findall(one_spelling(text).lower())) for text in texts]
    return frozenset.intersection(*sets) if sets else frozenset()


def _shared_sentences(stimuli: Stimuli) -> Iterator[Fault]:
    """Sentences in several items: placeholders, or copies that make items dependent."""
    if not stimuli.suite.factors:
        return
    stimuli_of = enumerate(zip(stimuli.conditions, stimuli.texts, strict=True))
    written: dict[str, str] = {}
    spelled = (
        ((name, written.setdefault(one_spelling(text), text)), stimuli.item(n))
        for n, (name, text) in stimuli_of
    )
    for (name, text), ids in names_by_key(spelled).items():
        if text and len(ids) > 1:
            seen = f"{text!r} is the sentence of {name} in items {ids}."
            places = [f"item {id_}, condition {name}" for id_ in ids]
            yield fault("CIM-S057", where=places[1], seen=seen, places=places)


def _joined_words(stimuli: Stimuli) -> Iterator[Fault]:
    """Bars without blanks between letters, which divide a word: people write them between words.

    An apostrophe before the bar (``l'|uomo``) says that nothing separates the regions.
    """
    columns, joined = stimuli.suite.columns, dict[int, int]()
    for region in sorted(columns.glued) if stimuli.suite.join != "none" else ():
        number = bisect_right(columns.bounds, region) - 1
        left, right = columns.texts[max(region - 1, 0)], columns.texts[region]
        is_inside = region > columns.bounds[number] and " " in stimuli.texts[number]
        if is_inside and left[-1:].isalpha() and right[:1].isalpha():
            joined.setdefault(number, region)
    if joined:
        first, region = next(iter(joined.items()))
        left, right = columns.texts[region - 1].split()[-1], columns.texts[region].split()[0]
        seen = (
            f"No blank separates {left!r} and {right!r}, so models read"
            f" {stimuli.texts[first]!r} here. Such bars are in"
            f" {counted(len(joined), 'sentence')} of {len(stimuli.texts)}."
        )
        where = stimuli.where(first)
        yield fault("CIM-S070", where=where, seen=seen, places=map(stimuli.where, joined))


TEXT_CHECKS: tuple[Check, ...] = (_letters, judged, numbered)
"""The checks of codes CIM-S040 to CIM-S043, CIM-S045, CIM-S046, CIM-S061 and CIM-S071; some are
errors."""


WORDING_REMARKS: tuple[Check, ...] = (
    _apostrophes, _final_marks, _small_letters, _doubled, _shared_words, _shared_sentences,
    _joined_words, optional, typed, special,
)  # fmt: skip
"""The checks of codes CIM-S044, CIM-S053 to CIM-S057, CIM-S070 and CIM-S072 to CIM-S074, which are
all warnings; CIM-S056 and CIM-S057 apply to suites with factors."""

"""Names of columns: what their words say, in seven languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from cimento.intake.words import CLEAR, HEADERS, KNOWN, SIDES, pattern, word_list

_NOUN = re.compile(
    rf"^(?:{pattern('nouns').pattern})\s+|\s+(?:{pattern('nouns').pattern})$", re.IGNORECASE
)
_PARTS = {*word_list("words.parts")}
_AROUND = " \t\r\n:\"“”«»'‘’"
_BETWEEN = re.compile(r"[\s_:/()–-]+")

_FINAL = (".", "?", "!", "…", "。", "？", "！", "؟", "।")
_QUOTES = "»”\"'’"


def meaning(name: str) -> str:
    """``good`` or ``bad``, where a name is a word for one of them; otherwise the name."""
    return _side_of(name, SIDES) or name


def _side_of(name: str, words: Mapping[str, Sequence[str]]) -> str:
    """The side of a pair for which a name is one of some words; empty if it is not one."""
    word = name.casefold().replace("_", " ").strip()
    return next((side for side in words if word in words[side]), "")


def abbreviated(name: str) -> str:
    """``good`` or ``bad``, where a name begins words for one of them only; otherwise nothing.

    >>> abbreviated("agramm.")
    'bad'
    """
    start = name.casefold().strip().removesuffix(".")
    sides = [
        side
        for side, words in SIDES.items()
        if start and any(word.startswith(start) for word in words)
    ]
    return sides[0] if len(sides) == 1 else ""


def split_side(name: str) -> tuple[str, str] | None:
    """The side of a pair and the level that the name of a column joins; None for other names.

    >>> split_side("Plural agramatical")
    ('bad', 'Plural')
    """
    words = [word for word in _BETWEEN.split(_NOUN.sub("", name.strip())) if word]
    for known in (CLEAR, SIDES):
        for length in (2, 1):  # "no gramatical" before "gramatical"
            ends = ((words[-length:], words[:-length]), (words[:length], words[length:]))
            for side, level in ends if len(words) > length else ():
                if meant := _side_of(" ".join(side).removesuffix("."), known):
                    return meant, " ".join(level).removesuffix(".")
    return None


def name_of_levels(levels: Iterable[str]) -> str:
    """The name of a column with some levels: ``number`` for words for numbers, else ``group``."""
    named = {"-".join(level.casefold().replace(".", "").split()) for level in levels}
    return "number" if named <= {*word_list("words.numbers")} else "group"


@lru_cache
def without_noun(name: str) -> str:
    """A name in small letters, without the word for sentences: ``Frasi grammaticali``.

    What stands behind it in parentheses is left out too, unless it is the known word: the names
    ``Juicio medio (1-7)`` and ``Frase (buona)`` are *juicio medio* and *buona*.
    """
    word = name.casefold().strip(_AROUND)
    plain, _, aside = word.removesuffix(")").partition("(")
    if word.endswith(")") and plain.strip():
        word = aside.strip() if aside.strip() in KNOWN else plain.strip()
    return _NOUN.sub("", word).strip() or word


_LANGUAGES = word_list("words.languages")
_ENGLISH = {"eng", "en", *filter(pattern("english").search, _LANGUAGES)}
_TRANSLATION, _NEGATIVE = pattern("translation"), pattern("negative")
_ERRORS, _NEGATIONS = pattern("errors"), frozenset(word_list("words.negations"))
_PREFIXES = word_list("words.prefixes")
_ALSO = {side: word_list(f"words.also_{side}") for side in SIDES}
_SAME = 0.85
"""How much alike the rests of two names must be for one to negate the other."""
_ASIDE = re.compile(r"\s*\([^)]*\)")


def language_in(name: str) -> str:
    """The language that the name of a column ends in, as in ``Good (English)``; or nothing."""
    words = [word.casefold() for word in re.split(r"[\s()\[\],_–:/]+", name) if word]
    return words[-1] if len(words) > 1 and words[-1] in _LANGUAGES else ""


def is_translation(name: str) -> bool:
    """Whether a column has translations or glosses, which are never the sentences."""
    return _TRANSLATION.search(name) is not None


def _roles() -> Iterable[Collection[str]]:
    """The names of columns of sentences, and of those of each side of a pair."""
    return ({"sentence", "text", *HEADERS["text"]}, SIDES["good"], SIDES["bad"])


def rivals(columns: Iterable[str], has_sentences: Callable[[str], bool]) -> list[str]:
    """The columns that may be meant as the sentences, or as those of one side, if several may.

    A column in English is none beside one that names no language.

    Args:
        columns: the names.
        has_sentences: whether a column holds sentences, which is asked of few.
    """
    for words in _roles():
        named = [name for name in columns if _short(name) in words and not is_translation(name)]
        named = [name for name in named if name.casefold().strip() not in _PARTS] or named
        named = [name for name in named if len(named) > 1 and has_sentences(name)]
        if not all(map(language_in, named)):
            named = [name for name in named if language_in(name) not in _ENGLISH]
        if len(named) > 1:
            return named
    return []


def _short(name: str) -> str:
    """A name in small letters, without the language that it ends in and the word for sentences."""
    if language := language_in(name):
        name = name.casefold().rpartition(language)[0].rstrip(_AROUND + "([,_–-/")
    return without_noun(name)


@lru_cache
def short_names(columns: tuple[str, ...]) -> Mapping[str, str]:
    """The columns of a table by their names without capitals and their short names.

    Whole names come before short ones. Translations have no short name, nor have sentences in a
    named language beside others. A name with a star before it is that of ungrammatical sentences,
    where what follows is a word for them or the name of another column.
    """
    columns = columns[::-1]  # of two with one short name, the first counts
    plain = {_short(name) for name in columns if not language_in(name)}
    taken = {word for words in _roles() if not plain.isdisjoint(words) for word in words}
    short = {
        word: name
        for name in columns
        if not (is_translation(name) or ((word := _short(name)) in taken and language_in(name)))
    }
    starred = {
        word if (word := _short(unstarred(name))) in SIDES["bad"] else "bad": name
        for name in columns
        if is_starred(name) and (_short(unstarred(name)) in (*SIDES["bad"], *plain))
    }
    return starred | short | {name.casefold(): name for name in columns}


def is_starred(text: str) -> bool:
    """Whether a text begins with a star, as linguists mark ungrammatical sentences."""
    return text.lstrip().startswith("*") and bool(unstarred(text))


def unstarred(text: str) -> str:
    """A text without the star before it."""
    return text.strip().removeprefix("*").lstrip()


def ends_sentence(cell: str) -> bool:
    """Whether a cell ends as a sentence does, perhaps within quotation marks."""
    return cell.rstrip(_QUOTES).endswith(_FINAL)


def begins_capital(cell: str) -> bool:
    """Whether a cell begins with a capital letter, perhaps behind a mark."""
    return cell.lstrip("¿¡«“\"‘'—- ")[:1].isupper()


def has_letter(cell: str) -> bool:
    """Whether a cell has a letter."""
    return any(map(str.isalpha, cell))


def is_negative(header: str) -> bool:
    """Whether the name of a column asks what is wrong with a sentence, such as *Agrammaticale*."""
    word = _ASIDE.sub("", header.casefold()).strip(" ?¿:.")
    return word in SIDES["bad"] or _NEGATIVE.search(word) is not None


def side_in(name: str) -> str:
    """The side that a name or one of its words says outright; empty where none or both do.

    >>> side_in("Frasi senza errori"), side_in("Frases con errores"), side_in("Frasi")
    ('good', 'bad', '')
    """
    named = name.casefold()
    words = {without_noun(name), *re.findall(r"\w+", named)}
    sides = {side for side in SIDES if words & {side, *HEADERS[side], *_ALSO[side]}}
    if match := _ERRORS.search(named):
        sides = {"bad" if match["with"] else "good"}
    return sides.pop() if len(sides) == 1 else ""


def is_negated(name: str, other: str) -> bool:
    """Whether a name is another one with a negating word or prefix, give or take a typo."""
    words, others = (re.findall(r"\w+", text.casefold()) for text in (name, other))
    if _NEGATIONS.intersection(words) and not _NEGATIONS.intersection(others):
        return True
    own = " ".join(word for word in words if word not in others)
    rest = " ".join(word for word in others if word not in words)
    ratio = SequenceMatcher(None, own, rest).ratio()
    return any(
        SequenceMatcher(None, own.removeprefix(prefix), rest).ratio() > max(ratio, _SAME)
        for prefix in _PREFIXES
        if own.startswith(prefix)
    )

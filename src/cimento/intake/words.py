"""The words of `words.toml`: what people call their columns, in seven languages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.resources import files
from typing import Any

_DATA: Mapping[str, Any] = tomllib.loads(
    files("cimento.intake").joinpath("words.toml").read_text(encoding="utf-8")
)
_SHORT = 3
_UNACCENTED = str.maketrans("áàâãéèêíìóòôõúùçñё", "aaaaeeeiioooouucnе")


def with_unaccented(words: Iterable[str]) -> tuple[str, ...]:
    """Words, and after them those without accents of the words that have any.

    Short ones are others without: *ma* is not *má*.
    """
    words = tuple(words)
    plain = (word.translate(_UNACCENTED) for word in words if len(word) > _SHORT)
    return tuple(dict.fromkeys([*words, *plain]))


def pattern(name: str) -> re.Pattern[str]:
    """A pattern of `words.toml`, which ignores capitals."""
    return re.compile("".join(_DATA["patterns"][name].split("\n")), re.IGNORECASE)


def word_list(name: str) -> tuple[str, ...]:
    """A list of `words.toml` under a name such as ``words.sums``."""
    table, _, key = name.partition(".")
    return tuple(_DATA[table][key])


def _inflected(text: str) -> tuple[str, ...]:
    """Words, of which some are a stem and its endings after bars."""
    forms = list[str]()
    for stem, *endings in (word.split("|") for word in text.split()):
        forms += [stem + ending for ending in endings or ("",)]
    return with_unaccented(forms)


_GOOD, _BAD = (_inflected(" ".join(_DATA["sides"][side].values())) for side in ("good", "bad"))
_NEGATED = (f"{no} {word}" for word in _GOOD[2:] for no in word_list("words.negations"))
SIDES: Mapping[str, Sequence[str]] = {"good": _GOOD, "bad": (*_BAD, *_NEGATED)}
"""All words for the sides of a pair, without capitals."""

CLEAR: Mapping[str, Sequence[str]] = {
    side: [word for word in known if word not in word_list("words.unclear")]
    for side, known in SIDES.items()
}
"""The words that mean nothing else in any of the languages, as *male* does in English."""

NAMES: Mapping[str, tuple[str, ...]] = {
    name: with_unaccented(word for of_language in table.values() for word in of_language)
    for name, table in _DATA["columns"].items()
}
"""Words for each role of a column, those with accents without them too, as programs for statistics
have them. The names of the roles themselves are not among them."""

SHEETS: Mapping[str, Mapping[str, str]] = _DATA["sheets"]
"""Names of the sheets of a suite's workbook, by the name in English and by language."""
HEADINGS: Mapping[str, Mapping[str, str]] = _DATA["headings"]
"""Headings of the columns that are made on these sheets, by the role and by language."""
STORIES: Mapping[str, Mapping[str, str]] = _DATA["stories"]
"""Headings of the columns of stories; those of sentences have a number behind them."""
VERSIONS: Mapping[str, Mapping[str, str]] = _DATA["versions"]
"""What the versions of stories are called."""
DESCRIBED: Mapping[str, Mapping[str, str]] = _DATA["described"]
"""Headings of the sheets that describe a suite and have its predictions."""
SETTINGS: Mapping[str, Mapping[str, Sequence[str]]] = _DATA["settings"]
"""Names of settings of suites, of which the first of a language is the one that is written."""

FACTORS: Mapping[str, Mapping[str, Mapping[str, str]]] = _DATA["factors"]
"""By language, the names of factors and the words for their levels."""

EXPORTED: Mapping[str, Mapping[str, str]] = _DATA["exported"]
"""Headings of the tables of answers that are written for people, by field and language."""


OURS = " (cimento)"
"""What follows a heading of cimento where the author of a table has a column called like it."""


def apart_from(field: str, language: str, own: Collection[str]) -> str:
    """The heading of a field, marked where the author of a table has a column called like it.

    Args:
        field: the field, whose name is its heading in English.
        language: ISO 639-1 code.
        own: the columns of the author, whose names stay as they are.
    """
    heading = EXPORTED[field].get(language, field)
    return heading if {*own}.isdisjoint(headings_of(field)) else f"{heading}{OURS}"


def marked_of(field: str) -> tuple[str, ...]:
    """The headings of a field in all languages, as `apart_from` marks them."""
    return tuple(f"{heading}{OURS}" for heading in (field, *EXPORTED.get(field, {}).values()))


def headings_of(field: str) -> tuple[str, ...]:
    """The headings of a field, the likeliest first: those that are marked, its name, and others."""
    return (*marked_of(field), field, *EXPORTED.get(field, {}).values())


QUESTIONS: Mapping[str, Mapping[str, str]] = _DATA["questions"]
"""Names of questions in these tables, by the name in judgments and by language."""
_QUESTION_OF = {word: name for name, table in QUESTIONS.items() for word in table.values()}


def question_of(text: str) -> str:
    """The name of a question in judgments, whatever language a table has it in."""
    return _QUESTION_OF.get(text.strip().casefold(), text)


_CELLS: Mapping[str, Mapping[str, str]] = _DATA["cells"]
_SIDES: Mapping[str, Mapping[str, str]] = _DATA["told_sides"]
_CELL_OF = {
    word: name
    for cells in (_CELLS, _SIDES)
    for name, table in cells.items()
    for word in table.values()
}
_TIES: Mapping[str, Mapping[str, str]] = _DATA["ties"]
_TIE_OF = {word: name for name, table in _TIES.items() for word in table.values()}
_NUMBERED = re.compile(r"(.+?)(-\d+)?")


def told_cell(text: str, language: str) -> str:
    """A name that cimento gives, of a condition or an item such as *check-1*, in a language.

    Args:
        text: the name; others are left as they are.
        language: ISO 639-1 code.
    """
    if not (match := _NUMBERED.fullmatch(text)):
        return text
    return _CELLS.get(match[1], {}).get(language, match[1]) + (match[2] or "")


def told_side(text: str, language: str) -> str:
    """The condition of a sentence of a pair in a language; others are left as they are.

    Args:
        text: the condition.
        language: ISO 639-1 code.
    """
    return _SIDES.get(text, {}).get(language, text)


def told_tie(text: str, language: str) -> str:
    """A choice of both sentences or of neither in a language; others are left as they are.

    Args:
        text: the choice.
        language: ISO 639-1 code.
    """
    return _TIES.get(text, {}).get(language, text)


def tie_of(text: str) -> str:
    """The choice of both sentences or of neither, whatever language a table has it in."""
    return _TIE_OF.get(text, text)


def cell_of(text: str) -> str:
    """The name that cimento gave, whatever language a table has it in."""
    if not (match := _NUMBERED.fullmatch(text)):
        return text
    return _CELL_OF.get(match[1], match[1]) + (match[2] or "")


_TABLE_WORDS = word_list("words.of_tables")
_ROLES = (
    "item", "condition", "text", "sentence", "target", "plausible", "implausible", "phenomenon",
    "rating", "ratings",
)  # fmt: skip
_ALSO = {
    "item": (*NAMES["number"], *NAMES["stimulus"]),
    "text": NAMES["stimulus"],
    "sentence": NAMES["stimulus"],
    "rating": NAMES["expected_rating"],
}
_OF_COPIES = ("participants", "chosen_by")
HEADERS: Mapping[str, tuple[str, ...]] = (
    {name: (*NAMES[name], *_ALSO.get(name, ())) for name in _ROLES}
    | {name: tuple(word.casefold() for word in HEADINGS[name].values()) for name in _OF_COPIES}
    | {
        side: tuple(word for word in known if word not in _TABLE_WORDS)
        for side, known in SIDES.items()
    }
)
"""Words that stand for the name of a column wherever it is looked for."""

ITEMS: AbstractSet[str] = {"item", "id", *HEADERS["item"]}
"""Names of a column of items' numbers, without capitals."""
SETS: AbstractSet[str] = {*word_list("words.sets")}
"""Names of columns of items if their cells have numbers; others are sets such as *train*."""
NUMBERS: AbstractSet[str] = {*NAMES["number"]}
"""Names of columns of items if their cells go through the items; others count something."""
STIMULI: AbstractSet[str] = {*NAMES["stimulus"]}
"""Names of columns of sentences, or of items if their cells have numbers."""
KNOWN: AbstractSet[str] = {*HEADERS}.union(*HEADERS.values(), *SIDES.values())
"""All words of `HEADERS` and for the sides of a pair, without capitals."""
PARTICIPANTS = NAMES["participant"]
"""Names of a column that says who answered, which name nothing else in a table of sentences."""
PEOPLE: AbstractSet[str] = {*word_list("people.also")}
"""Words for people that may also name other things."""
PREFIXES = NAMES["prefix"]
"""Names of a column with the beginning that both sentences of a pair share."""
CONTEXTS = NAMES["context"]
"""Names of a column with what comes before the sentences, perhaps their beginning."""

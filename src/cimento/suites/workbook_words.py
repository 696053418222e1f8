"""Suite workbooks in the language of their author: sheets, settings, headings, instructions.

The names in English are those of suite.toml and of the tables of a folder. The others are in
``words.toml``, where the readers know them too, and the sentences in ``how-to.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from cimento.intake.words import DESCRIBED, HEADERS, HEADINGS, SETTINGS, SHEETS, STORIES
from cimento.io.parsing import read_toml
from cimento.suites.builtin import RATED
from cimento.suites.story_rows import VERSION, version_called

ABOUT, ITEMS, PREDICTIONS, SEEDS, HOW_TO = "about", "items", "predictions", "seeds", "how to"
ENGLISH = "en"
LANGUAGES = (ENGLISH, *SHEETS[ABOUT])
"""The languages in which a workbook may be written."""

Rows: TypeAlias = list[list[str]]

_TEXTS = Path(__file__).parents[1] / "data" / "how-to.toml"
COLUMNS, CELLS, FACTORS = "columns", "cells", "factors"
"""The groups of settings that say which column of the items has which role, and which levels of
its factors each condition of a design has."""
_GROUPS = (FACTORS, COLUMNS, CELLS)
"""The groups of settings whose names in other languages begin those of their settings."""
MORE = "more"
_PHENOMENON = "phenomenon"
_SENTENCE = "sentence"
"""The condition of a sentence of a list, which rows without a condition have too."""
_TELLING = {"condition", "good", "target", "rating", "ratings"}
"""Headings beside which the reader of a description takes the others in any language."""
_HEADS = {
    ABOUT: ("setting", "value", "what it is"),
    PREDICTIONS: ("name", "formula", "comment", MORE),
}
"""The headings of the sheets whose columns are ours."""

SHEET_WORDS: Mapping[str, str] = {
    called: name for name, table in SHEETS.items() for called in (name, *table.values())
}
"""The sheets by all names that they may have."""
SETTING_WORDS: Mapping[str, str] = {
    word: name for name, table in SETTINGS.items() for words in table.values() for word in words
}
"""The settings by their names in other languages; `_GROUPS` begin the names of several."""
DESCRIBED_WORDS: Mapping[str, str] = {
    called: name for name, table in DESCRIBED.items() for called in table.values()
}
"""The columns of *about* and *predictions* by their headings in the other languages."""


def sheets_by_name(names: Iterable[str]) -> dict[str, str]:
    """The sheets of a suite's workbook by their names in English; none for another workbook.

    A sheet that describes a suite is *about*, or has its name in another language beside another
    sheet of a suite, as such a name is nothing special.

    Args:
        names: names of a workbook's sheets, in lower case.
    """
    found = dict[str, str]()
    for called in names:
        if name := SHEET_WORDS.get(called):
            found.setdefault(name, called)
    is_suite = found.get(ABOUT) == ABOUT or (ABOUT in found and len(found) > 1)
    return found if is_suite else {}


def language_of_sheet(called: str) -> str:
    """The language in which *about* has this name."""
    return next((code for code, word in SHEETS[ABOUT].items() if word == called), ENGLISH)


def sheet_called(name: str, language: str) -> str:
    """What a sheet is called in a language; one that is not of a suite keeps its name."""
    return SHEETS.get(name, {}).get(language, name)


def heading(role: str, language: str) -> str:
    """The heading of a column that is made, in a language."""
    return HEADINGS.get(role, {}).get(language, role)


def setting_meant(label: str) -> str:
    """The setting that a label of *about* names."""
    group, dot, key = label.partition(".")
    if dot and (meant := SETTING_WORDS.get(group.casefold())) in _GROUPS:
        return f"{meant}.{key}"
    folded = label.casefold()
    return MORE if DESCRIBED_WORDS.get(folded) == MORE else SETTING_WORDS.get(folded, label)


def setting_group(label: str) -> str:
    """The group of the setting that a label of *about* names; empty without one."""
    group, dot, _ = setting_meant(label).partition(".")
    return group if dot else ""


def setting_called(name: str, language: str) -> str:
    """The label of a setting in a language."""
    if language == ENGLISH:
        return name
    if name == MORE:
        return DESCRIBED[name].get(language, name)
    group, dot, key = name.partition(".")
    if dot and group in _GROUPS:
        return f"{SETTINGS[group].get(language, [group])[0]}.{key}"
    return SETTINGS.get(name, {}).get(language, [name])[0] if name not in _GROUPS else name


@cache
def _texts() -> Mapping[str, Any]:
    return read_toml(_TEXTS)


def what_it_is(name: str, language: str = ENGLISH) -> str:
    """The description of a setting; empty for one that has none."""
    group = name.partition(".")[0]
    known = group if group in (COLUMNS, CELLS) else name
    told: str = _texts()["what"].get(known, {}).get(language, "")
    return told


def of_examples(toml: str, language: str) -> str:
    """The suite.toml of a template with what it says of its examples in a language."""
    if language == ENGLISH:
        return toml
    for english, told in _texts()["examples"].items():
        toml = re.sub(rf'"{re.escape(english)}(?: \w+\.)?"', f'"{told[language]}"', toml)
    lines = (line.partition("#") for line in toml.splitlines(keepends=True))
    told = "".join(f"{_named(line, language)}{mark}{rest}" for line, mark, rest in lines)
    return _KEY.sub(r'"\1"', told)


_KEY = re.compile(r"^(?![A-Za-z0-9_]+ = )(\w+)(?= = )", re.MULTILINE)
"""A key of TOML with letters that only keys in quotation marks may have."""
_NAMED = ("condition", "distance", "structure")
"""The columns of templates that have names of conditions and levels."""


def rows_of_examples(text: str, language: str) -> str:
    """The table of a template with the names of its conditions and factors in a language."""
    head, *rows = (line.split("\t") for line in text.split("\n"))
    named = [place for place, name in enumerate(head) if name in _NAMED]
    told = [
        [_named(cell, language) if n in named else cell for n, cell in enumerate(row)]
        for row in rows
    ]
    names = [_named(name, language) for name in head]
    return "\n".join(map("\t".join, (names, *told)))


def _named(text: str, language: str) -> str:
    """A text with the names of templates in a language; names may be joined by underscores."""
    names = {} if language == ENGLISH else _texts()["names"]
    longest = "|".join(sorted(names, key=len, reverse=True))
    if not longest:
        return text
    name = rf"(?<![^\W_])(?:{longest})(?![^\W_])"
    return re.sub(name, lambda match: str(names[match[0]][language]), text)


def how_to(kind: str, language: str = ENGLISH) -> Rows:
    """The lines of the sheet *how to*.

    Args:
        kind: kind of suite; ``pairs`` or ``sentences`` for one with predictions.
        language: the language of the workbook.
    """
    texts = _texts()[language]
    middle = texts.get(kind, texts["sentences"])
    return [[line] for line in f"{texts['first']}\n{middle}\n{texts['last']}".split("\n")]


def has_lines_for(kind: object) -> str:
    """The kind, if the sheet *how to* has lines of its own for it; else an empty text."""
    return kind if isinstance(kind, str) and kind in _texts()[ENGLISH] else ""


def in_language(
    sheets: Mapping[str, Rows], language: str, *, with_items: bool = False
) -> dict[str, Rows]:
    """The sheets of a workbook in English in another language.

    Args:
        sheets: rows by the names in English.
        language: one of `LANGUAGES`.
        with_items: whether the headings of the items are those of cimento, and become others too,
            as far as readers know such items by them.
    """
    if language == ENGLISH:
        return dict(sheets)
    made = dict[str, Rows]()
    for name, rows in sheets.items():
        changed = _described(name, rows, ENGLISH, language)
        if name == ITEMS and with_items and SEEDS not in sheets and not _has_own_words(rows):
            changed = _items(_without_name(rows, sheets.get(ABOUT, [])), language)
        made[sheet_called(name, language)] = changed
    return made


def in_english(sheets: Mapping[str, Rows], language: str) -> dict[str, Rows]:
    """The sheets of a workbook with what cimento writes in a language in English again.

    What somebody else wrote on them stays, and so do the headings of the items.
    """
    named = {SHEET_WORDS.get(called.casefold(), called): rows for called, rows in sheets.items()}
    if language == ENGLISH:
        return named
    return {name: _described(name, rows, language, ENGLISH) for name, rows in named.items()}


def _described(name: str, rows: Rows, old: str, new: str) -> Rows:
    """The rows of a sheet with what cimento wrote in one language in another."""
    if name == HOW_TO:
        kinds = (kind for kind in _texts()[ENGLISH] if how_to(kind, old) == rows)
        kind = next(kinds, None)
        return rows if kind is None else how_to(kind, new)
    if name not in _HEADS:
        return rows
    heads = {heading_of(name, head, old): heading_of(name, head, new) for head in _HEADS[name]}
    made = [[heads.get(cell, cell) for cell in row] for row in rows[:1]] + rows[1:]
    return made if name == PREDICTIONS else [setting_row(row, old, new) for row in made]


def heading_of(sheet: str, name: str, language: str) -> str:
    """The heading of a column of *about* or *predictions*; others keep theirs.

    Args:
        sheet: name of the sheet.
        name: the heading in English.
        language: one of `LANGUAGES`.
    """
    return DESCRIBED[name].get(language, name) if name in _HEADS.get(sheet, ()) else name


def setting_row(row: Sequence[str], old: str, new: str) -> list[str]:
    """A row of *about* with its label and its description in another language.

    Args:
        row: the cells; what is not as cimento writes it in the old language stays.
        old: the language of the row.
        new: the language that it gets.
    """
    label, *cells = row or [""]
    name = label if old == ENGLISH else setting_meant(label)
    if label and setting_called(name, old) == label:
        label = setting_called(name, new)
    if len(cells) > 1 and cells[1] and cells[1] == what_it_is(name, old):
        cells[1] = what_it_is(name, new)
    return [label, *cells] if row else []


def _without_name(rows: Rows, about: Rows) -> Rows:
    """The rows of a list of rated sentences without the name that each of its conditions has.

    A list without a column of ratings keeps it: nothing else there says what the sentences are.
    """
    has_ratings = bool(rows) and not {"rating", "ratings"}.isdisjoint(rows[0])
    place = rows[0].index("condition") if has_ratings and "condition" in rows[0] else None
    is_rated = ["kind", RATED] in [row[:2] for row in about]
    if place is None or not is_rated or {row[place] for row in rows[1:]} != {_SENTENCE}:
        return rows
    return [row[:place] + row[place + 1 :] for row in rows]


def _without_copy(rows: Rows) -> Rows:
    """The rows without phenomena that a column of the author's has under another name of theirs."""
    names = [name.casefold() for name in rows[0]] if rows else []
    own = [n for n, name in enumerate(names) if name in HEADERS[_PHENOMENON]]
    if not own or _PHENOMENON not in names:
        return rows
    place = names.index(_PHENOMENON)
    is_copy = all(row[place] == row[own[0]] for row in rows[1:])
    return [row[:place] + row[place + 1 :] for row in rows] if is_copy else rows


def _has_own_words(rows: Rows) -> bool:
    """Whether a column of the author's is called as one of cimento's is in some language.

    In that language the two could not be told apart; in English, cimento's own are known by name.
    """
    head = rows[0] if rows else []
    names = {name.casefold() for name in head if name not in HEADINGS}
    ours = [role for role in head if role in HEADINGS and role != _PHENOMENON]
    return any(not names.isdisjoint(HEADERS[role]) for role in ours)


def _items(rows: Rows, language: str) -> Rows:
    """The rows of items with headings in a language; those of stories have versions too."""
    head, *body = rows = _without_copy(rows)
    if "story" not in head or VERSION not in head:
        is_told = not _TELLING.isdisjoint(head)
        # A phenomenon under another name would be a second column for whoever reads the copy.
        told = [name if name == _PHENOMENON else heading(name, language) for name in head]
        return [told, *body] if is_told else rows
    version = head.index(VERSION)
    called = [story_heading(name, language) for name in head]
    cells = ([version_called(c, language) if n == version else c for n, c in enumerate(row)]
             for row in body)  # fmt: skip
    return [called, *cells]


def story_heading(name: str, language: str) -> str:
    """The heading of a column of stories in a language; numbered ones keep their number."""
    stem, blank, number = name.rpartition(" ")
    if name not in STORIES and number.isdecimal() and stem in STORIES:
        return f"{STORIES[stem].get(language, stem)}{blank}{number}"
    return STORIES[name].get(language, name) if name in STORIES else name

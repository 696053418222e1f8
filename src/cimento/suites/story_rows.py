"""Stories as rows of a spreadsheet: sentences are counted from 1, and no cell holds a list.

A row has a number shared by a story and its variants, its version (``plausible``, ``order 1``,
``cloze 2``), a column for each sentence, and the numbers of the two sentences in conflict. Fields
that follow from these have columns only where they say something else. Headings and versions may
be in any language of ``words.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cimento.errors import InputError
from cimento.intake.words import STORIES, VERSIONS
from cimento.suites import JsonValue

STORY, VERSION, SENTENCE = "story", "version", "sentence"
CONFLICT, SHOWN, STATE = "conflicting sentence", "revealing sentence", "state"
PLAUSIBLE = "plausible"
COLUMNS = (STORY, VERSION, CONFLICT, SHOWN, STATE)
"""The columns of a row besides those of its sentences."""

_VERSION = re.compile(r"(.+?)(?:\s+([1-9][0-9]{0,8}))?", re.IGNORECASE)
_SENTENCE = re.compile(rf"{SENTENCE} ([1-9][0-9]*)")
_HEADINGS = {called: name for name, table in STORIES.items() for called in table.values()}
_VERSIONS = {called: name for name, table in VERSIONS.items() for called in (name, *table.values())}


def is_story_row(cells: Mapping[str, str]) -> bool:
    """Whether a row has the columns of this module."""
    return STORY in cells and VERSION in cells


def story_columns(columns: Iterable[str]) -> dict[str, str]:
    """The names in English of the columns of stories; none for columns that are not all of these.

    Args:
        columns: names of columns, in any language of ``words.toml``.
    """
    meant = {column: _meant(column) for column in columns}
    return meant if is_story_row(dict.fromkeys(meant.values(), "")) else {}


def _meant(column: str) -> str:
    """The name in English of a column, with the number behind it."""
    stem, blank, number = column.rpartition(" ")
    if number.isdecimal() and _HEADINGS.get(stem.casefold()) == SENTENCE:
        return f"{SENTENCE}{blank}{number}"
    name = _HEADINGS.get(column.casefold(), column)
    return column if name == SENTENCE else name


def version_called(version: str, language: str) -> str:
    """A version such as ``order 1`` in a language."""
    name, blank, number = version.partition(" ")
    return f"{VERSIONS.get(name, {}).get(language, name)}{blank}{number}"


def is_column_of_story(column: str) -> bool:
    """Whether a column is one of those from which `story_record` makes a story."""
    return column in COLUMNS or bool(_SENTENCE.fullmatch(column))


def story_row(
    record: Mapping[str, JsonValue],
) -> tuple[dict[str, str], dict[str, JsonValue]] | None:
    """A story as cells and the fields that they do not imply; None if it has no such row.

    Args:
        record: the story, as a line of GITA4CALAMITA.
    """
    sentences = record.get("sentences")
    if not isinstance(sentences, list):
        return None
    kind, number, shown = map(record.get, ("type", "idx", "breakpoint"))
    version = PLAUSIBLE
    if kind is not None:
        version = f"{kind} {number + 1}" if isinstance(number, int) else str(kind)
    conflicts = record.get("confl_sents")
    first = conflicts[0] if isinstance(conflicts, list) and len(conflicts) == 1 else None
    cells = {STORY: str(record.get("story_id")), VERSION: version}
    cells |= {f"{SENTENCE} {k}": str(sentence) for k, sentence in enumerate(sentences, start=1)}
    cells |= {
        CONFLICT: str(first + 1) if isinstance(first, int) else "",
        SHOWN: str(shown + 1) if isinstance(shown, int) and shown >= 0 else "",
        STATE: str(record.get("states")),
    }
    try:
        implied = story_record(cells, where="")
    except InputError:
        return None
    if not implied.keys() <= record.keys() or implied["sentences"] != sentences:
        return None  # a key is missing, or there are blanks around a sentence
    return cells, {k: v for k, v in record.items() if k not in implied or implied[k] != v}


def story_record(
    cells: Mapping[str, str], *, where: str, called: Mapping[str, str] | None = None
) -> dict[str, JsonValue]:
    """The story of a row, without the fields that have columns of their own.

    Args:
        cells: the cells of the row by column.
        where: place of the row, for messages.
        called: headings of the columns by their names in English, for messages; None for these.

    Raises:
        InputError: a cell is not what its column needs.
    """
    texts = {name: cell.strip() for name, cell in cells.items()}
    called = {name: name for name in (*COLUMNS, *texts)} | {**(called or {})}
    numbered = {int(m[1]): texts[name] for name in texts if (m := _SENTENCE.fullmatch(name))}
    sentences: list[JsonValue] = [text for _, text in sorted(numbered.items()) if text]
    story = _number(texts.get(STORY, ""), called[STORY], where, least=0)
    conflict, shown = (
        _number(texts.get(name, ""), called[name], where, most=len(sentences))
        for name in (CONFLICT, SHOWN)
    )
    if story is None:
        raise InputError(
            where=where, seen=f"{called[STORY]} is empty", todo="Number your stories 1, 2, 3."
        )
    kind, number = _version(texts.get(VERSION, ""), called[VERSION], where)
    letter = "" if kind is None else f"-{kind[0].upper()}{number}"
    both = [n - 1 for n in (conflict, shown) if n is not None]
    return {
        "story_id": story,
        "type": kind,
        "idx": number,
        "aug": False,
        "sentences": sentences,
        "length": len(sentences),
        "example_id": f"{story}{letter}",
        "plausible": kind is None,
        "breakpoint": -1 if shown is None else shown - 1,
        "confl_sents": [] if conflict is None else [conflict - 1],
        "confl_pairs": [*both] if len(both) > 1 else [],
        "states": texts.get(STATE, ""),
        "worker_id": "",
    }


def _version(text: str, called: str, where: str) -> tuple[str | None, int | None]:
    """The type of a variant and its number from 0; None for a plausible story."""
    match = _VERSION.fullmatch(text.casefold())
    kind = _VERSIONS.get(match[1]) if match else None
    if kind == PLAUSIBLE and match and not match[2]:
        return None, None
    if match is None or kind not in ("order", "cloze"):
        seen = f"{called} is {text!r}" if text else f"{called} is empty"
        language = next((code for code, own in STORIES[VERSION].items() if own == called), "")
        plausible, order, cloze = (version_called(name, language) for name in VERSIONS)
        todo = f"Write {plausible}, {order} 1 or {cloze} 1."
        raise InputError(where=where, seen=seen, todo=todo)
    return kind, int(match[2] or 1) - 1


def _number(
    text: str, name: str, where: str, *, least: int = 1, most: int | None = None
) -> int | None:
    if not text:
        return None
    number = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else -1
    if number < least or (most is not None and number > most):
        upto = f" from {least} to {most}" if most is not None else ""
        raise InputError(
            where=where, seen=f"{name} is {text!r}", todo=f"Write a whole number{upto}."
        )
    return number

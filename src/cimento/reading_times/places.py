"""Which word of which text an observation is of, and whether words and texts agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The columns that say which word an observation is of.

    Attributes:
        text: id of the text.
        position: number of the word in its text, from 0 or from 1.
        word: the word as it was shown, with the marks that touch it.
    """

    text: str = "text"
    position: str = "position"
    word: str = "word"


@dataclass(frozen=True, slots=True)
class Places:
    """Where the observations are.

    Attributes:
        rows: text and index of the word, from 0, for each observation.
        words: text to index to the word and the row that it was first seen in.
    """

    rows: tuple[tuple[str, int], ...]
    words: Mapping[str, Mapping[int, tuple[str, int]]]


def find_places(observations: pl.DataFrame, names: Names) -> Places:
    """Which word of which text each observation is of.

    Raises:
        UsageError: a column is missing.
        InputError: there are no rows, a word is empty or is two things in one place, or a position
            is no whole number.
    """
    if observations.is_empty():
        raise InputError(where="the table", seen="it holds no observations", todo="Add rows.")
    need_columns(observations, (names.text, names.position, names.word), where="the table")
    columns = observations.select(names.text, names.position, names.word)
    found = []
    for row, (text, position, word) in enumerate(columns.iter_rows(), start=2):
        number = _position(position, row=row)
        found.append((str(text), number, str(word or "").strip(), row))
    lowest = min(1, *(number for _, number, _, _ in found))
    words: dict[str, dict[int, tuple[str, int]]] = {}
    for text, number, word, row in found:
        if not word:
            raise InputError(where=f"row {row}", seen="the word is empty", todo="Fill it in.")
        known, first = words.setdefault(text, {}).setdefault(number - lowest, (word, row))
        if known != word:
            raise InputError(
                where=f"row {row}",
                seen=f"word {number} of text {text!r} is {word!r}, and {known!r} in row {first}",
                todo="Give texts that differ ids of their own.",
            )
    return Places(tuple((text, number - lowest) for text, number, _, _ in found), words)


def _position(value: object, *, row: int) -> int:
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if number < 0 or not number.is_integer():
        raise InputError(
            where=f"row {row}",
            seen=f"the position is {value!r}",
            todo="Positions are whole numbers from 0 or 1.",
        )
    return int(number)


def all_words(places: Places, texts: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Every word of every text; those of the table are where they should be.

    Raises:
        InputError: a text lacks a word, or has another one.
    """
    made: dict[str, tuple[str, ...]] = {}
    for text, known in places.words.items():
        if texts is None:
            gap = next((index for index in range(len(known)) if index not in known), None)
            if gap is not None:
                raise InputError(
                    where=f"text {text!r}",
                    seen=f"its word {gap + 1} is in no row, and word {max(known) + 1} is",
                    todo="Give the whole texts in a table of their own (--texts).",
                )
            made[text] = tuple(known[index][0] for index in range(len(known)))
            continue
        if text not in texts:
            raise InputError(
                where=f"text {text!r}",
                seen="it is not among the texts",
                todo=did_you_mean(text, texts),
            )
        made[text] = tuple(texts[text].split())
        for index, (word, row) in sorted(known.items()):
            there = made[text][index] if index < len(made[text]) else "nothing"
            if there != word:
                raise InputError(
                    where=f"row {row}",
                    seen=f"word {index + 1} of text {text!r} is {word!r}, and the text has {there}",
                    todo="Words are what stands between blanks, with the marks that touch them.",
                )
    return made


def need_columns(frame: pl.DataFrame, columns: Sequence[str], *, where: str) -> None:
    """See that a table has some columns.

    Raises:
        UsageError: it lacks one.
    """
    for name in columns:
        if name not in frame.columns:
            raise UsageError(
                where=where,
                seen=f"it has no column {name!r}; it has {', '.join(frame.columns)}",
                todo=did_you_mean(name, frame.columns) or "Say which column it is.",
            )

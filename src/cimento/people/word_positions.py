"""The words that observations are of: positions in texts, which count from 0 or from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class WordColumns:
    """The columns that say which word an observation is of.

    Attributes:
        text: name of the column with the id of the text.
        position: number of the word in its text, from 0 or from 1, which may differ among texts.
        word: the word as it was shown, with the marks that touch it.
    """

    text: str = "text"
    position: str = "position"
    word: str = "word"


@dataclass(frozen=True, slots=True)
class WordPositions:
    """The positions of observations in texts.

    Ids of texts are in one spelling (`cimento.suites.letters`), words as they were first written.

    Attributes:
        rows: text and position of the word for each observation.
        words: text to position to the word and the row that it was first seen in.
    """

    rows: tuple[tuple[str, int], ...]
    words: Mapping[str, Mapping[int, tuple[str, int]]]


def word_positions(observations: pl.DataFrame, names: WordColumns) -> WordPositions:
    """The position of each observation: text and word.

    Raises:
        UsageError: a column is missing.
        InputError: there are no rows, a word is empty or is two things in one place, or a position
            is not a whole number.
    """
    if observations.is_empty():
        raise InputError(where="the table", seen="it holds no observations", todo="Add rows.")
    require_columns(observations, (names.text, names.position, names.word), where="the table")
    columns = observations.select(names.text, names.position, names.word)
    words_read = []
    for row, (text, position, word) in enumerate(columns.iter_rows(), start=2):
        number = _position(position, row=row)
        words_read.append((one_spelling(str(text)), number, str(word or "").strip(), row))
    words: dict[str, dict[int, tuple[str, int]]] = {}
    for text, number, word, row in words_read:
        if not word:
            raise InputError(where=f"row {row}", seen="the word is empty", todo="Fill it in.")
        known, first = words.setdefault(text, {}).setdefault(number, (word, row))
        if not _is_same(known, word):
            raise InputError(
                where=f"row {row}",
                seen=f"word {number} of text {text!r} is {word!r}, and {known!r} in row {first}",
                todo="Give texts that differ different ids.",
            )
    return WordPositions(tuple((text, number) for text, number, _, _ in words_read), words)


def _is_same(word: str, other: str) -> bool:
    return one_spelling(word) == one_spelling(other)


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


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of a text.

    Attributes:
        first: position of the first word, 0 or 1.
        words: all words, in order.
    """

    first: int
    words: tuple[str, ...]


def all_words(places: WordPositions, texts: Mapping[str, str] | None) -> dict[str, TextWords]:
    """Every word of every text; those of the table are where they should be.

    A text without its whole wording counts from 0 if a row has that position. Of the whole text,
    the words of the table decide: they stand where they are only if it is counted in one way.

    Raises:
        InputError: a text lacks a word, has another one, or may be counted from 0 and from 1 in a
            table where others are counted from 0.
    """
    if texts is None:
        return {text: _made_of(known, text) for text, known in places.words.items()}
    spelled = {one_spelling(name): content for name, content in texts.items()}
    fitting: dict[str, list[TextWords]] = {}
    for text, known in places.words.items():
        need_known(
            text, spelled, where=f"text {text!r}", seen="it is not among the texts",
            error=InputError,
        )  # fmt: skip
        words = tuple(spelled[text].split())
        ways = [TextWords(first, words) for first in (1, 0)]
        fitting[text] = [way for way in ways if not _misplaced(known, way)]
        if not fitting[text]:
            _refuse_words(known, text, TextWords(min(1, *known), words))
    starts_at_0 = next((text for text, ways in fitting.items() if ways[0].first == 0), None)
    for text, ways in fitting.items():
        if len(ways) > 1 and starts_at_0 is not None:
            raise InputError(
                where=f"text {text!r}",
                seen="its words in the table are in the text whether it is counted from 0 or from"
                f" 1, and text {starts_at_0!r} is counted from 0",
                todo="Count all texts from 1.",
            )
    return {text: ways[0] for text, ways in fitting.items()}


def _made_of(known: Mapping[int, tuple[str, int]], text: str) -> TextWords:
    """The words of a text of which nothing but rows is known."""
    first = min(1, *known)
    gap = next((n for n in range(first, first + len(known)) if n not in known), None)
    if gap is not None:
        raise InputError(
            where=f"text {text!r}",
            seen=f"its word {gap} is in no row, and word {max(known)} is",
            todo="Give the whole texts in a table of their own (--texts).",
        )
    return TextWords(first, tuple(known[n][0] for n in sorted(known)))


def _misplaced(known: Mapping[int, tuple[str, int]], way: TextWords) -> tuple[int, str] | None:
    """The first position whose word the text does not have there, and what it has."""
    for number, (word, _) in sorted(known.items()):
        index = number - way.first
        there = way.words[index] if 0 <= index < len(way.words) else "nothing"
        if not _is_same(there, word) or index < 0:
            return number, there
    return None


def _refuse_words(known: Mapping[int, tuple[str, int]], text: str, way: TextWords) -> None:
    """Refuse words that are not those of the text, however it is counted."""
    if misplaced := _misplaced(known, way):
        number, there = misplaced
        word, row = known[number]
        raise InputError(
            where=f"row {row}",
            seen=f"word {number} of text {text!r} is {word!r}, and the text has {there}",
            todo="Words are what is between blanks, with the marks that touch them.",
        )


def counting_remark(words: Mapping[str, TextWords]) -> str:
    """What is to be said where some texts count from 0 and others from 1; empty otherwise."""
    of_first = {way.first: text for text, way in reversed([*words.items()])}
    if len(of_first) == 1:
        return ""
    return (
        f"Positions begin at 0 in text {of_first[0]!r} and at 1 in text {of_first[1]!r}: each text"
        " is counted by its own first row. If the first word of a text is in no row, give the whole"
        " texts (--texts)."
    )


def require_columns(frame: pl.DataFrame, names: Iterable[str], *, where: str) -> None:
    """Refuse a table that lacks a column.

    Args:
        frame: the table.
        names: the columns.
        where: place of the table, for messages.

    Raises:
        UsageError: it lacks one.
    """
    for name in names:
        if name not in frame.columns:
            seen, todo = f"it has no column {name!r}", did_you_mean(name, frame.columns)
            raise UsageError(where=where, seen=seen, todo=todo)

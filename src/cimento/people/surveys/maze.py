r"""The sheet of a maze's distractors: a row for each word, which a person checks and corrects.

The columns that are read are ``item``, ``condition``, ``position`` (from 1), ``word`` and
``distractor``; all others are for whoever checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError
from cimento.intake.tables import open_table
from cimento.io.parsing import whole_number
from cimento.people.surveys import SurveyQuestion
from cimento.suites.letters import one_spelling

COLUMNS = ("item", "condition", "position", "word", "distractor")

FIRST_FOIL = "x-x-x"
"""What is beside the first word of a sentence, before which there is no context."""


@dataclass(frozen=True, slots=True)
class SheetWord:
    """One word in the sheet.

    Attributes:
        word: as it is in the sentence.
        distractor: what is beside it.
        where: place of the row, for messages.
    """

    word: str
    distractor: str
    where: str


Sheet: TypeAlias = Mapping[tuple[str, str], Mapping[int, SheetWord]]
"""Item and condition to the words by their positions, from 1."""


def read_sheet(path: Path) -> Sheet:
    """The distractors in a sheet.

    Raises:
        InputError: a column or a cell is missing, a position is there twice, or a distractor is
            the word itself, or more than one word.
        SuiteError: the table is damaged.
    """
    table = open_table(path)
    table.need(*COLUMNS, todo="Is it a sheet of `cimento annotate survey distractors`?")
    sheet: dict[tuple[str, str], dict[int, SheetWord]] = {}
    for row in table.rows:
        item, condition, place, word, foil = (row.cells.get(c, "").strip() for c in COLUMNS)
        where, position = table.where(row), whole_number(place)
        words = sheet.setdefault((item, condition), {})
        fault = (
            f"the position is {place!r}, and should be a whole number from 1"
            if position is None or position < 1
            else f"position {place} of this sentence is there already"
            if position in words
            else f"the distractor of {word!r} is {foil!r}, and should be one other word"
            if len(foil.split()) != 1 or one_spelling(foil) == one_spelling(word)
            else ""
        )
        if fault or position is None:
            raise InputError(where=where, seen=fault, todo="Correct the row.")
        words[position] = SheetWord(word, foil, where)
    return sheet


def with_foils(questions: Iterable[SurveyQuestion], sheet: Sheet) -> Iterator[SurveyQuestion]:
    """Sentences with the distractors of their words.

    Raises:
        InputError: a sentence is not in the sheet, has other words there, or has one distractor
            twice.
    """
    for question in questions:
        rows = sheet.get((question.item, question.condition))
        name = f"{question.item} {question.condition}".strip()
        if rows is None:
            raise InputError(
                where=f"sentence {name!r}",
                seen="it is not in the sheet of distractors",
                todo="Have the sheet made of the same suite, practice and fillers.",
            )
        foils: list[str] = []
        for position, word in enumerate(question.words, start=1):
            row = rows.get(position)
            if row is None or one_spelling(row.word) != one_spelling(word):
                raise InputError(
                    where=row.where if row else f"sentence {name!r}",
                    seen=f"word {position} is {word!r}, and in the sheet"
                    f" {repr(row.word) if row else 'it is missing'}",
                    todo="Have the sheet made again, or correct it.",
                )
            if row.distractor in foils:
                raise InputError(
                    where=row.where,
                    seen=f"the distractor {row.distractor!r} is in this sentence already",
                    todo="Choose another one.",
                )
            foils.append(row.distractor)
        yield replace(question, foils=tuple(foils))

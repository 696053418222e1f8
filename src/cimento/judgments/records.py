"""One answer of one person as a record, and many of them as the judgments table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from cimento.io.tables import JUDGMENTS

if TYPE_CHECKING:
    import polars as pl

ACCEPTABILITY = "acceptability"
ACCEPTABLE = "acceptable"
BETTER = "which is better"
WHICH_FITS = "which fits"
FITS = "fits"
ATTENTION = "attention"
"""What is asked, as the column ``question`` has it; docs/tables.md says what each means."""

NONE = "none"
"""The answer that none of the options fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What one person answered to one question; the fields are the columns of the table.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item; empty for blanks.
        candidate: the sentence or the candidate that was judged; None where there is none.
        annotator: who answered; None where it is not known.
        question: such as `ACCEPTABILITY`.
        value: the answer; None where none was given.
        remark: anything that was added.
        at: when, in UTC.
        survey: which of the lists of a survey.
        position: place in that list, from 1.
        seconds: that the answer took.
        session_seconds: that the whole sitting took.
        expected: the right answer of an attention check; None for every other question.
        status: of the submission, as the recruiting platform says.
    """

    suite: str
    item: str
    condition: str = ""
    candidate: str | None = None
    annotator: str | None = None
    question: str = ACCEPTABILITY
    value: str | None = None
    remark: str | None = None
    at: str | None = None
    survey: str | None = None
    position: int | None = None
    seconds: float | None = None
    session_seconds: float | None = None
    expected: str | None = None
    status: str | None = None

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What was asked: suite, item, which part of it, and question.

        Of a choice between conditions the condition is a part of the answer.
        """
        part = "" if self.question == BETTER else self.condition
        if self.question == FITS:
            part = self.candidate or ""
        return (self.suite, self.item, part, self.question)

    @property
    def is_check(self) -> bool:
        """Whether it only tests that somebody reads."""
        return self.expected is not None or self.question == ATTENTION


FIELDS = tuple(each.name for each in fields(Judgment))
OPTIONAL = tuple(JUDGMENTS.optional)


def table_of(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """The judgments table; optional columns are there where a judgment has a value for them."""
    import polars as pl

    rows = [tuple(getattr(each, name) for name in FIELDS) for each in judgments]
    table = pl.DataFrame(rows, schema=JUDGMENTS.polars(present=OPTIONAL), orient="row")
    return table.drop([name for name in OPTIONAL if table[name].null_count() == table.height])


def judgments_of(table: pl.DataFrame) -> list[Judgment]:
    """The rows of a judgments table as records; the inverse of `table_of`."""
    names = [name for name in FIELDS if name in table.columns]
    rows = table.select(names).iter_rows(named=True)
    # Cells that say nothing are left out, so that the record's own defaults hold.
    known = ({name: value for name, value in row.items() if value is not None} for row in rows)
    return [Judgment(**{"suite": "", "item": "", **each}) for each in known]


def finite(text: str) -> float | None:
    """A text as a number; None where it is none, or without end."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

"""The table of a form: answers without what its program wrote around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cimento.intake.table import Table


@dataclass(frozen=True, slots=True)
class FormTable:
    """A table of answers, without what its program wrote around them.

    Attributes:
        table: the rows of people; the columns have the names of the file's first row.
        program: that wrote it; empty where it is not known.
        headings: column to what people read, where a second row has it.
        written: columns that the program fills.
        numbered: column with the number of a submission; empty where there is none.
        passed: rows of nobody, by reason.
    """

    table: Table
    program: str
    headings: Mapping[str, str]
    written: frozenset[str]
    numbered: str
    passed: dict[str, int]

    def heading(self, column: str) -> str:
        """What people read above a column."""
        return self.headings.get(column, column)

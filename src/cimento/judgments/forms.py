"""Tables of form programs without what the programs write around people's answers.

What that is is in `intake/forms.toml`. Qualtrics has the texts of the questions in its second
row of headings and ``{"ImportId": ...}`` in its third.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cimento.intake.forms import Program, program_of, programs, squashed
from cimento.intake.table import Row, Table
from cimento.io.parsing import parse_json

QUALTRICS = "qualtrics"
_QUESTION_ID = re.compile(r"QID\d", re.IGNORECASE)
_OLD = re.compile(r"V[0-9]+$")
_LEAST_ALIKE = 3
_HEADING_ROWS = 3
NEVER_SUBMITTED = "the answers in the row were never submitted (--unsubmitted keep reads them)"


@dataclass(frozen=True, slots=True)
class FormTable:
    """A table of answers, without what its program wrote around them.

    Attributes:
        table: the rows of people; the columns have the names of the file's first row.
        program: that wrote it; None where it is not known.
        headings: column to what people read, where a second row has it.
        written: columns that the program fills.
        numbered: column with the number of a submission; empty where there is none.
        submitted: column that says when it was sent; empty where there is none.
        unsubmitted: number of rows that were left out since they were never submitted.
    """

    table: Table
    program: Program | None
    headings: Mapping[str, str]
    written: frozenset[str]
    numbered: str
    submitted: str
    unsubmitted: int

    @property
    def title(self) -> str:
        """The name of the program; empty where it is not known."""
        return self.program.title if self.program else ""

    @property
    def passed(self) -> dict[str, int]:
        """What is said of the rows that were never submitted."""
        return {NEVER_SUBMITTED: self.unsubmitted} if self.unsubmitted else {}

    @property
    def coded(self) -> str:
        """The pattern of the codes that the program writes for numbers; empty for none."""
        return self.program.coded if self.program else ""

    def heading(self, column: str) -> str:
        """What people read above a column."""
        return self.headings.get(column, column)


def form_table(table: Table, form: str = "", *, unsubmitted: bool = False) -> FormTable:
    """A table as a form program wrote it, understood; any other table as it is.

    Args:
        table: of answers, a person in each row.
        form: the program, as in `forms.toml`; for any other name it is told by the columns.
        unsubmitted: whether answers that were never submitted are kept.
    """
    headings, texts, ids = _further_headings(table)
    table = _renamed(table.without(headings), texts)
    program = programs().get(form) or (programs()[QUALTRICS] if headings else program_of(table))
    if program is None:
        return FormTable(table, None, {}, frozenset(), "", "", 0)
    nobody = program.left_out(table)
    if unsubmitted:
        nobody = {row: rule for row, rule in nobody.items() if not rule.submit}
    return FormTable(
        table.without({row: rule.what for row, rule in nobody.items()}),
        program,
        texts,
        _written(table, program, ids),
        program.column(table, program.number),
        program.column(table, program.submitted),
        sum(rule.submit for rule in nobody.values()),
    )


def _further_headings(table: Table) -> tuple[dict[int, str], dict[str, str], dict[str, str]]:
    """The rows of further headings, by index; the texts of the questions; and ids of columns."""
    rows = table.rows[:_HEADING_ROWS]
    for place, row in enumerate(rows):
        ids = {name: _import_id(cell) for name, cell in row.cells.items() if cell.strip()}
        if ids and all(ids.values()):
            texts = _texts(rows[place - 1]) if place else {}
            return dict.fromkeys(range(place + 1), "names of columns"), texts, ids
    if rows:
        written = programs()[QUALTRICS].names
        same = [
            name
            for name, cell in rows[0].cells.items()
            if squashed(cell) in written and (squashed(cell) == squashed(name) or _OLD.match(name))
        ]
        if len(same) >= _LEAST_ALIKE:
            return {0: "names of columns"}, _texts(rows[0]), {}
    return {}, {}, {}


def _renamed(table: Table, texts: Mapping[str, str]) -> Table:
    """A table whose columns V1, V2 ... have the names in the second row, as in old exports."""
    names = {
        name: texts[name] if _OLD.match(name) and texts.get(name) else name
        for name in table.columns
    }
    if len({*names.values()}) < len(names) or names.keys() == {*names.values()}:
        return table
    cells = {names[name]: table.cells[name] for name in table.columns}
    return replace(
        table.with_cells(cells),
        origin={**table.origin, **{new: old for old, new in names.items() if new != old}},
    )


def _texts(row: Row) -> dict[str, str]:
    return {name: " ".join(cell.split()) for name, cell in row.cells.items() if cell.strip()}


def _import_id(cell: str) -> str:
    """The id in a cell such as ``{"ImportId": "QID1"}``; empty if it is not one."""
    if not cell.lstrip().startswith("{"):
        return ""
    try:
        content = parse_json(cell)
    except ValueError:
        return ""
    found = content.get("ImportId") if isinstance(content, dict) else None
    return found if isinstance(found, str) else ""


def _written(table: Table, program: Program, ids: Mapping[str, str]) -> frozenset[str]:
    """The columns that the program fills; with ids, those that are of no question."""
    if not ids:
        return frozenset(filter(program.writes, table.columns))
    return frozenset(
        name
        for name in table.columns
        if not _QUESTION_ID.match(ids.get(name, "")) or program.writes(ids.get(name, ""))
    )

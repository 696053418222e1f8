"""The faults of a grid, each beside the rows that it is about.

The checks are those of ``cimento suites check``: the grid is written as a workbook and read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from cimento.app.editing import Grid, Sheet, set_cells, workbook_of
from cimento.errors import CimentoError, Fault, InputError, Severity, SuiteError
from cimento.faults import UNUSABLE_NAME, WITHOUT_LANGUAGE
from cimento.intake.roles import chosen_conditions
from cimento.io.files import write_bytes
from cimento.io.parsing import whole_number
from cimento.kinds.base import SuiteAudit
from cimento.kinds.registry import audit_suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.checks.notation import IN_EXCEL
from cimento.suites.reading import TOML
from cimento.suites.shapes import condition_columns
from cimento.suites.workbook_words import (
    ABOUT,
    ITEMS,
    PREDICTIONS,
    SHEET_WORDS,
    setting_meant,
    sheet_called,
)

if TYPE_CHECKING:
    from cimento.app.words import Words
    from cimento.intake.reading import TableReading

_MOST_ROUNDS = 50
"""Faults that end the reading of a suite, after which the rest is read without their rows."""
_PAGES = (
    Path(__file__).parents[1] / "data" / "checks",
    Path(__file__).parents[3] / "docs" / "checks",
)
"""The pages of the checks: in an installed package, and in a copy of the repository."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault with its place in the grid.

    Attributes:
        sheet: name of the sheet.
        rows: indices of the rows that it is about; none for a fault of the whole suite.
        column: index of the column; None for the whole row.
        severity: an ``error`` keeps the suite from being used.
        code: code of the check, which has a page; empty for other faults.
        where: the place in words.
        seen: what was found.
        todo: what to do about it.
    """

    sheet: str
    rows: tuple[int, ...]
    column: int | None
    severity: Severity
    code: str
    where: str
    seen: str
    todo: str


@dataclass(frozen=True, slots=True)
class Report:
    """The findings about a grid.

    Attributes:
        findings: all of them, errors first.
        holds: content of the suite in words; empty if it cannot be used.
        read: what its table was read as; None for other suites, and where nothing was read.
    """

    findings: tuple[Finding, ...]
    holds: str = ""
    read: TableReading | None = None

    @property
    def usable(self) -> bool:
        """Whether the suite can be used: it has no errors."""
        return all(finding.severity != "error" for finding in self.findings)

    def refuse_errors(self, name: str, say: Words) -> None:
        """Refuse what cannot be done with a suite that has errors; they are on the page.

        Args:
            name: name of the suite.
            say: the words of the page.

        Raises:
            InputError: it has errors.
        """
        if not self.usable:
            raise InputError(where=name, seen=say("edit.audit-faulty"))


Note: TypeAlias = tuple[tuple[str, ...], Finding]
"""A finding of the file that its cells no longer show, with the cells of its row."""


def check_grid(grid: Grid, notes: Sequence[Note] = ()) -> Report:
    """Every fault of a grid, beside the rows that it is about.

    Args:
        grid: the grid.
        notes: faults of its file, as `open_grid` gives them.
    """
    findings = list(_still(grid, notes))
    left, gone = grid, dict[str, set[int]]()
    for _ in range(_MOST_ROUNDS):
        audit = _audited(left)
        wide = _columns_by_condition(left) if audit.faults else {}
        more = [located(left, fault, wide) for fault in audit.faults]
        findings += [
            finding for finding in more if not _is_about(finding, gone) and finding not in findings
        ]
        # An error at a row can end the reading; the other rows are read without it.
        stopped = [finding for finding in more if not finding.code and finding.rows]
        if not stopped:
            break
        for finding in stopped:
            gone.setdefault(finding.sheet, set()).update(finding.rows)
        left = _without(grid, gone)
    findings = [in_own_words(finding, audit.read) for finding in findings]
    findings.sort(key=lambda finding: (finding.severity != "error", finding.rows[:1] or (-1,)))
    return Report(tuple(findings), "" if gone else audit.holds, None if gone else audit.read)


def in_own_words(finding: Finding, read: TableReading | None) -> Finding:
    """A finding that calls the good and the bad sentences as the table calls their columns.

    Args:
        finding: the finding.
        read: what the table was read as; None where it was not.
    """
    roles = {} if read is None else read.roles
    for side in ("good", "bad"):
        names = roles.get(side, ())
        if len(names) == 1 and read is not None and "condition" not in roles:
            of_side = re.compile(rf"(?<=\bcondition ){side}\b|(?<=\bcondition '){side}(?=')")
            where, seen = (
                of_side.sub(lambda _, own=names[0]: own, text)  # type: ignore[misc]
                for text in (finding.where, finding.seen)
            )
            finding = replace(finding, where=where, seen=seen)
    return finding


def _audited(grid: Grid) -> SuiteAudit:
    """The faults of a grid, and its content in words."""
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = Path(temporary) / f"{file_name(grid)}{WORKBOOK}"
        try:
            write_bytes(workbook_of(grid), path)
            return audit_suite(path, columns=grid.roles)
        except SuiteError as error:
            return SuiteAudit(tuple(error.faults), None)
        except CimentoError as error:
            where = error.where.replace(temporary, "").lstrip("/\\")
            where = (grid.file or grid.name) if where == path.name else where
            return SuiteAudit((Fault("", "error", where, error.seen, error.todo),), None)


def file_name(grid: Grid) -> str:
    """A name under which places can be told from cells."""
    return re.sub(r"[^\w-]", "_", grid.name)[:60] or "suite"


def _without(grid: Grid, gone: dict[str, set[int]]) -> Grid:
    """The grid with some rows emptied, so that the numbers of the others stay."""
    for name, rows in gone.items():
        sheet = grid.sheets[name]
        empty = {(row, column): "" for row in rows for column in range(sheet.width)}
        grid = set_cells(grid, name, empty)
    return grid


def _is_about(finding: Finding, gone: dict[str, set[int]]) -> bool:
    """Whether a finding is about nothing but rows that were left out."""
    return bool(finding.rows) and set(finding.rows) <= gone.get(finding.sheet, set())


def _still(grid: Grid, notes: Sequence[Note]) -> Iterator[Finding]:
    """The faults of the file whose rows are unchanged, where these are now."""
    for cells, finding in notes:
        if not cells:
            yield finding
            continue
        sheet = grid.sheets.get(finding.sheet)
        rows = sheet.rows if sheet is not None else ()
        now = [n for n, row in enumerate(rows) if row[: len(cells)] == cells]
        if now:
            yield replace(finding, rows=(now[0],))


_ROW = re.compile(r"(?:sheet ([\w ]+?),? )?(row|line) (\d+)")
_ITEM = re.compile(r"(?:^|, )item (.+?)(?:, .*)?$")
_CONDITION = re.compile(r"""(?:^|, )condition (["']?)(.+?)\1$""")
_PREDICTION = re.compile(r"(?:^|, )prediction (.+)$|\[\[predictions\]\] (\d+)")


def _columns_by_condition(grid: Grid) -> dict[str, int]:
    """The columns of a table with a column for each condition; empty for other tables."""
    sheet = grid.items
    if sheet.column("condition") is not None:
        return {}
    table = replace(sheet.table, conditions=chosen_conditions(grid.roles))
    names = [name.strip() for name in sheet.columns]
    return {
        condition: names.index(column) for column, condition in condition_columns(table).items()
    }


def located(grid: Grid, fault: Fault, wide: Mapping[str, int] | None = None) -> Finding:
    """A fault with the rows of the grid that its place names, and its column if it is of one.

    Args:
        grid: the grid.
        fault: a fault whose place is in the words of the checks: a row, an item, a condition, a
            prediction, a setting.
        wide: the columns of conditions, in a table with one for each.
    """
    sheet, rows = _rows_of(grid, fault, fault.where)
    if fault.places:
        every = [_rows_of(grid, fault, place) for place in fault.places]
        rows = tuple(sorted({row for name, more in every if name == sheet for row in more})) or rows
    # The page says how to name the language and how a table gets a description.
    is_language = fault.code in WITHOUT_LANGUAGE
    by_page = (is_language and ("--language" in fault.todo or TOML in fault.todo)) or (
        not grid.described and (is_language or TOML in fault.seen)
    )
    # The page has a button for what would be replaced in Excel.
    todo = "" if by_page else fault.todo.partition(IN_EXCEL)[0].rstrip()
    of_items = wide if wide and sheet == ITEMS else {}
    return Finding(
        sheet, rows, _column_of(grid.sheets[sheet], fault, rows, of_items), fault.severity,
        fault.code, fault.where, fault.seen, todo,
    )  # fmt: skip


def _rows_of(grid: Grid, fault: Fault, where: str) -> tuple[str, tuple[int, ...]]:
    """The sheet and the rows of a place that a fault is about."""
    place = _ROW.search(where)
    if place:
        named = SHEET_WORDS.get(place[1] or "", place[1])
        sheet = named if named in grid.sheets else ITEMS
        # Records are on the line before the row that they were made of.
        row = int(place[3]) - (0 if place[2] == "line" else 1)
        return sheet, (row,) if row < len(grid.sheets[sheet].rows) else ()
    if match := _PREDICTION.search(where):
        # Checks of formulas count from 0, and those of suite.toml from 1.
        return _predictions(grid, match[1] or str(int(match[2]) - 1))
    if ABOUT in grid.sheets:
        named = where.rpartition(".")[2].rpartition(":")[2].strip()
        is_language = fault.code in WITHOUT_LANGUAGE
        if is_language or f"sheet {sheet_called(ABOUT, grid.words)}" in where:
            return _setting(grid, "language" if is_language else named)
    return ITEMS, _named_rows(grid.items, where)


def _named_rows(items: Sheet, where: str) -> tuple[int, ...]:
    """The rows of an item or of a condition that a place names."""
    for expression, meaning in ((_ITEM, "item"), (_CONDITION, "condition")):
        match = expression.search(where)
        column = items.column(meaning)
        if meaning == "item" and column is None:
            column = items.column("id")
        wanted = match[match.lastindex or 0].strip().strip("'") if match else ""
        if match and column is not None:
            return tuple(n for n in items.body if items.rows[n][column].strip() == wanted)
        if match and meaning == "item" and (number := whole_number(wanted)):
            # Rows without ids are numbered.
            filled = [n for n in items.body if any(items.rows[n])]
            return tuple(filled[number - 1 : number])
    return ()


def _predictions(grid: Grid, name: str) -> tuple[str, tuple[int, ...]]:
    """The row of a prediction with a name, or of one without by its number from 0."""
    sheet = grid.sheets.get(PREDICTIONS)
    if sheet is None:
        return ITEMS, ()
    filled = [n for n in sheet.body if any(sheet.rows[n])]
    for column in (sheet.column("name"), sheet.column("formula")):
        rows = [n for n in filled if column is not None and sheet.rows[n][column].strip() == name]
        if rows:
            return PREDICTIONS, tuple(rows)
    number = whole_number(name)
    return PREDICTIONS, () if number is None else tuple(filled[number : number + 1])


def _setting(grid: Grid, name: str) -> tuple[str, tuple[int, ...]]:
    """The row of a setting on *about*."""
    rows = grid.sheets[ABOUT].rows
    labels = [setting_meant(row[0].strip()) for row in rows]
    return ABOUT, tuple(n for n, label in enumerate(labels) if name and label == name)


def _column_of(
    sheet: Sheet, fault: Fault, rows: Sequence[int], wide: Mapping[str, int]
) -> int | None:
    """The column that a fault names, as a condition or at the beginning of what was seen.

    In a table with a column for each condition, it may be the one that a row lacks, or whose cell
    is quoted.
    """
    if not rows:
        return None
    condition = _CONDITION.search(fault.where)
    if condition and (column := wide.get(condition[2], sheet.column(condition[2]))) is not None:
        return column
    lacking = [column for name, column in wide.items() if f" lacks {name}," in fault.seen]
    quoted = [
        column
        for column in wide.values()
        if len(rows) == 1 and (cell := sheet.rows[rows[0]][column]) and repr(cell) in fault.seen
    ]
    if len(told := lacking or quoted) == 1:
        return told[0]
    for column, name in enumerate(sheet.columns):
        if name.strip() and fault.seen.startswith(f"{name.strip()} "):
            return column
    is_about_name = fault.code == UNUSABLE_NAME
    return sheet.column("condition" if is_about_name else "text") if condition else None


_FENCE = re.compile(r"^```.*$", re.MULTILINE)


def page_of(code: str) -> str:
    """The page about a check in Markdown; empty if there is none.

    Args:
        code: code of the check, such as ``CIM-S004``.
    """
    if re.fullmatch(r"CIM-[A-Z]\d{3}", code):
        for folder in _PAGES:
            if (page := folder / f"{code}.md").is_file():
                # Blocks of code have titles and classes that only the site understands.
                return _FENCE.sub("```", page.read_text(encoding="utf-8"))
    return ""

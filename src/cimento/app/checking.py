"""Suites opened into a grid, checked as a grid, and written from it again.

A file with faults is opened as far as its cells can be read, and each fault is named beside the
rows that it is about. The checks are those of ``cimento suites check``: the grid is written as a
workbook and read back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from cimento.app.editing import (
    Grid,
    Sheet,
    delete_rows,
    plain_rows,
    remove_titles,
    set_cells,
    sheet_of,
)
from cimento.errors import CimentoError, Fault, InputError, Severity, SuiteError, UsageError
from cimento.io.files import read_bytes, write_bytes
from cimento.paradigms.registry import audit_suite, load_suite, paradigm_of, save_suite
from cimento.suites.formats.items import read_regions
from cimento.suites.load import is_archive, opened, suite_paths
from cimento.suites.reading import NO_LANGUAGE, TOML, errors
from cimento.suites.suite_workbook import (
    ABOUT,
    ITEMS,
    PREDICTIONS,
    SEEDS,
    SETTINGS,
    folder_sheets,
)
from cimento.suites.tables import SUFFIXES, count_titles, read_rows
from cimento.suites.workbooks import sheet_names, write_sheets

WORKBOOK = ".xlsx"
_FOLDER = (TOML, f"{ITEMS}.tsv", f"{SEEDS}.tsv", f"{ITEMS}.jsonl")
_MOST_SHEETS = 50
_MOST_ROUNDS = 50
"""Faults that end the reading of a suite, after which the rest is read without their rows."""


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
    """

    findings: tuple[Finding, ...]
    holds: str = ""

    @property
    def usable(self) -> bool:
        """Whether the suite can be used: it has no errors."""
        return all(finding.severity != "error" for finding in self.findings)


Note: TypeAlias = tuple[tuple[str, ...], Finding]
"""A finding of the file that its cells no longer show, with the cells of its row."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file opened into a grid.

    Attributes:
        grid: the grid.
        notes: faults of the file that are lost when its cells become text, such as dates; each
            holds as long as its row is unchanged.
    """

    grid: Grid
    notes: tuple[Note, ...] = ()


# --- Opening


def open_grid(path: Path) -> Opened:
    """Open a suite, with or without faults.

    Args:
        path: a workbook, a table, a suite folder, an archive of one suite, or a file in any other
            format that is read.

    Raises:
        InputError: nothing can be read there, or nothing that a grid can hold.
    """
    with opened(path) as folder:
        place = _only_suite(folder, path) if is_archive(path) else folder
        name = place.name if place.is_dir() else place.stem
        if place.is_dir():
            return Opened(_open_folder(place, name))
        if place.suffix.lower() == WORKBOOK and ABOUT in (sheets := sheet_names(read_bytes(place))):
            return _open_workbook(place, sheets)
        if place.suffix.lower() in SUFFIXES:
            return _open_table(place)
        return Opened(_converted(place, name))


def _only_suite(folder: Path, archive: Path) -> Path:
    """The suite in an unpacked archive.

    Raises:
        InputError: there is none, or there are several.
    """
    suites = suite_paths(folder)
    if len(suites) == 1:
        return suites[0]
    raise InputError(
        where=archive.name,
        seen=f"holds {len(suites)} suites, and one can be edited at a time",
        todo="Unpack it, and open one of them.",
    )


def _open_workbook(path: Path, sheets: Sequence[str]) -> Opened:
    """The sheets of a workbook that describes its suite."""
    data = read_bytes(path)
    made, faults = {}, list[Fault]()
    # *about* first, as people read it; a workbook without items gets an empty sheet.
    order = dict.fromkeys((ABOUT, ITEMS, *reversed(sheets)))
    for name in list(order)[:_MOST_SHEETS]:
        if name not in sheets:
            made[name] = sheet_of([["item", "condition", "text"]])
            continue
        rows, more = read_rows(data, Path(f"{name}{WORKBOOK}"))
        if errors(more) and not rows:
            raise SuiteError(where=path.name, faults=more)
        made[name] = sheet_of(rows, head=0 if name == ABOUT else _head(rows))
        faults += more
    grid = Grid(path.stem, made, described=True)
    return Opened(grid, tuple(_notes(grid, faults)))


def _open_table(path: Path) -> Opened:
    """A table without a description."""
    rows, faults = read_rows(read_bytes(path), path)
    if not rows:
        raise SuiteError(where=path.name, faults=faults)
    grid = Grid(path.stem, {ITEMS: sheet_of(rows, head=_head(rows))}, described=False)
    return Opened(grid, tuple(_notes(grid, faults)))


def _open_folder(folder: Path, name: str) -> Grid:
    """A suite folder; other files in it, such as a README, are not part of the grid."""
    with TemporaryDirectory(prefix="cimento-") as temporary:
        copy = Path(temporary)
        for file in _FOLDER:
            if (folder / file).is_file():
                write_bytes(read_bytes(folder / file), copy / file)
        if not ((copy / f"{ITEMS}.tsv").exists() or (copy / f"{ITEMS}.jsonl").exists()):
            return _converted(folder, name)
        try:
            return _grid_of(folder_sheets(copy), name)
        except InputError as error:
            error.where = error.where.replace(str(copy), str(folder))
            raise


def _converted(path: Path, name: str) -> Grid:
    """A suite in another format, read and written as sheets, with its faults if need be."""
    paradigm = paradigm_of(path)
    reading = paradigm.read(path)
    if reading.suite is None:
        raise SuiteError(where=str(path), faults=reading.faults)
    with TemporaryDirectory(prefix="cimento-") as temporary:
        paradigm.write(reading.suite, Path(temporary))
        return _grid_of(folder_sheets(Path(temporary)), name)


def _grid_of(sheets: dict[str, list[list[str]]], name: str) -> Grid:
    made = {sheet: sheet_of(rows) for sheet, rows in sheets.items()}
    return Grid(name, made, described=True)


def _head(rows: Sequence[Sequence[str]]) -> int:
    """The index of the row with the names of the columns."""
    filled = [n for n, row in enumerate(rows) if any(map(str.strip, row))]
    if not filled:
        return 0
    return filled[count_titles([rows[n] for n in filled])]


def _notes(grid: Grid, faults: Iterable[Fault]) -> Iterator[Note]:
    for fault in faults:
        finding = located(grid, fault)
        # A title above the names of the columns stays in the grid, where the checks see it.
        if fault.code != "CIM-S009":
            rows = grid.sheets[finding.sheet].rows
            yield (rows[finding.rows[0]] if finding.rows else ()), finding


# --- Checking


def check_grid(grid: Grid, notes: Sequence[Note] = ()) -> Report:
    """Every fault of a grid, beside the rows that it is about.

    Args:
        grid: the grid.
        notes: faults of its file, as `open_grid` gives them.
    """
    findings = list(_still(grid, notes))
    left, gone = grid, dict[str, set[int]]()
    for _ in range(_MOST_ROUNDS):
        faults, holds = _audited(left)
        more = [located(left, fault) for fault in faults]
        findings += [each for each in more if not _is_about(each, gone) and each not in findings]
        # An error at a row can end the reading; the other rows are read without it.
        stopped = [each for each in more if not each.code and each.rows]
        if not stopped:
            break
        for each in stopped:
            gone.setdefault(each.sheet, set()).update(each.rows)
        left = _without(grid, gone)
    findings.sort(key=lambda each: (each.severity != "error", each.rows[:1] or (-1,)))
    return Report(tuple(findings), "" if gone else holds)


def _audited(grid: Grid) -> tuple[tuple[Fault, ...], str]:
    """The faults of a grid, and its content in words."""
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = Path(temporary) / f"{_file_name(grid)}{WORKBOOK}"
        try:
            write_grid(grid, path)
            audit = audit_suite(path)
        except SuiteError as error:
            return tuple(error.faults), ""
        except CimentoError as error:
            where = error.where.replace(temporary, "").lstrip("/\\")
            return (Fault("", "error", where, error.seen, error.todo),), ""
    return audit.faults, audit.holds


def _file_name(grid: Grid) -> str:
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
_CONDITION = re.compile(r"(?:^|, )condition '?(.+?)'?$")
_PREDICTION = re.compile(r"(?:^|, )prediction (.+)$|\[\[predictions\]\] (\d+)")


def located(grid: Grid, fault: Fault) -> Finding:
    """A fault with the rows of the grid that its place names.

    Args:
        grid: the grid.
        fault: a fault whose place is in the words of the checks: a row, an item, a condition, a
            prediction, a setting.
    """
    sheet, rows = _rows_of(grid, fault)
    # A bare table is told how to get a description by the page, not by options of commands.
    bare = not grid.described and (fault.code == NO_LANGUAGE or TOML in fault.seen)
    todo = "" if bare else fault.todo
    return Finding(
        sheet, rows, _column_of(grid.sheets[sheet], fault) if rows else None, fault.severity,
        fault.code, fault.where, fault.seen, todo,
    )  # fmt: skip


def _rows_of(grid: Grid, fault: Fault) -> tuple[str, tuple[int, ...]]:
    """The sheet and the rows that a fault is about."""
    place = _ROW.search(fault.where)
    if place:
        sheet = place[1] if place[1] in grid.sheets else ITEMS
        # Records stand on the line before the row that they were made of.
        row = int(place[3]) - (0 if place[2] == "line" else 1)
        return sheet, (row,) if row < len(grid.sheets[sheet].rows) else ()
    if found := _PREDICTION.search(fault.where):
        # Checks of formulas count from 0, and those of suite.toml from 1.
        return _predictions(grid, found[1] or str(int(found[2]) - 1))
    if ABOUT in grid.sheets:
        named = fault.where.rpartition(".")[2].rpartition(":")[2].strip()
        if fault.code == NO_LANGUAGE or f"sheet {ABOUT}" in fault.where:
            return _setting(grid, "language" if fault.code == NO_LANGUAGE else named)
    return ITEMS, _named_rows(grid.items, fault.where)


def _named_rows(items: Sheet, where: str) -> tuple[int, ...]:
    """The rows of an item or of a condition that a place names."""
    for expression, meaning in ((_ITEM, "item"), (_CONDITION, "condition")):
        found = expression.search(where)
        column = items.column(meaning)
        if found and column is not None:
            wanted = found[1].strip()
            return tuple(n for n in items.body if items.rows[n][column].strip() == wanted)
        if found and meaning == "item" and found[1].isdecimal():
            # Rows without ids are numbered.
            filled = [n for n in items.body if any(items.rows[n])]
            return tuple(filled[int(found[1]) - 1 : int(found[1])])
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
    number = int(name) if name.isdecimal() else len(filled)
    return PREDICTIONS, tuple(filled[number : number + 1])


def _setting(grid: Grid, name: str) -> tuple[str, tuple[int, ...]]:
    """The row of a setting on *about*."""
    rows = grid.sheets[ABOUT].rows
    return ABOUT, tuple(n for n, row in enumerate(rows) if name and row[0].strip() == name)


def _column_of(sheet: Sheet, fault: Fault) -> int | None:
    """The column that a fault names, as a condition or at the beginning of what was seen."""
    condition = _CONDITION.search(fault.where)
    if condition and (column := sheet.column(condition[1])) is not None:
        return column
    for column, name in enumerate(sheet.columns):
        if name.strip() and fault.seen.startswith(f"{name.strip()} "):
            return column
    return sheet.column("text") if condition else None


# --- Writing


def write_grid(grid: Grid, path: Path) -> Path:
    """Write a grid as a workbook, with or without faults.

    Raises:
        InputError: a text is too long for a cell.
        StorageError: the file cannot be written.
    """
    return write_bytes(workbook_of(grid), path)


def workbook_of(grid: Grid) -> bytes:
    """The bytes of a grid's workbook.

    Raises:
        InputError: a text is too long for a cell.
    """
    sheets = {name: plain_rows(sheet) for name, sheet in grid.sheets.items()}
    return write_sheets(sheets, where=grid.name)


def write_folder(grid: Grid, folder: Path) -> Path:
    """Write a grid without errors as a suite folder, which must not exist.

    Raises:
        SuiteError: the grid has errors.
        StorageError: the folder exists or cannot be written.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(grid, Path(temporary) / f"{grid.name}{WORKBOOK}")
        return save_suite(load_suite(path), folder)


def describe(grid: Grid, *, language: str) -> Grid:
    """A bare table as a suite with a sheet *about*, in which it can say its language.

    Args:
        grid: a grid of one sheet, with or without faults.
        language: ISO 639-1 code of the sentences; empty to leave it open.

    Raises:
        UsageError: the code is none.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(grid, Path(temporary) / f"{_file_name(grid)}{WORKBOOK}")
        try:
            loaded = load_suite(path, language=language)
        except UsageError:
            raise
        except CimentoError:
            return _with_description(grid, language)
        written = save_suite(loaded, Path(temporary) / "described.xlsx")
        described = open_grid(written).grid
    return replace(described, name=grid.name)


def _with_description(grid: Grid, language: str) -> Grid:
    """A table that is no suite yet, with a description and a place for predictions."""
    column = grid.items.column("text")
    cells = grid.items.values(column) if column is not None else []
    counts = Counter(len(read_regions(cell)[0]) for cell in cells if "|" in cell)
    usual = counts.most_common(1)[0][0] if counts else 0
    regions = " | ".join(f"region {number}" for number in range(1, usual + 1))
    known = {"name": grid.name, "language": language, "regions": regions}
    about = [[name, known.get(name, ""), what] for name, (what, _) in SETTINGS.items()]
    sheets = {
        ABOUT: sheet_of([["setting", "value", "what it is"], *about]),
        ITEMS: remove_titles(grid, ITEMS).items,
        PREDICTIONS: sheet_of([["name", "formula", "comment"]]),
    }
    return replace(grid, sheets=sheets, described=True)


def tidied(grid: Grid, sheet: str) -> Grid:
    """The grid without the empty rows of a sheet."""
    rows = grid.sheets[sheet].rows
    return delete_rows(grid, sheet, [n for n, row in enumerate(rows) if not any(row)])

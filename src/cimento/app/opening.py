"""Suites opened into a grid, with or without faults, and written from it again."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.app.checking import Note, check_grid, file_name, located
from cimento.app.columns_made import called_as_made, lacked
from cimento.app.editing import (
    Grid,
    Sheet,
    set_cells,
    sheet_of,
    workbook_of,
)
from cimento.errors import CimentoError, Fault, InputError, SuiteError, UsageError, counted
from cimento.faults import errors
from cimento.intake.decoding import reading_language
from cimento.intake.layout import count_titles
from cimento.intake.roles import FORCED, alone
from cimento.intake.tables import SUFFIXES, read_raw_rows
from cimento.intake.workbooks import sheet_names
from cimento.io.files import file_digest, read_bytes, refuse_existing, write_bytes
from cimento.kinds.registry import load_suite, paradigm_of, save_suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.design import with_design
from cimento.suites.formats.items import read_regions
from cimento.suites.formats.native import TABLES
from cimento.suites.languages import LANGUAGE_CODE
from cimento.suites.load import is_archive, opened, suite_files, suite_paths
from cimento.suites.reading import TOML
from cimento.suites.sources import recorded_source
from cimento.suites.suite_workbook import (
    ABOUT,
    HOW_TO,
    ITEMS,
    PREDICTIONS,
    SEEDS,
    SETTINGS,
    folder_sheets,
)

_FOLDER = (TOML, f"{ITEMS}.tsv", f"{SEEDS}.tsv", f"{ITEMS}.jsonl")
_MOST_SHEETS = 50


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file opened into a grid.

    Attributes:
        grid: the grid.
        notes: faults of the file that are lost when its cells become text, such as dates; each
            holds as long as its row is unchanged.
    """

    grid: Grid
    notes: tuple[Note, ...] = ()


def open_grid(path: Path, *, language: str = "") -> OpenFile:
    """Open a suite, with or without faults.

    Args:
        path: a workbook, a table, a suite folder, an archive of one suite, or a file in any other
            format that is read.
        language: ISO 639-1 code of the language that a suite without a description may be in,
            which decides between encodings of Windows; empty if nothing is known.

    Raises:
        InputError: nothing can be read there, or nothing that a grid can hold.
    """
    with opened(path) as folder, reading_language(language):
        place = _only_suite(folder, path) if is_archive(path) else folder
        name = place.name if place.is_dir() else place.stem
        if recorded_source(place):
            raise InputError(
                where=path.name,
                seen=f"is a published dataset of {counted(len(suite_paths(place)), 'suite')}",
                todo="To change one of them, put a copy of its file into the folder suites.",
            )
        if place.is_dir():
            return OpenFile(_open_folder(place, name))
        if place.suffix.lower() == WORKBOOK and ABOUT in (sheets := sheet_names(read_bytes(place))):
            return _open_workbook(place, list(sheets))
        if place.suffix.lower() in SUFFIXES:
            return _open_table(place)
        return OpenFile(_converted(place, name))


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


def _open_workbook(path: Path, sheets: Iterable[str]) -> OpenFile:
    """The sheets of a workbook that describes its suite."""
    data = read_bytes(path)
    made, faults = {}, list[Fault]()
    # *about* first, as people read it; a workbook without items gets an empty sheet.
    order = dict.fromkeys((ABOUT, ITEMS, *sheets))
    for name in list(order)[:_MOST_SHEETS]:
        if name not in sheets:
            made[name] = sheet_of([["item", "condition", "text"]])
            continue
        rows, more = read_raw_rows(data, Path(f"{name}{WORKBOOK}"))
        if errors(more) and not rows:
            raise SuiteError(where=path.name, faults=more)
        made[name] = sheet_of(rows, head=0 if name == ABOUT else _head(rows))
        faults += more
    grid = Grid(path.stem, made, described=True)
    return OpenFile(grid, tuple(_notes(grid, faults)))


def _open_table(path: Path) -> OpenFile:
    """A table without a description."""
    rows, faults = read_raw_rows(read_bytes(path), path)
    if not rows and not faults:
        return OpenFile(Grid(path.stem, {ITEMS: sheet_of([["good", "bad"]])}, described=False))
    if not rows:
        raise SuiteError(where=path.name, faults=faults)
    sheets = {ITEMS: sheet_of(rows, head=_head(rows))}
    grid = Grid(path.stem, sheets, described=False, file=path.name)
    return OpenFile(grid, tuple(_notes(grid, faults)))


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
    reading = paradigm.reader.read(path)
    if reading.suite is None:
        raise SuiteError(where=str(path), faults=reading.faults)
    with TemporaryDirectory(prefix="cimento-") as temporary:
        paradigm.reader.write(reading.suite, Path(temporary))
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


def write_grid(grid: Grid, path: Path) -> Path:
    """Write a grid as a workbook, with or without faults.

    Raises:
        InputError: a text is too long for a cell.
        StorageError: the file cannot be written.
    """
    return write_bytes(workbook_of(grid), path)


def write_folder(grid: Grid, folder: Path) -> Path:
    """Write a grid without errors as a suite folder, which must not exist.

    Raises:
        SuiteError: the grid has errors.
        StorageError: the folder exists or cannot be written.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(grid, Path(temporary) / f"{grid.name}{WORKBOOK}")
        return save_suite(load_suite(path), folder)


def describe(grid: Grid, *, language: str, path: Path | None = None) -> Grid:
    """A suite that says its language; a bare table gets a sheet *about* for it.

    Args:
        grid: a grid, with or without faults.
        language: ISO 639-1 code of the sentences; empty to leave it open.
        path: the file that the grid was opened from, whose letters may be others in that language.

    Raises:
        UsageError: it is not a code.
    """
    if grid.described:
        about = grid.sheets[ABOUT].rows
        row = next((n for n, row in enumerate(about) if row[0].strip() == "language"), len(about))
        return set_cells(grid, ABOUT, {(row, 0): "language", (row, 1): language})
    if path is not None and path.is_file():
        grid = _as_in(language, grid, path)
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(grid, Path(temporary) / f"{file_name(grid)}{WORKBOOK}")
        if language and not LANGUAGE_CODE.fullmatch(language):
            raise UsageError(
                where=repr(language),
                seen="it is not an ISO 639-1 code",
                todo="Give two letters: it.",
            )
        try:
            loaded = load_suite(path, language=language, columns=grid.roles)
            written = save_suite(loaded, Path(temporary) / "described.xlsx")
            described = _with_own_table(grid, open_grid(written).grid)
        except CimentoError:
            with reading_language(language, grid.roles):
                faulty = _read_with_faults(grid, path, language)
            described = faulty or _with_description(grid, language)
    # The suite is called as its file is, which may have marks that a place in a message has not.
    about = described.sheets[ABOUT].rows
    named = {(n, 1): grid.name for n, row in enumerate(about) if row[0] == "name"}
    return replace(set_cells(described, ABOUT, named), name=grid.name)


def with_plain_levels(grid: Grid, factors: Mapping[str, tuple[str, str]]) -> Grid:
    """A grid as a two by two design, with its factors and predictions; a table is described first.

    Args:
        grid: a grid without errors, in whose items the levels of two columns are crossed.
        factors: the plain and the other level of each of the two columns.

    Raises:
        CimentoError: no suite can be made of the grid.
    """
    described = grid if grid.described else describe(grid, language="")
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_grid(described, Path(temporary) / f"{file_name(grid)}{WORKBOOK}")
        suite = load_suite(path).sentences
        if suite is None:
            raise InputError(where=grid.name, seen="its items do not compare sentences")
        designed = with_design(replace(suite, factors=dict(factors), predictions=()))
        made = open_grid(save_suite(load_suite(designed), Path(temporary) / "designed.xlsx")).grid
    kept = _with_own_table(grid, made)
    return replace(kept, sheets={**described.sheets, **kept.sheets}, name=grid.name)


def _with_own_table(grid: Grid, described: Grid) -> Grid:
    """A description with the table itself in place of the rows that were made of it.

    The table stays if it reads the same beside the description; what the description needs and the
    table lacks, such as names of conditions that are made of two factors, comes in as few columns
    behind it as will do. A column that was chosen for a role is then called by it; headings, sums
    and what is below the table are left out.
    """
    called = {name.removesuffix(FORCED): role for role, name in grid.roles.items()}
    if any(alone(role) != role for role in grid.roles):
        called = {}  # several columns of one role become one, behind the table
    names = [called.get(name.strip(), name) for name in grid.items.columns]
    own = sheet_of([names, *(grid.items.rows[n] for n in grid.read_rows())])
    sheets = {name: sheet for name, sheet in described.sheets.items() if name != HOW_TO}
    made = _without_own_name(described, own)
    # How to is about the rows that were made of the table.
    kept = replace(described, sheets={**sheets, ITEMS: own})
    if _reads_as(kept, made):
        return kept
    own = called_as_made(own, made.items)
    if _reads_as(kept := replace(kept, sheets={**kept.sheets, ITEMS: own}), made):
        return kept
    new = lacked(own, made.items)
    if not new or not _reads_as(kept := _beside(kept, own, new), made):
        return described
    for name in [*new]:
        fewer = {other: cells for other, cells in new.items() if other != name}
        if fewer and _reads_as(less := _beside(kept, own, fewer), made):
            kept, new = less, fewer
    return kept


def _without_own_name(described: Grid, own: Sheet) -> Grid:
    """A description whose items are not said to be of a phenomenon called as the suite."""
    items = described.items
    place = items.column("phenomenon")
    named = {cell.strip() for cell in items.values(place)} if place is not None else set()
    if own.column("phenomenon") is not None or place is None or len(named) != 1:
        return described
    if named != {described.settings().get("name", "")}:
        return described
    rows = tuple((*row[:place], *row[place + 1 :]) for row in items.rows)
    return described.with_sheet(ITEMS, replace(items, rows=rows))


def _beside(described: Grid, own: Sheet, new: Mapping[str, Sequence[str]]) -> Grid:
    """A description whose table has some columns behind its own."""
    added = [[*new], *map(list, zip(*new.values(), strict=True))]
    both = zip(own.rows, added, strict=True)
    return described.with_sheet(ITEMS, sheet_of([*row, *cells] for row, cells in both))


def _reads_as(grid: Grid, other: Grid) -> bool:
    """Whether a grid is the suite of another one; it may have more columns of its items."""
    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = Path(temporary) / f"{file_name(grid)}{WORKBOOK}"
        try:
            loaded = load_suite(write_grid(grid, path))
            again = open_grid(save_suite(loaded, Path(temporary) / "again.xlsx")).grid
        except CimentoError:
            return False
    apart = {name: other.sheets[name] for name in other.sheets if name not in (ITEMS, HOW_TO)}
    same = {name: again.sheets.get(name) for name in apart} == apart
    return same and _columns(other.items).items() <= _columns(again.items).items()


def _columns(sheet: Sheet) -> dict[str, tuple[str, ...]]:
    """The cells of each column by its name."""
    return {name: tuple(sheet.values(n)) for n, name in enumerate(sheet.columns)}


def _as_in(language: str, grid: Grid, path: Path) -> Grid:
    """A grid whose cells are as its file has them in a language; those that were edited stay."""
    read = (open_grid(path).grid, open_grid(path, language=language).grid)
    guessed, known = ([cell for row in one.items.rows for cell in row] for one in read)
    if len(guessed) != len(known) or guessed == known:
        return grid
    other = dict(zip(guessed, known, strict=True))
    rows = tuple(tuple(other.get(cell, cell) for cell in row) for row in grid.items.rows)
    return replace(grid, sheets={**grid.sheets, ITEMS: replace(grid.items, rows=rows)})


def _read_with_faults(given: Grid, path: Path, language: str) -> Grid | None:
    """A table that was read as a suite with errors, as that suite with a description.

    None if it is not one, or where an error of the file, such as a date among texts, would be lost.

    Args:
        given: the table.
        path: a file with it.
        language: ISO 639-1 code of the sentences.
    """
    try:
        before = errors(paradigm_of(path).reader.read(path).faults)
        made = describe(_converted(path, path.stem), language=language)
    except CimentoError:
        return None
    grid = _with_own_table(given, made)
    if grid is made:  # which reads no table with errors again
        sheets = {name: sheet for name, sheet in made.sheets.items() if name != HOW_TO}
        rows = [given.items.columns, *(given.items.rows[n] for n in given.read_rows())]
        kept = replace(made, sheets={**sheets, ITEMS: sheet_of(rows)})
        if _error_codes(kept) == _error_codes(made):
            return kept
    after = {finding.code for finding in check_grid(grid).findings}
    return grid if after.issuperset(fault.code for fault in before) else None


def _error_codes(grid: Grid) -> list[str]:
    """The codes of the errors of a grid."""
    found = check_grid(grid).findings
    return sorted(finding.code for finding in found if finding.severity == "error")


def _with_description(grid: Grid, language: str) -> Grid:
    """A table that is not a suite yet, with a description and a place for predictions.

    Headings, sums and what is below the table are left out, since only tables without a
    description may have them.
    """
    column = grid.items.column("text")
    cells = grid.items.values(column) if column is not None else []
    counts = Counter(len(read_regions(cell)[0]) for cell in cells if "|" in cell)
    usual = counts.most_common(1)[0][0] if counts else 0
    regions = " | ".join(f"region {number}" for number in range(1, usual + 1))
    known = {"name": grid.name, "language": language, "regions": regions}
    about = [[name, known.get(name, ""), what] for name, (what, _) in SETTINGS.items()]
    sheets = {
        ABOUT: sheet_of([["setting", "value", "what it is"], *about]),
        ITEMS: sheet_of([grid.items.columns, *(grid.items.rows[n] for n in grid.read_rows())]),
        PREDICTIONS: sheet_of([["name", "formula", "comment"]]),
    }
    return replace(grid, sheets=sheets, described=True, roles={})


def digest_of(path: Path) -> str:
    """The digest of a suite's files, to notice when another program writes them; empty if none."""
    files = suite_files(path) if path.exists() else ()
    return file_digest(*files) if files else ""


def save_grid(grid: Grid, path: Path) -> Path:
    """Write a grid over the suite that it was opened from.

    Args:
        grid: the grid, with or without errors.
        path: a workbook, or a folder, whose other files stay. For a file in another format, a
            workbook of the same name is written beside it.

    Returns:
        The path that was written.

    Raises:
        SuiteError: a folder cannot hold a grid with errors.
        StorageError: the file exists already beside one in another format, or cannot be written.
    """
    if path.is_dir():
        with TemporaryDirectory(prefix="cimento-") as temporary:
            made = write_folder(grid, Path(temporary) / "suite")
            for table in set(TABLES) - {f"{ITEMS}.tsv"}:
                (path / table).unlink(missing_ok=True)
            # The description is last: the folder is a suite of new items only with it.
            for file in sorted(made.iterdir(), key=lambda file: file.name == TOML):
                write_bytes(read_bytes(file), path / file.name)
        return path
    if path.suffix.lower() != WORKBOOK:
        path = path.with_name(path.stem + WORKBOOK)
        refuse_existing(path)
    return write_grid(grid, path)


def zipped_folder(grid: Grid) -> bytes:
    """A suite folder in a zip archive.

    Raises:
        SuiteError: the suite has errors.
    """
    with TemporaryDirectory(prefix="cimento-") as temporary:
        folder = write_folder(grid, Path(temporary) / "suite")
        return zipped({f"{grid.name}/{file.name}": file for file in sorted(folder.iterdir())})


def zipped(files: Mapping[str, Path]) -> bytes:
    """Files in a zip archive, by their names in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.write(file, name)
    return made.getvalue()

"""Suites opened into a grid, with or without faults, and written from it again."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cimento.app.checking import Note, located
from cimento.app.editing import (
    Grid,
    sheet_of,
    workbook_of,
)
from cimento.errors import Fault, InputError, SuiteError, counted
from cimento.faults import errors
from cimento.intake.decoding import reading_language
from cimento.intake.layout import count_titles
from cimento.intake.read_once import sheet_names
from cimento.intake.tables import SUFFIXES, read_raw_rows
from cimento.io.files import file_digest, read_bytes, refuse_existing, write_bytes
from cimento.kinds.registry import load_suite, paradigm_of, save_suite
from cimento.suites.builtin import WORKBOOK
from cimento.suites.formats.native import TABLES
from cimento.suites.load import is_archive, opened, suite_files, suite_paths
from cimento.suites.reading import TOML
from cimento.suites.sources import recorded_source
from cimento.suites.suite_workbook import folder_sheets, suite_sheets
from cimento.suites.workbook_words import (
    ABOUT,
    ENGLISH,
    ITEMS,
    SEEDS,
    heading,
    in_english,
    language_of_sheet,
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


def open_grid(path: Path, *, language: str = "", words: str = ENGLISH) -> OpenFile:
    """Open a suite, with or without faults.

    Args:
        path: a workbook, a table, a suite folder, an archive of one suite, or a file in any other
            format that is read.
        language: ISO 639-1 code of the language that a suite without a description may be in,
            which decides between encodings of Windows; empty if nothing is known.
        words: language of the names of sheets and settings in the workbook that will be made of
            another file; a workbook keeps its own.

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
            return OpenFile(replace(_open_folder(place, name), words=words))
        if called := suite_sheets(place):
            return _open_workbook(place, called)
        if place.suffix.lower() in SUFFIXES:
            made = _open_table(place, words)
            return replace(made, grid=replace(made.grid, words=words))
        return OpenFile(replace(converted(place, name), words=words))


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


def _open_workbook(path: Path, called: Mapping[str, str]) -> OpenFile:
    """The sheets of a workbook that describes its suite.

    Args:
        path: path of the workbook.
        called: what its sheets are called, as `suite_sheets` gives it.
    """
    data = read_bytes(path)
    words = language_of_sheet(called[ABOUT])
    meant = {own: name for name, own in called.items()}
    there = [meant.get(own, own) for own in sheet_names(data)]
    found, faults = dict[str, list[list[str]]](), list[Fault]()
    # *about* first, as people read it; a workbook without items gets an empty sheet.
    for name in list(dict.fromkeys((ABOUT, ITEMS, *there)))[:_MOST_SHEETS]:
        if name not in there:
            found[name] = [[heading(role, words) for role in ("item", "condition", "text")]]
            continue
        found[name], more = read_raw_rows(data, Path(f"{called.get(name, name)}{WORKBOOK}"))
        if errors(more) and not found[name]:
            raise SuiteError(where=path.name, faults=more)
        faults += more
    made = {
        name: sheet_of(rows, head=0 if name == ABOUT else _head(rows))
        for name, rows in in_english(found, words).items()
    }
    grid = Grid(path.stem, made, described=True, words=words)
    return OpenFile(grid, tuple(_notes(grid, faults)))


def _open_table(path: Path, words: str) -> OpenFile:
    """A table without a description; an empty one has headings in a language."""
    rows, faults = read_raw_rows(read_bytes(path), path)
    if not rows and not faults:
        empty = sheet_of([[heading(side, words) for side in ("good", "bad")]])
        return OpenFile(Grid(path.stem, {ITEMS: empty}, described=False))
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
            return converted(folder, name)
        try:
            return _grid_of(folder_sheets(copy), name)
        except InputError as error:
            error.where = error.where.replace(str(copy), str(folder))
            raise


def converted(path: Path, name: str) -> Grid:
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
        rows = grid.sheets[finding.sheet].rows
        # A title above the names of the columns stays in the grid, where the checks see it; a row
        # of names that went into the one below it does not.
        is_seen = finding.rows and any(map(str.strip, rows[finding.rows[0]]))
        if fault.code != "CIM-S009" or not is_seen:
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

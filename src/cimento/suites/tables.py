"""Tables as people and spreadsheet programs write them: TSV, CSV and xlsx, all cells as text."""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import Fault
from cimento.parsing import MAX_GROWTH, MAX_UNPACKED_BYTES, SMALL_BYTES
from cimento.suites.faults import fault
from cimento.suites.reading import decode_table

SUFFIXES = (".tsv", ".csv", ".tab", ".txt", ".xlsx")
MOST_COLUMNS = 16_384
"""As many as a spreadsheet program has."""
MOST_PADDING = 1_000_000
"""Cells that rows may lack at their ends, all together: they are read as empty ones."""
MOST_CELLS = 20_000_000
"""Of a workbook, empty ones included."""
MOST_FAULTS = 1_000

_DELIMITERS = {".csv": (",", ";", "\t"), ".tab": ("\t",), ".txt": ("\t", ";", ",")}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        number: as a spreadsheet program counts, the header line being row 1.
        cells: column name to text, as it stands in the file.
    """

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header line.

    Attributes:
        name: of the file.
        columns: the header.
        rows: those that are not empty.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def where(self, row: Row) -> str:
        """The place of a row, for messages."""
        return f"{self.name} row {row.number}"

    def find(self, name: str) -> str | None:
        """The column of that name, capitals ignored where none is written just so."""
        if name in self.columns:
            return name
        return next((each for each in self.columns if each.casefold() == name), None)


def read_table(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """Read a table; the suffix of the path tells how.

    ``.xlsx`` is a workbook; ``.tsv`` is separated by tabs and has no quoting; ``.csv``, ``.tab``
    and ``.txt`` are separated by whatever their header line is separated by, and quoted as in
    RFC 4180.

    Args:
        data: the content of the file.
        path: its name.

    Returns:
        The table, None where there is none, and the faults found.
    """
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        records, faults = _read_workbook(data, name=path.name)
    else:
        text, faults = decode_table(data, name=path.name)
        if text is None:
            return None, faults
        if suffix == ".tsv":
            records = _split_plain(text)
        else:
            records, more = _split_quoted(text, _DELIMITERS[suffix], name=path.name)
            faults += more
    if any(each.severity == "error" for each in faults):
        return None, faults
    table, more = _with_header(records, name=path.name)
    return table, faults + more


def _split_plain(text: str) -> list[list[str]]:
    return [line.removesuffix("\r").split("\t") for line in text.split("\n")]


def _split_quoted(
    text: str, delimiters: Sequence[str], *, name: str
) -> tuple[list[list[str]], list[Fault]]:
    first, _, rest = text.partition("\n")
    if first.startswith("sep=") and len(first.strip()) == len("sep=,"):
        # Excel's own hint; the line is kept, empty, so that rows are counted as in the file.
        delimiter, text = first[4], "\n" + rest
    else:
        delimiter = max(delimiters, key=first.count)
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            records.append(record)  # noqa: PERF402 - the rows before an error tell its place
    except csv.Error as error:
        where = f"{name} row {len(records) + 1}"
        todo = "Is a quotation mark left open? One inside a quoted cell must be doubled."
        return records, [fault("CIM-S002", where=where, seen=f"Not CSV: {error}.", todo=todo)]
    return records, []


def _read_workbook(data: bytes, *, name: str) -> tuple[list[list[str]], list[Fault]]:
    import zipfile
    import zlib
    from xml.etree.ElementTree import ParseError

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    # What zipfile, the XML parser and openpyxl raise, each at its own place, for damaged files.
    damages: tuple[type[Exception], ...]
    damages = (zipfile.BadZipFile, zlib.error, ParseError, InvalidFileException, OSError, EOFError)
    damages += (KeyError, IndexError, ValueError, TypeError, AttributeError, RuntimeError)
    if too_large := _growth(data):
        todo = "Remove what is not text, or save it as CSV UTF-8."
        return [], [fault("CIM-S002", where=name, seen=too_large, todo=todo)]
    try:
        with warnings.catch_warnings():
            # openpyxl warns of formats, validations and styles that it drops; none is text.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            try:
                sheet = book["items"] if "items" in book.sheetnames else book.worksheets[0]
                sheet.reset_dimensions()
                rows = list(_bounded(sheet.iter_rows(values_only=True)))
            finally:
                book.close()
    except damages:
        seen = "Not an Excel workbook, or a damaged or protected one."
        todo = "Save it again as .xlsx, without a password, or as CSV UTF-8."
        return [], [fault("CIM-S002", where=name, seen=seen, todo=todo)]
    faults: list[Fault] = []
    return list(_cells_as_text(rows, name=name, faults=faults)), faults


def _growth(data: bytes) -> str:
    """Why a workbook is too large to be unpacked, as a sentence; empty where it is not."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, IndexError, OSError):
        return ""  # openpyxl says what is wrong with it
    most = min(max(SMALL_BYTES, MAX_GROWTH * len(data)), MAX_UNPACKED_BYTES)
    if unpacked <= most:
        return ""
    return f"The workbook grows from {len(data):,} to {unpacked:,} bytes."


def _bounded(rows: Iterable[Sequence[object]]) -> Iterator[list[object]]:
    """The rows without the empty cells at their ends, as long as there are not too many cells.

    Raises:
        ValueError: there are.
    """
    seen = 0
    for row in rows:
        seen += len(row)
        if seen > MOST_CELLS:
            raise ValueError("too many cells")
        filled = next((n for n in range(len(row), 0, -1) if row[n - 1] is not None), 0)
        yield list(row[:filled])


def _cells_as_text(
    rows: Iterable[Sequence[object]], *, name: str, faults: list[Fault]
) -> Iterator[list[str]]:
    """Numbers and truth values as they are shown; what a spreadsheet made of words is a fault."""
    for number, row in enumerate(rows, start=1):
        record = []
        for value in row:
            if value is None:
                record.append("")
            elif isinstance(value, bool):
                record.append("true" if value else "false")
            elif isinstance(value, float) and value.is_integer():
                record.append(str(int(value)))
            elif isinstance(value, str | int | float):
                record.append(str(value))
            else:
                seen = f"A cell holds {value}, which is a date or a time and not text."
                todo = "Format the column as text and type the cell again."
                faults.append(fault("CIM-S003", where=f"{name} row {number}", seen=seen, todo=todo))
                record.append(str(value))
        yield record


def _with_header(records: list[list[str]], *, name: str) -> tuple[Table | None, list[Fault]]:
    filled = [
        (number, record)
        for number, record in enumerate(records, start=1)
        if any(cell.strip() for cell in record)
    ]
    if not filled:
        return None, [fault("CIM-S002", where=name, seen="The table is empty.", todo="Fill it in.")]
    (header_row, header), *body = filled
    columns = [cell.strip() for cell in header]
    lacking = sum(max(0, len(columns) - len(record)) for _, record in body)
    if len(columns) > MOST_COLUMNS or lacking > MOST_PADDING:
        seen = f"The table has {len(columns):,} columns, and its rows lack {lacking:,} cells."
        todo = "Is the first row the names of the columns, separated as the cells are?"
        return None, [fault("CIM-S002", where=name, seen=seen, todo=todo)]
    times = Counter(columns)
    faults = [
        fault(
            "CIM-S004",
            where=f"{name} row {header_row}",
            seen=f"The column {column!r} is there twice.",
            todo="Rename one of the two.",
        )
        for column, number in times.items()
        if column and number > 1
    ]
    rows = []
    for number, record in body:
        beyond = [
            cell
            for index, cell in enumerate(record)
            if cell.strip() and (index >= len(columns) or not columns[index])
        ]
        if beyond:
            where, seen = f"{name} row {number}", f"The cell {beyond[0]!r} is under no column name."
            faults.append(fault("CIM-S004", where=where, seen=seen))
            if len(faults) >= MOST_FAULTS:
                break  # every further row would say the same
        padded = record + [""] * (len(columns) - len(record))
        cells = {column: cell for column, cell in zip(columns, padded, strict=False) if column}
        rows.append(Row(number, cells))
    return Table(name, tuple(column for column in columns if column), tuple(rows)), faults

"""Excel workbooks as rows of text, opened with care: they may come from strangers."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence

from cimento.errors import Fault
from cimento.io.parsing import MAX_GROWTH, MAX_UNPACKED_BYTES, SMALL_BYTES
from cimento.suites.faults import fault

MOST_ROWS = 1_048_576
"""As many as a spreadsheet program has, empty ones included."""
MOST_CELLS = 20_000_000
"""Empty ones included."""
MOST_TAGS = 20_000
"""Of styles, names, validations and whatever else is no cell, in one part of a workbook: the
library makes an object of each, a thousand times as large as the tag."""
MOST_FAULTS = 1_000
SMALL_CELLS = 300_000
"""Cells that a workbook may have, however small it is; else one for every two bytes."""

_CELLS = re.compile(rb"<(?:\w+:)?(?:c|si)[\s/>]")
_OTHERS = re.compile(rb"<(?!/|(?:\w+:)?(?:row|c|v|is|t|f|si|r|rPr)[\s/>])")
_SHEETS = ("xl/worksheets/", "xl/sharedstrings")
_CHUNK = 1 << 20


def read_workbook(
    data: bytes, *, name: str, only_header: bool = False
) -> tuple[list[list[str]], list[Fault]]:
    """The rows of a workbook: those of its sheet ``items``, else of the first one.

    Args:
        data: the content of the file.
        name: of the file, for messages.
        only_header: leave out whatever follows the first row that is not empty.

    Returns:
        The rows without the empty cells at their ends, and the faults found.
    """
    import zlib
    from xml.etree.ElementTree import ParseError

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    # What zipfile, the XML parser and openpyxl raise, each at its own place, for damaged files.
    damages: tuple[type[Exception], ...]
    damages = (zipfile.BadZipFile, zlib.error, ParseError, InvalidFileException, OSError, EOFError)
    damages += (KeyError, IndexError, ValueError, TypeError, AttributeError, RuntimeError)
    most = min(max(SMALL_BYTES, MAX_GROWTH * len(data)), MAX_UNPACKED_BYTES)
    try:
        if unsafe := _unsafe(data, most=most):
            todo = "Remove what is not text, or save it as CSV UTF-8."
            return [], [fault("CIM-S002", where=name, seen=unsafe, todo=todo)]
        with warnings.catch_warnings():
            # openpyxl warns of formats, validations and styles that it drops; none is text.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            try:
                sheet = book["items"] if "items" in book.sheetnames else book.worksheets[0]
                sheet.reset_dimensions()
                bounded = _bounded(sheet.iter_rows(values_only=True), most=most)
                rows = list(_to_first_filled(bounded) if only_header else bounded)
            finally:
                book.close()
    except damages:
        seen = "Not an Excel workbook, or a damaged or protected one."
        todo = "Save it again as .xlsx, without a password, or as CSV UTF-8."
        return [], [fault("CIM-S002", where=name, seen=seen, todo=todo)]
    faults: list[Fault] = []
    return list(_cells_as_text(rows, name=name, faults=faults)), faults


def _unsafe(data: bytes, *, most: int) -> str:
    """Why a workbook is not opened, as a sentence; empty where it can be.

    Args:
        data: the content of the file.
        most: bytes that all its parts together may have.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > most:
            return f"The workbook grows from {len(data):,} to {unpacked:,} bytes."
        cells = 0
        for member in archive.infolist():
            others = 0
            is_sheet = member.filename.lower().startswith(_SHEETS)
            for chunk in _chunks(archive, member, most=most):
                # Entities can be made to fill the memory, and no workbook declares any.
                if b"<!DOCTYPE" in chunk.replace(b"\0", b""):
                    return f"The part {member.filename!r} of the workbook declares a document type."
                others += len(_OTHERS.findall(chunk)) if is_sheet else chunk.count(b"<")
                cells += len(_CELLS.findall(chunk)) if is_sheet else 0
                if others > MOST_TAGS:
                    return f"The part {member.filename!r} has more than {MOST_TAGS:,} settings."
                if cells > max(SMALL_CELLS, len(data) // 2):
                    return f"The workbook has {cells:,} cells or more in {len(data):,} bytes."
    return ""


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo, *, most: int) -> Iterator[bytes]:
    """A part piece by piece, each beginning with the end of the one before.

    Raises:
        ValueError: it is larger than it says.
    """
    before, size = b"", 0
    with archive.open(member) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise ValueError("larger than it says")
            yield before + chunk
            before = chunk[-len(b"<!DOCTYPE") * 2 :]


def _bounded(rows: Iterable[Sequence[object]], *, most: int) -> Iterator[Sequence[object]]:
    """The rows without the empty cells at their ends, as long as there are not too many cells.

    Args:
        rows: of a sheet.
        most: characters in all cells; many cells may share one long text.

    Raises:
        ValueError: there are.
    """
    seen = letters = 0
    for number, row in enumerate(rows, start=1):
        seen += len(row)
        filled = next((n for n in range(len(row), 0, -1) if row[n - 1] is not None), 0)
        letters += sum(len(cell) for cell in row[:filled] if isinstance(cell, str))
        if number > MOST_ROWS or seen > MOST_CELLS or letters > most:
            raise ValueError("too many cells")
        yield row[:filled]


def _to_first_filled(rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    for row in rows:
        yield row
        if any(cell is not None and str(cell).strip() for cell in row):
            return


def _cells_as_text(
    rows: Iterable[Sequence[object]], *, name: str, faults: list[Fault]
) -> Iterator[list[str]]:
    """Numbers and truth values as they are shown; what a spreadsheet made of words is a fault."""
    empty: list[str] = []
    for number, row in enumerate(rows, start=1):
        record = [] if row else empty  # one list for the gaps, which may be a million rows
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
                record.append(str(value))
                if len(faults) < MOST_FAULTS:
                    faults.append(_not_text(value, where=f"{name} row {number}"))
        yield record


def _not_text(value: object, *, where: str) -> Fault:
    seen = f"A cell holds {value}, which is a date or a time and not text."
    todo = "Format the column as text and type the cell again."
    return fault("CIM-S003", where=where, seen=seen, todo=todo)

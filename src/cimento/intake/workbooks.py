"""Excel workbooks as rows of text, read with care because they may be untrusted.

An ``.xlsx`` file is a zip of XML parts (ECMA-376, part 1, 18). The sheet, the strings that its
cells share and the styles that make a number a date are read element by element. Besides the
result, no more than a row is held in memory, so that a part that grows is refused before it fills
the memory. Libraries that read a sheet as a whole first make a grid of it, which two cells in far
corners can make too large (docs/design/libraries.md).
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from typing import NoReturn, TypeAlias

from cimento.errors import Fault, InputError, counted
from cimento.faults import fault
from cimento.intake.layout import join_names
from cimento.intake.moments import DateCells, Moment, date_kind, moment_of
from cimento.intake.table import place_of_row
from cimento.intake.words import SHEETS
from cimento.io.parsing import MAX_GROWTH, MAX_UNPACKED_BYTES, MOST_FAULTS, SMALL_BYTES

MOST_ROWS = 1_048_576
"""Largest number of rows, including empty ones, as in spreadsheet programs."""
MOST_COLUMNS = 16_384
MOST_CELLS = 20_000_000
"""Largest number of cells, including empty ones before the last cell of a row."""
MOST_SETTINGS = 100_000
"""Largest number of sheets, relations or styles; spreadsheet programs allow 65,490 styles."""
SMALL_CELLS = 300_000
"""Number of cells that any workbook may have; a larger one may have one for every two bytes."""

_CHUNK = 1 << 16
_WIDEST = 90
_REFERENCE = re.compile(r"([A-Za-z]{1,3})[0-9]+")
_NO_DIGITS = re.compile("[^0-9]")
_ESCAPED = re.compile(r"_x((?!D[89A-F]|0000)[0-9A-F]{4})_", re.IGNORECASE)
_TOO_LARGE = "#VALUE!"
_TRUE = ("1", "true")
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(?:[.,][0-9]{1,15})?")

Rows: TypeAlias = Sequence[Sequence[str]]
_Element: TypeAlias = tuple[str, dict[str, str], str]
"""An XML element: its tag without prefix, its attributes, and its text."""


class _UnsafeError(Exception):
    """The error of a workbook that is not read, with the reason as a sentence."""


def read_workbook(
    data: bytes, *, name: str, sheet: str = "", only_header: bool = False
) -> tuple[list[list[str]], list[Fault]]:
    """The rows of a sheet: that of a name, else of the file's name, else ``items``, else the first.

    A sheet of a suite's workbook may have its name in any language in which cimento writes it.
    Names of columns that take two rows, with merged cells in the upper one, become one row.

    Args:
        data: the content of the file.
        name: name of the file, for messages and for the sheet: ``about.xlsx`` reads ``about``.
        sheet: name of the sheet; empty for that of the file's name.
        only_header: whether reading stops after the first two rows that are not empty.

    Returns:
        The rows without the empty cells at their ends, and the faults found.
    """
    faults: list[Fault] = []
    rows: list[list[str]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            workbook = _Workbook(archive, len(data), sheet or name.rpartition(".")[0])
            filled = 0
            for row in workbook.rows(name, faults):
                rows.append(row)
                filled += any(map(str.strip, row))
                if only_header and filled > 1:
                    break
            merged = list(map(_corners, workbook.merged))
            _fill_down(rows, merged)
            spans = [(y - 1, x - 1, far_x - 1) for x, y, far_x, far_y in merged if y == far_y]
            if workbook.hidden:
                places = [place_of_row(name, row) for row in workbook.hidden]
                seen = f"Hidden rows are read as all others: {counted(len(places), 'row')}."
                faults.append(fault("CIM-S066", where=places[0], seen=seen, places=places))
            faults += join_names(rows, [span for span in spans if span[1] < span[2]], name=name)
    except _UnsafeError as unsafe:
        todo = "Remove what is not text, or save it as CSV UTF-8."
        return [], [fault("CIM-S002", where=name, seen=str(unsafe), todo=todo)]
    except _damages():
        seen = "Not an Excel workbook, or a damaged or protected one."
        todo = "Save it again as .xlsx, without a password, or as CSV UTF-8."
        return [], [fault("CIM-S002", where=name, seen=seen, todo=todo)]
    return rows, faults


def sheet_names(data: bytes) -> dict[str, str]:
    """The sheets of a workbook in order, by their names in lower case; none for other data."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Workbook(archive, len(data), "").sheets
    except _UnsafeError:
        return {}
    except _damages():
        return {}


def _damages() -> tuple[type[BaseException], ...]:
    """The errors that zipfile, expat and the parsing of attributes raise for damaged files."""
    import zlib
    from xml.parsers.expat import ExpatError

    packed = (zipfile.BadZipFile, zlib.error, ExpatError, OSError, EOFError)
    return (*packed, KeyError, IndexError, ValueError, RuntimeError, OverflowError)


def write_workbook(rows: Rows, *, sheet: str) -> bytes:
    """A workbook of one sheet; see `write_sheets`.

    Args:
        rows: rows of the sheet.
        sheet: name of the sheet.

    Raises:
        InputError: a text is too long for a cell.
    """
    return write_sheets({sheet: rows}, where=sheet)


def write_sheets(
    sheets: Mapping[str, Rows], *, where: str, numbers: Mapping[str, Collection[int]] | None = None
) -> bytes:
    """A workbook in which every cell is text, whatever its content looks like, but for numbers.

    The first row of a sheet is frozen, and columns are as wide as their texts.

    Args:
        sheets: rows of each sheet, by its name; ``=1+1``, ``10`` or ``null`` are read back as such.
        where: name of the workbook in messages.
        numbers: the columns of each sheet, from 0, whose numbers are stored as such.

    Raises:
        InputError: a text is too long for a cell.
    """
    from xlsxwriter import Workbook

    buffer = io.BytesIO()
    with Workbook(buffer, {"in_memory": True}) as book:
        text = book.add_format({"num_format": "@"})
        for name, rows in sheets.items():
            page = book.add_worksheet(name)
            page.freeze_panes(1, 0)
            widths: dict[int, int] = {}
            for number, row in enumerate(rows):
                for column, cell in enumerate(row):
                    are_numbers = column in (numbers or {}).get(name, ())
                    if are_numbers and _PLAIN_NUMBER.fullmatch(cell.strip()):
                        page.write_number(number, column, float(cell.replace(",", ".")))
                    elif page.write_string(number, column, cell, text):
                        seen = f"a text of {len(cell):,} characters is too long for a cell"
                        todo = "Keep the suite in a folder."
                        raise InputError(where=f"{where}, sheet {name}", seen=seen, todo=todo)
                    widths[column] = max(widths.get(column, 0), len(cell))
            for column, width in widths.items():
                page.set_column(column, column, min(width + 2, _WIDEST))
    return buffer.getvalue()


def _fill_down(rows: list[list[str]], merged: Iterable[tuple[int, int, int, int]]) -> None:
    """Copy the content of the first of some merged cells in a column into the others.

    Args:
        rows: rows of the sheet, which are changed.
        merged: corners of ranges of cells; ranges over several columns are titles.
    """
    stretches = [(x - 1, y, far_y) for x, y, far_x, far_y in merged if x == far_x]
    filled: dict[int, int] = {}
    for column, begin, end in sorted(stretches):
        cell = "".join(rows[begin - 1][column : column + 1]) if begin <= len(rows) else ""
        # Ranges of a hostile file may overlap; no row is visited twice.
        for row in rows[max(begin, filled.get(column, 0)) : end] if cell else ():
            if row and not "".join(row[column : column + 1]):
                row.extend([""] * (column + 1 - len(row)))
                row[column] = cell
        filled[column] = max(end, filled.get(column, 0))


class _Workbook:
    """The wanted sheet of a workbook, with the strings and styles of its cells.

    Args:
        archive: the zip archive.
        size: size of the file in bytes.
        sheet: name of the preferred sheet.

    Attributes:
        sheets: the names of all sheets with cells, in order, by their names in lower case.
        merged: the ranges of merged cells, such as ``A2:A5``; known after all rows are read.
        hidden: the numbers of the first hidden rows with cells; known as `merged` is.

    Raises:
        _UnsafeError: the content is larger than that of a workbook of this size can be.
    """

    def __init__(self, archive: zipfile.ZipFile, size: int, sheet: str) -> None:
        self._archive = archive
        self._most = min(max(SMALL_BYTES, MAX_GROWTH * size), MAX_UNPACKED_BYTES)
        self._most_cells = max(SMALL_CELLS, size // 2)
        self._size = size
        unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > self._most:
            raise _UnsafeError(f"The workbook grows from {size:,} to {unpacked:,} bytes.")
        self._parts = {member.lower(): member for member in archive.namelist()}
        of_file = dict(self._related("").values())
        book = of_file["officeDocument"]
        related = self._related(book)
        self.sheets, self._sheet = self._wanted(book, related, sheet)
        self.merged: list[str] = []
        self.hidden: list[int] = []
        self._unknown: list[int] = []
        there = related.values()
        self._others = {kind: path for kind, path in there if path.lower() in self._parts}

    def rows(self, name: str, faults: list[Fault]) -> Iterator[list[str]]:
        """The rows of the sheet without the empty cells at their ends.

        Args:
            name: name of the file in messages.
            faults: list to which faults of cells that are not text are added.

        Raises:
            _UnsafeError: there are more cells than a file of this size has.
            ValueError: there are more rows, columns or letters than in any workbook.
        """
        texts, styles = self._others.get("sharedStrings"), self._others.get("styles")
        self._shared = list(self._shared_texts(texts)) if texts else []
        self._styles = self._date_styles(styles) if styles else []
        nothing: list[str] = []  # one shared list for gaps, which may have a million rows
        cells: dict[int, str] = {}
        dates, empty = DateCells(), 0
        column = number = read = wide = letters = 0
        for tag, attributes, text in self._elements(self._sheet, {"c", "row", "mergeCell"}):
            if tag == "mergeCell":
                read = self._counted(read)
                self.merged.append(attributes["ref"])
                continue
            if tag == "c":
                read = self._counted(read)
                column = _column(attributes["r"]) if "r" in attributes else column + 1
                value = self._value(attributes, text)
                if value is None:
                    empty += _lacks_value(attributes)
                    continue
                cells[column] = value
                letters += len(value)
                continue
            place = int(attributes.get("r", number + 1))
            width = max(cells, default=0)
            wide += width
            if place > MOST_ROWS or wide > MOST_CELLS or letters > self._most:
                raise ValueError("more than any workbook has")
            self._note_unknown(place, empty)
            empty = 0
            if place > number:
                yield from repeat(nothing, place - number - 1)
                yield [cells.get(n, "") for n in range(1, width + 1)] if cells else nothing
                number = place
                if cells and attributes.get("hidden") in _TRUE and len(self.hidden) < MOST_FAULTS:
                    self.hidden.append(number)
                dates.add(number, cells)
            cells, column = {}, 0
        faults += dates.faults(name)[: max(MOST_FAULTS - len(faults), 0)]
        faults += [_not_computed(name, self._unknown)] if self._unknown else []

    def _note_unknown(self, row: int, count: int) -> None:
        """Note the number of formulas without a value in a row."""
        self._unknown += [row] * min(count, MOST_FAULTS - len(self._unknown))

    def _wanted(
        self, book: str, related: Mapping[str, tuple[str, str]], wanted: str
    ) -> tuple[dict[str, str], str]:
        """The sheets by their names in lower case, and the part with the wanted one.

        Charts are not sheets.
        """
        sheets: list[tuple[str, str]] = []
        self._epoch = datetime(1899, 12, 30)  # noqa: DTZ001  # workbooks know no time zones
        for tag, attributes, _ in self._few(book, {"sheet", "workbookPr"}):
            if tag == "workbookPr":
                if attributes.get("date1904") in _TRUE:
                    self._epoch = datetime(1904, 1, 1)  # noqa: DTZ001
                continue
            kind, path = related[attributes["id"]]
            if kind == "worksheet":
                sheets.append((attributes["name"], path))
        by_name: dict[str, tuple[str, str]] = {}
        for sheet in sheets:
            by_name.setdefault(sheet[0].strip().casefold(), sheet)
        names = (wanted.casefold(), *SHEETS.get(wanted.casefold(), {}).values(), "items")
        _, part = next(filter(None, map(by_name.get, names)), sheets[0])
        return {key: title for key, (title, _) in by_name.items()}, part

    def _related(self, part: str) -> dict[str, tuple[str, str]]:
        """Kind and path of the parts to which a part, or the whole file, refers, by their IDs."""
        folder, name = posixpath.split(part)
        return {
            attributes["Id"]: (
                attributes["Type"].rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))[1:],
            )
            for _, attributes, _ in self._few(
                posixpath.join(folder, f"_rels/{name}.rels"), {"Relationship"}
            )
        }

    def _shared_texts(self, part: str) -> Iterator[str]:
        read = 0
        for _, _, text in self._elements(part, {"si"}):
            read = self._counted(read)
            yield _plain(text)

    def _date_styles(self, part: str) -> list[bool | None]:
        """The kind of each style of cells: None if not a date, else whether it is a duration."""
        formats: dict[int, str] = {}
        styles: list[int] = []
        for tag, attributes, _ in self._few(part, {"numFmt", "xf", "cellXfs", "cellStyleXfs"}):
            if tag == "numFmt":
                formats[int(attributes["numFmtId"])] = attributes["formatCode"]
            elif tag == "xf":
                styles.append(int(attributes.get("numFmtId", 0)))
            elif tag == "cellStyleXfs":
                styles.clear()  # the styles read so far are named styles, not cell styles
            else:
                break
        return [date_kind(number, formats.get(number)) for number in styles]

    def _value(self, attributes: Mapping[str, str], text: str) -> str | None:
        """The content of a cell as displayed; None for an empty cell."""
        kind = attributes.get("t", "n")
        if not text:
            return None
        if kind == "s":
            return self._shared[int(text)]
        if kind == "b":
            return "true" if int(text) else "false"
        if kind == "n":
            return self._amount(text, int(attributes.get("s", 0)))
        return Moment(text) if kind == "d" else _plain(text)

    def _amount(self, text: str, style: int) -> str:
        """A number as displayed, or the date or time that it denotes in a style."""
        is_duration = self._styles[style] if self._styles else None
        if is_duration is None:
            return _number(text)
        days = float(text)
        try:
            return moment_of(days, self._epoch, is_duration=is_duration)
        except (OverflowError, ValueError):
            return _TOO_LARGE

    def _few(self, part: str, tags: Collection[str]) -> Iterator[_Element]:
        """The elements of a part without cells."""
        for number, element in enumerate(self._elements(part, tags)):
            if number == MOST_SETTINGS:
                raise _UnsafeError(f"The part {part!r} has more than {MOST_SETTINGS:,} settings.")
            yield element

    def _elements(self, part: str, tags: Collection[str]) -> Iterator[_Element]:
        """The elements of these tags in the order in which they end.

        The text of an element is that of its values, without formulas and phonetic guides.
        """
        from xml.parsers import expat

        ended: list[_Element] = []
        begun: list[dict[str, str]] = []
        texts: list[str] = []
        guides = 0

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal guides
            tag = name.rpartition(":")[2]
            if tag in tags:
                begun.append(attributes)
                texts.clear()
            if tag == "f" and begun:
                begun[-1][_FORMULA] = ""
            guides += tag == "rPh"
            parser.CharacterDataHandler = texts.append if tag in _VALUES and not guides else None

        def end(name: str) -> None:
            nonlocal guides
            tag = name.rpartition(":")[2]
            parser.CharacterDataHandler = None
            guides -= tag == "rPh"
            if tag in tags:
                ended.append((tag, _without_prefixes(begun.pop()), "".join(texts)))

        def refuse(*_: object) -> NoReturn:
            # Entities can fill the memory, and no real workbook declares any.
            raise _UnsafeError(f"The part {part!r} of the workbook declares a document type.")

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = refuse
        with self._archive.open(self._parts[part.lower()]) as file:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk)
                yield from ended
                ended.clear()
        parser.Parse(b"", True)  # noqa: FBT003  # says that it was all

    def _counted(self, read: int) -> int:
        """The count of cells, or texts, after one more was read."""
        if read >= self._most_cells:
            raise _UnsafeError(f"The workbook has {read:,} cells or more in {self._size:,} bytes.")
        return read + 1


_VALUES = frozenset({"v", "t"})
_FORMULA = " formula"
"""The attribute added to a cell with a formula; no attribute of XML has a blank in its name."""


def _lacks_value(attributes: Mapping[str, str]) -> bool:
    """Whether a cell without a value has a formula that no program has computed yet.

    The result of a computed one may be an empty text, which its type says.
    """
    return _FORMULA in attributes and attributes.get("t") != "str"


def _not_computed(name: str, rows: Sequence[int]) -> Fault:
    """The fault of formulas without values in some rows."""
    places = [place_of_row(name, row) for row in rows]
    seen = f"Formulas have no stored value: {counted(len(places), 'cell')}."
    return fault("CIM-S082", where=places[0], seen=seen, places=places)


def _without_prefixes(attributes: dict[str, str]) -> dict[str, str]:
    if not any(":" in name for name in attributes):
        return attributes
    return {name.rpartition(":")[2]: value for name, value in attributes.items()}


@lru_cache(maxsize=MOST_COLUMNS)
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _corners(stretch: str) -> tuple[int, int, int, int]:
    """The column and the row of the first and of the last cell of a range such as ``A2:B5``.

    Raises:
        ValueError: the range is malformed.
    """
    first, last = stretch.split(":")
    return _column(first), _row(first), _column(last), _row(last)


def _row(reference: str) -> int:
    """The number of the row in a reference such as ``AB12``."""
    return int(_NO_DIGITS.sub("", reference))


def _column(reference: str) -> int:
    """The number of the column in a reference such as ``AB12``.

    Raises:
        ValueError: the reference is malformed, or beyond the columns of spreadsheet programs.
    """
    match = _REFERENCE.fullmatch(reference)
    number = _column_number(match[1]) if match else 0
    if not 1 <= number <= MOST_COLUMNS:
        raise ValueError("no cell")
    return number


def _plain(text: str) -> str:
    """A text with characters that XML cannot hold restored from the form ``_x000D_``."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _number(text: str) -> str:
    """A number as displayed: 3 and not 3.0."""
    if not any(mark in text for mark in ".eE"):
        return str(int(text))
    value = float(text)
    return str(int(value)) if value.is_integer() else str(value)

"""Tables from people and programs: TSV, CSV, xlsx, Parquet and JSON Lines, all cells as text."""

from __future__ import annotations

import csv
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError, TableError, did_you_mean
from cimento.faults import errors, fault
from cimento.intake.archives import table_path, unzipped
from cimento.intake.chosen import with_chosen
from cimento.intake.decoding import chosen_columns, decode_table
from cimento.intake.delimited import MOST_TITLES, split_cells
from cimento.intake.json_rows import records_of
from cimento.intake.known import header_of
from cimento.intake.layout import (
    count_notes,
    count_titles,
    has_gap,
    is_title,
    join_names,
    two_row_names,
    with_item_name,
)
from cimento.intake.names import without_noun
from cimento.intake.read_once import read_workbook, sheet_names
from cimento.intake.sections import with_labels_of_sections
from cimento.intake.table import Table, as_cell, column_name
from cimento.intake.words import KNOWN, SHEETS
from cimento.intake.workbooks import MOST_COLUMNS
from cimento.io.files import read_bytes
from cimento.io.parquet import parse_parquet
from cimento.io.parsing import MOST_FAULTS

SUFFIXES = (".tsv", ".csv", ".tab", ".txt", ".xlsx", ".parquet")
_ZIPPED = ".zip"
"""Suffix of an archive, which may hold one table."""
RECORDS = (".jsonl", ".ndjson", ".json")
"""Suffixes of objects, a line each or in one list; tables if their keys are those of columns."""
OTHER_WORKBOOKS = (".ods", ".xls", ".xlsb", ".numbers")
"""Suffixes of other spreadsheet formats, which are not read."""
MOST_PADDING = 1_000_000
"""Largest number of cells that all rows together may lack at their ends; they count as empty."""
SMALL_ROWS = 80_000
ROW_BYTES = 12
"""Limits on the rows of a table: number for any file, or bytes of the file per row.

The shortest rows grow a hundredfold in memory, and no real sentence is so short.
"""

_TEXT_SUFFIXES = (".tsv", ".csv", ".tab", ".txt")
_LOOKED_AT = 200
"""Number of rows that tell whether a file without names of columns is in a published form."""
_MOST_SHEETS = 50


def is_spreadsheet(path: Path) -> bool:
    """Whether a file is named like a table or a workbook; lock files of programs are excluded."""
    is_lock = path.name.startswith(("~$", "."))
    return path.suffix.lower() in {*SUFFIXES, *OTHER_WORKBOOKS} and not is_lock


def holds_table(path: Path) -> bool:
    """Whether a file, zipped or not, is named like a table and does not begin like JSON."""
    if path.suffix.lower() not in (*SUFFIXES, _ZIPPED):
        return False
    return unzipped(read_bytes(path), name=path.name)[0][:1] not in (b"[", b"{")


def unquoted(text: str) -> str:
    """A text without quotation marks and extra blanks: spreadsheet programs change both."""
    return " ".join(text.replace('"', "").split())


def open_table(path: Path, *, apart: bool = False) -> Table:
    """The table in a file; see `read_suite_table` for the formats.

    Args:
        path: the file.
        apart: whether columns of one name are told apart, the second as *Name (2)*, as forms that
            ask twice about a sentence have them; otherwise they are an error.

    Raises:
        InputError: the file does not exist, or its suffix is not in `SUFFIXES`.
        SuiteError: the table has faults; the error carries all of them.
    """
    data = read_bytes(path)
    if path.suffix.lower() not in (*SUFFIXES, _ZIPPED):
        raise InputError(
            where=str(path),
            seen=f"is not a table: it ends in {path.suffix!r}",
            todo=f"Save it as one of {', '.join(SUFFIXES)}.",
        )
    table, faults = read_suite_table(data, path, apart=apart)
    if table is None or errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return table


def read_suite_table(
    data: bytes, path: Path, *, packed_bytes: int | None = None, apart: bool = False
) -> tuple[Table | None, list[Fault]]:
    """Read a table in the format given by the suffix of its path.

    ``.xlsx`` is a workbook, ``.parquet`` a data frame, and ``.jsonl`` has an object a line, whose
    keys are the columns; lists and objects become JSON in a cell. A ZIP archive of one file is a
    workbook or CSV by its content. ``.tsv`` is separated by tabs and has no quoting; ``.csv``,
    ``.tab`` and ``.txt`` are separated by whatever their header line is separated by, and quoted as
    in RFC 4180.

    Args:
        data: the content of the file.
        path: its name.
        packed_bytes: size of the file from which it was unpacked; None if it was not packed.
        apart: whether columns of one name are told apart.

    Returns:
        The table, None where there is none, and the faults found.
    """
    records, faults = read_raw_rows(data, path)
    if errors(faults):
        return None, faults
    records = with_labels_of_sections(records)
    names = header_of([*islice(filter(_is_filled, records), _LOOKED_AT)])
    size = len(data) if packed_bytes is None else packed_bytes
    if len(records) > max(SMALL_ROWS, size // ROW_BYTES):
        seen = f"The table has {len(records):,} rows in a file of {size:,} bytes."
        todo = "Are these sentences? Split it into several files, or unpack it if it is packed."
        return None, [*faults, fault("CIM-S002", where=path.name, seen=seen, todo=todo)]
    table, more = _with_header(records, name=path.name, names=names, apart=apart)
    return _chosen(table, faults + more)


def read_header(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """The table with its header line only, which suffices to detect most formats.

    Args:
        data: the content of the file.
        path: its name.

    Returns:
        The table without rows, None where there is none, and the faults found on the way to it.
    """
    records, faults = _open_rows(data, path, only_header=True)
    try:
        first = [*islice(filter(_is_filled, records), MOST_TITLES + 1)]
    except csv.Error:
        first = []
    header, below = (first[k] if len(first) > k else [] for k in range(2))
    of_one_column = path.suffix.lower() in _TEXT_SUFFIXES and len(first) > MOST_TITLES
    of_one_column = of_one_column and all(map(is_title, first))
    is_title_row = bool(header) and is_title(header) and not of_one_column
    if not header or is_title_row or has_gap(header, below) or header_of([header]):
        return read_suite_table(data, path)
    names = tuple(filter(None, map(column_name, header)))
    return _chosen(Table(path.name, names, (), dict.fromkeys(names, ())), faults)


def _chosen(table: Table | None, faults: list[Fault]) -> tuple[Table | None, list[Fault]]:
    """A table whose columns have the roles that are chosen for them, and its faults.

    It is None where it lacks such a column, or where one holds something else than its role needs.
    """
    chosen = chosen_columns()
    if table is None or not chosen:
        return table, faults
    renamed, missing, misfits = with_chosen(table, chosen)
    for name in missing:
        seen = f"There is no column {name!r} (--columns); there are {', '.join(table.columns)}."
        todo = did_you_mean(name, table.columns, listed=())
        faults = [*faults, fault("CIM-S004", where=table.name, seen=seen, todo=todo)]
    for role, seen in misfits.items():
        todo = f"If you mean it nevertheless, give {role}={chosen[role]}!, with the mark."
        faults = [*faults, fault("CIM-S081", where=table.name, seen=seen, todo=todo)]
    return (None if missing or misfits else renamed), faults


def read_raw_rows(data: bytes, path: Path) -> tuple[list[list[str]], list[Fault]]:
    """The unchanged rows of a table, including titles and the header.

    Args:
        data: the content of the file.
        path: its name, whose suffix gives the format as for `read_suite_table`.

    Returns:
        The rows, and the faults found; if there are errors among these, rows are missing.
    """
    records, faults = _open_rows(data, path)
    rows: list[list[str]] = []
    try:
        for record in records:
            rows.append(record)  # noqa: PERF402 - the rows before an error tell its place
    except csv.Error as error:
        where = f"{path.name} row {len(rows) + 1}"
        todo = "Is a quotation mark left open? One inside a quoted cell must be doubled."
        faults += [fault("CIM-S002", where=where, seen=f"Not CSV: {error}.", todo=todo)]
    return rows, [*faults, *join_names(rows, name=path.name)]


def _open_rows(
    data: bytes, path: Path, *, only_header: bool = False
) -> tuple[Iterable[list[str]], list[Fault]]:
    """The rows of a table as an iterable, which may raise `csv.Error`, and the faults found."""
    if path.suffix.lower() not in (".xlsx", ".parquet"):
        packed, (data, faults) = data, unzipped(data, name=path.name)
        if faults:
            return [], faults
        path = path if data is packed else table_path(data, path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        sheet, more = _sheet_that_fits(data, path)
        rows, faults = read_workbook(data, name=path.name, sheet=sheet, only_header=only_header)
        return rows, [*more, *faults]
    if suffix == ".parquet":
        return _parquet_rows(data, name=path.name)
    text, faults = decode_table(data, name=path.name)
    if text is None:
        return [], faults
    if suffix in RECORDS:
        rows, more = _record_rows(text, name=path.name, only_header=only_header)
        return rows, faults + more
    cells, more = split_cells(text, name=path.name)
    return cells, faults + more


def _sheet_that_fits(data: bytes, path: Path) -> tuple[str, list[Fault]]:
    """The one sheet with a table of known columns, where the first sheet holds no such table.

    Returns:
        Its name, empty for the usual sheet; and a fault that says which sheets are not read.
    """
    titles = list(sheet_names(data).values())[:_MOST_SHEETS]
    lower = {title.strip().casefold() for title in titles}
    stem = path.stem.casefold()
    if len(titles) < 2 or lower & {stem, *SHEETS.get(stem, {}).values(), "items"}:  # noqa: PLR2004
        return "", []
    degrees = {title: _degree(data, path.name, title) for title in titles}
    highest = max(degrees.values())
    fitting = [title for title in degrees if degrees[title] == highest]
    is_first = fitting[0] == titles[0] and highest
    if is_first and (len(fitting) == 1 or highest < _KNOWN_TABLE):
        return titles[0], []
    sheet = titles[0] if is_first or len(fitting) > 1 else fitting[0]
    others = ", ".join(repr(title) for title in (fitting if is_first else titles) if title != sheet)
    seen = f"Of the sheets, {sheet!r} is read, and not {others}."
    todo = (
        "If the others hold items of this suite too, put them below those of the first, or save"
        " each sheet as a file."
        if is_first
        else None
    )
    return sheet, [fault("CIM-S062", where=path.name, seen=seen, todo=todo)]


_KNOWN_TABLE = 2


def _degree(data: bytes, name: str, sheet: str) -> int:
    """2 for a sheet that names two columns by known words, 1 for another table, 0 for no table."""
    rows, _ = read_workbook(data, name=name, sheet=sheet)
    filled = [row for row in rows if _is_filled(row)]
    titles = count_titles(filled[: MOST_TITLES + 1])
    header = {without_noun(cell) for cell in [*filled, []][titles]}
    if len(header & KNOWN) >= _KNOWN_TABLE:
        return _KNOWN_TABLE
    return int(len(filled) > titles + 1 and not all(map(is_title, filled[: MOST_TITLES + 1])))


def _parquet_rows(data: bytes, *, name: str) -> tuple[list[list[str]], list[Fault]]:
    """The header and rows of a Parquet file."""
    try:
        frame = parse_parquet(data, where=name)
    except TableError as error:
        return [], [fault("CIM-S002", where=name, seen=f"{error.seen}.")]
    rows = [list(map(as_cell, row)) for row in frame.iter_rows()]
    return [frame.columns, *rows], []


def _record_rows(text: str, *, name: str, only_header: bool) -> tuple[list[list[str]], list[Fault]]:
    """The header and rows of objects; keys that one lacks are empty cells."""
    records: list[Mapping[str, object]] = []
    for where, record in records_of(text, name=name):
        if isinstance(record, ValueError):
            return [], [fault("CIM-S002", where=where, seen=f"Not JSON: {record}.")]
        if not isinstance(record, dict):
            return [], [fault("CIM-S003", where=where, seen="There is more than objects in it.")]
        records.append(record)
        if only_header:
            break
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = [[as_cell(record.get(key)) for key in keys] for record in records]
    return [keys, *rows], []


def _with_header(
    records: list[list[str]], *, name: str, names: Sequence[str], apart: bool
) -> tuple[Table | None, list[Fault]]:
    """The table of some rows, of which the first are titles and names of columns.

    Args:
        records: the rows.
        name: name of the file in messages.
        names: names of the columns of a file that has none; empty for others.
        apart: whether columns of one name are told apart.
    """
    filled = [(number, record) for number, record in enumerate(records, 1) if _is_filled(record)]
    filled = [(0, [*names]), *filled] if names else filled
    if not filled:
        return None, [fault("CIM-S002", where=name, seen="The table is empty.", todo="Fill it in.")]
    titles = count_titles([record for _, record in filled[: MOST_TITLES + 1]])
    (header_row, header), *body = filled[titles:]
    columns = list(map(column_name, header))
    columns = _told_apart(columns) if apart else columns
    width = len(columns)
    lacking = sum(width - len(record) for _, record in body if len(record) < width)
    if len(columns) > MOST_COLUMNS or lacking > MOST_PADDING:
        seen = f"The table has {len(columns):,} columns, and its rows lack {lacking:,} cells."
        todo = "Is the first row the names of the columns, separated as the cells are?"
        return None, [fault("CIM-S002", where=name, seen=seen, todo=todo)]
    times = Counter(filter(None, columns))
    two_rows = body and (has_gap(columns, body[0][1]) or max(times.values()) > 1)
    if two_rows and (joined := two_row_names(columns, body[0][1])):
        seen = f"The names of the columns take two rows, {header_row} and {body[0][0]}."
        todo = f"Write them in one row, such as {', '.join(joined)}."
        return None, [fault("CIM-S004", where=f"{name} row {header_row}", seen=seen, todo=todo)]
    faults = _repeated_names(times, where=f"{name} row {header_row}")
    left_out = [(number, "a title") for number, _ in filled[:titles]]
    if titles:
        seen = f"Everything above row {header_row} is ignored: {filled[0][1][0].strip()!r}."
        todo = f"Row {header_row} is read as the column names."
        faults.append(fault("CIM-S009", where=f"{name} row {filled[0][0]}", seen=seen, todo=todo))
    if notes := count_notes(columns, body):
        number, record = body[-notes]
        seen = f"Everything from row {number} on is ignored: {''.join(record).strip()!r}."
        todo = "Move it off the sheet, or complete its row if it belongs to the table."
        faults.append(fault("CIM-S009", where=f"{name} row {number}", seen=seen, todo=todo))
        left_out += [(number, "a note") for number, _ in body[-notes:]]
        body = body[:-notes]
    table = _table_of(name, with_item_name(columns, body), body, faults)
    return replace(table, left_out=tuple(left_out)), faults


def _told_apart(columns: Sequence[str]) -> list[str]:
    """Names of columns, each with a number from its second time on."""
    times = Counter[str]()
    told = list[str]()
    for name in columns:
        times[name] += bool(name)
        told.append(f"{name} ({times[name]})" if times[name] > 1 else name)
    return told


def _repeated_names(times: Mapping[str, int], *, where: str) -> list[Fault]:
    """The faults of names that several columns have, by how many columns have each name."""
    todo = "Rename one of the two."
    if min(times.values()) > 1:
        todo = "If two tables stand side by side, put one below the other."
    return [
        fault("CIM-S004", where=where, seen=f"The column {column!r} appears twice.", todo=todo)
        for column, number in times.items()
        if number > 1
    ]


def _is_filled(record: Sequence[str]) -> bool:
    return any(map(str.strip, record))


def _table_of(
    name: str, columns: Sequence[str], records: Sequence[tuple[int, list[str]]], faults: list[Fault]
) -> Table:
    """The table of records under a header; cells under no name or an empty one add faults.

    Args:
        name: name of the file in messages.
        columns: the header's cells; cells under an empty one are left out.
        records: the records that are not empty, each with its number.
        faults: faults of the table so far; there are never many more than `MOST_FAULTS`.
    """
    width, all_named = len(columns), all(columns)
    numbers, rows = array("l"), list[list[str]]()
    for number, record in records:
        if not (all_named and len(record) == width):
            beyond = [
                cell
                for index, cell in enumerate(record)
                if cell.strip() and (index >= width or not columns[index])
            ]
            if beyond:
                seen = f"The cell {beyond[0]!r} is under no column name."
                todo = "Name its column, such as notes, or empty the cell."
                where = f"{name} row {number}"
                faults.append(fault("CIM-S004", where=where, seen=seen, todo=todo))
                if len(faults) >= MOST_FAULTS:
                    break  # every further row would give the same fault
        numbers.append(number)
        rows.append(
            record if len(record) == width else [*record[:width], *[""] * (width - len(record))]
        )
    cells = {name: tuple([row[k] for row in rows]) for k, name in enumerate(columns)}
    named = tuple(filter(None, columns))
    return Table(name, named, numbers, {column: cells.get(column, ()) for column in named})

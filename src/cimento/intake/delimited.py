"""Text with a separator between cells: tabs without quoting, or CSV with quotation marks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import fault

MOST_TITLES = 5
"""Largest number of title rows above the header."""
_ASIDES = re.compile(r"\([^()]*\)")
_DELIMITERS = {".csv": (",", ";", "\t"), ".tab": ("\t",), ".txt": ("\t", ";", ",")}


def split_cells(text: str, *, name: str) -> tuple[Iterable[list[str]], list[Fault]]:
    """The cells of a text, as its suffix says, as an iterable that may raise `csv.Error`.

    In running text between tabs a quotation mark may stand alone; then none is taken for one around
    a cell unless it is in a pair in one cell, and a fault says so.

    Args:
        text: the text.
        name: name of the file.
    """
    suffix = Path(name).suffix.lower()
    if suffix == ".tsv":
        return split_plain(text), []
    rows, delimiter = split_quoted(text, _DELIMITERS[suffix])
    if suffix == ".csv" and '""' in text and (mended := _mended(text, delimiter, name=name)):
        return mended
    if suffix == ".csv" or delimiter != "	":
        return rows, []
    row = _open_mark(rows, text)
    if not row:
        return split_quoted(text, _DELIMITERS[suffix])[0], []
    seen = f"A quotation mark is left open in row {row}, so it counts as text."
    message = fault("CIM-S084", where=f"{name} row {row}", seen=seen)
    return (list(map(unquote, cells)) for cells in split_plain(text)), [message]


def _mended(
    text: str, delimiter: str, *, name: str
) -> tuple[Iterable[list[str]], list[Fault]] | None:
    """The rows of a CSV in which a program doubled the quotation marks around cells; else None.

    ``7,""Yes, I do."",x`` is a row of three cells. Only if the file breaks the rules of quoting as
    it is, and if all rows then have as many cells as the first.
    """
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error:
        mark = re.escape(delimiter)
        doubled = re.compile(rf'(?:(?<=^)|(?<={mark}))""(?=[^"{mark}\n])([^"\n]*)""(?=$|{mark}|\r)')
        lines, numbers = list[str](), list[int]()
        for number, line in enumerate(text.split("\n"), start=1):
            mended, count = doubled.subn(r'"\1"', line)
            lines.append(mended)
            numbers += [number] * bool(count)
        source = io.StringIO("\n".join(lines), newline="")
        try:
            rows = list(csv.reader(source, delimiter=delimiter, strict=True))
        except csv.Error:
            return None
        if not numbers or len({len(row) for row in rows if row}) > 1:
            return None
        shown = ", ".join(map(str, numbers[:_SHOWN]))
        seen = f"Quotation marks around cells are doubled in lines {shown}, and count as single."
        where = f"{name} row {numbers[0]}"
        return rows, [fault("CIM-S084", where=where, seen=seen, todo="")]
    return None


_SHOWN = 5


def _open_mark(rows: Iterable[Sequence[str]], text: str) -> int:
    """The row at which it shows that a quotation mark is left open; 0 if all are in pairs.

    A cell over several lines is one of a spreadsheet program, unless each line has as many cells as
    any other.
    """
    number = 0
    try:
        for number, cells in enumerate(rows, start=1):
            if any("\n" in cell for cell in cells) and _is_even(text):
                return number
    except csv.Error:
        return number + 1
    return 0


def _is_even(text: str) -> bool:
    """Whether all lines of a text have as many cells."""
    return len({line.count("\t") for line in text.split("\n") if line.strip()}) == 1


def split_plain(text: str) -> Iterator[list[str]]:
    """The cells of lines, separated by tabs without quoting."""
    return (line.removesuffix("\r").split("\t") for line in text.split("\n"))


def unquote(cell: str) -> str:
    """A cell without the quotation marks that a program put around it."""
    inner = cell[1:-1]
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return inner.replace('""', '"') if is_quoted and '"' not in inner.replace('""', "") else cell


def split_quoted(text: str, delimiters: Sequence[str]) -> tuple[Iterator[list[str]], str]:
    """The cells of CSV, quoted as in RFC 4180, and the character that separates them."""
    first, _, rest = text.partition("\n")
    if first.startswith("sep=") and len(first.strip()) == len("sep=,"):
        # A hint for Excel; the line is kept empty, so that rows are numbered as in the file.
        delimiter, text = first[4], "\n" + rest
    else:
        # A title line has a single cell, so it does not show the delimiter.
        lines = text.split("\n", MOST_TITLES)[:MOST_TITLES]
        header = next((line for line in lines if any(map(line.count, delimiters))), first)
        names = _ASIDES.sub("", header)  # "Rating (1 = bad, 5 = good)" has a comma of its own
        named = names if any(map(names.count, delimiters)) else header
        delimiter = max(_even(text[text.index(header) :], named, delimiters), key=named.count)
    return csv.reader(_lines(text), delimiter=delimiter, strict=True), delimiter


def _even(text: str, header: str, delimiters: Sequence[str]) -> Sequence[str]:
    """Those of several delimiters of a header by which each row has as many cells; or all of them.

    In ``Item;Yes, near;Yes, far`` the commas are in the names.
    """
    there = [delimiter for delimiter in delimiters if delimiter in header]
    if len(there) <= 1:
        return delimiters
    lines = text.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    fitting = list[str]()
    for delimiter in there:
        try:
            rows = [*csv.reader(filter(str.strip, lines), delimiter=delimiter, strict=True)]
        except csv.Error:
            continue
        if len({*map(len, rows)}) == 1 < len(rows):
            fitting.append(delimiter)
    return fitting or delimiters


_LOOKED_AT = 20
"""Lines that show by which of several delimiters each has as many cells."""


def _lines(text: str) -> Iterable[str]:
    """The lines of a text with their ends, one after the other; most readers need the first."""
    if text.count("\r") != text.count("\r\n"):
        return io.StringIO(text, newline="")  # some lines end as on old systems
    return _each_line(text)


def _each_line(text: str) -> Iterator[str]:
    start = 0
    while end := text.find("\n", start) + 1:
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]

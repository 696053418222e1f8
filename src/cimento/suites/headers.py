"""The rows with the names of columns: titles above them, and names that take two rows."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.errors import Fault
from cimento.suites.reading import fault

_MOST_WORDS = 3
_FINAL = (".", "?", "!", "…")


def is_title(record: Sequence[str]) -> bool:
    """Whether a row has a single cell."""
    return sum(map(bool, map(str.strip, record))) == 1


def count_titles(records: Sequence[Sequence[str]]) -> int:
    """The number of rows with one cell above the first row with several."""
    for number, record in enumerate(records):
        if not is_title(record):
            return number
    return 0


def has_gap(header: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a column has no name in the header, and has a cell below it."""
    names = [*map(str.strip, header), *[""] * (len(below) - len(header))]
    return any(not name and cell.strip() for name, cell in zip(names, below, strict=False))


def two_row_names(
    upper: Sequence[str], lower: Sequence[str], spans: Sequence[tuple[int, int]] = ()
) -> list[str] | None:
    """The names of columns of which some stand together under one name in the row above.

    >>> two_row_names(["Item", "Non isola", "", "Isola"], ["", "corta", "lunga", "corta", "lunga"])
    ['Item', 'Non-isola corta', 'Non-isola lunga', 'Isola corta', 'Isola lunga']

    Args:
        upper: the upper row.
        lower: the lower row.
        spans: the first and the last column, from 0, of each cell of the upper row that is merged
            over several; without any, an empty cell counts to the name before it.

    Returns:
        The names; None if the rows are no such two: below a name of several columns there are short
        names that differ, and below any other there is nothing, or the same name again.
    """
    width = max(len(upper), len(lower))
    tops = [*map(str.strip, upper), *[""] * (width - len(upper))]
    names = [*map(str.strip, lower), *[""] * (width - len(lower))]
    spans = spans or _gaps(tops, names)
    for first, last in spans:
        below = names[first : last + 1]
        top = "-".join(tops[first].split()) if first < width else ""
        if not (top and 1 < len(below) == len({*below}) and all(map(_is_name, below))):
            return None
        names[first : last + 1] = [f"{top} {name}" for name in below]
        tops[first : last + 1] = names[first : last + 1]
    both = list(zip(tops, names, strict=True))
    if not spans or any(top and name not in ("", top) for top, name in both):
        return None
    return [name or top for top, name in both]


def join_names(
    rows: list[list[str]], merged: Sequence[tuple[int, int, int]], *, name: str
) -> list[Fault]:
    """Put names of columns that take two rows into the lower one, and say so.

    Args:
        rows: rows of a sheet, which are changed.
        merged: row, first and last column of merged cells, from 0.
        name: name of the file in messages.
    """
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    first = count_titles([rows[number] for number in filled])
    above, *below = filled[first : first + 2] or [0]
    spans = [(left, right) for row, left, right in merged if row == above]
    if not (spans and below == [above + 1]):
        return []
    names = two_row_names(rows[above], rows[above + 1], spans)
    if names is None:
        return []
    rows[above], rows[above + 1] = [], names
    seen = f"Rows {above + 1} and {above + 2} are read as the column names {', '.join(names)}."
    todo = "Write them in one row if they should be others."
    return [fault("CIM-S009", where=f"{name} row {above + 1}", seen=seen, todo=todo)]


def _gaps(tops: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last column of each name before columns without one that have cells."""
    spans: list[tuple[int, int]] = []
    for column, (top, name) in enumerate(zip(tops, names, strict=True)):
        if top:
            spans.append((column, column))
        elif spans and name:
            spans[-1] = (spans[-1][0], column)
    return [(first, last) for first, last in spans if last > first]


def _is_name(cell: str) -> bool:
    return bool(cell) and len(cell.split()) <= _MOST_WORDS and not cell.endswith(_FINAL)

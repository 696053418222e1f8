"""The table among the rows of a file: titles and notes around it, headings and sums within it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.names import ends_sentence
from cimento.intake.words import ITEMS, word_list

_MOST_WORDS = 3
_FINAL = (".", "?", "!", "…", "。", "？", "！", "؟", "।")
_SUMS = {*word_list("words.sums")}
_WORDS_OF_LABEL = 3
_LEAST_UNLIKE = 0.75
"""Least proportion of sentences or numbers in a column for a label to be none of them."""
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,]*\s*%?")


def is_title(record: Sequence[str]) -> bool:
    """Whether a row has a single cell."""
    return sum(map(bool, map(str.strip, record))) == 1


def count_titles(records: Sequence[Sequence[str]]) -> int:
    """The number of rows with one cell above the first row with several."""
    for number, record in enumerate(records):
        if not is_title(record):
            return number
    return 0


def count_notes(header: Sequence[str], records: Sequence[tuple[int, Sequence[str]]]) -> int:
    """The number of rows with one cell below a table: notes, which are not part of it.

    An empty row is above them, or they are words below the numbers of items. Rows with one cell are
    not notes where others have one cell too, such as unrated sentences.

    Args:
        header: the names of the columns.
        records: number and cells of each row below them that is not empty.
    """
    if records and is_title(records[0][1]) and _is_sentence_alone(records[0][1]):
        return 0
    items = [column for column, name in enumerate(header) if name.casefold() in ITEMS]
    notes = 0
    for count in range(1, len(records)):
        number, record = records[-count]
        if not is_title(record):
            break
        of_item = "".join(record[column] for column in items if column < len(record))
        is_apart = number > records[-count - 1][0] + 1
        notes = count if is_apart or len(of_item.split()) > 1 else notes
    above = records[:-notes] if notes else []
    return (
        0 if any(is_title(record) and _is_sentence_alone(record) for _, record in above) else notes
    )


def _is_sentence_alone(record: Sequence[str]) -> bool:
    """Whether the one cell of a row ends as a sentence does, which no heading of others does."""
    return any(map(ends_sentence, map(str.strip, record)))


def with_item_name(
    header: Sequence[str], records: Sequence[tuple[int, Sequence[str]]]
) -> Sequence[str]:
    """The header, with a name for a first column that has none and numbers the rows.

    It is ``item``, or ``row`` beside a column of items, as programs for statistics number rows; and
    where the numbers come again, as in tables put together from several.

    Args:
        header: the names of the columns.
        records: number and cells of each row below them.
    """
    names = {name.casefold() for name in header}
    if header[0] or "row" in names:
        return header
    firsts = [record[0].strip() for _, record in records]
    if not (all(map(str.isdecimal, firsts)) and len({*firsts}) > 1):
        return header
    is_apart = len({*firsts}) == len(firsts)
    return ["item" if is_apart and not ITEMS & names else "row", *header[1:]]


def has_gap(header: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a column has no name in the header, and has a cell below it."""
    names = [*map(str.strip, header), *[""] * (len(below) - len(header))]
    return any(not name and cell.strip() for name, cell in zip(names, below, strict=False))


def two_row_names(
    upper: Sequence[str], lower: Sequence[str], spans: Sequence[tuple[int, int]] = ()
) -> list[str] | None:
    """The names of columns of which some are together under one name in the row above.

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
    # A name that is repeated over its columns stands over all of them.
    tops = ["" if top == before else top for before, top in pairwise(["", *tops])]
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
    if not spans or not all(map(_may_join, both)):
        return None
    return [name if name.startswith(top) else f"{top} {name}".strip() for top, name in both]


def joined_names(
    rows: Sequence[Sequence[str]], merged: Sequence[tuple[int, int, int]]
) -> tuple[int, list[str]] | None:
    """The upper of two rows that hold the names of columns, and the names; None for other tables.

    Args:
        rows: rows of a sheet.
        merged: row, first and last column of merged cells, from 0.
    """
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    first = count_titles([rows[number] for number in filled])
    above, *below = filled[first : first + 2] or [0]
    spans = [(left, right) for row, left, right in merged if row == above]
    if below != [above + 1]:
        return None
    names = two_row_names(rows[above], rows[above + 1], spans)
    is_told = bool(spans) or _are_above(rows[above + 1], [rows[n] for n in filled[first + 2 :]])
    return None if names is None or not is_told else (above, names)


def _are_above(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the cells of a row are unlike all below them: above texts or numbers, as names are.

    Args:
        names: the cells of the row.
        rows: the rows below it.
    """
    columns = [
        (name, [row[n].strip() for row in rows if n < len(row) and row[n].strip()])
        for n, name in enumerate(map(str.strip, names))
        if name
    ]
    return all(
        cells
        and not _is_value(name)
        and all(_is_number(cell) or len(cell.split()) > len(name.split()) for cell in cells)
        for name, cells in columns
    )


def join_names(
    rows: list[list[str]], merged: Sequence[tuple[int, int, int]] = (), *, name: str
) -> list[Fault]:
    """Put names of columns that take two rows into the lower one, and say so.

    Args:
        rows: rows of a table, which are changed.
        merged: row, first and last column of merged cells, from 0; none where nothing says what
            is merged, as in text files.
        name: name of the file in messages.
    """
    if (joined := joined_names(rows, merged)) is None:
        return []
    above, names = joined
    rows[above], rows[above + 1] = [], names
    seen = f"Rows {above + 1} and {above + 2} are read as the column names {', '.join(names)}."
    todo = "Write them in one row if they should be others."
    return [fault("CIM-S009", where=f"{name} row {above + 1}", seen=seen, todo=todo)]


def _may_join(both: tuple[str, str]) -> bool:
    """Whether a name and the cell below it may be one name of a column."""
    top, name = both
    return (
        not top
        or name in ("", top)
        or name.startswith(f"{top} ")
        or (_is_name(name) and name.isalpha() and name[:1].islower() and not top[-1:].isdigit())
    )


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


def _is_value(cell: str) -> bool:
    """Whether a cell is a number, or true or false as programs store them, and names no column."""
    return _is_number(cell) or cell in ("true", "false")


def headings_and_sums(cells: Mapping[str, Sequence[str]]) -> dict[int, tuple[str, bool]]:
    """The rows between those of a table that are not part of it, such as *Totale, 5, 5*.

    Args:
        cells: the cells of each column.

    Returns:
        The label of each, by the index of its row, and whether it is a row of sums.
    """
    # Of two columns with one name, which are an error, there is one here.
    rows = [[cell.strip() for cell in row] for row in zip(*cells.values(), strict=True)]
    full = [row for row in rows if sum(map(bool, row)) > 1]
    peers = [[row[column] for row in full if row[column]] for column in range(len(cells))]
    texts = [2 * sum(map(ends_sentence, of)) > len(of) for of in peers]  # such as *Stimolo*
    named = (k for k, name in enumerate(cells) if name.casefold() in ITEMS and not texts[k])
    item = next(named, None)
    unlike = [sum(ends_sentence(c) or _is_number(c) for c in of) for of in peers]
    others: dict[int, tuple[str, bool]] = {
        number: (label, True) for number, label in _numbered_sums(rows, item).items()
    }
    for number, row in enumerate(rows):
        filled = [column for column, cell in enumerate(row) if cell]
        label = row[filled[0]] if filled else ""
        of_item = item is not None and row[item] not in ("", label)
        if of_item or not label or ends_sentence(label) or _is_number(label):
            continue
        words = label.casefold().split()
        is_sum = words[0].strip(":.()") in _SUMS and len(words) <= _WORDS_OF_LABEL
        is_sum = is_sum and all(len(row[k].split()) < _WORDS_OF_LABEL for k in filled[1:])
        if not is_sum and (len(filled) > 1 or len(row) == 1):
            continue
        n_peers = len(peers[filled[0]]) - (len(filled) > 1)
        is_unlike = unlike[filled[0]] >= _LEAST_UNLIKE * n_peers
        if is_unlike or (is_sum and len(words) == 1):
            others[number] = label, is_sum
    return others


def _numbered_sums(rows: Sequence[Sequence[str]], item: int | None) -> dict[int, str]:
    """The labels of sums at the end of a table that have the number of an item: *6, Totale, 5*.

    A word for sums is one where the cells above it are of several words, and all behind it are
    numbers or empty.

    Args:
        rows: the cells of each row.
        item: the column of items; None where there is none.
    """
    sums = dict[int, str]()
    for number in range(len(rows) - 1, 0, -1):
        row = rows[number]
        filled = [column for column, cell in enumerate(row) if cell and column != item]
        if item is None or not row[item] or not filled:
            break
        first, *others = filled
        words = row[first].casefold().split()
        peers = [above[first] for above in rows[:number] if above[first]]
        is_sum = words[0].strip(":.()") in _SUMS and len(words) <= _WORDS_OF_LABEL
        is_apart = sum(" " in cell for cell in peers) >= _LEAST_UNLIKE * len(peers) > 0
        if not (is_sum and is_apart and all(_NUMBER.fullmatch(row[column]) for column in others)):
            break
        sums[number] = row[first]
    return sums


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, or the number of an item in one word, such as *3a*."""
    return _NUMBER.fullmatch(cell) is not None or (
        len(cell.split()) == 1 and any(map(str.isdigit, cell))
    )

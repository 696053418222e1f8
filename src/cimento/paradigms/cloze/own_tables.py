"""Tables of cloze items as people keep them, without a suite.toml and with names of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cimento.errors import Fault, SuiteError
from cimento.faults import errors, fault
from cimento.intake.blanks import are_blanked, has_blank, with_blank
from cimento.intake.decoding import unusable
from cimento.intake.misfits import wrong_kind
from cimento.intake.names import is_translation, short_names
from cimento.intake.reading import reading_of
from cimento.intake.shapes import BLANKS
from cimento.intake.table import Table, place_of_row
from cimento.intake.tables import read_header, read_suite_table
from cimento.intake.words import HEADERS, NAMES, pattern
from cimento.io.files import read_bytes
from cimento.kinds.base import SuiteReading
from cimento.paradigms.cloze.reading import (
    ITEM_COLUMNS,
    SUFFIXES,
    cloze_fault,
    mark_between,
    read_folder,
    read_options,
    suite_of_items,
)
from cimento.suites import Meta
from cimento.suites.cloze import EXPECTED, ROLES, ClozeSuite
from cimento.suites.reading import sha256_of

_WRONG = frozenset({*NAMES["wrong_word"], *HEADERS["bad"]})
"""Names of columns of wrong words, if their cells are words."""
_REMARKS = pattern("remarks")
"""Names of columns of remarks on the rows."""
_BESIDE = pattern("beside")
"""Names of texts that are not the sentences."""


def read_item_table(path: Path) -> SuiteReading[ClozeSuite]:
    """Read a table of cloze items that stands alone; its name is the suite's.

    Raises:
        InputError: it may not be read.
        SuiteError: no suite can be made of it.
    """
    data = read_bytes(path)
    table, faults = read_suite_table(data, path)
    if table is None:
        raise SuiteError(where=str(path), faults=faults)
    faults += _of_another_kind(table)
    if errors(faults):
        raise unusable(path, faults)
    ours, roles = with_our_names(table, faults)
    suite = suite_of_items(Meta(path.stem), ours, faults)
    read = reading_of(table, BLANKS, roles, n_items=suite.n_written, own={"row"})
    return SuiteReading(
        suite=suite,
        faults=tuple(faults),
        sha256=sha256_of(data),
        path=path,
        format="blanks",
        table=read,
    )


def with_our_names(
    table: Table, faults: list[Fault]
) -> tuple[Table, Mapping[str, Sequence[str | None]]]:
    """A table of items that people headed in their language, with our names of columns.

    Args:
        table: the table as it came from its file.
        faults: the faults so far, to which those of marks between options are added.

    Returns:
        The table, and the columns of each role, as the file calls them.
    """
    roles: dict[str, Sequence[str | None]] = {
        name: [table.find(name), *_numbered(table, name)] for name in ROLES
    }
    shown = {role: " and ".join(filter(None, names)) for role, names in roles.items()}
    ours = _with_bars(_renamed(table), shown, faults)
    roles |= {"item": [_item_column(table)], "text": [_text_column(table)]}
    roles |= {"phenomenon": [table.find("phenomenon")]}
    roles |= {name: [name] for name in ("none", EXPECTED) if name in ours.cells}
    return ours, roles


def read_own_folder(folder: Path) -> SuiteReading[ClozeSuite]:
    """Read a suite folder, whose table of items may have names of columns of one's own.

    Raises:
        InputError: a file is missing or may not be read.
        SuiteError: no suite can be made of what the files hold.
    """
    return read_folder(folder, named=_of_folder)


def _of_folder(
    table: Table, faults: list[Fault]
) -> tuple[Table, Mapping[str, Sequence[str | None]]]:
    """The table of a folder with our names; one that has them is as it was written."""
    has_ours = {"item", "text"} <= {*table.columns}
    text = None if has_ours or table.find("target") is None else _text_column(table)
    if text is not None and _has_blanks(table, text):
        return with_our_names(table, faults)
    return table, {name: [name] for name in (*BLANKS.needs, *BLANKS.may)}


def _text_column(table: Table) -> str | None:
    """The column of the sentences: the one that is chosen, or called so and has blanks.

    Where none that is called so has blanks, it is the one column of which every cell has.
    """
    if "sentence" in table.chosen:
        return "sentence"
    named = [name for name in map(table.find, ("text", "sentence")) if name]
    others = [name for name in table.columns if name not in (*named, *map(table.find, ROLES))]
    blanked = [name for name in others if table.find("target") and _is_of_sentences(table, name)]
    alone = blanked if len(blanked) == 1 else []
    return next(filter(partial(_has_blanks, table), (*named, *alone)), next(iter(named), None))


def _item_column(table: Table) -> str | None:
    """The column of items: the one that is called so, or *id* with another one in every row."""
    named = table.find("item")
    if named is not None or "id" not in (names := short_names(table.columns)):
        return named
    cells = table.stripped(names["id"])
    return names["id"] if all(cells) and len({*cells}) == len(cells) else None


def _is_of_sentences(table: Table, name: str) -> bool:
    """Whether a column that is not called so holds sentences with blanks, in most rows.

    A row that lacks its blank is then named, and the others are not taken for something else.
    """
    cells = table.cells[name]
    is_beside = is_translation(name) or _BESIDE.search(name) is not None
    blanked = sum(map(has_blank, map(with_blank, cells)))
    return not is_beside and 2 * blanked > len(cells)


def _has_blanks(table: Table, name: str) -> bool:
    """Whether a column has a blank, or other marks for one beside words that are due there."""
    cells, due = table.cells[name], table.find("target")
    if any(map(has_blank, cells)):
        return True
    is_word = due is not None and table.profile(due).kind in ("words", "sentences")
    return is_word and are_blanked(cells)


def is_blank_table(path: Path) -> bool:
    """Whether a file is a table of sentences with blanks and the words that are due there."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    data = read_bytes(path)
    try:
        header, _ = read_header(data, path)
        if header is None or header.find("target") is None:
            return False
        table, _ = read_suite_table(data, path)
    except SuiteError:
        return False
    text = _text_column(table) if table is not None else None
    return table is not None and text is not None and _has_blanks(table, text)


def _of_another_kind(table: Table) -> list[Fault]:
    """The faults of columns that are named for words, and hold numbers.

    Fractions are values of something, and 0 and 1 are labels; other whole numbers may be due in a
    blank, as in *Rome has seven hills: ___ of them*, which is said.
    """
    faults, roles = [], [*filter(None, map(table.find, ROLES))]
    roles += [name for role in ROLES for name in _numbered(table, role)]
    for name in dict.fromkeys(roles):
        of_column = table.profile(name)
        if of_column.kind != "numbers":
            faults += [] if name in table.forced else wrong_kind(table, [name], "target")
            continue
        shown = ", ".join(list(dict.fromkeys(filter(None, table.stripped(name))))[:_SHOWN])
        code = "CIM-S081"
        if {*of_column.two} == {"0", "1"}:
            seen = f"The column {name!r} holds labels ({shown}), and no words."
        elif not of_column.whole:
            seen = f"The column {name!r} holds numbers ({shown}), and no words."
        else:
            code = "CIM-S065"
            seen = f"The column {name!r} holds numbers ({shown}), which are read as words."
        faults.append(fault(code, where=table.name, seen=seen))
    return faults


def _numbered(table: Table, role: str) -> list[str]:
    """The columns of a role that are numbered, as *distractor 1*, or hold wrong words alone."""
    return [
        name
        for name in table.columns
        if (
            (kind := _NUMBERED.sub("", name.casefold())) != name.casefold()
            and kind in (role, *HEADERS[role])
        )
        or (role == "implausible" and kind in _WRONG and _is_wrong(table, name))
    ]


def _is_wrong(table: Table, name: str) -> bool:
    """Whether a column holds a word or a few, none of which is the one that is due in its row."""
    due = table.find("target")
    if due is None or due == name or all(len(word) <= 1 for word in table.stripped(due)):
        return False  # a letter would name one of the columns
    words = [(word, right) for some, right in _pairs(table, name, due) for word in some]
    return bool(words) and all(
        _is_short(word, most=_MOST_WRONG) and word not in right for word, right in words
    )


def _pairs(table: Table, name: str, due: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words in each cell of a column, and those that are due in its row, in small letters."""
    for cells in zip(table.stripped(name), table.stripped(due), strict=True):
        wrong, right = (_words_in(cell.casefold()) for cell in cells)
        yield wrong, right


def _words_in(cell: str) -> list[str]:
    """The words in a cell, whatever mark is between them."""
    return [word for part in _BETWEEN.split(cell) if (word := part.strip())]


def _is_short(text: str, *, most: int) -> bool:
    """Whether a text may be an option of at most `most` words, and not a remark."""
    return text[0].isalpha() and len(text.split()) <= most


def _renamed(table: Table) -> Table:
    """A table with our names of columns; items may lack numbers.

    Numbered columns of one role, such as *distractor 1* and *distractor 2*, become one with bars,
    and other marks for a blank become underscores.
    """
    text = _text_column(table)
    ours: dict[str | None, str] = {_item_column(table): "item"}
    ours |= {table.find(name): name for name in ROLES} | {text: "text"}
    others = {name: f"{name} (2)" for name in ours.values() if name not in ours}
    cells = {ours.get(name) or others.get(name, name): table.cells[name] for name in table.columns}
    if text is not None:
        cells["text"] = tuple(map(with_blank, table.cells[text]))
    for role in ROLES:
        if numbered := _numbered(table, role):
            several = [role, *numbered] if role in cells else numbered
            texts = zip(*(cells.pop(name) for name in several), strict=True)
            cells[role] = [" | ".join(filter(None, map(str.strip, row))) for row in texts]
    if (phenomenon := table.find("phenomenon")) in cells:
        # Results are broken down by the first column that makes a few groups.
        cells = {phenomenon: cells[phenomenon], **cells}
    if "item" not in cells:
        cells = {"item": [str(number + 1) for number in range(len(table.numbers))], **cells}
    return replace(table, columns=tuple(cells), cells=cells)


_NUMBERED = re.compile(r"\s*[0-9]+$")
_BETWEEN = re.compile(r"[|,;]")
"""What people write between words that may be in a blank."""
_SHOWN = 3
_MOST_WORDS = 3
"""Number of words above which a cell is a remark and no option."""
_MOST_WRONG = 2
"""The same where nothing but its name says that a column has options: *la sedia*."""


def _with_bars(table: Table, shown: Mapping[str, str], faults: list[Fault]) -> Table:
    """A table with bars for the marks between options, if it has no bar; faults say so.

    They also name columns that may hold options, and are read as free columns.

    Args:
        table: the table with our names.
        shown: what the file calls the columns of each role.
        faults: the faults so far.
    """
    known = [name for name in ROLES if name in table.cells]
    has_bars = any("|" in cell or "\\" in cell for name in known for cell in table.cells[name])
    cells = dict(table.cells)
    for name in () if has_bars else known:
        marks = [mark_between(cell) for cell in cells[name]]
        row = next((row for row, mark in enumerate(marks) if mark), None)
        if row is None:
            continue
        both = zip(cells[name], marks, strict=True)
        split = [cell.replace(mark, "|") if mark else cell for cell, mark in both]
        seen = (
            f"Commas and semicolons are read as bars between options: {shown[name]!r},"
            f" {cells[name][row]!r} as {len(read_options(split[row], 'target'))} options."
        )
        todo = "If they are part of an option, write a bar ( | ) between the options of any row."
        where = place_of_row(table.name, table.numbers[row])
        faults.append(cloze_fault("CIM-C017", where=where, seen=seen, todo=todo))
        cells[name] = split
    if others := [
        name
        for name in cells
        if name not in (*ITEM_COLUMNS, table.find("phenomenon"))
        and not _REMARKS.search(name)
        and _may_be_options(cells[name])
    ]:
        seen = f"These columns are not read as options: {', '.join(others)}."
        todo = (
            "If they hold options, call them distractor 1, distractor 2 and so on, or write them in"
            " one column implausible, with a bar ( | ) between them."
        )
        faults.append(cloze_fault("CIM-C017", where=table.name, seen=seen, todo=todo))
    return replace(table, columns=tuple(cells), cells=cells)


def _may_be_options(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are short texts, of which few are alike."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    are_short = all(_is_short(word, most=_MOST_WORDS) for text in texts for word in _words_in(text))
    return are_short and len(texts) > 1 and 2 * len({*texts}) > len(texts)

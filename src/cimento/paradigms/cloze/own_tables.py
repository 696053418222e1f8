"""Tables of cloze items as people keep them, without a suite.toml and with names of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from cimento.intake.table import Table
from cimento.intake.tables import read_header, read_suite_table
from cimento.intake.words import NAMES, pattern
from cimento.io.files import read_bytes
from cimento.kinds.base import SuiteReading
from cimento.paradigms.cloze.full_sentences import (
    are_full,
    phenomenon_column,
    with_blanks_put,
)
from cimento.paradigms.cloze.given_words import (
    columns_of_role,
    lists_of,
    with_bars,
    with_words_told,
    without_right_words,
)
from cimento.paradigms.cloze.reading import SUFFIXES, read_folder, suite_of_items
from cimento.suites import Meta
from cimento.suites.cloze import EXPECTED, ROLES, ClozeSuite
from cimento.suites.reading import sha256_of

_MOST_BYTES = 1_000_000
"""Size of the largest table that is looked at where no heading says which words are right."""
_LEAST_CODES = 0.8
"""Proportion of rows with a code of their own above which codes name items."""
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
    table = with_words_told(table)
    faults += _of_another_kind(table)
    if errors(faults):
        raise unusable(path, faults)
    ours, roles = with_our_names(table, faults)
    told = _as_in_file(table, roles)
    suite = suite_of_items(Meta(path.stem), ours, faults, roles=told)
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
        The table, and the columns of each role.
    """
    roles: dict[str, Sequence[str | None]] = {
        name: [table.find(name), *_beside_text(table, name)] for name in ROLES
    }
    shown = {
        role: " and ".join(filter(None, names)) for role, names in _as_in_file(table, roles).items()
    }
    lists = [*map(table.shown, lists_of(table, roles["implausible"]))]
    ours = _renamed(table, faults)
    ours = with_bars(ours, shown, ["implausible"] if lists else [], faults)
    ours = without_right_words(ours, lists, shown["implausible"], faults)
    roles |= {"item": [_item_column(table)], "text": [_text_column(table)]}
    roles |= {"phenomenon": [phenomenon_column(table)]}
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
    told = table if has_ours else with_words_told(table)
    text = None if has_ours or told.find("target") is None else _text_column(told)
    if text is None or not _is_asked(told, text):
        return table, {name: [name] for name in (*BLANKS.needs, *BLANKS.may)}
    ours, roles = with_our_names(told, faults)
    return ours, _as_in_file(told, roles)


def _as_in_file(
    table: Table, roles: Mapping[str, Sequence[str | None]]
) -> Mapping[str, Sequence[str | None]]:
    """The columns of each role as the file calls them."""
    return {role: [name and table.shown(name) for name in names] for role, names in roles.items()}


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
    return next(filter(partial(_is_asked, table), (*named, *alone)), next(iter(named), None))


def _beside_text(table: Table, role: str) -> list[str]:
    """The further columns of a role, none of which has the sentences."""
    text = _text_column(table)
    return [name for name in columns_of_role(table, role) if name != text]


def _item_column(table: Table) -> str | None:
    """The column of items: the one that is called so, or of codes with another in nearly every row.

    The few rows that have the code of another one are then errors.
    """
    named, names = table.find("item"), short_names(table.columns)
    code = next((names[word] for word in NAMES["code"] if word in names), None)
    if named is not None or code is None:
        return named
    cells = table.stripped(code)
    return code if all(cells) and len({*cells}) > _LEAST_CODES * len(cells) else None


def _is_of_sentences(table: Table, name: str) -> bool:
    """Whether a column that is not called so holds sentences with blanks, in most rows.

    A row that lacks its blank is then named, and the others are not taken for something else.
    """
    cells = table.cells[name]
    is_beside = is_translation(name) or _BESIDE.search(name) is not None
    blanked = sum(map(has_blank, map(with_blank, cells)))
    return not is_beside and (2 * blanked > len(cells) or are_full(table, name))


def _is_asked(table: Table, name: str) -> bool:
    """Whether a column has blanks, or sentences in which the right words say where they are."""
    return _has_blanks(table, name) or are_full(table, name)


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
        if header is None or (header.find("target") is None and len(data) > _MOST_BYTES):
            return False
        table, _ = read_suite_table(data, path)
    except SuiteError:
        return False
    if table is None or (table := with_words_told(table)).find("target") is None:
        return False
    text = _text_column(table)
    return text is not None and _is_asked(table, text)


def _of_another_kind(table: Table) -> list[Fault]:
    """The faults of columns that are named for words, and hold numbers.

    Fractions are values of something, and 0 and 1 are labels; other whole numbers may be due in a
    blank, as in *Rome has seven hills: ___ of them*, which is said.
    """
    faults, roles = [], [*filter(None, map(table.find, ROLES))]
    roles += [name for role in ROLES for name in _beside_text(table, role)]
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


def _renamed(table: Table, faults: list[Fault]) -> Table:
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
        cells["text"] = with_blanks_put(table, text, faults)
    for role in ROLES:
        if numbered := _beside_text(table, role):
            several = [role, *numbered] if role in cells else numbered
            texts = zip(*(cells.pop(name) for name in several), strict=True)
            cells[role] = [" | ".join(filter(None, map(str.strip, row))) for row in texts]
    if (phenomenon := phenomenon_column(table)) in cells:
        # Results are broken down by the first column that makes a few groups, under its heading.
        heading = table.shown(phenomenon)
        own = {heading: cells[phenomenon]} if heading not in cells else {}
        cells = {**(own or {phenomenon: cells[phenomenon]}), **cells}
        if own:
            del cells[phenomenon]
    if "item" not in cells:
        cells = {"item": [str(number + 1) for number in range(len(table.numbers))], **cells}
    return replace(table, columns=tuple(cells), cells=cells)


_SHOWN = 3

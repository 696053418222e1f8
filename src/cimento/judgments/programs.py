"""Exports of experiment programs with a row for each trial or screen, such as Gorilla's.

What their columns and rows are is in `intake/forms.toml`; the author of an experiment names the
items and conditions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cimento.errors import InputError, UsageError
from cimento.intake.decoding import open_text
from cimento.intake.forms import Program, programs, squashed
from cimento.intake.json_rows import records_of
from cimento.intake.shapes import as_option
from cimento.intake.table import Table, as_cell
from cimento.intake.tables import holds_table, open_table
from cimento.judgments import TEXT, ColumnMap, RawRow
from cimento.judgments.formats import RawAnswers
from cimento.judgments.participants import nobody
from cimento.judgments.roles import (
    answers_reading,
    one_each,
    resolved,
    rows_of,
    with_file,
    with_roles,
)
from cimento.judgments.told import coarse_items

FILE = "file"
"""The stand-in for a column of participants: each file is one person's."""
_GOING_ON = {"space", "return", "enter", "right", ""}
"""Keys that only lead to the next screen."""


def is_labjs(path: Path) -> bool:
    """Whether a file of JSON has what lab.js writes."""
    try:
        return programs()["labjs"].signs_in(_table(path).columns)
    except InputError:
        return False  # it is said where the file is read


def read_program(path: Path, program: Program, columns: ColumnMap, person: str = "") -> RawAnswers:
    """The answers in an export.

    Args:
        path: of the file.
        program: that wrote it.
        columns: where the fields stand.
        person: who answered, where the file does not say; empty for the name of the file.

    Raises:
        InputError: it cannot be read, or does not say what was asked or answered.
        UsageError: a column that somebody has chosen does not fit its role.
    """
    table = _table(path)
    if program.file:
        table = _with(table, FILE, [person or path.stem] * len(table.numbers))
    nobodys = {row: rule.what for row, rule in program.left_out(table).items()}
    table, columns = with_roles(table.without(nobodys), _as_called(table, columns))
    columns = one_each(table, columns)
    if program.file:
        table, columns = with_file(table, columns, FILE)
    if not columns.columns.get("annotator") and not columns.fixed.get("annotator"):
        raise nobody(table, [name for name in table.columns if name not in columns.taken])
    columns = _need_items(table, program, columns)
    if program.components:
        columns = _of_component(table, program, columns)
    if not columns.columns.get("value"):
        raise _unanswered(table, program)
    empty = {
        row: "a row without an answer" if not answer else "a row of no item"
        for row, (answer, asked) in enumerate(_filled(table, columns))
        if not (answer and asked)
    }
    table = table.without(empty)
    reading = answers_reading(
        table,
        columns,
        program=program.title,
        own=[FILE],
        written=[name for name in table.columns if program.writes(name)],
    )
    notes = tuple(coarse_items(table, columns))
    return RawAnswers(resolved(rows_of(table), columns), {}, notes, reading)


def _table(path: Path) -> Table:
    """The table in a file, which may be JSON: a list of objects, or one in each line."""
    if holds_table(path):
        return open_table(path)
    records = list[Mapping[str, object]]()
    for where, record in records_of(open_text(path), name=path.name):
        if not isinstance(record, dict):
            raise InputError(
                where=where,
                seen="is not an object",
                todo="Give the data as the program wrote them.",
            )
        records.append(record)
    names = tuple(dict.fromkeys(name for record in records for name in record))
    cells = {name: [as_cell(record.get(name)) for record in records] for name in names}
    return Table(path.name, names, range(1, len(records) + 1), cells)


def _with(table: Table, name: str, cells: Sequence[str]) -> Table:
    """A table with one more column."""
    return table.with_cells({name: cells, **table.cells})


def _as_called(table: Table, columns: ColumnMap) -> ColumnMap:
    """Where fields stand, by the names in a table that differ in capitals and marks only."""
    names = {squashed(name): name for name in reversed(table.columns)}
    return replace(
        columns,
        columns={
            field: tuple(dict.fromkeys(names.get(squashed(name), name) for name in stated))
            for field, stated in columns.columns.items()
        },
    )


def _filled(table: Table, columns: ColumnMap) -> list[tuple[bool, bool]]:
    """Whether each row has an answer, and whether it says to what."""

    def has(row: RawRow, *fields: str) -> bool:
        return any(columns.cell(row, field) for field in fields)

    return [(has(row, "value"), has(row, "item", TEXT)) for row in rows_of(table)]


def _need_items(table: Table, program: Program, columns: ColumnMap) -> ColumnMap:
    """Where fields stand, if there is an item or a sentence.

    Raises:
        InputError: there is none.
    """
    if columns.columns.get("item") or columns.columns.get(TEXT):
        return columns
    others = [name for name in table.columns if not program.writes(name) and name != FILE]
    raise InputError(
        where=table.name,
        seen=f"no column of {program.title} is known as that of the items or the sentences; there"
        f" are {', '.join(map(repr, others)) or 'none'}",
        todo="Name it: --columns=item=COLUMN or --columns=sentence=COLUMN.",
    )


def _of_component(table: Table, program: Program, columns: ColumnMap) -> ColumnMap:
    """Where fields stand, with the answers and times of the only component that has some to items.

    Raises:
        UsageError: several components have some, and nobody has chosen one.
    """
    if stated := columns.columns.get("value"):
        match = re.search(program.components, table.shown(stated[0]))
        return _with_component(table, columns, stated[0], match[1] if match else "")
    asked = [asked for _, asked in _filled(table, columns)]
    found = dict[str, str]()
    for name in table.columns:
        match = re.search(program.components, name)
        cells = {c for c, of_item in zip(table.stripped(name), asked, strict=True) if of_item}
        if match and cells - _GOING_ON - {"None", "none"}:
            found[name] = match[1]
    if len(found) > 1:
        options = " or ".join(as_option({"answer": name}) for name in found)
        raise UsageError(
            where=table.name,
            seen=f"{' and '.join(map(repr, found))} have answers to items",
            todo=f"Say which: {options}.",
        )
    for name, component in found.items():
        return _with_component(table, columns, name, component)
    return columns


def _with_component(table: Table, columns: ColumnMap, answers: str, component: str) -> ColumnMap:
    """Where fields stand, with the answers of a component, and the times that they took if any."""
    took = f"{component}.rt"
    times = {"seconds": (took,)} if took in table.cells else {}
    return replace(columns, columns={**columns.columns, "value": (answers,), **times})


def _unanswered(table: Table, program: Program) -> InputError:
    """The error of an export in which no column has answers."""
    others = [name for name in table.columns if not program.writes(name) and name != FILE]
    return InputError(
        where=table.name,
        seen=f"no column of {program.title} is known as that of the answers; there are"
        f" {', '.join(map(repr, others)) or 'none'}",
        todo="Name it: --columns=answer=COLUMN.",
    )

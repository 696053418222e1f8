"""Tables with one person in each row and one item in each column, as form programs write them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from cimento.errors import InputError, counted
from cimento.intake.table import Table
from cimento.judgments import TEXT, ColumnMap, RawRow
from cimento.judgments.asked import GRID_DASH, AskedItems
from cimento.judgments.columns import no_items, profile_of
from cimento.judgments.form_table import FormTable
from cimento.judgments.formats import RawAnswers
from cimento.judgments.forms import form_table
from cimento.judgments.participants import (
    ANNOTATOR,
    by_number,
    is_named,
    nobody,
    of_wide,
    remark,
)
from cimento.suites.tables import open_table

_SHOWN = 5
_QUESTION_ID = re.compile(r"q\d+|check-\d+")
"""The ids that surveys of our own give to questions and attention checks."""
_NEVER = ("time", "address")
"""Kinds of columns that are no answers even if somebody asks for them."""


def read_wide(
    path: Path,
    columns: ColumnMap,
    places: AskedItems,
    *,
    items: Sequence[str] = (),
    unsubmitted: bool = False,
    keep_names: bool = False,
) -> RawAnswers:
    """A table with one person in each row, and one item in each column.

    Where the suite is known, the columns that are headed by an id or a text of it are items, also
    where that stands in brackets after a question. Where it is not, those are items that the user
    names, or else those whose cells may be answers (`no_items`).

    Args:
        path: of the table.
        columns: which columns are no items but fields.
        places: what the suite asks; may be empty.
        items: names of the columns that are items, with ``*`` for any letters; empty if not said.
        unsubmitted: whether answers that were never submitted are kept.
        keep_names: whether names are stored as they are. A column of addresses is then nobody's
            name unless the user says so.

    Raises:
        InputError: it cannot be read, or no column is an item.
    """
    form = form_table(open_table(path), unsubmitted=unsubmitted)
    stated = columns.taken
    table, columns = form.table, _by_first_row(columns, form)
    named = is_named(table, columns)
    people = "" if named else of_wide(table, columns, form, keep_names=keep_names)
    taken = columns.taken | {people}
    rest = [name for name in table.columns if name not in taken and name.strip()]
    others = _others(form, rest, places, items)
    chosen = [name for name in rest if name not in others]
    if not named and not people:
        raise nobody(table, [*others])
    if not chosen:
        raise _nothing_asked(table, rest)
    names = _item_names(form, chosen)
    rows = list(_melted(form, names, stated))
    if people:
        rows = [replace(r, cells={**r.cells, ANNOTATOR: r.cells[people]}) for r in rows]
    passed = {**form.passed, **_by_program(form, others), **_by_column(form, others)}
    notes = [by_number(people) if people == form.numbered else remark(people)] if people else []
    if not places:
        notes.append(_taken(list(names.values())))
    return RawAnswers(rows, passed, tuple(notes))


def _nothing_asked(table: Table, rest: Sequence[str]) -> InputError:
    """The error of a table none of whose columns is an item."""
    shown = ", ".join(rest[:_SHOWN]) or "none"
    return InputError(
        where=table.name,
        seen=f"no column is headed by an item of the suite; the first others: {shown}",
        todo="Head columns with ids such as 'e 1/acceptable', or with the sentences.",
    )


def _by_first_row(columns: ColumnMap, form: FormTable) -> ColumnMap:
    """A map whose columns may be named by what people read, by the names of the first row."""
    names = {heading: name for name, heading in form.headings.items()}
    known = {*form.table.columns}
    return replace(
        columns,
        columns={
            field: tuple(name if name in known else names.get(name, name) for name in stated)
            for field, stated in columns.columns.items()
        },
    )


def _others(
    form: FormTable, rest: Sequence[str], places: AskedItems, items: Sequence[str]
) -> dict[str, str]:
    """The columns that are no items, each with what is said of it."""
    table = form.table
    if places:
        return {
            name: _no_item(name, places)
            for name in rest
            if not places.find(form.heading(name), name, where=table.name)
        }
    profiles = {name: profile_of(table.cells[name]) for name in rest}
    if items:
        refused = {
            name: "it has dates, times or addresses"
            for name, profile in profiles.items()
            if profile.kind in _NEVER and _named(form, name, items)
        }
        unnamed = {name: "" for name in rest if not _named(form, name, items)}
        out = {**unnamed, **refused}
    else:
        out = {name: "" for name in rest if name in form.written}
        left = {form.heading(name): p for name, p in profiles.items() if name not in out}
        back = {form.heading(name): name for name in rest}
        out |= {back[heading]: why for heading, why in no_items(left, where=table.name).items()}
    return {
        name: _no_item(name, places) + (f": {out[name]}" if out[name] else "")
        for name in rest
        if name in out
    }


def _by_program(form: FormTable, others: Mapping[str, str]) -> dict[str, int]:
    """The columns that the program wrote, in one line."""
    names = [name for name in others if name in form.written]
    if not names:
        return {}
    more = " ..." if len(names) > _SHOWN else ""
    return {f"columns of {form.program} itself: {', '.join(names[:_SHOWN])}{more}": len(names)}


def _by_column(form: FormTable, others: Mapping[str, str]) -> dict[str, int]:
    return {said: 1 for name, said in others.items() if name not in form.written}


def _named(form: FormTable, name: str, items: Sequence[str]) -> bool:
    return any(
        fnmatchcase(text, pattern) for text in (name, form.heading(name)) for pattern in items
    )


def _no_item(name: str, places: AskedItems) -> str:
    """The reason for skipping a column of a wide table."""
    if places.complete and _QUESTION_ID.fullmatch(name.strip()):
        return f"column {name!r} is no question of the design: is it the design that was asked?"
    return f"column {name!r} is no item"


def _taken(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{counted(len(names), 'column is', 'columns are')} taken as items: {shown}{more}."


def _item_names(form: FormTable, chosen: Sequence[str]) -> Mapping[str, str]:
    """Each column with the name of its item: what people read, without the question of a grid.

    Qualtrics writes the question of a grid before each of its rows, with a dash between.
    """
    read = {name: form.heading(name) for name in chosen}
    grids = Counter(heading.rpartition(GRID_DASH)[0] for heading in read.values())
    short = {
        name: row if grids[question] > 1 and question and form.headings else heading
        for name, heading in read.items()
        for question, _, row in [heading.rpartition(GRID_DASH)]
    }
    for names in (short, read):
        if len({*names.values()}) == len(names):
            return names
    return {name: name for name in chosen}


def _melted(form: FormTable, names: Mapping[str, str], stated: Collection[str]) -> Iterator[RawRow]:
    """One row for each answer, with the other cells of its person.

    Args:
        form: the table.
        names: each column of an item with the item's name.
        stated: columns of fields, as the user calls them: by either heading.
    """
    for row in form.table.rows:
        kept = {name: cell for name, cell in row.cells.items() if name not in names}
        kept |= {read: kept[name] for name in kept if (read := form.heading(name)) in stated}
        for name, item in names.items():
            answer = row.cells.get(name, "").strip()
            if answer:
                where = f"{form.table.where(row)}, column {name!r}"
                # The heading is whatever the suite calls the item: its id or its text.
                yield RawRow(where, {**kept, "item": item, TEXT: name, "value": answer})

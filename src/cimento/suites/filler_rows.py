"""Rows of a table of sentences that say of themselves that they are fillers or practice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cimento.errors import CimentoError, Fault, counted
from cimento.faults import fault
from cimento.intake.sheets import tabulated
from cimento.intake.table import Table
from cimento.intake.words import word_list

_KINDS: Mapping[str, str] = {
    word: kind for kind in ("filler", "practice") for word in word_list(f"rows.{kind}")
}
"""The kinds of such rows by the words of their cells, without capitals."""
_SHOWN = 6
_PARTS = re.compile(r"[\W_]+")


def may_call_filler(label: str) -> bool:
    """Whether a label of a sentence has a word for fillers, such as *riempitivo 2*."""
    return any(_KINDS.get(part) == "filler" for part in _PARTS.split(label.casefold()))


def filler_rows(table: Table) -> dict[int, str]:
    """The rows without a number of an item in which a cell says ``filler`` or ``practice``.

    Args:
        table: a table with a sentence in each row.

    Returns:
        The kind of each, by its index; none where no other row has a number.
    """
    item, sentence = table.find("item"), table.find("sentence")
    if not item:
        return {}
    others = [table.stripped(name) for name in table.columns if name not in (item, sentence)]
    found = {}
    for row, id_ in enumerate(table.stripped(item)):
        kinds = (_KINDS.get(cells[row].casefold(), "") for cells in others)
        if not id_ and (kind := next(filter(None, kinds), "")):
            found[row] = kind
    return found if any(table.stripped(item)) else {}


def without_fillers(table: Table) -> tuple[Table, list[Fault]]:
    """A table without such rows, which do not go on with the item above them; and what is said."""
    if not (rows := filler_rows(table)):
        return table, []
    numbers = [table.numbers[row] for row in rows]
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    shown = ", ".join(map(str, numbers[:_SHOWN])) + more
    seen = (
        f"Fillers or practice sentences without an item are not part of the test:"
        f" {counted(len(rows), 'row')} ({shown})."
    )
    todo = "For a survey, give their sentences with --fillers and --practice."
    places = [table.place(row) for row in rows]
    said = fault("CIM-S009", where=places[0], seen=seen, todo=todo, places=places)
    return table.without(rows), [said]


def fillers_in(path: Path) -> dict[str, list[str]]:
    """The sentences of such rows in a file, by kind; none of a file that is no such table."""
    found: dict[str, list[str]] = {}
    with suppress(CimentoError):
        table = tabulated(path)[1] if path.is_file() else None
        if table is not None and (sentence := table.find("sentence")):
            for row, kind in filler_rows(table).items():
                found.setdefault(kind, []).append(table.stripped(sentence)[row])
    return found

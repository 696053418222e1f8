"""Tables of sentences as people keep them: with headings and sums between the rows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.decoding import unusable
from cimento.intake.glosses import gloss_rows
from cimento.intake.layout import headings_and_sums
from cimento.intake.names import rivals
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.tables import read_suite_table
from cimento.intake.words import CONTEXTS, ITEMS, PREFIXES
from cimento.io.files import read_bytes

_SHOWN = 5
"""Largest number of glosses that a message lists."""
_MOST_ROWS = 5_000
"""Number of rows above which nobody has made a table by hand."""
_WITH_POINT = re.compile(r"\s*[0-9]+\.0+\s*")
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,]*\s*%?")


def tabulated(path: Path) -> tuple[bytes, Table, list[Fault]]:
    """The bytes of a file, their table, and the faults of the table.

    Raises:
        InputError: the file may not be read.
        SuiteError: there is no table in it.
    """
    data = read_bytes(path)
    table, faults = read_sheet(data, path)
    if table is None:
        raise unusable(path, faults)
    return data, table, faults


def read_sheet(data: bytes, path: Path) -> tuple[Table | None, list[Fault]]:
    """The table in a file with suites' sentences, without headings and sums between its rows.

    Numbers of items that other programs write as 1.0 become 1.

    Args:
        data: the content of the file.
        path: its name.

    Returns:
        The table, None where there is none, and the faults found.
    """
    table, faults = read_suite_table(data, path)
    if table is None:
        return None, faults
    glosses = {} if len(table.numbers) > _MOST_ROWS else gloss_rows(table)
    if glosses:
        faults.append(_skipped_glosses(table, glosses))
        table = table.without(dict.fromkeys(glosses, "a gloss"))
    others = {} if len(table.numbers) > _MOST_ROWS else headings_and_sums(table.cells)
    if others:
        shown = "; ".join(f"{table.numbers[row]} ({label!r})" for row, (label, _) in others.items())
        where = list(map(table.place, others))
        seen = f"Rows without sentences are skipped, as headings or sums: {shown}."
        todo = (
            "Complete a row that belongs to the table; a column phenomenon names groups of items."
        )
        faults.append(fault("CIM-S009", where=where[0], seen=seen, todo=todo, places=where))
        table = table.without(
            {row: "a sum" if is_sum else "a heading" for row, (_, is_sum) in others.items()}
        )
    if rival := _rivals(table):
        return None, [*faults, rival]
    return _with_whole_ids(table), faults


def _skipped_glosses(table: Table, glosses: Mapping[int, str]) -> Fault:
    """What is said of rows that are glosses or translations."""
    first = list(glosses.items())[:_SHOWN]
    shown = "; ".join(f"{table.numbers[row]} ({text!r})" for row, text in first)
    more = f" and {len(glosses) - _SHOWN} more" if len(glosses) > _SHOWN else ""
    where = list(map(table.place, glosses))
    seen = f"Rows are skipped as glosses or translations of the sentence above: {shown}{more}."
    return fault("CIM-S085", where=where[0], seen=seen, places=where)


def _rivals(table: Table) -> Fault | None:
    """The fault of a table in which two columns may be meant as the sentences; None for others."""
    both = rivals(table.columns, lambda name: table.profile(name).kind == "sentences")
    if not both or table.chosen & {*both}:
        return None
    first, second, *more = both
    if all(table.stripped(name) == table.stripped(first) for name in (second, *more)):
        return None
    seen = f"The columns {first!r} and {second!r} may both be the sentences that are scored."
    options = " or ".join(as_option({"sentence": name}) for name in (first, second))
    todo = f"Rename the one that is not, such as translation or notes; or give {options}."
    return fault("CIM-S004", where=table.name, seen=seen, todo=todo)


def _with_whole_ids(table: Table) -> Table:
    """The table with numbers of items that other programs write as 1.0 written as 1."""
    ids = {
        column: [cell.strip().partition(".")[0] for cell in cells]
        for column, cells in table.cells.items()
        if column.casefold() in ITEMS and all(map(_WITH_POINT.fullmatch, cells))
    }
    return replace(table, cells={**table.cells, **ids}) if ids else table


def unread_columns(table: Table, *, factors: Collection[str] = ()) -> list[Fault]:
    """The faults of columns of contexts, which no model reads unless told to, and of ratings.

    Args:
        table: the table.
        factors: columns that are factors of a design, whatever they are called.
    """
    faults = unread_contexts(table, factors=factors)
    rating, sentence = table.find("rating"), table.find("sentence", "text")
    grades = {*filter(_NUMBER.fullmatch, table.stripped(rating))} if rating else set[str]()
    if sentence and len(grades) >= _FEWEST_GRADES:
        seen = f"The column {rating!r} is not read: this is a suite of predictions, not of ratings."
        todo = (
            "For the correlation with means, make a second file with the columns"
            f" {sentence!r} and {rating!r} alone; to put the answers of each person beside the"
            " sentences, use `cimento annotate import` and `cimento annotate apply`."
        )
        faults.insert(0, fault("CIM-S069", where=table.name, seen=seen, todo=todo))
    return faults


def unread_contexts(table: Table, *, factors: Collection[str] = ()) -> list[Fault]:
    """The faults of columns of contexts, which no model reads unless told to.

    Args:
        table: the table.
        factors: columns that are factors of a design.
    """
    faults = list[Fault]()
    for name in table.columns:
        is_before = name.casefold() in (*CONTEXTS, *PREFIXES) and any(table.stripped(name))
        if is_before and name not in factors and not is_beginning(table, name):
            seen = f"The column {name!r} is not part of the sentences."
            todo = (
                f"To have models read it before them, add --context-column {shlex.quote(name)} to"
                " cimento run."
            )
            faults.append(fault("CIM-S068", where=table.name, seen=seen, todo=todo))
    return faults


def is_beginning(table: Table, column: str) -> bool:
    """Whether the cells of a column are the beginnings of sentences in another column.

    MultiBLiMP's table repeats in ``prefix`` how both of its sentences begin.
    """
    begins = table.stripped(column)
    for name in table.columns:
        pairs = zip(begins, table.stripped(name), strict=True)
        longer = [text.startswith(begin) for begin, text in pairs if begin and text != begin]
        if name != column and 2 * sum(longer) > len(longer):
            return True
    return False


_FEWEST_GRADES = 3
"""Number of different ratings; two are judgments, which make pairs."""

"""The words that a table gives for its blanks: which columns have them, by names and by cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from cimento.errors import Fault, counted
from cimento.intake.blanks import are_blanked
from cimento.intake.chosen import with_chosen
from cimento.intake.names import short_names
from cimento.intake.shapes import pairs_in
from cimento.intake.table import Table, place_of_row
from cimento.intake.words import HEADERS, NAMES, pattern
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.paradigms.cloze.reading import ITEM_COLUMNS, mark_between, read_options
from cimento.suites.cloze import ROLES
from cimento.suites.letters import one_spelling

_WRONG = frozenset({*NAMES["wrong_word"], *HEADERS["bad"]})
"""Names of columns of wrong words, if their cells are words."""
_CALLED_WRONG = frozenset({"implausible", *HEADERS["implausible"]})
"""Names of columns that say of their words that they do not fit."""
_REMARKS = pattern("remarks")
"""Names of columns of remarks on the rows."""
_NUMBERED = re.compile(r"\s*[0-9]+$")
_BETWEEN = re.compile(r"[|,;]")
"""What people write between words that may be in a blank."""
_MOST_WORDS = 3
"""Number of words above which a cell is a remark and no option."""
_MOST_WRONG = 2
"""The same where nothing but its name says that a column has options: *la sedia*."""
_FEW_ROWS = 12
_LEAST = 0.8
"""Proportion of rows above which a column is one of lists with the right word in them."""


def with_words_told(table: Table) -> Table:
    """A table whose cells say which columns have the words, where no heading says which are right.

    The right words are one of those that another column lists in each row, or the good ones of a
    column of good words and one of bad words, or the critical ones beside wrong ones.
    """
    if not table.numbers or table.find("target") is not None:
        return table
    blanked = [name for name in table.columns if are_blanked(table.cells[name])]
    if len(blanked) == 1:
        words = [
            name for name in table.columns if name != blanked[0] and _are_short(table.cells[name])
        ]
        roles = _of_lists(table, words) or _of_sides(table, words) or _of_critical(table)
    else:
        roles = _of_critical(table)
    if not {*table.chosen}.isdisjoint(roles.values()):  # what somebody chose stays
        return table
    return with_chosen(table, roles)[0]


def _of_lists(table: Table, words: Sequence[str]) -> dict[str, str]:
    """The columns of right words and of lists that have them, if exactly two are so."""
    both = [
        {"target": due, "implausible": name}
        for name in words
        for due in words
        if due != name and _lists_due(table, name, due)
    ]
    return both[0] if len(both) == 1 else {}


def _of_sides(table: Table, words: Sequence[str]) -> dict[str, str]:
    """The columns of good and of bad words; empty where these are not known."""
    sides = [(pair.good, pair.bad) for pair in pairs_in(table)]
    if len(sides) == 1 and {*sides[0]} <= {*words}:
        return dict(zip(("target", "implausible"), sides[0], strict=True))
    return {}


def _of_critical(table: Table) -> dict[str, str]:
    """The column of critical words, where another one has wrong words."""
    names = short_names(table.columns)
    critical = next((names[word] for word in NAMES["critical"] if word in names), None)
    if critical is None:
        return {}
    has_wrong = table.find("implausible") is not None or any(
        name.casefold() in _WRONG and _is_wrong(table, name, critical) for name in table.columns
    )
    return {"target": critical} if has_wrong else {}


def columns_of_role(table: Table, role: str) -> list[str]:
    """The columns of a role beside the one that is called so.

    They are numbered, as *distractor 1*, or hold wrong words alone, or list several words in each
    row, of which one is right.
    """
    due = table.find("target")
    return [
        name
        for name in table.columns
        if (
            (kind := _NUMBERED.sub("", name.casefold())) != name.casefold()
            and kind in (role, *HEADERS[role])
        )
        or (
            role == "implausible"
            and due is not None
            and ((kind in _WRONG and _is_wrong(table, name, due)) or _is_list(table, name, due))
        )
    ]


def _is_list(table: Table, name: str, due: str) -> bool:
    """Whether a column of no other role lists words with the correct one among them in each row."""
    known = {*map(table.find, (*ROLES, "item", "text", "sentence", "phenomenon"))}
    return name not in known and not _REMARKS.search(name) and _lists_due(table, name, due)


def _is_wrong(table: Table, name: str, due: str) -> bool:
    """Whether a column holds a word or a few, which in most rows are not the ones that are due.

    A slip in one row, where both are the same, makes it no other column.
    """
    if due == name or all(len(word) <= 1 for word in table.stripped(due)):
        return False  # a letter would name one of the columns
    words = [(word, right) for some, right in _pairs(table, name, due) for word in some]
    are_short = all(_is_short(word, most=_MOST_WRONG) for word, _ in words)
    return are_short and 2 * sum(word not in right for word, right in words) > len(words)


def _lists_due(table: Table, name: str, due: str) -> bool:
    """Whether a column has several words in nearly all rows, with those that are due among them."""
    rows = [(some, right) for some, right in _pairs(table, name, due) if some and right]
    lists = [len(some) > 1 and {*right} <= {*some} for some, right in rows]
    are_short = all(_is_short(word, most=_MOST_WORDS) for some, _ in rows for word in some)
    return are_short and len(lists) > 1 and sum(lists) > _LEAST * len(lists)


def _pairs(table: Table, name: str, due: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words in each cell of a column, and those that are due in its row, in small letters."""
    for cells in zip(table.stripped(name), table.stripped(due), strict=True):
        wrong, right = (_words_in(one_spelling(cell).casefold()) for cell in cells)
        yield wrong, right


def _words_in(cell: str) -> list[str]:
    """The words in a cell, whatever mark is between them."""
    return [word for part in _BETWEEN.split(cell) if (word := part.strip())]


def _is_short(text: str, *, most: int) -> bool:
    """Whether a text may be an option of at most `most` words, and not a remark."""
    return text[0].isalpha() and len(text.split()) <= most


def _are_short(cells: Sequence[str]) -> bool:
    """Whether all filled cells of a column are words or a few."""
    words = [word for cell in cells for word in _words_in(cell)]
    return bool(words) and all(_is_short(word, most=_MOST_WORDS) for word in words)


def with_bars(
    table: Table, shown: Mapping[str, str], lists: Collection[str], faults: list[Fault]
) -> Table:
    """A table with bars for the marks between options, if it has no bar; faults say so.

    They also name columns that may hold options, and are read as free columns.

    Args:
        table: the table with our names.
        shown: what the file calls the columns of each role.
        lists: the roles whose cells list the right words too.
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
        if name not in lists:  # right words among the parts show that the marks part options
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
    are_codes = all(any(map(str.isdigit, text)) for text in texts)
    is_various = len(texts) > 1 and 2 * len({*texts}) > len(texts)
    return is_various and not are_codes and _are_short(texts)


def without_right_words(
    table: Table, lists: Sequence[str], shown: str, faults: list[Fault]
) -> Table:
    """A table with our names whose right words are not among the others.

    A warning says so where the file calls the others wrong, and does not call them options. A row
    whose list lacks its right word, as most lists do not, is an error: the word is mistyped.

    Args:
        table: the table, with bars between options.
        lists: what the file calls the columns of other words that list the correct ones too.
        shown: what the file calls the columns of other words.
        faults: the faults so far.
    """
    if not lists:
        return table
    others, n_rows, lacking = list[str](), 0, list[tuple[int, str]]()
    rows = zip(table.numbers, table.cells["implausible"], table.cells["target"], strict=True)
    for number, cell, due in rows:
        right = {_plain(word) for word in _words_in(due)}
        parts = cell.split("|")
        kept = [part for part in parts if _plain(part) not in right]
        faults += _in_other_capitals(table, number, due.strip(), parts, shown)
        others.append("|".join(kept).strip())
        n_rows += len(kept) < len(parts)
        if cell.strip() and due.strip() and len(kept) == len(parts):
            lacking.append((number, due.strip()))
    if any(_NUMBERED.sub("", name.casefold()) in _CALLED_WRONG for name in lists):
        seen = (
            f"The right word is one of those in {shown!r} in {counted(n_rows, 'row')}, and is not"
            " read as a wrong one there."
        )
        faults.append(cloze_fault("CIM-C020", where=table.name, seen=seen))
    faults += _lacking(table, lacking, shown)
    return replace(table, cells={**table.cells, "implausible": others})


def _in_other_capitals(
    table: Table, number: int, due: str, parts: Sequence[str], shown: str
) -> Iterator[Fault]:
    """The warning of a row whose right word has other capitals where the options are listed."""
    listed = {_plain(part): one_spelling(part.strip()) for part in parts}
    for word in map(one_spelling, _words_in(due)):
        if (other := listed.get(_plain(word), word)) != word:
            seen = f"The right word {word!r} is written {other!r} in {shown!r}."
            todo = "Write both alike: the model is asked about the word as it is written."
            where = place_of_row(table.name, number)
            yield cloze_fault("CIM-C019", where=where, seen=seen, todo=todo)


def _lacking(table: Table, rows: Sequence[tuple[int, str]], shown: str) -> Iterator[Fault]:
    """The error of rows whose right word is in no list, each with its number and the word."""
    if rows:
        named = ", ".join(f"{number} ({word})" for number, word in rows[:_FEW_ROWS])
        more = f" and {len(rows) - _FEW_ROWS} more" if len(rows) > _FEW_ROWS else ""
        seen = (
            f"The right word is not one of those in {shown!r}, as in the other rows, in"
            f" {counted(len(rows), 'row')}: {named}{more}."
        )
        places = [place_of_row(table.name, number) for number, _ in rows]
        yield cloze_fault("CIM-C022", where=places[0], seen=seen, places=places)


def _plain(word: str) -> str:
    """A word without what is around it, in small letters and one spelling of its letters."""
    return one_spelling(word.strip()).casefold()


def lists_of(table: Table, names: Sequence[str | None]) -> list[str]:
    """Those of some columns that list the right words too."""
    due = table.find("target")
    return [name for name in names if name and due and _lists_due(table, name, due)]

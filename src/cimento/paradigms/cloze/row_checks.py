"""Checks of the words in the rows of a table of cloze items, which name the row that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cimento.errors import Fault, counted
from cimento.intake.table import Row, Table
from cimento.io.values import grouped
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.suites.cloze import ClozeItem, OptionRole
from cimento.suites.letters import one_spelling

WITH_ROWS = frozenset({"CIM-C004", "CIM-C007"})
"""The codes of an id of two items and of a text that is two options of one: rows are named here."""

_FEW_ROWS = 12
_SENTENCE_ENDS = re.compile(r"(?:^|[.!?…:]\s)[^\w]*$")
"""What is before a blank that begins a sentence, with opening marks."""


def row_faults(
    table: Table,
    items: Sequence[ClozeItem],
    rows: Sequence[Row],
    roles: Mapping[str, Sequence[str | None]],
) -> Iterator[Fault]:
    """The faults of the words of items, each of which a table has in a row.

    Args:
        table: with our names.
        items: those with one blank.
        rows: the row of each.
        roles: the columns of each role, as the file calls them.
    """
    shown = {role: " and ".join(filter(None, names)) for role, names in roles.items()}
    yield from _same_ids(table, items, rows)
    yield from _repeated(table, items, rows, shown)
    yield from _unanswered(table, items, rows)
    yield from _unopposed(table, items, rows)
    yield from _capitals(table, items, rows)


def _same_ids(table: Table, items: Sequence[ClozeItem], rows: Sequence[Row]) -> Iterator[Fault]:
    """A fault of each id that several rows have."""
    for name, those in grouped(zip((item.id for item in items), rows, strict=True)).items():
        if len(those) > 1:
            seen = f"{name!r} names the items of {len(those)} rows: {_numbers(those)}."
            places = [table.where(row) for row in those]
            yield cloze_fault("CIM-C004", where=places[0], seen=seen, places=places)


def _repeated(
    table: Table, items: Sequence[ClozeItem], rows: Sequence[Row], shown: Mapping[str, str]
) -> Iterator[Fault]:
    """A fault of each text that is two options of its row, with the columns that have it."""
    for item, row in zip(items, rows, strict=True):
        first: dict[str, OptionRole] = {}
        for option in item.options:
            for text in dict.fromkeys(map(one_spelling, option.spellings)):
                if text not in first:
                    first[text] = option.role
                    continue
                names = [shown.get(role) or role for role in (first[text], option.role)]
                both = f"both in {names[0]!r} and in {names[1]!r}"
                is_alike = names[0] == names[1]
                seen = f"{text!r} is {f'twice in {names[0]!r}' if is_alike else both}."
                todo = "Remove one of the two." if is_alike else ""
                yield cloze_fault("CIM-C007", where=table.where(row), seen=seen, todo=todo)


def _unanswered(table: Table, items: Sequence[ClozeItem], rows: Sequence[Row]) -> Iterator[Fault]:
    """A fault of the rows without an expected word, where most rows have one."""
    bare = [row for item, row in zip(items, rows, strict=True) if not item.targets]
    if bare and 2 * len(bare) < len(rows):
        seen = (
            f"{counted(len(bare), 'row has', 'rows have')} no expected word, and no place in the"
            f" results: {_numbers(bare)}."
        )
        places = [table.where(row) for row in bare]
        yield cloze_fault("CIM-C018", where=places[0], seen=seen, places=places)


def _unopposed(table: Table, items: Sequence[ClozeItem], rows: Sequence[Row]) -> Iterator[Fault]:
    """A fault of the rows whose expected word has no other beside it, where most rows have one."""
    bare = [
        row
        for item, row in zip(items, rows, strict=True)
        if item.targets and all(option.role == "target" for option in item.options)
    ]
    if bare and 2 * len(bare) < len(rows):
        seen = (
            f"{counted(len(bare), 'row has', 'rows have')} no other option, and no place in the"
            f" choice among the given words: {_numbers(bare)}."
        )
        places = [table.where(row) for row in bare]
        todo = "Write the wrong word, or leave the row out."
        yield cloze_fault("CIM-C018", where=places[0], seen=seen, todo=todo, places=places)


def _numbers(rows: Sequence[Row]) -> str:
    """The numbers of some rows, of many the first ones and how many more there are."""
    shown = ", ".join(str(row.number) for row in rows[:_FEW_ROWS])
    return f"{shown} and {len(rows) - _FEW_ROWS} more" if len(rows) > _FEW_ROWS else shown


def _capitals(table: Table, items: Sequence[ClozeItem], rows: Sequence[Row]) -> Iterator[Fault]:
    """A fault of each row whose words differ in nothing but capitals, or in those of a start."""
    for item, row in zip(items, rows, strict=True):
        others = [option.text for option in item.options if option.role != "target"]
        if alike := [
            (due, other)
            for due in item.targets
            for other in others
            if due != other and due.casefold() == other.casefold()
        ]:
            due, other = alike[0]
            seen = f"{due!r} and {other!r} differ in nothing but their capitals."
            todo = "Correct one of the two, unless the test is about capitals."
            yield cloze_fault("CIM-C019", where=table.where(row), seen=seen, todo=todo)
            continue
        if not _SENTENCE_ENDS.search(item.before):
            continue
        pairs = ((due, other) for due in item.targets for other in others)
        if odd := next((pair for pair in pairs if len({*map(_is_capital, pair)}) > 1), None):
            due, other = odd
            seen = (
                f"The blank begins a sentence, and {due!r} and {other!r} differ in their capitals:"
                " the model is asked about the capital too."
            )
            yield cloze_fault("CIM-C019", where=table.where(row), seen=seen)


def _is_capital(word: str) -> bool:
    """Whether the first letter of a word is a capital."""
    return next((letter.isupper() for letter in word if letter.isalpha()), False)

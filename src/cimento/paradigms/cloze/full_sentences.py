"""Sentences that are written out, in which the blank is where their right word is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cimento.errors import Fault, counted
from cimento.intake.blanks import BLANK, has_blank, with_blank
from cimento.intake.marks import sides_of
from cimento.intake.names import short_names
from cimento.intake.table import Table
from cimento.intake.words import NAMES
from cimento.paradigms.cloze.codes import cloze_fault
from cimento.paradigms.cloze.given_words import columns_of_role
from cimento.suites.letters import one_spelling

_BETWEEN = re.compile(r"[|/,;]")
_APOSTROPHE = "['’ʼ]"  # the letters that stand for one
_OTHER_SHAPES = ("label", "rating", "prefix", "good")
"""Roles of columns that say more of a full sentence than that one of its words is due."""
_GROUPS = range(2, 13)
"""Numbers of values with which a column sorts the sentences."""
_FEW_ROWS = 12


def are_full(table: Table, name: str) -> bool:
    """Whether most cells of a column are sentences with their right word once, or with a blank.

    Wrong words have to be beside the correct ones, unless somebody has chosen which these are: a
    word of its sentence may also be there for other reasons.
    """
    due = table.find("target")
    is_chosen = "target" in table.chosen
    if due in (None, name) or (not is_chosen and _has_other_shape(table)):
        return False
    is_choice = any(map(table.find, ("plausible", "implausible"))) or columns_of_role(
        table, "implausible"
    )
    if not is_choice and not is_chosen:
        return False
    places = [_is_placed(cell, word) for cell, word in _rows(table, name)]
    return 2 * sum(places) > len(places)


def _has_other_shape(table: Table) -> bool:
    """Whether another column says what its sentences are for, such as conditions of an item.

    A condition that sorts the sentences, each of which is an item of its own, is a phenomenon.
    """
    if any(map(table.find, _OTHER_SHAPES)):
        return True
    condition, item = table.find("condition"), table.find("item")
    is_alone = item is None or table.profile(item).n_distinct == len(table.numbers)
    return condition is not None and not (is_alone and phenomenon_column(table) == condition)


def phenomenon_column(table: Table) -> str | None:
    """The column that sorts the sentences: the one of phenomena, else one of types or conditions.

    A few words come again and again in the cells of the latter, and do not say what is good.
    """
    if (named := table.find("phenomenon")) is not None:
        return named
    names = short_names(table.columns)
    of_kinds = [names[word] for word in NAMES["kind"] if word in names]
    sorting = filter(None, [*of_kinds, table.find("condition")])
    return next((name for name in sorting if _sorts(table, name)), None)


def _sorts(table: Table, name: str) -> bool:
    """Whether the cells of a column are few words that come again and again."""
    column = table.profile(name)
    is_again = column.n_distinct in _GROUPS and 2 * column.n_distinct <= column.n
    is_filled = 2 * column.n > len(table.numbers)
    return column.kind == "words" and is_again and is_filled and not sides_of("", column.two)


def _rows(table: Table, name: str) -> Iterator[tuple[str, str]]:
    """The sentence of each row, with underscores for its blank, and the right word, if any."""
    due, cells = table.find("target"), table.cells[name]
    words = [""] * len(cells) if due is None else table.stripped(due)
    return zip(map(with_blank, cells), words, strict=True)


def _is_placed(cell: str, word: str) -> bool:
    return has_blank(cell) or len(_places(cell, word)) == 1


def _places(cell: str, word: str) -> list[re.Match[str]]:
    """Where a right word, in any of its spellings, stands as a word in a sentence.

    Capitals are ignored, so that the *La* at the start is not passed over for the *la* within.
    """
    words = [re.escape(part).replace("'", _APOSTROPHE) for part in _spellings(word)]
    if not words:
        return []
    found = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)
    return [*found.finditer(cell)]


def _spellings(word: str) -> list[str]:
    """The spellings of a right word, and the words of several, in one spelling each."""
    return [part for cut in _BETWEEN.split(one_spelling(word)) if (part := cut.strip())]


def with_blanks_put(table: Table, name: str, faults: list[Fault]) -> Sequence[str]:
    """The cells of a column of sentences with the blank in the place of the right word.

    A cell that has a blank stays. Where the word is not there once, or has another capital there,
    an error names the rows; one warning says what was done in the others.

    Args:
        table: the table as the file has it.
        name: the column.
        faults: the faults so far.
    """
    cells, done, left = list[str](), list[int](), list[tuple[int, str]]()
    bare = list[int]()
    for row, (cell, word) in enumerate(_rows(table, name)):
        found = [] if has_blank(cell) else _places(cell, word)
        if has_blank(cell) or not cell.strip() or "{" in cell:
            cells.append(cell)
        elif not word:
            cells.append(cell)
            bare.append(row)
        elif len(found) == 1 and one_spelling(found[0][0]) in _spellings(word):
            cells.append(f"{cell[: found[0].start()]}{BLANK}{cell[found[0].end() :]}")
            done.append(row)
        else:
            cells.append(cell)
            left.append((row, word))
    if done:
        row, due = done[0], table.shown(table.find("target") or "")
        seen = f"The blank is put where the word in {due!r} is in its sentence: {cells[row]!r}."
        faults.append(cloze_fault("CIM-C021", where=table.place(row), seen=seen))
    if done and left:
        faults.append(_left(table, name, left))
    if done and bare:
        shown = ", ".join(str(table.numbers[row]) for row in bare[:_FEW_ROWS])
        more = f" and {len(bare) - _FEW_ROWS} more" if len(bare) > _FEW_ROWS else ""
        seen = (
            f"{counted(len(bare), 'row has', 'rows have')} neither a blank nor a word in"
            f" {table.shown(table.find('target') or '')!r}: {shown}{more}."
        )
        places = [table.place(row) for row in bare]
        todo = "Write the word there, or ___ in the sentence."
        faults.append(cloze_fault("CIM-C001", where=places[0], seen=seen, todo=todo, places=places))
    return cells


def _left(table: Table, name: str, left: Sequence[tuple[int, str]]) -> Fault:
    """The error of rows whose blank could be nowhere or in several places."""
    shown = ", ".join(f"{table.numbers[row]} ({word})" for row, word in left[:_FEW_ROWS])
    more = f" and {len(left) - _FEW_ROWS} more" if len(left) > _FEW_ROWS else ""
    seen = (
        f"The right word is not exactly once in its sentence in {table.shown(name)!r} in"
        f" {counted(len(left), 'row')}: {shown}{more}."
    )
    places = [table.place(row) for row, _ in left]
    todo = "Write ___ in the place of the word there, or correct the word."
    return cloze_fault("CIM-C001", where=places[0], seen=seen, todo=todo, places=places)

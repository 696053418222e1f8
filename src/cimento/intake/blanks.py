"""Blanks in sentences: three underscores, and the other marks that people write for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cimento.intake.words import pattern

BLANK = "___"
_OTHER = pattern("gaps")
_BRACKETS = re.compile(r"\[([^\W\d_][^\[\]]*)\]")
_MOST_WORDS = 3
"""Most words in brackets that may be an answer; more are a part of the sentence's structure."""
_LEAST = 0.8
"""Proportion of cells above which a column is one of sentences with blanks."""


def has_blank(cell: str) -> bool:
    """Whether a cell has a blank of underscores."""
    return BLANK in cell


def with_blank(cell: str) -> str:
    """A cell with underscores in place of its one other mark for a blank; else unchanged.

    >>> with_blank("The farmer milks the [BLANK] every morning.")
    'The farmer milks the ___ every morning.'
    """
    if has_blank(cell) or len(_OTHER.findall(cell)) != 1:
        return cell
    return _OTHER.sub(BLANK, cell)


def of_brackets(cell: str) -> tuple[str, str] | None:
    """A cell with a blank in place of its one word or few in square brackets, and those words.

    None where it has no such brackets, several, or a mark for a blank.

    >>> of_brackets("O rio [transbordou].")
    ('O rio ___.', 'transbordou')
    """
    found = _BRACKETS.findall(cell)
    is_marked = has_blank(with_blank(cell))
    if is_marked or len(found) != 1 or cell.count("[") + cell.count("]") != 2:  # noqa: PLR2004  # both
        return None
    words = found[0].strip()
    return (_BRACKETS.sub(BLANK, cell), words) if len(words.split()) <= _MOST_WORDS else None


def are_bracketed(cells: Sequence[str]) -> bool:
    """Whether nearly all filled cells of a column have a word or a few in square brackets.

    The brackets enclose a part of the cell, and not all of it.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    parts = [both for cell in filled if (both := of_brackets(cell)) and both[0].strip() != BLANK]
    return len(filled) > 1 and len(parts) > _LEAST * len(filled)


def are_blanked(cells: Sequence[str]) -> bool:
    """Whether nearly all filled cells of a column have a blank, or one mark for one."""
    filled = [cell for cell in cells if cell.strip()]
    return sum(has_blank(with_blank(cell)) for cell in filled) > _LEAST * len(filled)

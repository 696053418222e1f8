"""Blanks in sentences: three underscores, and the other marks that people write for them."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.intake.words import pattern

BLANK = "___"
_OTHER = pattern("gaps")
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


def are_blanked(cells: Sequence[str]) -> bool:
    """Whether nearly all filled cells of a column have a blank, or one mark for one."""
    filled = [cell for cell in cells if cell.strip()]
    return sum(has_blank(with_blank(cell)) for cell in filled) > _LEAST * len(filled)

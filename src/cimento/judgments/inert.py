"""Cells that a spreadsheet would compute, made text and back (OWASP, CSV injection)."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def inert(cell: str) -> str:
    """A cell with an apostrophe in front where it begins as a formula does; numbers are none."""
    return f"'{cell}" if cell.startswith(FORMULA) and not _is_number(cell) else cell


def live(cell: str) -> str:
    """The cell that `inert` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

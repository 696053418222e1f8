"""Sections of a study as tables: computed beside printed, for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cimento.report.cells import Shown, ends, no_ends, printed
from cimento.report.grid import BLANK, Grid
from cimento.studies import COUNTS, Cell, Section, as_long_as, decimal_of

_EQUAL = {True: "yes", False: "NO"}


def study_grid(section: Section) -> Grid:
    """A section as a table: what, computed, its interval, printed, equal or not, and why."""
    columns = _columns(section.cells)
    return Grid(
        title=f"{section.title} [{section.name}]",
        header=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        remarks=2,
        notes=(" ".join(filter(None, (f"{section.source}.", counted([section])))),),
    )


def sections_grid(sections: Sequence[Section]) -> Grid:
    """All sections as one table for programs, with the name of its section in every row."""
    cells = [cell for section in sections for cell in section.cells]
    names = [section.name for section in sections for _ in section.cells]
    columns = {"section": names, **_columns(cells)}
    return Grid(
        title="All sections",
        header=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        labels=2,
        remarks=2,
    )


def _columns(cells: Sequence[Cell]) -> dict[str, list[str]]:
    """The columns of some numbers, without those that none has."""
    columns: dict[str, list[str]] = {
        "what": [cell.what for cell in cells],
        "computed": [_shown(cell) for cell in cells],
        "95%": [_interval(cell) for cell in cells],
        "n": [_n(cell.count) for cell in cells],
        "printed": [printed(cell.printed or "") for cell in cells],
        "recomputed": [printed(cell.recomputed or "") for cell in cells],
        "equal?": [
            Shown(BLANK if cell.equal is None else _EQUAL[cell.equal], cell.equal) for cell in cells
        ],
        "note": [cell.note for cell in cells],
    }
    for name in ("95%", "n", "recomputed"):
        if not any(columns[name]):
            del columns[name]
    return columns


def counted(sections: Sequence[Section]) -> str:
    """How many numbers are equal, where there is any to compare."""
    compared, equal, recomputed, same = (
        sum(getattr(section, name) for section in sections) for name in COUNTS
    )
    sentences = []
    if compared:
        sentences.append(f"{equal} of {compared} compared numbers equal the printed ones.")
    if recomputed:
        sentences.append(f"{same} of {recomputed} equal recomputed ones, which nobody published.")
    return " ".join(sentences) or _uncompared(sections)


def _uncompared(sections: Sequence[Section]) -> str:
    """What is said where no number is compared."""
    if any(cell.printed for section in sections for cell in section.cells):
        return "Nothing is compared with the printed numbers."
    return "There are no printed numbers to compare with."


def _shown(cell: Cell) -> str:
    """The computed number, with one digit more than what it is compared with."""
    if cell.computed is None or isinstance(cell.computed, str):
        return cell.computed or Shown("", None)
    return Shown(_digits(cell, cell.computed), cell.computed)


def _n(count: str) -> str:
    """What a number rests on, such as ``217/356``: programs see n, and how many of them."""
    match = re.fullmatch(r"(?:(\d+)/)?(\d+)", count)
    if match is None:
        return count or Shown("", None)
    part, n = match.groups()
    return Shown(count, {"": int(n), **({} if part is None else {"_of_these": int(part)})})


def _interval(cell: Cell) -> str:
    if cell.low is None or cell.high is None:
        return no_ends("")
    if isinstance(cell.computed, str):
        return ends(cell.low, cell.high, f"{cell.low:.6g} to {cell.high:.6g}")
    text = f"{_digits(cell, cell.low)} to {_digits(cell, cell.high)}"
    return ends(cell.low, cell.high, text)


def _digits(cell: Cell, value: float) -> str:
    if isinstance(value, int):
        return str(value)
    known = cell.printed or cell.recomputed
    return as_long_as(value, known) if known and decimal_of(known) is not None else f"{value:.6g}"

"""Workbooks, each sheet of which is read once while a file is opened, whoever asks for it.

Several readers look at a file before one of them takes it, and the sheets that do not fit are
looked at too. What they have read is kept only as long as the file is being opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from cimento.errors import Fault
from cimento.intake import workbooks

_MOST_KEPT = 1_000_000
"""Number of cells of all sheets that are kept together; further sheets are read again."""


@dataclass(slots=True)
class _Read:
    """What was read while a file is opened, by the content of the workbook and the question."""

    names: dict[bytes, dict[str, str]] = field(default_factory=dict)
    sheets: dict[tuple[bytes, str, str, bool], tuple[list[list[str]], list[Fault]]] = field(
        default_factory=dict
    )
    cells: int = 0


_read: ContextVar[_Read | None] = ContextVar("read", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """A context in which no sheet of a workbook is read twice; the outermost one counts."""
    token = _read.set(_read.get() or _Read())
    try:
        yield
    finally:
        _read.reset(token)


def read_workbook(
    data: bytes, *, name: str, sheet: str = "", only_header: bool = False
) -> tuple[list[list[str]], list[Fault]]:
    """The rows of a sheet and the faults found; see `workbooks.read_workbook`.

    Args:
        data: the content of the file.
        name: name of the file.
        sheet: name of the sheet; empty for that of the file's name.
        only_header: whether reading stops after the first two rows that are not empty.
    """
    kept, key = _read.get(), (data, name, sheet, only_header)
    if kept is None:
        return workbooks.read_workbook(data, name=name, sheet=sheet, only_header=only_header)
    if key not in kept.sheets:
        found = workbooks.read_workbook(data, name=name, sheet=sheet, only_header=only_header)
        kept.cells += sum(map(len, found[0]))
        if kept.cells > _MOST_KEPT:
            return found
        kept.sheets[key] = found
    rows, faults = kept.sheets[key]
    # Readers join names in the rows; empty rows, of which there may be a million, stay one list.
    return [row and [*row] for row in rows], [*faults]


def sheet_names(data: bytes) -> dict[str, str]:
    """The sheets of a workbook, as `workbooks.sheet_names` has them; none for other data."""
    if (kept := _read.get()) is None:
        return workbooks.sheet_names(data)
    if data not in kept.names:
        kept.names[data] = workbooks.sheet_names(data)
    return {**kept.names[data]}

"""The result of every reader of suites, and what readers share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from cimento.errors import Fault
from cimento.faults import fault
from cimento.intake.reading import TableReading
from cimento.suites import Suite

TOML = "suite.toml"
"""The file that describes a suite in its folder."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file or a folder.

    Attributes:
        suite: the suite as read, which may still have faults that only checks find.
        sha256: hash of the bytes read, in hexadecimal.
        places: the place of each stimulus, such as ``items.tsv row 12``, in the order of
            ``suite.stimuli()``.
        faults: faults found while reading.
        table: what the table of the file was read as; None for forms without columns.
    """

    suite: Suite
    sha256: str
    places: Sequence[str]
    faults: tuple[Fault, ...] = ()
    table: TableReading | None = None


@dataclass(frozen=True, slots=True)
class RowPlaces(Sequence[str]):
    """The places of rows in a table, made when they are asked for.

    Attributes:
        name: name of the file.
        rows: numbers of the rows or lines.
        what: ``row`` or ``line``.
    """

    name: str
    rows: Sequence[int]
    what: Literal["row", "line"] = "row"

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"{self.name} {self.what} {row}" for row in self.rows[index]]
        return f"{self.name} {self.what} {self.rows[index]}"


_SPLIT = re.compile(r"(train|validation|dev|test)(-\d{5}-of-\d{5})?")


def name_from(path: Path) -> str:
    """The name of a suite that its file does not state: that of the file.

    Data sets of the Hugging Face hub have a folder for each configuration, with files named after
    splits (``binding/train-00000-of-00001.parquet``): these are named after their folder, and after
    the split too if there are several.
    """
    split = _SPLIT.fullmatch(path.stem)
    if split is None or not path.parent.name:
        return path.stem
    others = {other[1] for file in path.parent.iterdir() if (other := _SPLIT.fullmatch(file.stem))}
    return path.parent.name if len(others) <= 1 else f"{path.parent.name}-{split[1]}"


def number_text(value: object) -> object:
    """The text of an item's or region's number, given as number or text; others are unchanged."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def sha256_of(*parts: bytes) -> str:
    """The SHA-256 of the concatenated parts, in hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def strip_blanks(text: str, *, what: str, where: str, faults: list[Fault]) -> str:
    """The text without surrounding blanks; a fault is added if there were any."""
    stripped = text.strip()
    if stripped != text:
        faults.append(
            fault("CIM-S040", where=where, seen=f"{what} {text!r} has spaces at its ends.")
        )
    return stripped


def stripped(
    columns: Mapping[str, Sequence[str]], places: Sequence[str]
) -> tuple[dict[str, Sequence[str]], list[Fault]]:
    """The cells of columns without surrounding blanks, and a fault for each that had some.

    Args:
        columns: the cells of each column.
        places: the place of each row.
    """
    cells: dict[str, Sequence[str]] = {
        name: [cell.strip() for cell in columns[name]] for name in columns
    }
    spaced = [name for name in columns if cells[name] != list(columns[name])]
    faults: list[Fault] = []
    for number in range(len(places) if spaced else 0):
        for name in spaced:
            strip_blanks(columns[name][number], what=name, where=places[number], faults=faults)
    return cells, faults

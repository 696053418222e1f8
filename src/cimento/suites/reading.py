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
from cimento.suites.languages import ISO_639_3, VARIETIES

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


_SPLIT = re.compile(r"(train|validation|dev|test|data)(-\d{5}-of-\d{5})?")
_CODE = re.compile(r"[a-z]{2,3}")


def name_from(path: Path) -> str:
    """The name of a suite that its file does not state: that of the file.

    Data sets of the Hugging Face hub have a folder for each configuration, with files named after
    splits (``binding/train-00000-of-00001.parquet``) or called data: these are named after their
    folder, and after the split too if there are several. A folder that is called by the code of a
    language comes after that of the set: ``multiblimp-it`` is ``multiblimp/it/data.tsv``.
    """
    split = _SPLIT.fullmatch(path.stem)
    if split is None or not path.parent.name:
        return path.stem
    name = _name_of_folder(path.parent)
    others = {other[1] for file in path.parent.iterdir() if (other := _SPLIT.fullmatch(file.stem))}
    return name if len(others) <= 1 else f"{name}-{split[1]}"


def _name_of_folder(folder: Path) -> str:
    """The name of a folder, after that of its set if it is called by the code of a language.

    Where sets are fetched, the set's own folder of the language is in another: ``fi/fin``.
    """
    if not _CODE.fullmatch(folder.name):
        return folder.name
    above = folder.parent
    if folder.name in {above.name, ISO_639_3.get(above.name), VARIETIES.get(above.name)}:
        folder, above = above, above.parent
    return f"{above.name}-{folder.name}" if above.name else folder.name


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

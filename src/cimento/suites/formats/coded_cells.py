"""Workbooks in which the cells of designs stand side by side, each sentence behind its code.

The English materials of Sprouse, Caponigro, Greco and Cecchetto 2016
(doi:10.1007/s11049-015-9286-8) were released so: *WH.whe.non.sh.01* is the dependency, the island,
the structure, the distance and the number of the item, and its sentence is in the next cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault
from cimento.faults import errors, fault
from cimento.intake.decoding import unusable
from cimento.intake.read_once import read_workbook, sheet_names
from cimento.intake.reading import TableReading
from cimento.io.files import read_bytes
from cimento.suites import Condition, Region
from cimento.suites.design import ISLAND_FACTORS, N_LEVELS, with_design
from cimento.suites.formats.gathered import Gathered
from cimento.suites.reading import Reading, strip_blanks

_CODE = re.compile(
    r"(?P<dependency>WH|RC)\.(?P<island>[a-z]{2,9})\.(?P<structure>non|isl)\.(?P<distance>sh|lg)"
    r"\.(?P<number>[0-9]{1,3})"
)
_LEVELS: Mapping[str, str] = {"non": "nonisland", "isl": "island", "sh": "short", "lg": "long"}
_FEWEST = N_LEVELS**2
_MOST_SHEETS = 50
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Cell:
    """A filled cell: its place in words, row and column, its text, and that of the next cell."""

    where: str
    place: tuple[int, int]
    text: str
    following: str


def is_coded(data: bytes, name: str) -> bool:
    """Whether a workbook has sentences behind codes in all four conditions on a sheet."""
    for _, cells, _ in _sheets(data, name):
        codes = [match for cell in cells if (match := _CODE.fullmatch(cell.text))]
        if len({(code["structure"], code["distance"]) for code in codes}) == _FEWEST:
            return True
    return False


def read_coded(path: Path) -> Reading:
    """Read the sentences behind codes on all sheets; the file's name becomes the suite's.

    Sheets without codes, and cells that are neither a code nor the sentence of one, are named.

    Raises:
        InputError: the file may not be read.
        SuiteError: it has no such codes.
    """
    data = read_bytes(path)
    gathered, faults, read, others = Gathered(), list[Fault](), list[str](), list[str]()
    stray = list[_Cell]()
    for title, cells, more in _sheets(data, path.name):
        codes = [cell for cell in cells if _CODE.fullmatch(cell.text)]
        (read if codes else others).append(title)
        if not codes:
            continue
        faults += more
        taken = {(row, column + k) for row, column in (c.place for c in codes) for k in (0, 1)}
        stray += [cell for cell in cells if cell.place not in taken]
        for cell in codes:
            _add(gathered, cell, faults)
    if not read:
        seen = "No cell has a code such as WH.whe.non.sh.01 with a sentence behind it."
        faults.append(fault("CIM-S004", where=path.name, seen=seen))
    if errors(faults):
        raise unusable(path, faults)
    faults += _said(path.name, read, others, stray)
    reading = gathered.reading(path, data, faults, predictions=())
    suite = with_design(replace(reading.suite, factors=dict(ISLAND_FACTORS)))
    table = TableReading(
        shape="cells of designs behind their codes",
        roles={"sheets": tuple(read)},
        n_items=len(suite.items),
        unused=tuple(others),
        known="Sprouse et al. 2016",
    )
    return replace(reading, suite=suite, table=table)


def _sheets(data: bytes, name: str) -> Iterator[tuple[str, list[_Cell], list[Fault]]]:
    """The sheets of a workbook: title, filled cells, and faults."""
    for title in [*sheet_names(data).values()][:_MOST_SHEETS]:
        rows, faults = read_workbook(data, name=name, sheet=title)
        yield title, list(_cells(rows, f"{name} sheet {title!r}")), faults


def _cells(rows: Sequence[Sequence[str]], where: str) -> Iterator[_Cell]:
    for number, row in enumerate(rows, start=1):
        for column, text in enumerate(row):
            if text.strip():
                following = "".join(row[column + 1 : column + 2])
                yield _Cell(f"{where} row {number}", (number, column), text, following)


def _add(gathered: Gathered, cell: _Cell, faults: list[Fault]) -> None:
    """Add the sentence behind a code."""
    code = _CODE.fullmatch(cell.text)
    if code is None:
        return
    levels = {name: _LEVELS[code[name]] for name in ("distance", "structure")}
    phenomenon = f"{code['dependency']}_{code['island']}".lower()
    columns = {**levels, "phenomenon": phenomenon, "code": cell.text}
    text = strip_blanks(cell.following, what="the sentence", where=cell.where, faults=faults)
    condition = Condition("_".join(levels.values()), (Region(text),), columns)
    gathered.add(f"{phenomenon}-{code['number']}", condition, cell.where)


def _said(
    name: str, read: Sequence[str], others: Sequence[str], stray: Sequence[_Cell]
) -> Iterator[Fault]:
    """What is said of sheets and cells that are not read."""
    if others:
        both = (", ".join(map(repr, titles)) for titles in (read, others))
        seen = "Of the sheets, {} are read, and not {}.".format(*both)
        todo = "To score the sentences of the others, save each as a file."
        yield fault("CIM-S062", where=name, seen=seen, todo=todo)
    if stray:
        shown = "; ".join(cell.text.strip()[:40] for cell in stray[:_SHOWN])
        more = f" and {len(stray) - _SHOWN} more" if len(stray) > _SHOWN else ""
        seen = f"Cells that are neither a code nor its sentence are skipped: {shown}{more}."
        places = [cell.where for cell in stray]
        yield fault("CIM-S009", where=places[0], seen=seen, todo="", places=places)

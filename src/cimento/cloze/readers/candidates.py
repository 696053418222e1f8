"""Judged candidates as a table: tabs, a header line and no quoting, so that nothing is damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.notation import read_cell, read_parts
from cimento.errors import InputError, did_you_mean
from cimento.files import read_bytes
from cimento.suites.tables import Row, read_table

COLUMNS = ("item", "rank", "candidate", "probability", "fits", "remarks", "tags")
FITS: Mapping[str, bool | None] = {"yes": True, "no": False, "": None}


def read_candidates(path: Path) -> list[Candidate]:
    """Candidates of a table with the columns of `COLUMNS`; the last four may be missing.

    Raises:
        InputError: there is no such table, a column is missing, or a row cannot be used.
    """
    table, faults = read_table(read_bytes(path), path)
    if table is None:
        raise InputError(where=path.name, seen="; ".join(fault.seen for fault in faults))
    for name in COLUMNS[:3]:
        if name not in table.columns:
            raise InputError(
                where=path.name,
                seen=f"there is no column {name!r}",
                todo=did_you_mean(name, table.columns),
            )
    return [_candidate(row, table.where(row)) for row in table.rows]


def _candidate(row: Row, where: str) -> Candidate:
    cells = row.cells
    fits = read_cell(cells.get("fits", "")).lower()
    if fits not in FITS:
        raise InputError(where=where, seen=f"fits is {fits!r}", todo="Write yes, no, or nothing.")
    probability = cells.get("probability", "").strip()
    try:
        rank, number = int(cells["rank"]), float(probability) if probability else None
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error
    if number is not None and not 0 <= number <= 1:
        raise InputError(
            where=where, seen=f"the probability is {number}", todo="It should be from 0 to 1."
        )
    return Candidate(
        item=read_cell(cells["item"]),
        rank=rank,
        text=read_cell(cells["candidate"]),
        probability=number,
        fits=FITS[fits],
        remarks=read_parts(cells.get("remarks", "")),
        tags=read_parts(cells.get("tags", "")),
    )

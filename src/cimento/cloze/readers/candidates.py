"""Judged candidates as a table: tabs, a header line and no quoting, so that nothing is damaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.notation import read_cell, read_parts
from cimento.cloze.readers.portuguese import REMARK_JOINT, read_judgments
from cimento.errors import InputError, did_you_mean
from cimento.io.files import read_bytes
from cimento.suites.tables import Row, read_table

COLUMNS = ("item", "rank", "candidate", "probability", "fits", "remarks", "tags")
FITS: Mapping[str, bool | None] = {"yes": True, "no": False, "": None}
"""How it is written that a candidate fits."""

SAID: Mapping[str, bool | None] = {
    **FITS,
    **dict.fromkeys(("y", "s", "1", "true"), True),
    **dict.fromkeys(("n", "0", "false"), False),
}
"""How people may have written it."""

_RELEASED = frozenset({"id", "token", "judgment"})


def read_candidates(path: Path) -> list[Candidate]:
    """Candidates of a table with the columns of `COLUMNS`; `item` and `candidate` must be there.

    A table that ``cimento annotate candidates --export`` wrote has no ranks: its candidates are
    numbered in their order, and several remarks are joined as there. The released judgments of the
    study of Brazilian Portuguese are read too.

    Raises:
        InputError: there is no such table, a column is missing, or a row cannot be used.
    """
    table, faults = read_table(read_bytes(path), path)
    if table is None:
        raise InputError(where=path.name, seen="; ".join(fault.seen for fault in faults))
    if set(table.columns) >= _RELEASED:
        return [row.candidate for row in read_judgments(path)]
    for name in ("item", "candidate"):
        if name not in table.columns:
            raise InputError(
                where=path.name,
                seen=f"there is no column {name!r}",
                todo=did_you_mean(name, table.columns),
            )
    numbers: Counter[str] = Counter()
    found = []
    for row in table.rows:
        item = read_cell(row.cells["item"])
        numbers[item] += 1
        found.append(_candidate(row, table.where(row), item, numbers[item]))
    return found


def _candidate(row: Row, where: str, item: str, number: int) -> Candidate:
    cells = row.cells
    fits = read_cell(cells.get("fits", "")).lower()
    if fits not in SAID:
        raise InputError(where=where, seen=f"fits is {fits!r}", todo="Write yes, no, or nothing.")
    probability = cells.get("probability", "").strip()
    try:
        rank = int(cells["rank"]) if "rank" in cells else number
        value = float(probability) if probability else None
    except ValueError as error:
        raise InputError(where=where, seen=f"no number: {error}", todo="Correct it.") from error
    if value is not None and not 0 <= value <= 1:
        raise InputError(
            where=where, seen=f"the probability is {value}", todo="It should be from 0 to 1."
        )
    remarks = cells.get("remarks", "")
    return Candidate(
        item=item,
        rank=rank,
        text=read_cell(cells["candidate"]),
        probability=value,
        fits=SAID[fits],
        remarks=read_parts(remarks) if "rank" in cells else _joined(remarks),
        tags=read_parts(cells.get("tags", "")),
    )


def _joined(cell: str) -> tuple[str, ...]:
    return tuple(part for part in read_cell(cell).split(REMARK_JOINT) if part)

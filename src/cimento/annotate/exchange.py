"""Judgments out to a spreadsheet and in again: TSV without quoting, or xlsx with text cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cimento.annotate.candidates import Task
from cimento.annotate.journal import REMARK_JOINT, Decision, Pair, Said
from cimento.errors import InputError, UsageError
from cimento.io.files import atomically, write_text
from cimento.suites.tables import open_table

COLUMNS = ("item", "candidate", "sentence", "fits", "remarks")
_SUFFIXES = (".tsv", ".xlsx")
_SAID: Mapping[str, Said] = {
    "yes": "yes", "y": "yes", "s": "yes", "1": "yes", "true": "yes",
    "no": "no", "n": "no", "0": "no", "false": "no",
}  # fmt: skip
_CODES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", " ": "\\s"}
_PLAIN = {code: char for char, code in _CODES.items()}


def write_judgments(tasks: Sequence[Task], decisions: Mapping[Pair, Decision], path: Path) -> Path:
    r"""Write candidates with what was decided of them, for a person to go on with.

    In cells ``\t``, ``\n`` and ``\\`` stand for a tab, a line break and a backslash, and ``\s`` for
    a blank at an end; nothing is quoted, and in a workbook every cell is text.

    Raises:
        UsageError: the suffix is neither ``.tsv`` nor ``.xlsx``.
        StorageError: the file cannot be written.
    """
    rows = [list(COLUMNS), *(_row(task, decisions.get(task.pair)) for task in tasks)]
    return write_sheet(rows, path)


def write_sheet(rows: Sequence[Sequence[str]], path: Path) -> Path:
    """Write rows whose cells hold no tab and no line break, for a person to edit.

    Raises:
        UsageError: the suffix is neither ``.tsv`` nor ``.xlsx``.
        StorageError: the file cannot be written.
    """
    if path.suffix not in _SUFFIXES:
        raise UsageError(where=str(path), seen="is neither .tsv nor .xlsx", todo="Name one.")
    if path.suffix == ".tsv":
        return write_text("".join("\t".join(row) + "\n" for row in rows), path)
    return atomically(path, lambda file: _write_workbook(rows, file))


def read_judged(path: Path, tasks: Iterable[Task]) -> list[Decision]:
    """Read what was decided in such a file; rows without a decision are passed over.

    Raises:
        InputError: it cannot be read, lacks a column, or a row is of no candidate of the run.
    """
    table = open_table(path)
    missing = [name for name in ("item", "candidate", "fits") if name not in table.columns]
    if missing:
        raise InputError(
            where=table.name,
            seen=f"there is no column {missing[0]!r}",
            todo="Needed are item, candidate and fits.",
        )
    known = {task.pair for task in tasks}
    found = []
    for row in table.rows:
        item, candidate = _decoded(row.cells["item"]), _decoded(row.cells["candidate"])
        said = row.cells["fits"].strip().lower()
        if (item, candidate) not in known:
            raise InputError(
                where=table.where(row),
                seen=f"the run has no candidate {candidate!r} for the item {item!r}",
                todo="Is it the table of another run?",
            )
        if not said:
            continue
        if said not in _SAID:
            raise InputError(
                where=table.where(row), seen=f"fits is {said!r}", todo="Write yes, no or nothing."
            )
        remarks = _decoded(row.cells.get("remarks", ""))
        parts = tuple(part.strip() for part in remarks.split(REMARK_JOINT) if part.strip())
        found.append(Decision(item, candidate, _SAID[said], parts))
    return found


def _row(task: Task, decision: Decision | None) -> list[str]:
    said = "" if decision is None else decision.fits or ""
    remarks = REMARK_JOINT.join(decision.remarks) if decision else ""
    return [_coded(text) for text in (task.item, task.candidate, task.sentence, said, remarks)]


def _write_workbook(rows: Sequence[Sequence[str]], file: Path) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=False)
    sheet = book.active
    for number, row in enumerate(rows, start=1):
        for column, text in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            # Set as text whatever it looks like: =1+1, 10, null.
            cell.value, cell.data_type = text, "s"
            cell.number_format = "@"
    book.save(file)


def _coded(text: str) -> str:
    body = re.sub(r"[\\\t\n\r]", lambda found: _CODES[found[0]], text)
    return re.sub(r"^ | $", _CODES[" "].replace("\\", "\\\\"), body)


def _decoded(cell: str) -> str:
    return re.sub(r"\\[\\tnrs]", lambda found: _PLAIN[found[0]], cell.strip(" "))

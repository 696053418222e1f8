"""Spreadsheets for people who do not use a terminal: judged candidates, and suites to be reviewed.

A table of candidates is TSV without quoting, or xlsx with text cells. A sheet for review has the
cells of the suite's own tables; the reviewer changes them in place and gives each row a verdict.
What comes back goes into a copy of the suite, with a log of every change.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean, listed
from cimento.intake.decoding import open_json_lines
from cimento.intake.table import Row, Table
from cimento.intake.tables import open_table
from cimento.intake.workbooks import write_workbook
from cimento.io.files import folder_atomically, read_bytes, write_bytes, write_text
from cimento.io.parsing import read_toml
from cimento.people.annotate import REMARK_JOINT, CandidateDecision, CandidateKey, YesOrNo
from cimento.people.annotate.candidates import CandidateTask
from cimento.suites.letters import one_spelling
from cimento.suites.reading import TOML, sha256_of

COLUMNS = ("item", "candidate", "sentence", "fits", "remarks")
_SUFFIXES = (".tsv", ".xlsx")
_VERDICTS: Mapping[str, YesOrNo] = {
    "yes": "yes", "y": "yes", "s": "yes", "1": "yes", "true": "yes",
    "no": "no", "n": "no", "0": "no", "false": "no",
}  # fmt: skip
_CODES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", " ": "\\s"}
_PLAIN = {code: char for char, code in _CODES.items()}


def write_candidates(
    tasks: Sequence[CandidateTask], decisions: Mapping[CandidateKey, CandidateDecision], path: Path
) -> Path:
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
    return write_bytes(write_workbook(rows, sheet="Sheet"), path)


def read_candidates(path: Path, tasks: Iterable[CandidateTask]) -> list[CandidateDecision]:
    """Read the decisions in such a file; rows without a decision are skipped.

    Raises:
        InputError: it cannot be read, lacks a column, or a row is of no candidate of the run.
    """
    table = open_table(path)
    table.need("item", "candidate", "fits", todo="Needed are item, candidate and fits.")
    pairs = [task.pair for task in tasks]
    known = {(item, one_spelling(text)): (item, text) for item, text in pairs}
    known |= {pair: pair for pair in pairs}
    decisions = []
    for row in table.rows:
        item, candidate = _decoded(row.cells["item"]), _decoded(row.cells["candidate"])
        fits = row.cells["fits"].strip().lower()
        of_run = known.get((item, candidate)) or known.get((item, one_spelling(candidate)))
        if of_run is None:
            raise InputError(
                where=table.where(row),
                seen=f"the run has no candidate {candidate!r} for the item {item!r}",
                todo="Is it the table of another run?",
            )
        if not fits:
            continue
        if fits not in _VERDICTS:
            raise InputError(
                where=table.where(row), seen=f"fits is {fits!r}", todo="Write yes, no or nothing."
            )
        remarks = _decoded(row.cells.get("remarks", ""))
        parts = tuple(part.strip() for part in remarks.split(REMARK_JOINT) if part.strip())
        decisions.append(CandidateDecision(*of_run, _VERDICTS[fits], parts))
    return decisions


def _row(task: CandidateTask, decision: CandidateDecision | None) -> list[str]:
    fits = "" if decision is None else decision.fits or ""
    remarks = REMARK_JOINT.join(decision.remarks) if decision else ""
    return [_coded(text) for text in (task.item, task.candidate, task.sentence, fits, remarks)]


def _coded(text: str) -> str:
    body = re.sub(r"[\\\t\n\r]", lambda match: _CODES[match[0]], text)
    return re.sub(r"^ | $", _CODES[" "].replace("\\", "\\\\"), body)


def _decoded(cell: str) -> str:
    return re.sub(r"\\[\\tnrs]", lambda match: _PLAIN[match[0]], cell.strip(" "))


TABLES = ("items.tsv", "seeds.tsv", "items.jsonl")
LOG = "review.tsv"
"""In a reviewed suite: every change and every remark, of all reviews."""

VERDICTS = ("ok", "wrong", "unsure")
BAR = " | "

_SUITE = "suite"
_PLACE = ("table", "row", "version")
_SAID = ("verdict", "comment")
_LOGGED = ("reviewer", "table", "row", "item", "column", "before", "after", "verdict", "comment")
_HASH = 12


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a suite as a reviewer sees it.

    Attributes:
        table: file of the suite that it is in.
        number: of the row there, from 1, the header not counted.
        cells: column to text.
        verdict: what the reviewer says; empty for nothing.
        comment: anything that the reviewer adds.
    """

    table: str
    number: int
    cells: Mapping[str, str]
    verdict: str = ""
    comment: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """The table and the number of the row in it."""
        return self.table, self.number

    @property
    def is_doubted(self) -> bool:
        """Whether the reviewer calls the row wrong or is unsure."""
        return self.verdict in VERDICTS[1:]


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A cell that a reviewer changed."""

    row: SheetRow
    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReview:
    """A reviewer's corrections and verdicts.

    Attributes:
        rows: every row with what was said of it.
        changes: every cell that is another one now.
        status: of the suite after it.
    """

    rows: tuple[SheetRow, ...]
    changes: tuple[ChangedCell, ...]
    status: str

    @property
    def open(self) -> list[SheetRow]:
        """Rows that are wrong or unsure and were not changed."""
        return [row for row in self.unchanged if row.is_doubted]

    @property
    def unchanged(self) -> list[SheetRow]:
        """Rows in which no cell was changed."""
        changed = {change.row.place for change in self.changes}
        return [row for row in self.rows if row.place not in changed]


def export_review(
    suites: Sequence[Path], path: Path, *, items: int | None = None, seed: int = 0
) -> int:
    """Write a sheet for a reviewer; the number of its rows.

    Args:
        suites: their folders; the column ``suite`` has their names.
        path: ``.xlsx`` or ``.tsv``.
        items: number of items drawn from each suite; None for all.
        seed: of the draw.

    Raises:
        InputError: one is not a suite folder.
        UsageError: the suffix is another one, two suites have one name, or one has a column that
            the sheet needs.
        StorageError: the sheet cannot be written.
    """
    names = list(map(_name_of, suites))
    if len(set(names)) < len(names):
        raise UsageError(
            where=", ".join(map(str, suites)),
            seen="two of the folders have one name, by which the sheet tells suites apart",
            todo="Rename one, or make a sheet of each.",
        )
    by_suite = {suite: _drawn(list(_suite_rows(suite)), items, seed) for suite in suites}
    every = [row for rows in by_suite.values() for row in rows]
    columns = list(dict.fromkeys(name for row in every for name in row.cells))
    for name in (_SUITE, *_PLACE, *_SAID):
        if name in columns:
            raise UsageError(
                where=", ".join(map(str, suites)),
                seen=f"has a column {name!r}, which is the review's own in the sheet",
                todo="Give it another name in the suite.",
            )
    lines = [[_SUITE, *_PLACE, *columns, *_SAID]]
    for suite, rows in by_suite.items():
        versions = {name: _version(suite / name) for name in {row.table for row in rows}}
        lines += [
            [_name_of(suite), row.table, str(row.number), versions[row.table]]
            + [row.cells.get(name, "") for name in columns]
            + ["", ""]
            for row in rows
        ]
    write_sheet(lines, path)
    return len(every)


def _name_of(suite: Path) -> str:
    return suite.resolve().name


def _drawn(rows: list[SheetRow], items: int | None, seed: int) -> list[SheetRow]:
    """The rows of some items, drawn at random, in their order."""
    if items is None:
        return rows
    ids = list(dict.fromkeys(row.cells.get("item", "") for row in rows))
    drawn = random.Random(seed).sample(ids, min(items, len(ids)))  # noqa: S311  # not a secret
    return [row for row in rows if row.cells.get("item", "") in drawn]


def import_review(suite: Path, sheet: Path, output: Path, *, reviewer: str) -> SuiteReview:
    """Take a reviewer's corrections into a copy of a suite.

    Args:
        suite: the folder that the sheet was made of.
        sheet: as the reviewer left it.
        output: folder of the copy.
        reviewer: who reviewed it; is in the copy.

    Raises:
        InputError: the sheet is of another suite, or a cell cannot be used; all faults are named.
        UsageError: the copy would overwrite the suite.
        StorageError: the copy cannot be written.
    """
    if output.exists():
        raise UsageError(
            where=str(output), seen="is there already", todo="Name a folder that is not."
        )
    before = {row.place: row for row in _suite_rows(suite)}
    after = _sheet_rows(suite, sheet, before)
    changes = tuple(
        ChangedCell(row, column, earlier, cell)
        for row in after
        for column, cell in row.cells.items()
        if cell != (earlier := before[row.place].cells.get(column, ""))
    )
    review = SuiteReview(rows=tuple(after), changes=changes, status="")
    review = replace(review, status=_status(review, reviewer, rows=len(before)))

    def save(folder: Path) -> None:
        shutil.copytree(suite, folder, dirs_exist_ok=True)
        for name in dict.fromkeys(change.row.table for change in changes):
            of_table = [change for change in changes if change.row.table == name]
            writer = _write_stories if name.endswith(".jsonl") else _write_table
            writer(folder / name, of_table)
        _write_settings(folder / TOML, review, reviewer)
        _append_log(folder / LOG, review, reviewer)

    folder_atomically(output, save)
    return review


# --- The suite's side


def _suite_rows(suite: Path) -> Iterator[SheetRow]:
    tables = [name for name in TABLES if (suite / name).is_file()]
    if not tables or not (suite / TOML).is_file():
        raise InputError(
            where=str(suite),
            seen=f"is not a folder with {TOML} and {', '.join(TABLES)}",
            todo="`cimento suites convert SUITE -o FOLDER` makes one of other formats.",
        )
    for name in tables:
        if name.endswith(".jsonl"):
            yield from _story_rows(suite / name)
            continue
        for number, row in enumerate(open_table(suite / name).rows, start=1):
            yield SheetRow(name, number, row.cells)


def _story_rows(path: Path) -> Iterator[SheetRow]:
    for number, record in enumerate(open_json_lines(path), start=1):
        sentences = record.get("sentences")
        texts = [str(sentence) for sentence in sentences] if isinstance(sentences, list) else []
        cells = {"item": str(record.get("example_id", "")), "text": BAR.join(texts)}
        yield SheetRow(path.name, number, cells)


def _version(path: Path) -> str:
    return sha256_of(read_bytes(path))[:_HASH]


# --- The sheet's side


def _sheet_rows(
    suite: Path, path: Path, before: Mapping[tuple[str, int], SheetRow]
) -> list[SheetRow]:
    """The rows of a sheet, held against those of the suite."""
    sheet = open_table(path)
    todo = "Give the sheet that `cimento annotate review export` wrote."
    sheet.need(_SUITE, *_PLACE, *_SAID, todo=todo)
    faults: list[str] = []
    versions = {name: _version(suite / name) for name in {name for name, _ in before}}
    by_cells = {(name, str(number)): reviewed for (name, number), reviewed in before.items()}
    rows: dict[tuple[str, int], SheetRow] = {}
    for row in _rows_of_suite(sheet, versions):
        checked = _sheet_row(sheet, row, versions, by_cells, faults)
        if checked is not None and rows.setdefault(checked.place, checked) is not checked:
            faults.append(
                f"{sheet.where(row)}: row {checked.number} of {checked.table} is there twice"
            )
    if faults:
        raise InputError(where=sheet.name, seen=listed(faults))
    return list(rows.values())


def _rows_of_suite(sheet: Table, versions: Mapping[str, str]) -> Sequence[Row]:
    """The rows of a sheet that are about a suite; of a sheet of several, those of its versions."""
    names = dict.fromkeys(row.cells[_SUITE].strip() for row in sheet.rows)
    if len(names) <= 1:
        return sheet.rows
    rows = [
        row
        for row in sheet.rows
        if versions.get(row.cells["table"].strip()) == row.cells["version"].strip()
    ]
    if not rows:
        raise InputError(
            where=sheet.name,
            seen=f"it has rows of {', '.join(names)}, and none of this suite as it is now",
            todo="Give one of these, unchanged since, or export the sheet again.",
        )
    return rows


def _sheet_row(
    sheet: Table,
    row: Row,
    versions: Mapping[str, str],
    before: Mapping[tuple[str, str], SheetRow],
    faults: list[str],
) -> SheetRow | None:
    name, number = row.cells["table"].strip(), row.cells["row"].strip()
    known = before.get((name, number))
    if known is None:
        faults.append(f"{sheet.where(row)}: the suite has no row {number!r} in {name!r}")
        return None
    if row.cells["version"].strip() != versions[name]:
        faults.append(f"{sheet.where(row)}: {name} has changed since; export it again")
        return None
    verdict = row.cells["verdict"].strip().lower()
    if verdict and verdict not in VERDICTS:
        todo = did_you_mean(verdict, VERDICTS)
        faults.append(f"{sheet.where(row)}: the verdict is {verdict!r}. {todo}")
    # A spreadsheet has one header for all tables, so that a cell may be there for nothing.
    cells = {column: row.cells.get(column, "") for column in known.cells}
    plain = {
        # Blanks at the ends of a cell are lost in some programs, and are not a correction.
        column: known.cells[column] if cell.strip() == known.cells[column].strip() else cell
        for column, cell in cells.items()
    }
    if name.endswith(".jsonl") and len(plain["text"].split(BAR)) != len(
        known.cells["text"].split(BAR)
    ):
        faults.append(f"{sheet.where(row)}: the story has another number of sentences now")
    faults.extend(
        f"{sheet.where(row)}: {column} has a tab or a line break"
        for column, cell in plain.items()
        if cell != known.cells[column] and any(mark in cell for mark in "\t\n\r")
    )
    if plain.get("item") != known.cells.get("item"):
        faults.append(f"{sheet.where(row)}: the item is another one; ids are not corrected here")
    return SheetRow(name, known.number, plain, verdict, " ".join(row.cells["comment"].split()))


# --- The copy


def _write_table(path: Path, changes: Sequence[ChangedCell]) -> None:
    """The table with other cells; all other lines stay as they are."""
    table = open_table(path)
    rows = [dict(row.cells) for row in table.rows]
    for change in changes:
        rows[change.row.number - 1][change.column] = change.after
    lines = [table.columns, *(tuple(row.get(name, "") for name in table.columns) for row in rows)]
    write_sheet(lines, path)


def _write_stories(path: Path, changes: Sequence[ChangedCell]) -> None:
    records = open_json_lines(path)
    for change in changes:
        records[change.row.number - 1]["sentences"] = list(change.after.split(BAR))
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    write_text("".join(lines), path)


def _status(review: SuiteReview, reviewer: str, *, rows: int) -> str:
    """The new status of a suite: reviewed only if every row has a verdict and none is open."""
    looked = sum(bool(row.verdict) for row in review.rows)
    if looked == rows and not review.open:
        return f"reviewed by {reviewer}"
    left = len(review.open)
    return f"draft, {looked} of {rows} rows reviewed by {reviewer}, {left} left open"


def _write_settings(path: Path, review: SuiteReview, reviewer: str) -> None:
    import tomli_w

    settings = read_toml(path)
    meta = settings.setdefault("meta", {})
    known = meta.get("reviewed_by", [])
    meta["status"] = review.status
    meta["reviewed_by"] = list(dict.fromkeys([*known, reviewer]))
    write_text(tomli_w.dumps(settings), path)


def _append_log(path: Path, review: SuiteReview, reviewer: str) -> None:
    earlier = path.read_text(encoding="utf-8") if path.exists() else "\t".join(_LOGGED) + "\n"
    lines = [(change.row, change.column, change.before, change.after) for change in review.changes]
    lines += [(row, "", "", "") for row in review.unchanged if row.comment or row.is_doubted]
    text = "".join(
        "\t".join((reviewer, row.table, str(row.number), row.cells.get("item", ""), column, before,
                   after, row.verdict, row.comment)) + "\n"
        for row, column, before, after in lines
    )  # fmt: skip
    write_text(earlier + text, path)

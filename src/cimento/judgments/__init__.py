"""Human judgments: one answer of one person as a record, many as a table, and the table as a file.

The modules read what survey programs write, filter it in the open, and sum it up.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from cimento.errors import InputError, TableError, UsageError
from cimento.io import parquet
from cimento.io.files import BOM, atomically, inert, live, read_bytes, write_text
from cimento.io.parquet import parse_parquet
from cimento.io.tables import JUDGMENTS, SCHEMA_VERSION, validate_table
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl

    from cimento.intake.table import Table


ACCEPTABILITY = "acceptability"
"""The question of a judgment that is a rating."""
ACCEPTABLE = "acceptable"
"""The question of a judgment that is yes or no."""
BETTER = "which is better"
"""The question of a judgment that is a choice of two."""
WHICH_FITS = "which fits"
FITS = "fits"
ATTENTION = "attention"
FILLER: Final = "filler"
PRACTICE: Final = "practice"
READING, MAZE = "reading", "maze"
COMPREHENSION = "comprehension"
PRACTICE_COMPREHENSION = "practice comprehension"
"""The questions, as in the column ``question``; docs/parts/tables.md explains them."""

TIMED = frozenset({READING, MAZE})
"""The questions whose answers are times of words, in which nobody agrees or differs."""

NOT_OF_SUITE = frozenset({FILLER, PRACTICE, PRACTICE_COMPREHENSION})
"""The questions whose answers are stored, and are in no table of judgments."""

NONE = "none"
"""The answer that none of the options fits, or that neither sentence is better."""

BOTH = "both"
"""The answer that both sentences are equally good."""

MISSING = ("NA", "N/A", "NaN")
"""What R and others write into empty cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One person's answer to one question; its fields are the columns of the table.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: condition of the item; empty for blanks.
        candidate: the sentence or the candidate that was judged; None where there is none.
        annotator: who answered; None where it is not known.
        question: question that was answered, such as `ACCEPTABILITY`.
        value: the answer; None where none was given.
        remark: anything that was added.
        at: time of the answer, in UTC; from a form, when it was sent, as the form has it.
        survey: list of the survey.
        position: place in that list, from 1.
        answer_place: place of the answer among those that were shown, from 1; None where their
            order is not known.
        seconds: number of seconds that the answer took.
        session_seconds: number of seconds that the whole sitting took.
        expected: the correct answer of an attention check; None for every other question.
        status: status of the submission, as the recruiting platform says.
        scale: scale of a rating, by its ends, the worst first, as in ``1 to 7``.
    """

    suite: str
    item: str
    condition: str = ""
    candidate: str | None = None
    annotator: str | None = None
    question: str = ACCEPTABILITY
    value: str | None = None
    remark: str | None = None
    at: str | None = None
    survey: str | None = None
    position: int | None = None
    answer_place: int | None = None
    seconds: float | None = None
    session_seconds: float | None = None
    expected: str | None = None
    status: str | None = None
    scale: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of the question: suite, item, part of the item, and question.

        Of a choice between conditions the condition is a part of the answer.
        """
        part = "" if self.question == BETTER else self.condition
        if self.question == FITS:
            part = self.candidate or ""
        return (self.suite, self.item, part, self.question)

    def is_about(self, sentence: str) -> bool:
        """Whether it is about a sentence of its item and condition, as far as it can be told.

        A suite may have been corrected since. Spaces and the size of letters do not matter.

        Args:
            sentence: the sentence as the suite, or a run of it, has it now.
        """
        seen = self.value if self.question == BETTER else self.candidate
        # A choice may be noted as the name of a condition, which says nothing of the sentence.
        if not seen or (self.question == BETTER and " " not in seen):
            return True
        return _plain(seen) == _plain(sentence)

    @property
    def counts(self) -> bool:
        """Whether there is an answer, to a question that is not a check."""
        return self.value is not None and not self.is_check

    @property
    def is_check(self) -> bool:
        """Whether it is an attention check."""
        return self.expected is not None or self.question == ATTENTION


def _plain(sentence: str) -> str:
    return " ".join(one_spelling(sentence).casefold().split())


FIELDS = tuple(field.name for field in fields(Judgment))
OPTIONAL = tuple(JUDGMENTS.optional)


def table_of(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """The judgments table; optional columns are there where a judgment has a value for them."""
    import polars as pl

    rows = [tuple(getattr(judgment, name) for name in FIELDS) for judgment in judgments]
    table = pl.DataFrame(rows, schema=JUDGMENTS.polars(present=OPTIONAL), orient="row")
    return table.drop([name for name in OPTIONAL if table[name].null_count() == table.height])


def judgments_of(table: pl.DataFrame) -> list[Judgment]:
    """The rows of a judgments table as records; the inverse of `table_of`."""
    names = [name for name in FIELDS if name in table.columns]
    rows = table.select(names).iter_rows(named=True)
    # Cells that say nothing are left out, so that the record's own defaults hold.
    known = ({name: value for name, value in row.items() if value is not None} for row in rows)
    return [Judgment(**{"suite": "", "item": "", **row}) for row in known]


def finite(text: str) -> float | None:
    """A text as a number; None if it is not one, or without end."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


SCALE = re.compile(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")
"""The scale of a rating as a judgment has it: ``1 to 7``."""

_ENDS = re.compile(r"\D*?(-?\d+(?:[.,]\d+)?)\D*? (-?\d+(?:[.,]\d+)?)")


def scale_in(text: str) -> str:
    """A scale as a judgment has it, whatever its words: *da 1 a 7* is ``1 to 7``."""
    ends = _ENDS.fullmatch(text.strip())
    return f"{ends[1]} to {ends[2]}".replace(",", ".") if ends else text


SHOWN_COLUMNS = 5
SUFFIXES = (".parquet", ".csv", ".tsv")


def write_judgments(table: pl.DataFrame, path: Path, *, read: str = "") -> Path:
    """Write a judgments table in the format that the suffix says.

    Args:
        table: the table.
        path: of the file.
        read: what files of answers it was read from, and as what; stored in Parquet.

    Raises:
        UsageError: the suffix is none of `SUFFIXES`.
        StorageError: the file cannot be written.
    """
    refuse_suffix(path)
    validate_table(table, JUDGMENTS, where=str(path))
    if path.suffix == ".parquet":
        return atomically(path, lambda file: judgments_to_parquet(table, file, read=read))
    if path.suffix == ".csv":
        return write_text(csv_of(table), path)
    return write_text(_as_tsv(table), path)


def judgments_to_parquet(table: pl.DataFrame, file: Path | IO[bytes], *, read: str = "") -> None:
    """A judgments table as Parquet, with the name and the version of its schema.

    Args:
        table: the table.
        file: where it goes.
        read: what it was read as; see `write_judgments`.
    """
    metadata = {"cimento_table": JUDGMENTS.name, "cimento_schema_version": str(SCHEMA_VERSION)}
    metadata |= {"cimento_read": read} if read else {}
    parquet.write_parquet(table, file, metadata=metadata)


def csv_of(table: pl.DataFrame, *, decimal_comma: bool = False) -> str:
    """A judgments table as CSV for spreadsheet programs.

    Args:
        table: the table.
        decimal_comma: whether numbers have commas, and fields are parted by semicolons.
    """
    import polars as pl

    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    safe = [pl.col(name).map_elements(inert, return_dtype=pl.String) for name in texts]
    parted = ";" if decimal_comma else ","
    safe_table = table.with_columns(safe)
    return BOM + safe_table.write_csv(separator=parted, decimal_comma=decimal_comma)


def read_judgments(path: Path) -> pl.DataFrame:
    """Read a judgments table: a file that `write_judgments` wrote, or a run with one.

    Raises:
        InputError: it cannot be read, or is no such table.
        TableError: its columns are others.
    """
    file = path / f"{JUDGMENTS.name}.parquet" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise InputError(
            where=str(path),
            seen=f"is a folder without {file.name}",
            todo="Name a table of judgments, or the folder of a run that people judged.",
        )
    refuse_suffix(file)
    if file.suffix != ".parquet":
        return _from_text(file)
    table = parse_parquet(read_bytes(file), where=str(file))
    validate_table(table, JUDGMENTS, where=str(file))
    return table


def how_read(path: Path) -> str:
    """What a judgments table was read from, and as what, in lines; empty where it does not say.

    Args:
        path: a file that `write_judgments` wrote.

    Raises:
        InputError: it cannot be read.
    """
    import polars as pl

    if path.suffix != ".parquet":
        return ""
    data = read_bytes(path)
    parse_parquet(data, where=str(path))  # refuses what would need too much memory
    return pl.read_parquet_metadata(io.BytesIO(data)).get("cimento_read", "")


def is_judgments(path: Path) -> bool:
    """Whether a file has the columns of a judgments table, as `write_judgments` writes them.

    Args:
        path: of the file; a Parquet file is one.

    Raises:
        InputError: it cannot be read.
    """
    from cimento.intake.tables import open_table

    if path.suffix == ".parquet":
        return True
    return path.suffix in SUFFIXES and {*JUDGMENTS.columns} <= {*open_table(path).columns}


def refuse_suffix(path: Path) -> None:
    """Refuse a path without the suffix of a judgments table.

    Raises:
        UsageError: it does not.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(
            where=str(path),
            seen=f"judgments are kept in files that end in {', '.join(SUFFIXES)}",
            todo=f"Name a file, such as {path.with_suffix('.csv')}.",
        )


def _as_tsv(table: pl.DataFrame) -> str:
    """Without quoting: tabs and line breaks in cells become blanks."""
    lines = ["\t".join(table.columns)]
    lines += [
        "\t".join("" if cell is None else inert(" ".join(str(cell).split())) for cell in row)
        for row in table.iter_rows()
    ]
    return "".join(line + "\n" for line in lines)


def _with_own_names(table: Table) -> Table:
    """A table of answers as the window writes it for people, with the names of judgments."""
    from cimento.intake.words import cell_of, headings_of, question_of

    ours: dict[str, str] = {}
    for name in FIELDS:
        found = [heading for heading in headings_of(name) if heading in table.columns]
        ours |= dict.fromkeys(found[:1], name)
    # What is called like a field that another column has is the author's own.
    own = {*FIELDS}.intersection(ours.values()) - {*ours}
    wanted = {name: ours.get(name, name) for name in table.columns if name not in own}
    if {"item", "value"} <= {*table.columns} and not own:
        return table
    cells = {new: table.cells[name] for name, new in wanted.items()}
    for name, told in (("question", question_of), ("scale", scale_in)):
        if name in cells:
            cells[name] = [told(cell) for cell in cells[name]]
    if "question" in cells and "value" in cells:
        rows = zip(cells["question"], cells["value"], strict=True)
        cells["value"] = [_own_value(asked, value) for asked, value in rows]
    for name in ("item", "condition"):
        if name in cells and name not in table.columns:
            cells[name] = [cell_of(cell) for cell in cells[name]]
    return replace(table, columns=tuple(cells), cells=cells)


def _own_value(question: str, value: str) -> str:
    """An answer as it is stored, whatever language a table has it in."""
    from cimento.intake.words import tie_of
    from cimento.judgments.yes_no import yes_or_no

    if question == ACCEPTABLE:
        return yes_or_no(value) or value
    return tie_of(value) if question == BETTER else value


def _from_text(path: Path) -> pl.DataFrame:
    import polars as pl

    from cimento.intake.tables import open_table

    table = _with_own_names(open_table(path))
    if not {"item", "value"} <= {*table.columns}:
        shown = ", ".join(map(repr, table.columns[:SHOWN_COLUMNS]))
        raise TableError(
            where=str(path),
            seen=f"is not a table of judgments: its columns are {shown} ...",
            todo="If it has people's answers as a form program wrote them, read them with"
            f" `cimento annotate import {path.name} -o judgments.csv` first.",
        )
    kinds = JUDGMENTS.polars(present=table.columns)
    columns = {
        name: pl.Series(
            name, [live(row.cells.get(name, "")) or None for row in table.rows], dtype=pl.String
        )
        for name in table.columns
        if name in kinds
    }
    # An empty condition is one: that of a blank.
    texts = pl.DataFrame(columns).with_columns(
        pl.col(name).fill_null("") for name in ("suite", "item", "condition") if name in columns
    )
    decimals = [name for name in columns if kinds[name].is_float()]
    texts = texts.with_columns(pl.col(decimals).str.replace(",", ".", literal=True))
    try:
        typed = texts.cast({name: kind for name, kind in kinds.items() if name in columns})
    except pl.exceptions.PolarsError as error:
        raise InputError(
            where=str(path),
            seen=f"a number cannot be read ({str(error).splitlines()[0]})",
            todo="position and answer_place are whole numbers, seconds and session_seconds are"
            " numbers.",
        ) from error
    validate_table(typed, JUDGMENTS, where=str(path))
    return typed


TEXT = "text"
"""Not a column of the table: the text that was shown, by which the item can be found."""

MILLISECONDS = "milliseconds"
"""Not a column of the table either: ``seconds``, in the unit of many survey programs."""

KNOWN = (*FIELDS, TEXT, MILLISECONDS)


@dataclass(frozen=True, slots=True)
class RawRow:
    """One answer as a file has it.

    Attributes:
        where: place in the file, for messages.
        cells: column to text.
        choice: place of the answer among those that could be given, from 0, where the file has that
            in place of the answer.
    """

    where: str
    cells: Mapping[str, str]
    choice: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """The map from the columns of a file to the fields of judgments.

    Attributes:
        columns: field to the columns it may be in; the first that is not empty counts.
        fixed: field to a value that all answers have.
        values: answer as the file has it to the answer as it is kept.
        chosen: role to the column that somebody has chosen for it; see `judgments.roles`.
        barred: columns that somebody says have no role, whatever they are called.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    barred: frozenset[str] = frozenset()

    def cell(self, row: RawRow, name: str) -> str:
        """The text of a field in a row; empty where there is none."""
        for column in self.columns.get(name, ()):
            if text := row.cells.get(column, "").strip():
                return live(text)
        return self.fixed.get(name, "")

    def value(self, text: str) -> str:
        """An answer as it is kept."""
        return self.values.get(text, text)

    def with_own(self, own: ColumnMap) -> ColumnMap:
        """The map with a user's columns, and with values that come before those of this one."""
        return replace(
            self,
            fixed={**self.fixed, **own.fixed},
            values={**self.values, **own.values},
            chosen={**self.chosen, **own.chosen},
            barred=self.barred | own.barred,
        )

    @property
    def taken(self) -> frozenset[str]:
        """Every column that a field may be in."""
        return frozenset(column for columns in self.columns.values() for column in columns)


def usual_map(**more: tuple[str, ...]) -> ColumnMap:
    """Every field in the column of its own name, with other columns for some fields."""
    return ColumnMap(columns={name: (name, *more.get(name, ())) for name in KNOWN})

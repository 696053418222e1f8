"""What a redone study is made of: sections with lines, each computed beside printed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.files import read_bytes
from cimento.parsing import unpack_gzip

MOST_EMPTY = 100_000
"""Cells that rows may lack at their ends, all together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One number, or one statement.

    Attributes:
        what: it is of.
        computed: from the data; None where it is undefined or nothing can be computed.
        printed: as published; None where nothing is.
        equal: whether they agree within what was printed; None where there is nothing to compare.
        note: what explains the number, or why it is None.
    """

    what: str
    computed: float | None
    printed: float | None = None
    equal: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the study.

    Attributes:
        name: by which it is asked for.
        title: what it shows.
        source: who published what is printed.
        lines: in the order of the source.
    """

    name: str
    title: str
    source: str
    lines: tuple[Line, ...]

    @property
    def compared(self) -> int:
        """How many lines have a printed number to compare."""
        return sum(line.equal is not None for line in self.lines)

    @property
    def equal(self) -> int:
        """How many of these agree."""
        return sum(line.equal is True for line in self.lines)


Maker = Callable[[Path], Section]


def beside(
    what: str, computed: float | None, printed: float | None, *, within: float, note: str = ""
) -> Line:
    """A computed number beside a printed one, equal if they differ by no more than `within`."""
    equal = None
    if computed is not None and printed is not None:
        equal = abs(computed - printed) <= within
    return Line(what=what, computed=computed, printed=printed, equal=equal, note=note)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header, which may be packed with gzip.

    Raises:
        InputError: the file is missing, damaged or no such table.
    """
    data = read_bytes(path)
    try:
        data = unpack_gzip(data, where=str(path)) if path.suffix == ".gz" else data
        text = data.decode("utf-8-sig")
        # A row that is too short has empty cells at its end, one that is too long loses them.
        rows = list(_filled(text))
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise InputError(where=str(path), seen=f"cannot be read as CSV ({error})") from error
    if not rows:
        raise InputError(where=str(path), seen="has no rows", todo="Fetch it again.")
    return rows


def _filled(text: str) -> Iterator[dict[str, str]]:
    """The rows of a table with empty cells where they are short.

    Raises:
        ValueError: very many cells would be empty.
    """
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="")
    most = len(text) + MOST_EMPTY
    for number, row in enumerate(reader, start=1):
        if number * len(reader.fieldnames or ()) > most:
            raise ValueError("its rows are far shorter than its header")
        yield row


def need(path: Path, rows: Sequence[dict[str, str]], columns: Iterable[str]) -> None:
    """See that the columns are there.

    Raises:
        InputError: one is not.
    """
    missing = [name for name in columns if name not in rows[0]]
    if missing:
        raise InputError(
            where=str(path),
            seen=f"the column {', '.join(missing)} is missing; there are {', '.join(rows[0])}",
            todo="Give the folder as it was published.",
        )


def number(text: str) -> float | None:
    """A cell as a number; None where it is empty, or no number."""
    try:
        return float(text)
    except ValueError:
        return None


def as_json(sections: Sequence[Section]) -> str:
    """The sections as JSON, with what each amounts to."""
    plain = [{**asdict(each), "compared": each.compared, "equal": each.equal} for each in sections]
    return json.dumps({"study": "islands", "sections": plain}, ensure_ascii=False, indent=2)


def _counted(section: Section) -> str:
    """How many numbers are equal, where any were printed."""
    if not section.compared:
        return "No printed number stands beside these."
    return f"{section.equal} of {section.compared} compared numbers are equal."


def as_text(sections: Sequence[Section]) -> str:
    """The sections as tables to read: computed | printed | equal?"""
    from cimento.report.grid import BLANK, Grid
    from cimento.report.grid import as_text as table

    marks = {True: "yes", False: "NO", None: BLANK}
    parts = []
    for each in sections:
        rows = tuple(
            (line.what, _shown(line.computed), _shown(line.printed), marks[line.equal], line.note)
            for line in each.lines
        )
        grid = Grid(
            title=f"{each.title} [{each.name}]",
            header=("what", "computed", "printed", "equal?", "note"),
            rows=rows,
            remarks=2,
            notes=(f"{each.source}. {_counted(each)}",),
        )
        parts.append(table(grid))
    return "\n".join(parts)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"

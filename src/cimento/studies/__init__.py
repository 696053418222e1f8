"""What a study that recomputes published numbers is written with: numbers beside printed ones.

The names in ``__all__`` are public; the others are for the commands.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias

from cimento.errors import InputError
from cimento.io.below import files_below
from cimento.io.files import read_bytes
from cimento.io.parsing import unpack_gzip

if TYPE_CHECKING:
    from cimento.report.grid import Grid

__all__ = [
    "AbsentError", "Cell", "Maker", "Section", "beside", "cell_number", "equals_printed",
    "first_below", "need", "printed_column", "printed_tables", "read_rows", "same_decimals",
    "section_of",
]  # fmt: skip


@cache
def printed_tables(study: str) -> Mapping[str, Mapping[str, Any]]:
    """The numbers that a study prints, with the digits as printed.

    They are in ``data/studies``, by table or section of the paper.

    Args:
        study: name of the study.

    Returns:
        Table to row to what is printed there.
    """
    content = json.loads((_DATA / f"{study}.json").read_text(encoding="utf-8"))
    return {name: table["cells"] for name, table in content["tables"].items()}


ROUNDING_OF_SUMS = Decimal("1e-12")
"""Proportion of a number by which sums of floats in another order may differ from it.

Without it a number that was released with all digits of the machine would never be equal.
"""


def equals_printed(computed: float, printed: str) -> bool:
    """Whether a number, rounded to the digits that were printed, is the printed one.

    A tie (2.25 beside 2.2 or 2.3) equals either.

    Args:
        computed: number in the unit of the printed number, unrounded.
        printed: number with all its digits: ``0.940`` is narrower than ``0.94``.
    """
    known = Decimal(printed)
    half = Decimal(5).scaleb(_exponent(known) - 1)
    return abs(Decimal(computed) - known) <= half + ROUNDING_OF_SUMS * abs(known)


def as_long_as(computed: float, printed: str) -> str:
    """A computed number with one digit more than the printed one, to be beside it."""
    known = Decimal(printed)
    if "e" in printed.lower():
        return f"{computed:.{len(known.as_tuple().digits)}e}"
    return f"{computed:.{max(0, -_exponent(known)) + 1}f}"


def same_decimals(cells: Iterable[str]) -> list[str]:
    """The cells of a column, all with as many decimals as the longest.

    Spreadsheets and data files drop zeros at the end of a number; a column was computed and
    printed with one number of decimals. What is not a number stays as it is.
    """
    texts = list(cells)
    numbers = [decimal_of(text) for text in texts]
    least = min((_exponent(value) for value in numbers if value is not None), default=0)
    unit = Decimal(1).scaleb(min(least, 0))
    return [_padded(*pair, unit) for pair in zip(texts, numbers, strict=True)]


def _padded(text: str, value: Decimal | None, unit: Decimal) -> str:
    try:
        return text if value is None else f"{value.quantize(unit):f}"
    except InvalidOperation:  # more digits than a Decimal holds
        return text


_MOST_DIGITS = 50
"""Of a printed number, on either side of its point: more are a damaged file."""


def decimal_of(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(_exponent(value)) <= _MOST_DIGITS else None


def _exponent(number: Decimal) -> int:
    """The power of ten of the last digit of a finite number."""
    return int(number.as_tuple().exponent)


_DATA = Path(__file__).parents[1] / "data" / "studies"

MOST_EMPTY = 100_000
"""Cells that rows may lack at their ends, all together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number of a study, or one statement: computed beside reported.

    Attributes:
        what: what the number is of.
        computed: number computed from the data; None where it is undefined or nothing can be
            computed.
        printed: number as published, with its digits; None where nothing is.
        recomputed: number recomputed by somebody else from the same data and never published; None
            where nothing is.
        equal: whether it agrees with `printed`, or else with `recomputed`, within half a unit of
            the last digit; None where there is nothing to compare.
        note: what explains the number, or why it is None or another one.
        low: lower end of its 95% interval; None where it has none.
        high: upper end of the interval.
        count: counts that the number rests on, such as ``217/356``.
    """

    what: str
    computed: float | str | None
    printed: str | None = None
    recomputed: str | None = None
    equal: bool | None = None
    note: str = ""
    low: float | None = None
    high: float | None = None
    count: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the study.

    Attributes:
        name: name by which the section is asked for.
        title: what the section shows.
        source: who published what is printed.
        cells: cells in the order of the source.
    """

    name: str
    title: str
    source: str
    cells: tuple[Cell, ...]

    @property
    def compared(self) -> int:
        """How many cells have a printed number to compare."""
        return len(self._compared("printed"))

    @property
    def equal(self) -> int:
        """How many of these agree."""
        return sum(cell.equal is True for cell in self._compared("printed"))

    @property
    def recomputed(self) -> int:
        """How many cells have a number to compare that was recomputed and never published."""
        return len(self._compared("recomputed"))

    @property
    def recomputed_equal(self) -> int:
        """How many of these agree."""
        return sum(cell.equal is True for cell in self._compared("recomputed"))

    def _compared(self, column: str) -> list[Cell]:
        return [
            cell
            for cell in self.cells
            if cell.equal is not None and getattr(cell, column) is not None
        ]


Maker = Callable[[Path], Section]
"""A function from the folder of a study's data to a section."""
_Given = ParamSpec("_Given")


def section_of(
    name: str, *, title: str, source: str
) -> Callable[[Callable[_Given, Iterable[Cell]]], Callable[_Given, Section]]:
    """The declaration of a section: what it decorates gives its cells.

    Args:
        name: name by which the section is asked for.
        title: what the section shows.
        source: who published what is printed.
    """

    def declared(cells: Callable[_Given, Iterable[Cell]]) -> Callable[_Given, Section]:
        @wraps(cells)
        def make(*args: _Given.args, **options: _Given.kwargs) -> Section:
            made = tuple(cells(*args, **options))
            return Section(name=name, title=title, source=source, cells=made)

        return make

    return declared


class AbsentError(InputError):
    """Nothing of what was released is there, or a file that a section needs."""


def need_folder(path: Path) -> None:
    """See that a folder is there.

    Raises:
        InputError: it is not.
    """
    if not path.is_dir():
        raise InputError(where=str(path), seen="is not a folder", todo="Give the data with --data.")


def beside(
    what: str,
    computed: float | None,
    printed: str | None,
    *,
    note: str = "",
    recomputed: str | None = None,
) -> Cell:
    """A computed number beside a printed one, or one that others recomputed; "" is not a number."""
    known = printed or recomputed
    equal = equals_printed(computed, known) if computed is not None and known else None
    return Cell(
        what=what,
        computed=computed,
        printed=printed or None,
        recomputed=recomputed or None,
        equal=equal,
        note=note,
    )


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
    except UnicodeDecodeError as error:
        raise InputError(
            where=str(path), seen="is not CSV: it is not text in UTF-8", todo="Name another file."
        ) from error
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
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
    most = len(text) + MOST_EMPTY
    for number, row in enumerate(reader, start=1):
        if number * len(reader.fieldnames or ()) > most:
            raise ValueError("its rows are far shorter than its header")
        row.pop(None, None)
        yield row


def first_below(folder: Path, pattern: str) -> Path | None:
    """The file of a name in a folder or below it; the first of several by path; None for none.

    Args:
        folder: folder that is looked through.
        pattern: the name, in which ``*`` stands for anything.
    """
    return next(iter(files_below(folder, pattern)), None)


def need(
    path: Path,
    rows: Sequence[dict[str, str]],
    columns: Iterable[str],
    *,
    todo: str = "Give the folder as it was published.",
) -> None:
    """See that the columns are there.

    Args:
        path: path of the table.
        rows: rows of the table, at least one.
        columns: names of the columns.
        todo: what to do where one is not there.

    Raises:
        InputError: one is not.
    """
    missing = [name for name in columns if name not in rows[0]]
    if missing:
        raise InputError(
            where=str(path),
            seen=f"the column {', '.join(missing)} is missing; there are {', '.join(rows[0])}",
            todo=todo,
        )


def printed_column(rows: Sequence[Mapping[str, str]], column: str) -> list[str]:
    """A column of numbers as it was printed: all with as many decimals as the longest."""
    return same_decimals(row.get(column, "") for row in rows)


def cell_number(text: str) -> float | None:
    """A cell as a number; None where it is empty, or no number."""
    try:
        return float(text)
    except ValueError:
        return None


def as_json(study: str, sections: Sequence[Section]) -> str:
    """The sections of a study as JSON, with what each amounts to."""
    plain = [
        {**asdict(section), **{name: getattr(section, name) for name in COUNTS}}
        for section in sections
    ]
    return json.dumps({"study": study, "sections": plain}, ensure_ascii=False, indent=2)


def tables_plain(tables: Mapping[str, Grid]) -> dict[str, object]:
    """Tables for programs, by the names of their files."""
    return {
        name: table.tidy.plain(title=table.title, notes=table.footnotes)
        for name, table in tables.items()
    }


Form: TypeAlias = Literal["text", "markdown", "csv", "latex"]
_ENDINGS: Mapping[Form, str] = {
    "text": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex"
}  # fmt: skip
COUNTS = ("compared", "equal", "recomputed", "recomputed_equal")


def as_text(parts: Sequence[Section | Grid], form: Form = "text") -> str:
    """Sections of a study, and tables beside them, to read; at the end the counts of all.

    Args:
        parts: in the order in which they are shown.
        form: of the tables.
    """
    from cimento.report.grid import GRID_FORMS
    from cimento.studies.section_grids import counted, study_grid

    write = GRID_FORMS[_ENDINGS[form]]
    read = form in ("text", "markdown")
    sections = [part for part in parts if isinstance(part, Section)]
    if form == "csv":
        grids = _for_programs(parts)
    else:
        grids = [study_grid(part) if isinstance(part, Section) else part for part in parts]
    shared = _shared_notes(grids) if read else []
    texts = [
        write(replace(grid, notes=tuple(note for note in grid.notes if note not in shared)))
        for grid in grids
    ]
    if shared:
        texts.append("\n".join(["Notes on several tables", "", *shared]) + "\n")
    if len(sections) > 1 and read:
        texts.append(f"All sections: {counted(sections)}")
    return "\n".join(texts)


def _shared_notes(grids: Sequence[Grid]) -> list[str]:
    """The notes that are below more than one table."""
    counts = Counter(note for grid in grids for note in dict.fromkeys(grid.notes))
    return [note for note, count in counts.items() if count > 1]


def _for_programs(parts: Sequence[Section | Grid]) -> list[Grid]:
    """The tables for programs: one of all sections, and each of the others."""
    from cimento.studies.section_grids import sections_grid, study_grid

    sections = [part for part in parts if isinstance(part, Section)]
    joined = [sections_grid(sections)] if len(sections) > 1 else list(map(study_grid, sections))
    return [*joined, *(part for part in parts if not isinstance(part, Section))]


def write_parts(
    parts: Mapping[str, Section | Grid | Sequence[Section | Grid]], folder: Path
) -> list[Path]:
    """Write tables as text, LaTeX, CSV and JSON; one file of each kind for each name.

    Args:
        parts: name of the files to the table, or the tables, in them. For programs, all sections
            are one table, and each further table has a file with its number behind the name.
        folder: which is made where it is not there.

    Raises:
        StorageError: a file cannot be written.
    """
    from cimento.io.files import write_text
    from cimento.report.grid import GRID_FORMS

    read: tuple[Form, ...] = ("text", "latex")
    written = []
    for name, part in parts.items():
        several = list(part) if isinstance(part, Sequence) else [part]
        written += [
            write_text(as_text(several, form), folder / f"{name}{_ENDINGS[form]}") for form in read
        ]
        for number, grid in enumerate(_for_programs(several), start=1):
            file = name if number == 1 else f"{name}-{number}"
            written += [
                write_text(GRID_FORMS[ending](grid), folder / f"{file}{ending}")
                for ending in (".csv", ".json")
            ]
    return written

"""The only renderer of tables: aligned text, CSV, Markdown, LaTeX, JSON, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, takewhile
from typing import TypeAlias, TypeVar

from cimento.io.inline_markup import (
    apart,
    beginning_once,
    flush_left,
    folded_headings,
    folded_row,
    layout,
    narrowest,
    printable,
    tex,
    width_of,
    wrapped,
)
from cimento.records.outcomes import missing
from cimento.report.cells import HIGH, LOW, PERCENT, CellValue, N, PValue, count, label_of, repeated
from cimento.report.cells import REASON as WHY
from cimento.report.formatting import with_minus
from cimento.report.protocols import HasReason
from cimento.report.tidy import Tidy

BLANK = ""
REASON = "reason"
"""The column with the reasons why cells of a row are blank."""

REMARK_WIDTH = 60
"""Most characters in a line of a remark, in aligned text."""

MOST_REASONS = 9
"""Most distinct reasons of a table that become notes below it; more of them stay in their rows."""

LEAST_REMARK = 24
"""Fewest characters to which a remark is folded; where there are fewer, it is below."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateCell:
    """A rate or a mean, which tables always show with its interval and its n.

    Attributes:
        value: the value; None if it is undefined.
        low: lower end of the 95% interval; None if there is none.
        high: upper end of the interval; None likewise.
        n: number of observations.
        reason: the reason why the value or the interval is None.
        digits: number of decimals to show.
        unit: unit of the value and the interval, as names of columns have it; or empty.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""
    digits: int = 1
    unit: str = ""

    @classmethod
    def of(
        cls,
        value: float | None,
        ends: HasReason,
        n: int,
        *,
        digits: int = 1,
        percent: bool = False,
        reason: str | None = None,
    ) -> EstimateCell:
        """A value with the interval of a record.

        Args:
            value: the value; None if it is undefined.
            ends: the record.
            n: number of observations.
            digits: number of decimals to show.
            percent: whether value and interval are shares, to show in percent.
            reason: reason in the place of the record's; None for that.
        """
        known = [value, ends.low, ends.high]
        if percent:
            known = [None if end is None else 100 * end for end in known]
        said = ends.reason if reason is None else reason
        unit = PERCENT if percent else ""
        low, high = known[1:]
        return cls(
            value=known[0], low=low, high=high, n=n, reason=said or "", digits=digits, unit=unit
        )

    @property
    def parts(self) -> Mapping[str, CellValue]:
        """The values for programs, by the endings of their columns."""
        return {"": self.value, LOW: self.low, HIGH: self.high, N: self.n, WHY: self.reason}

    @property
    def numbers(self) -> tuple[str, str, str, str]:
        """The value, both ends and n as text; blank where undefined."""
        known = (self.value, self.low, self.high)
        ends = self.low is not None and self.high is not None
        digits = apart(self.low or 0.0, self.high or 0.0, self.digits) if ends else self.digits
        shown = [BLANK if value is None else f"{value:z.{digits}f}" for value in known]
        return shown[0], shown[1], shown[2], str(self.n)

    def __str__(self) -> str:
        """The value and its interval in one cell; blank if there is no value."""
        value, low, high, _ = self.numbers
        return f"{value} [{low}, {high}]" if low and high else value


GridCell: TypeAlias = "str | EstimateCell"
"""A text, or an estimate with its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table whose cells are texts and estimates.

    Text, Markdown, LaTeX and pages show the texts, and an estimate with its interval in one cell.
    CSV, JSON and Parquet are for programs: they have the values behind the cells (`Shown`).

    Attributes:
        title: what the table shows, in one sentence.
        header: the name of each column, shown below the name of its group, if any.
        groups: the group of each column; empty if there are no groups.
        rows: the cells, the same number in every row.
        bold: row and column of cells set in bold, in forms that have bold type.
        rules: indices of rows with a line above them.
        labels: number of label columns on the left; columns after them are right-aligned.
        remarks: number of text columns on the right, which are left-aligned.
        notes: sentences below the table.
        label: label by which LaTeX refers to the table; empty for none.
        keys: headings, with their groups, each mapped to the name that programs see, where the
            words themselves are not one.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    groups: tuple[str, ...] = ()
    bold: frozenset[tuple[int, int]] = frozenset()
    rules: frozenset[int] = frozenset()
    labels: int = 1
    remarks: int = 0
    notes: tuple[str, ...] = ()
    label: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        records: Iterable[T],
        columns: Mapping[str, Callable[[T], GridCell | int | None]],
        *,
        title: str,
        labels: int = 1,
        remarks: int = 0,
        notes: tuple[str, ...] = (),
        grouped: int = 0,
        without: Collection[str] = (),
    ) -> Grid:
        """A table of records, one per row.

        Args:
            records: the records, in the order of the rows.
            columns: name of each column, mapped to the function that makes its cell; None is blank.
            title: what the table shows, in one sentence.
            labels: number of label columns on the left.
            remarks: number of text columns on the right.
            notes: sentences below the table.
            grouped: number of columns on the left that are blank if they repeat the row above; rows
                in which they change have a line above them.
            without: names of columns to leave out.
        """
        made = {name: make for name, make in columns.items() if name not in without}
        rows = [tuple(_cell(make(record)) for make in made.values()) for record in records]
        begins = [k == 0 or row[:grouped] != rows[k - 1][:grouped] for k, row in enumerate(rows)]
        return cls(
            title=title,
            header=tuple(made),
            rows=tuple(
                row if begins[k] else (*map(_again, row[:grouped]), *row[grouped:])
                for k, row in enumerate(rows)
            ),
            rules=frozenset(k for k, new in enumerate(begins) if new and k and grouped),
            labels=labels,
            remarks=remarks,
            notes=notes,
        )

    @property
    def text(self) -> tuple[tuple[str, ...], ...]:
        """The rows as text, with estimates and their intervals in one cell."""
        return tuple(tuple(map(str, row)) for row in self.rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns, each preceded by its group."""
        groups = self.groups or (BLANK,) * len(self.header)
        return [f"{group} {name}".strip() for group, name in zip(groups, self.header, strict=True)]

    @property
    def tidy(self) -> Tidy:
        """The table as programs read it."""
        return Tidy.of(self.names, self.rows, self.keys)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The notes, and the reasons why some estimates have no interval or no value."""
        cells = (cell for row in self.rows for cell in row if isinstance(cell, EstimateCell))
        return (*self.notes, *missing((cell.value, cell.low, cell.reason) for cell in cells))

    def for_paper(self) -> Grid:
        """The table as printed in papers: without empty columns, p as ``< .001``."""
        kept = self.compact()
        rows = (
            tuple(cell.printed if isinstance(cell, PValue) else cell for cell in row)
            for row in kept.rows
        )
        return replace(kept, rows=tuple(rows))

    def compact(self) -> Grid:
        """The table without empty columns, with the reasons of blank cells as notes below it."""
        kept = self.filled()
        if not kept.remarks or kept.header[-1] != REASON:
            return kept
        reasons = [tuple(filter(None, str(row[-1]).split("; "))) for row in kept.rows]
        distinct = tuple(dict.fromkeys(chain(*reasons)))
        rows = tuple(row[:-1] for row in kept.rows)
        if len(set(reasons)) == 1:
            blank = [name for name in self.names[:-1] if name not in kept.names]
            what = ", ".join(blank) or "some numbers"
            together = f"Not computed: {what} ({'; '.join(distinct)})."
            return replace(
                kept,
                header=kept.header[:-1],
                groups=kept.groups[:-1],
                rows=rows,
                remarks=kept.remarks - 1,
                notes=(*kept.notes, together),
            )
        if len(distinct) > MOST_REASONS:
            return kept
        numbers = {reason: str(number) for number, reason in enumerate(distinct, start=1)}
        return replace(
            kept,
            header=(*kept.header[:-1], "note"),
            rows=tuple(
                (*row, ", ".join(numbers[reason] for reason in several))
                for row, several in zip(rows, reasons, strict=True)
            ),
            notes=(*kept.notes, *(f"{numbers[reason]}: {reason}." for reason in distinct)),
        )

    def filled(self) -> Grid:
        """The table without columns in which all cells are empty."""
        columns = range(len(self.header))
        kept = [k for k in columns if not self.rows or any(str(row[k]) for row in self.rows)]
        return replace(
            self,
            header=tuple(self.header[k] for k in kept),
            groups=tuple(self.groups[k] for k in kept) if self.groups else (),
            rows=tuple(tuple(row[k] for k in kept) for row in self.rows),
            bold=frozenset((i, kept.index(k)) for i, k in self.bold if k in kept),
            labels=sum(k < self.labels for k in kept),
            remarks=sum(k >= len(columns) - self.remarks for k in kept),
        )

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Each group, with the number of its columns."""
        return [(name, size) for name, _, size in _spans(self.groups)]

    def is_text(self, column: int) -> bool:
        """Whether a column is left-aligned."""
        return column < self.labels or column >= len(self.header) - self.remarks


def _cell(cell: GridCell | int | None) -> GridCell:
    return BLANK if cell is None else count(cell) if isinstance(cell, int) else cell


def _again(label: GridCell) -> GridCell:
    """A label that is in the row above."""
    return repeated(label) if isinstance(label, str) else label


def grid_as_text(grid: Grid, *, width: int | None = None) -> str:
    """The table as aligned columns, two spaces apart; a long last remark takes several lines.

    Args:
        grid: the table.
        width: columns of the terminal. Headings and texts are folded to fit in. Of a table that is
            still wider, the columns that do not fit are below, beside its first ones again. None
            for lines of any length.
    """
    grid = grid.compact()
    table = [tuple(map(printable, map(label_of, row))) for row in (grid.header, *grid.rows)]
    most = _widest(table)
    if width and grid.is_text(0) and sum(most) + 2 * (len(most) - 1) > width:
        first = beginning_once([row[0] for row in table])
        table = [(cell, *row[1:]) for cell, row in zip(first, table, strict=True)]
        most = _widest(table)
    if grid.remarks:
        most[-1] = min(most[-1], REMARK_WIDTH)
    texts = [k for k in range(len(most)) if grid.is_text(k)]
    keys = list(takewhile(grid.is_text, range(len(most))))
    least = [
        min(most[k], narrowest(cells[0], cells[1:], is_text=k in texts))
        for k, cells in enumerate(zip(*table, strict=True))
    ]
    if grid.remarks:
        least[-1] = min(most[-1], LEAST_REMARK)
    widths, blocks = layout(most, least=least, texts=texts, keys=keys, width=width)
    lines = wrapped(printable(grid.title), width)
    for columns in blocks:
        lines += ["", *_block(grid, table, widths, columns)]
    notes = [part for note in _notes(grid) for part in wrapped(note, width)]
    return "\n".join([*lines, *notes]) + "\n"


def _widest(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(width_of, cells)) for cells in zip(*table, strict=True)]


def _block(
    grid: Grid, table: Sequence[Sequence[str]], most: Sequence[int], columns: Sequence[int]
) -> list[str]:
    """The lines of some columns of a table, whose cells are folded to the widths in `most`.

    Of several blocks, each has the rows with values in it, and their labels.
    """
    keys = sum(1 for _ in takewhile(grid.is_text, range(len(most))))
    is_whole = len(columns) == len(most)
    wide, shown = [most[k] for k in columns], table[0]
    rows = {-1: folded_headings([shown[k] for k in columns], wide)}
    for number, row in enumerate(table[1:]):
        if is_whole or any(row[k].strip() for k in columns[keys:]):
            again = {
                k
                for k, cell in enumerate(grid.rows[number])
                if not str(cell) and (number - 1 in rows or row[: k + 1] == shown[: k + 1])
            }
            rows[number] = folded_row([BLANK if k in again else row[k] for k in columns], wide)
            shown = row
    widths = [max(map(width_of, cells)) for cells in zip(*chain(*rows.values()), strict=True)]
    groups = [printable(grid.groups[k]) for k in columns] if grid.groups else []
    _widen(widths, groups)

    def line(cells: Sequence[str]) -> str:
        parts = [
            flush_left(cell, width) if grid.is_text(k) else cell.rjust(width)
            for k, cell, width in zip(columns, cells, widths, strict=True)
        ]
        return "  ".join(parts).rstrip()

    rule = "-" * len(line(tuple("-" * width for width in widths)))
    lines = [_group_line(groups, widths)] if groups else []
    lines += [*map(line, rows.pop(-1)), rule]
    for above, number in zip([*[*rows][:1], *rows], rows, strict=False):
        lines += [rule] if grid.rules & {*range(above + 1, number + 1)} else []
        lines += map(line, rows[number])
    return lines


def as_csv(grid: Grid) -> str:
    """The table as CSV for programs, see `cimento.report.tidy`."""
    return grid.tidy.csv()


def as_markdown(grid: Grid) -> str:
    """The table in Markdown, with bold cells."""
    names = grid.names
    aligned = ["---" if grid.is_text(k) else "---:" for k in range(len(names))]
    rows = [
        [f"**{cell}**" if (i, k) in grid.bold else cell for k, cell in enumerate(row)]
        for i, row in enumerate(grid.text)
    ]
    lines = ["| " + " | ".join(map(_piped, row)) + " |" for row in (names, *rows)]
    lines.insert(1, "|" + "|".join(aligned) + "|")
    return "\n".join([printable(grid.title), "", *lines, *_notes(grid)]) + "\n"


def as_latex(grid: Grid) -> str:
    """The table in LaTeX, for the package booktabs."""
    grid = grid.for_paper()
    columns = "".join(_tex_column(grid, k) for k in range(len(grid.header)))
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{tex(grid.title)}}}",
        *([f"\\label{{{grid.label}}}"] if grid.label else []),
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
    ]
    if grid.groups:
        lines += _tex_groups(grid.groups)
    lines += [_tex_row(grid.header, set()), "\\midrule"]
    for number, row in enumerate(grid.text):
        if number in grid.rules:
            lines.append("\\midrule")
        lines.append(_tex_row(row, {k for i, k in grid.bold if i == number}))
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"\\par\\smallskip\\footnotesize {tex(note)}" for note in grid.footnotes]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def grid_as_json(grid: Grid) -> str:
    """The table as JSON for programs: title, columns, the schema of a row, the rows, and notes."""
    return grid.tidy.json(title=grid.title, notes=grid.footnotes)


GRID_FORMS: Mapping[str, Callable[[Grid], str]] = {
    ".txt": grid_as_text,
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
    ".json": grid_as_json,
}
"""File endings, each mapped to the renderer of this form."""


def _notes(grid: Grid) -> list[str]:
    return ["", *map(printable, grid.footnotes)] if grid.footnotes else []


def sizes(cells: Iterable[GridCell | None]) -> str:
    """The n of the estimates in a row: one number, or the smallest and the largest."""
    numbers = sorted({cell.n for cell in cells if isinstance(cell, EstimateCell)})
    if len(numbers) == 1:
        return count(numbers[0])
    return "-".join(str(n) for n in dict.fromkeys((*numbers[:1], *numbers[-1:])))


def _spans(groups: Sequence[str]) -> list[tuple[str, int, int]]:
    """Each group, with its first column and the number of its columns."""
    spans = []
    at = 0
    for name, members in groupby(groups):
        size = len(list(members))
        spans.append((name, at, size))
        at += size
    return spans


def _widen(widths: list[int], groups: Sequence[str]) -> None:
    """Widen the last column of a group until the group is as wide as its name."""
    for name, at, size in _spans(groups):
        together = sum(widths[at : at + size]) + 2 * (size - 1)
        widths[at + size - 1] += max(0, len(name) - together)


def _group_line(groups: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for name, at, size in _spans(groups):
        together = sum(widths[at : at + size]) + 2 * (size - 1)
        parts.append(name.center(together))
    return "  ".join(parts).rstrip()


def _piped(cell: str) -> str:
    return printable(cell).replace("|", "\\|").replace("<", "&lt;")


def _tex_column(grid: Grid, column: int) -> str:
    """The type of a column: one of sentences is a paragraph, which LaTeX breaks into lines."""
    if not grid.is_text(column):
        return "r"
    longest = max((len(row[column]) for row in grid.text), default=0)
    return "p{0.3\\linewidth}" if longest > _TEX_LINE else "l"


_TEX_LINE = 40
"""Most characters of a text that a column of a page has in one line; names are as long."""


def _tex_row(cells: Sequence[str], bold: set[int]) -> str:
    texts = [tex(with_minus(cell)).replace("−", "$-$") for cell in cells]
    shown = (f"\\textbf{{{text}}}" if k in bold else text for k, text in enumerate(texts))
    return " & ".join(shown) + " \\\\"


def _tex_groups(groups: Sequence[str]) -> list[str]:
    heads = []
    lines = []
    for name, at, size in _spans(groups):
        heads.append(f"\\multicolumn{{{size}}}{{c}}{{{tex(name)}}}" if name else " & " * (size - 1))
        if name:
            lines.append(f"\\cmidrule(lr){{{at + 1}-{at + size}}}")
    return [" & ".join(heads) + " \\\\", " ".join(lines)]

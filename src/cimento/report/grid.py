"""Plain tables in five forms: aligned text, CSV, Markdown, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from cimento.markup import printable, tex

BLANK = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table whose cells are text.

    Attributes:
        title: what it shows, in one sentence.
        header: one name for each column; with a group, two.
        groups: for each column the group it is in; empty where there are none.
        rows: cells, the same number in each row.
        bold: row and column of cells that are set in bold, where a form can.
        rules: numbers of rows before which a line is drawn.
        labels: how many columns on the left are labels; the others are set to the right.
        remarks: how many columns on the right are text, and set to the left.
        notes: sentences below the table.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    groups: tuple[str, ...] = ()
    bold: frozenset[tuple[int, int]] = frozenset()
    rules: frozenset[int] = frozenset()
    labels: int = 1
    remarks: int = 0
    notes: tuple[str, ...] = ()

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Each group with the number of its columns."""
        return [(name, size) for name, _, size in _spans(self.groups)]

    def is_text(self, column: int) -> bool:
        """Whether a column is set to the left."""
        return column < self.labels or column >= len(self.header) - self.remarks


def as_text(grid: Grid) -> str:
    """Aligned columns, two blanks between them."""
    header, *rows = [tuple(map(printable, row)) for row in (grid.header, *grid.rows)]
    groups = tuple(map(printable, grid.groups))
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    if groups:
        _widen(widths, groups)

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if grid.is_text(k) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    lines = [printable(grid.title), ""]
    if groups:
        lines.append(_group_line(groups, widths))
    lines.append(line(header))
    rule = "-" * len(line(tuple("-" * width for width in widths)))
    lines.append(rule)
    for number, row in enumerate(rows):
        if number in grid.rules:
            lines.append(rule)
        lines.append(line(row))
    return "\n".join([*lines, *_notes(grid)]) + "\n"


def as_csv(grid: Grid) -> str:
    """One header line; a group stands before the name of its columns."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_names(grid), *grid.rows])
    return file.getvalue()


def as_markdown(grid: Grid) -> str:
    """A Markdown table with bold cells."""
    names = _names(grid)
    aligned = ["---" if grid.is_text(k) else "---:" for k in range(len(names))]
    rows = [
        [f"**{cell}**" if (i, k) in grid.bold else cell for k, cell in enumerate(row)]
        for i, row in enumerate(grid.rows)
    ]
    lines = ["| " + " | ".join(_piped(cell) for cell in row) + " |" for row in (names, *rows)]
    lines.insert(1, "|" + "|".join(aligned) + "|")
    return "\n".join([printable(grid.title), "", *lines, *_notes(grid)]) + "\n"


def as_latex(grid: Grid) -> str:
    """A table for the package booktabs."""
    columns = "".join("l" if grid.is_text(k) else "r" for k in range(len(grid.header)))
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{tex(grid.title)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
    ]
    if grid.groups:
        lines += _tex_groups(grid.groups)
    lines += [_tex_row(grid.header, set()), "\\midrule"]
    for number, row in enumerate(grid.rows):
        if number in grid.rules:
            lines.append("\\midrule")
        lines.append(_tex_row(row, {k for i, k in grid.bold if i == number}))
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"\\par\\smallskip\\footnotesize {tex(note)}" for note in grid.notes]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def as_json(grid: Grid) -> str:
    """A record for each row, by the names of the columns, with the title and the notes."""
    names = _names(grid)
    rows = [dict(zip(names, row, strict=True)) for row in grid.rows]
    whole = {"title": grid.title, "columns": names, "rows": rows, "notes": list(grid.notes)}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


FORMS: Mapping[str, Callable[[Grid], str]] = {
    ".txt": as_text,
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
    ".json": as_json,
}
"""Ending of a file to the form that it gets."""


def _names(grid: Grid) -> list[str]:
    """The names of the columns, each after its group."""
    groups = grid.groups or (BLANK,) * len(grid.header)
    return [f"{group} {name}".strip() for group, name in zip(groups, grid.header, strict=True)]


def _notes(grid: Grid) -> list[str]:
    return ["", *map(printable, grid.notes)] if grid.notes else []


def _spans(groups: Sequence[str]) -> list[tuple[str, int, int]]:
    """Each group with its first column and the number of its columns."""
    spans = []
    at = 0
    for name, members in groupby(groups):
        size = len(list(members))
        spans.append((name, at, size))
        at += size
    return spans


def _widen(widths: list[int], groups: Sequence[str]) -> None:
    """Make the columns of a group as wide together as its name."""
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


def _tex_row(cells: Sequence[str], bold: set[int]) -> str:
    shown = (f"\\textbf{{{tex(cell)}}}" if k in bold else tex(cell) for k, cell in enumerate(cells))
    return " & ".join(shown) + " \\\\"


def _tex_groups(groups: Sequence[str]) -> list[str]:
    heads = []
    lines = []
    for name, at, size in _spans(groups):
        heads.append(f"\\multicolumn{{{size}}}{{c}}{{{tex(name)}}}" if name else " & " * (size - 1))
        if name:
            lines.append(f"\\cmidrule(lr){{{at + 1}-{at + size}}}")
    return [" & ".join(heads) + " \\\\", " ".join(lines)]

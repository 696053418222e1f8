"""What a program measures as tables: printed as Markdown, or kept as files with tabs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Table:
    """A table of results; a cell may have Markdown, such as asterisks around a missed target.

    Attributes:
        title: in Markdown; its words before the first sign other than a letter name the file.
        names: of the columns.
        rows: their cells.
    """

    title: str
    names: Sequence[str]
    rows: Iterable[Sequence[object]]

    @property
    def file(self) -> str:
        """The name of the file: that of the title up to its first colon, comma or parenthesis."""
        head = re.split(r"[:,(]", self.title)[0].replace("'s", "").lower()
        return "-".join(re.findall(r"\w+", head)) + ".tsv"

    def markdown(self) -> str:
        """The table under its title."""
        rows = [self.names, ["---"] * len(self.names), *self.rows]
        return "\n".join([f"**{self.title}**", "", *(f"| {_cells(row, ' | ')} |" for row in rows)])

    def tsv(self) -> str:
        """The table with tabs; its first line is the title behind a number sign."""
        rows = (_cells(row, "\t") for row in [self.names, *self.rows])
        return "\n".join([f"# {self.title}", *rows, ""])


def _cells(row: Sequence[object], between: str) -> str:
    return between.join(map(str, row))


def publish(tables: Sequence[Table]) -> int:
    """Print tables, or write each into the folder that is named on the command line.

    Returns:
        The exit code.
    """
    if len(sys.argv) == 1:
        print("\n\n".join(table.markdown() for table in tables))
        return 0
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        (folder / table.file).write_text(table.tsv(), encoding="utf-8")
    return 0

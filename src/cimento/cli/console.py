"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cimento.markup import printable

if TYPE_CHECKING:
    import polars as pl


def show(text: str) -> None:
    """A result, to standard output."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def show_tables(tables: Iterable[pl.DataFrame]) -> None:
    """Tables of the same columns, below each other, as TSV."""
    import polars as pl

    show(pl.concat(tables).write_csv(separator="\t"))


def columns(rows: Sequence[tuple[str, ...]], *, indent: int = 0) -> str:
    """Rows as columns of text, two blanks between them; control characters are blanks."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


def note(text: str) -> None:
    """A remark, to standard error."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()

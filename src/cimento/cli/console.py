"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

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


def note(text: str) -> None:
    """A remark, to standard error."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")
    sys.stderr.flush()

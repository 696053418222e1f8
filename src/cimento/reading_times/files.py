"""Tables of observations and texts, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import InputError, UsageError
from cimento.io.files import atomically, read_bytes, write_text
from cimento.io.parquet import parse_parquet, write_parquet
from cimento.reading_times.places import need_columns
from cimento.suites.tables import open_table

if TYPE_CHECKING:
    import polars as pl

READ = (".csv", ".tsv", ".txt", ".tab", ".xlsx", ".parquet")
WRITTEN = (".csv", ".tsv", ".parquet")


def read_observations(path: Path) -> pl.DataFrame:
    """A table of observations; what is not Parquet is text, as it stands in the file.

    Raises:
        InputError: it cannot be read, or has no rows.
        SuiteError: it is damaged; the error says where.
        UsageError: its suffix is none of `READ`.
    """
    import polars as pl

    _refuse_suffix(path, READ)
    if path.suffix.lower() == ".parquet":
        frame = parse_parquet(read_bytes(path), where=str(path))
    else:
        table = open_table(path)
        columns = {name: [row.cells.get(name, "") for row in table.rows] for name in table.columns}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(table.columns, pl.String()))
    if frame.is_empty():
        raise InputError(where=str(path), seen="holds no observations", todo="Add rows.")
    return frame


def read_texts(path: Path, *, column: str) -> dict[str, str]:
    """Id to text, from a table with the ids in `column` and the texts in ``content``.

    Raises:
        CimentoError: as for `read_observations`, or a column is missing, or an id is there twice.
    """
    frame = read_observations(path)
    need_columns(frame, (column, "content"), where=str(path))
    texts: dict[str, str] = {}
    for row, (text, content) in enumerate(frame.select(column, "content").iter_rows(), start=2):
        if str(text) in texts:
            raise InputError(
                where=f"{path} row {row}",
                seen=f"the text {str(text)!r} is there already",
                todo="Give every text one row.",
            )
        texts[str(text)] = str(content or "")
    return texts


def write_joined(frame: pl.DataFrame, path: Path) -> Path:
    """Write a table as ``.csv``, ``.tsv`` or ``.parquet``; null is an empty cell, in R an NA.

    Raises:
        UsageError: the suffix is another one.
        StorageError: the file cannot be written.
    """
    refuse_output(path)
    if path.suffix.lower() == ".parquet":
        return atomically(path, partial(write_parquet, frame))
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    return write_text(frame.write_csv(separator=separator), path)


def refuse_output(path: Path) -> None:
    """See that a table can be written under that name.

    Raises:
        UsageError: its suffix is none of `WRITTEN`.
    """
    _refuse_suffix(path, WRITTEN)


def _refuse_suffix(path: Path, known: Sequence[str]) -> None:
    if path.suffix.lower() not in known:
        raise UsageError(
            where=str(path),
            seen=f"ends in {path.suffix!r}",
            todo=f"It should be one of {', '.join(known)}.",
        )

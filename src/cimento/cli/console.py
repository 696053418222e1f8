"""Output of the command line: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from cimento.errors import Fault, StorageError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from cimento.report.figures import Figure


NOT_REACHED = 4
"""Exit code if a given threshold is not reached."""

# Escape sequences control a terminal; directional marks can disguise a text as another.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def show(text: str) -> None:
    """Print a result to standard output, with terminal controls escaped as in JSON.

    The reason is that suites and runs may come from strangers.
    """
    if sys.stdout is None:
        raise StorageError(
            where="standard output",
            seen="is closed",
            todo="Give results a place to go, such as a file, or leave `>&-` out.",
        )
    _write(text, sys.stdout)


def deliver(text: str, output: Path | None) -> None:
    """Print a result, or write it to a file (UTF-8, whatever the shell) and say where it is.

    Raises:
        StorageError: the file cannot be written.
    """
    if output is None:
        show(text)
        return
    from cimento.io.files import write_text

    note(f"Written: {write_text(text.rstrip(chr(10)) + chr(10), output)}")


def show_json(value: object, *, indent: int = 2) -> None:
    """Print a result as JSON to standard output; records become objects of their fields."""
    show(json_text(value, indent=indent))


def json_text(value: object, *, indent: int = 2) -> str:
    """A result as JSON; records become objects of their fields."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=asdict)


def in_columns(header: Sequence[str], rows: Iterable[Sequence[object]], *, indent: int = 0) -> str:
    """A table as aligned columns of text, with a dash for what is None."""
    from cimento.io.inline_markup import columns

    texts = [tuple("-" if cell is None else str(cell) for cell in row) for row in rows]
    return columns([tuple(header), *texts], indent=indent)


def show_tables(tables: Iterable[pl.DataFrame]) -> None:
    """Print tables one below the other, as TSV; a column that a table lacks is empty there."""
    import polars as pl

    show(pl.concat(tables, how="diagonal_relaxed").write_csv(separator="\t"))


def write_drawn(draw: Callable[[], Iterable[Figure]], folder: Path) -> list[Path]:
    """Write figures into a folder; say why where they cannot be drawn.

    Raises:
        StorageError: a file cannot be written.
    """
    from cimento.report.figures import lacking_figures, write_figures

    if lacking := lacking_figures():
        note(lacking)
        return []
    return write_figures(draw(), folder)


def note(text: str) -> None:
    """Print a remark to standard error, with terminal controls escaped as in results.

    If standard error is closed (``2>&-``), no remarks are written.
    """
    if sys.stderr is not None:
        _write(text, sys.stderr)


def note_faults(faults: Iterable[Fault], code: str) -> None:
    """Print those of some faults that have a code, as remarks."""
    for one in faults:
        if one.code == code:
            note(f"{one.severity}: {one}")


def _write(text: str, stream: TextIO) -> None:
    shown = _STEERING.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)
    try:
        stream.write(shown if shown.endswith("\n") else shown + "\n")
        stream.flush()
    except BrokenPipeError:
        # The reader went away (`cimento run ... | grep -q`). What is left to do still matters: the
        # files to write, and the exit code.
        close_quietly(stream)


def close_quietly(stream: TextIO) -> None:
    """Have a stream whose reader went away lead nowhere, so that nothing more fails for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

"""A tab-separated table read a few lines at a time, as long as there is nothing unusual in it.

What a table may be, and what is said of one that is damaged, is told in `cimento.suites.tables`,
which reads it whole. Whatever would lead to a fault, or to a guess, ends the reading here.
"""

from __future__ import annotations

import codecs
import os
from collections import Counter
from collections.abc import Iterator
from typing import IO, Protocol

from cimento.errors import Fault
from cimento.suites.tables import (
    MOST_COLUMNS,
    MOST_PADDING,
    ROW_BYTES,
    SMALL_ROWS,
    Table,
    count_lacking,
    filled_records,
    rows_under,
    split_plain,
)

_BLOCK = 1 << 14
"""Bytes of lines that are read at once."""


class Digest(Protocol):
    """What takes the bytes of a file as they are read."""

    def update(self, data: bytes, /) -> None:
        """Take some more bytes."""


class UnusualTableError(Exception):
    """A table that has to be read whole."""


def table_blocks(file: IO[bytes], *, name: str, digest: Digest) -> Iterator[Table]:
    """The rows of a table, some at a time, each time with the header.

    Args:
        file: open at its beginning.
        name: of the file.
        digest: gets all bytes that are read.

    Raises:
        OSError: it cannot be read.
        UnusualTableError: it has a fault, or has to be guessed at.
    """
    columns: list[str] = []
    lacking = 0
    for first, text in _texts(file, digest):
        records = filled_records(split_plain(text), first=first)
        if not columns and records:
            columns = _header(records.pop(0)[1])
        if not columns:
            continue
        lacking += count_lacking(columns, records)
        faults: list[Fault] = []
        rows = rows_under(columns, records, name=name, faults=faults)
        if faults or lacking > MOST_PADDING:
            raise UnusualTableError
        yield Table(name, tuple(column for column in columns if column), tuple(rows))
    if not columns:
        raise UnusualTableError


def _header(record: list[str]) -> list[str]:
    columns = [cell.strip() for cell in record]
    times = Counter(column for column in columns if column)
    if len(columns) > MOST_COLUMNS or max(times.values()) > 1:
        raise UnusualTableError
    return columns


def _texts(file: IO[bytes], digest: Digest) -> Iterator[tuple[int, str]]:
    """Some lines at a time, with the number of the first; the last has no end.

    Lines end where no character of UTF-8 can be cut.
    """
    most = max(SMALL_ROWS, os.fstat(file.fileno()).st_size // ROW_BYTES)
    size, first = 0, 1
    ended = True
    while lines := file.readlines(_BLOCK):
        data = b"".join(lines)
        digest.update(data)
        text = _decoded(data, start=first == 1)
        yield first, text.removesuffix("\n")
        size += len(data)
        first += len(lines)
        ended = data.endswith(b"\n")
        if first - 1 > most:
            raise UnusualTableError
    # What follows the last end of a line is a row too, if an empty one.
    if first - 1 + ended > max(SMALL_ROWS, size // ROW_BYTES):
        raise UnusualTableError


def _decoded(data: bytes, *, start: bool) -> str:
    if b"\x00" in data or (start and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))):
        raise UnusualTableError
    try:
        return data.decode("utf-8-sig" if start else "utf-8")
    except UnicodeDecodeError as error:
        raise UnusualTableError from error

"""Parquet files, written with the system's errors and checked for growth before they are read.

Untrusted files can need unlimited memory. A page of a few bytes can say that a value comes a
billion times, or unpack to a gigabyte. The memory that a file needs follows from the headers of its
pages, which are structs in Thrift's compact protocol (https://parquet.apache.org/docs/file-format/,
and ``thrift-compact-protocol.md`` of Apache Thrift).
"""

from __future__ import annotations

import io
import mmap
import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from cimento.errors import TableError
from cimento.io.panics import without_panics

if TYPE_CHECKING:
    import polars as pl

SMALL_PARQUET_BYTES = 32_000_000
MAX_PARQUET_GROWTH = 20
"""Limits on the unpacked pages of a file: bytes for any file, or times the size of the file."""
SMALL_VALUES = 2_000_000
VALUES_PER_BYTE = 6
"""Limits on the values in a file: number for any file, or number per byte of the file."""
MOST_PAGES = 1_000_000

_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")
_MAGIC = b"PAR1"
_LENGTH = struct.Struct("<I")
_DEEPEST = 50
_DATA, _DICTIONARY, _DATA_2 = 5, 7, 8
"""Fields of a page's header; the one that is present gives the kind of the page."""
_DATA_PAGES = frozenset((_DATA, _DATA_2))
_WHOLE = frozenset((4, 5, 6))
"""Type codes of whole numbers in the protocol."""
_TEXT = 8
"""Type code of a text."""
_DELTA_BYTE_ARRAY = 7
"""An encoding in which each text repeats a part of the one before it."""

_Value: TypeAlias = "int | list[_Value] | dict[int, _Value] | None"
_Struct: TypeAlias = "dict[int, _Value]"
_Buffer: TypeAlias = "bytes | mmap.mmap"


READ_WHOLE = 1 << 20
"""Size in bytes up to which a file is read as a whole, not mapped."""


class _DamagedError(Exception):
    """The error of bytes that are not a Parquet file."""


def refuse_growth(path: Path) -> None:
    """Refuse a file that needs far more memory than its size.

    Raises:
        OSError: the file does not exist, or may not be read.
        TableError: the file needs too much memory, or its headers cannot be read.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= READ_WHOLE:
            # Single bytes of a mapped file take long.
            refuse_growth_of(file.read(), where=str(path))
            return
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # an empty file
            raise _unreadable(str(path)) from error
        with data:
            refuse_growth_of(data, where=str(path))


ROWS_TOGETHER = 1 << 16
"""Number of rows in a group of a Parquet file."""


def write_parquet(
    table: pl.DataFrame | pl.LazyFrame,
    file: Path | IO[bytes],
    *,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table as Parquet.

    Args:
        table: the table; lazy rows are written as they come.
        file: a path or an open file.
        metadata: metadata of the file.

    Raises:
        OSError: the file cannot be written.
    """
    import polars as pl

    try:
        about = None if metadata is None else dict(metadata)
        table.lazy().sink_parquet(file, row_group_size=ROWS_TOGETHER, metadata=about)
    except pl.exceptions.ComputeError as error:
        # polars reports a full disk in this way, with the system's error number only in the
        # message.
        system = _SYSTEM_ERROR.search(str(error))
        if system is None:
            raise
        number = int(system[1])
        raise OSError(number, os.strerror(number)) from error


def read_parquet(path: Path) -> pl.DataFrame:
    """The table in a file.

    Raises:
        OSError: the file does not exist, or may not be read.
        TableError: the file is damaged, or needs far more memory than its size.
    """
    import polars as pl

    refuse_growth(path)
    try:
        with without_panics():
            return pl.read_parquet(path)
    # Damaged content can make polars panic, and its panic does not derive from Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(str(path)) from error


def parse_parquet(data: bytes, *, where: str) -> pl.DataFrame:
    """The table in the bytes of a file.

    Raises:
        TableError: the bytes cannot be read, or need far more memory than their size.
    """
    import polars as pl

    refuse_growth_of(data, where=where)
    try:
        with without_panics():
            return pl.read_parquet(io.BytesIO(data))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(where) from error


def _unreadable(where: str) -> TableError:
    return TableError(where=where, seen="cannot be read as Parquet", todo="Was it cut short?")


def refuse_growth_of(data: _Buffer, *, where: str) -> None:
    """Refuse the bytes of a file that need far more memory than their size.

    Args:
        data: the bytes.
        where: the file, for messages.

    Raises:
        TableError: as for `refuse_growth`.
    """
    most_bytes = max(SMALL_PARQUET_BYTES, MAX_PARQUET_GROWTH * len(data))
    most_values = max(SMALL_VALUES, VALUES_PER_BYTE * len(data))
    size = values = 0
    try:
        for number, header in enumerate(_pages(data)):
            size += _whole(header, 2)
            kind = next((field for field in (_DATA, _DICTIONARY, _DATA_2) if field in header), None)
            part = {} if kind is None else _part(header, kind)
            values += 0 if kind is None else _whole(part, 1)
            repeats = part.get(4 if kind == _DATA_2 else 2) == _DELTA_BYTE_ARRAY
            if size > most_bytes or values > most_values or repeats or number > MOST_PAGES:
                raise TableError(
                    where=where,
                    seen=f"{len(data):,} bytes grow to more than {size:,} and {values:,} values",
                    todo="No table shrinks so much: do not trust this file, or write it again.",
                )
    except (_DamagedError, IndexError, struct.error) as error:
        raise _unreadable(where) from error


def _pages(data: _Buffer) -> Iterator[_Struct]:
    """The header of every page of every column."""
    if len(data) < 3 * len(_MAGIC) or data[-len(_MAGIC) :] != _MAGIC:
        raise _DamagedError
    (length,) = _LENGTH.unpack(data[-8:-4])
    if length > len(data) - 3 * len(_MAGIC):
        raise _DamagedError
    footer = _Reader(data, len(data) - 8 - length).struct()
    for group in _list(footer, 4):
        for column in _list(group, 1):
            about = _part(column, 3)
            at = _whole(about, 11) if about.get(11) else _whole(about, 9)
            end, values = at + _whole(about, 7), 0
            while at < end:
                reader = _Reader(data, at)
                header = reader.struct()
                yield header
                values += sum(_whole(_part(header, kind), 1) for kind in _DATA_PAGES & {*header})
                at = reader.at + _whole(header, 3)
            # Where pages and column disagree, polars panics, and prints that.
            if values != _whole(about, 5) or values < _whole(group, 3):
                raise _DamagedError


def _whole(values: _Struct, field: int) -> int:
    """The number in a field, which must not be negative."""
    value = values.get(field)
    if not isinstance(value, int) or value < 0:
        raise _DamagedError
    return value


def _part(values: _Struct, field: int) -> _Struct:
    value = values.get(field)
    if not isinstance(value, dict):
        raise _DamagedError
    return value


def _list(values: _Struct, field: int) -> Iterator[_Struct]:
    value = values.get(field)
    if not isinstance(value, list):
        raise _DamagedError
    for element in value:
        if not isinstance(element, dict):
            raise _DamagedError
        yield element


class _Reader:
    """A reader of structs in the compact protocol, as values by field number; texts are skipped.

    Args:
        data: the bytes of the file.
        at: offset at which a struct begins.
    """

    def __init__(self, data: _Buffer, at: int) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> _Struct:
        """The struct that begins here.

        Raises:
            _DamagedError: there is no struct.
            IndexError: the struct does not end.
        """
        data, field = self._data, 0
        fields: _Struct = {}
        while head := data[self.at]:
            self.at += 1
            step, kind = head >> 4, head & 15
            field = field + step if step else self._signed()
            # Most values are whole numbers of one byte, and a table has thousands of values.
            if kind not in _WHOLE:
                if kind == _TEXT and (size := data[self.at]) < 128:  # noqa: PLR2004  # as below
                    fields[field] = None
                    self.at += 1 + size
                else:
                    fields[field] = self._value(kind, depth)
            elif (byte := data[self.at]) < 128:  # noqa: PLR2004  # as in `_varint`
                self.at += 1
                fields[field] = (byte >> 1) ^ -(byte & 1)
            else:
                fields[field] = self._signed()
        self.at += 1
        return fields

    def _value(self, kind: int, depth: int) -> _Value:
        if depth > _DEEPEST:
            raise _DamagedError
        match kind:  # the type codes of the protocol
            case 1 | 2:  # a Boolean, whose value is in the code
                value: _Value = None
            case 3:
                value = self._byte()
            case 4 | 5 | 6:
                value = self._signed()
            case 7 | 8:  # a number of eight bytes, or a text
                value = None
                size = 8 if kind == 7 else self._varint()  # noqa: PLR2004  # see above
                self.at += size
            case 9 | 10:
                value = self._list(depth)
            case 12:
                value = self.struct(depth + 1)
            case _:  # a map, which Parquet does not use, or an unknown code
                raise _DamagedError
        return value

    def _list(self, depth: int) -> list[_Value]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self._varint() if size == 15 else size  # noqa: PLR2004  # as large as it gets there
        if size > len(self._data) - self.at:
            raise _DamagedError
        if kind in (1, 2):
            self.at += size
            return []
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte

    def _varint(self) -> int:
        value = 0
        for at, shift in enumerate(range(0, 70, 7), start=self.at):
            byte = self._data[at]
            value |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004  # no further byte belongs to it
                self.at = at + 1
                return value
        raise _DamagedError

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

"""The head of a GGUF file, of which the length of the model's window is read.

The layout is that of the GGUF specification (versions 2 and 3): the magic number, the version, the
number of tensors, the number of entries, and the entries with a key, a type and a value each.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from cimento.io.files import open_plain, reading

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
            10: "Q", 11: "q", 12: "d"}  # fmt: skip
_LONGEST_HEAD = 1 << 28
"""Number of bytes after which the head is not read on; vocabularies take some ten megabytes."""


class _NoHeadError(Exception):
    """The error of a head that is cut, damaged or of another version."""


def trained_window(path: Path) -> int | None:
    """The number of tokens for which the model in a GGUF file was trained.

    Returns:
        The number under ``ARCHITECTURE.context_length``; None where the head does not say it.

    Raises:
        InputError: the file cannot be read.
    """
    with reading(path, todo="Give the path of a GGUF file."), open_plain(path) as file:
        try:
            entries = _entries(file)
        except (_NoHeadError, UnicodeDecodeError):
            return None
    length = entries.get(f"{entries.get('general.architecture')}.context_length")
    return length if isinstance(length, int) and length > 0 else None


def _entries(file: BinaryIO) -> Mapping[str, object]:
    """The entries of the head whose values are numbers or strings."""
    if file.read(len(MAGIC)) != MAGIC or _number(file, "I") not in _VERSIONS:
        raise _NoHeadError
    _number(file, "Q")
    entries: dict[str, object] = {}
    for _ in range(int(_number(file, "Q"))):
        key = _string(file)
        kind = int(_number(file, "I"))
        if kind == _ARRAY:
            _skip_array(file)
        else:
            entries[key] = _string(file) if kind == _STRING else _number(file, _shape(kind))
    return entries


def _skip_array(file: BinaryIO) -> None:
    kind, count = int(_number(file, "I")), int(_number(file, "Q"))
    if kind != _STRING:
        _skip(file, count * struct.calcsize(f"<{_shape(kind)}"))
        return
    for _ in range(count):
        _skip(file, int(_number(file, "Q")))


def _shape(kind: int) -> str:
    try:
        return _NUMBERS[kind]
    except KeyError:
        raise _NoHeadError from None


def _number(file: BinaryIO, shape: str) -> int | float:
    size = struct.calcsize(f"<{shape}")
    data = file.read(size)
    if len(data) < size:
        raise _NoHeadError
    value: int | float = struct.unpack(f"<{shape}", data)[0]
    return value


def _string(file: BinaryIO) -> str:
    begin, length = file.tell(), int(_number(file, "Q"))
    if begin + length > _LONGEST_HEAD:
        raise _NoHeadError
    data = file.read(length)
    if len(data) < length:
        raise _NoHeadError
    return data.decode()


def _skip(file: BinaryIO, length: int) -> None:
    if file.tell() + length > _LONGEST_HEAD:
        raise _NoHeadError
    file.seek(length, 1)

"""Files that tell whether they are whole: the sha256 of what follows, then what follows."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cimento.errors import StorageError, TableError
from cimento.files import open_plain, write_bytes

_SEAL = 2 * hashlib.sha256().digest_size + 1


def write_sealed(body: bytes, path: Path) -> Path:
    """Write a file, whole or not at all.

    Raises:
        StorageError: it cannot be written.
    """
    return write_bytes(_seal(body) + body, path)


def read_sealed(path: Path) -> bytes:
    """What such a file holds.

    Raises:
        StorageError: it cannot be read.
        TableError: it is not there, was cut short, or a byte of it has changed.
    """
    try:
        with open_plain(path) as file:
            content = file.read()
    except FileNotFoundError as error:
        raise TableError(where=str(path), seen="there is no such file") from error
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check its permissions and the disk.",
        ) from error
    body = content[_SEAL:]
    if content[:_SEAL] != _seal(body):
        raise TableError(where=str(path), seen="is damaged")
    return body


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n"

"""Files written whole or not at all, and files read with a message instead of a traceback."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from cimento.errors import InputError, StorageError


def atomically(path: Path, save: Callable[[Path], object]) -> Path:
    """Have `save` write to a file beside `path`, then move it there in one step.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        temporary = Path(name)
        try:
            save(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be written ({error.strerror or error})",
            todo="Choose another folder, or free some space.",
        ) from error
    return path


def write_bytes(data: bytes, path: Path) -> Path:
    """Write a file, whole or not at all.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return atomically(path, lambda temporary: temporary.write_bytes(data))


def write_text(text: str, path: Path) -> Path:
    """Write a text file (UTF-8, lines as they are), whole or not at all.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return write_bytes(text.encode("utf-8"), path)


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: there is no such file, it is a folder, or it may not be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(
            where=str(path), seen="there is no such file", todo="Check the path."
        ) from error
    except IsADirectoryError as error:
        raise InputError(
            where=str(path), seen="is a folder where a file is needed", todo="Name a file in it."
        ) from error
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check its permissions and the disk.",
        ) from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

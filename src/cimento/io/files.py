"""Files written whole or not at all, and files read with a message instead of a traceback."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cimento.errors import CimentoError, InputError, StorageError, UsageError

DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What comes of a damaged SQLite file: where its message quotes the file, Python cannot read it."""

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}")
_STALE_S = 3600
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def expanded(path: str | Path) -> Path:
    """The path with ``~`` and ``~name`` replaced by the home folder that they stand for.

    Raises:
        InputError: there is no such user, or the user has no home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InputError(
            where=str(path),
            seen="there is no home folder for what begins with ~",
            todo="Write the path in full, or ./~name for a file of that name.",
        ) from None


def atomically(path: Path, save: Callable[[Path], object], *, sealed: bool = False) -> Path:
    """Have `save` write to a file next to `path`, then move it there in one step.

    Args:
        path: of the file.
        save: writes it, to the path that it is given.
        sealed: whether a digest that is stored elsewhere, or in the file itself, tells it from a
            damaged one. Any other file is on the disk before it has its name: after a loss of power
            it is whole or not there.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        temporary = Path(name)
        try:
            save(temporary)
            if not sealed:
                _to_disk(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
            if not sealed:
                _to_disk(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    return path


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """What is written under a path, where the system refuses with a `StorageError`."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be written ({error.strerror or error})",
            todo="Choose another folder, or free some space.",
        ) from error


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; Windows keeps names itself."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems of networks know no fsync; a full or failing disk is reported.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(handle)


def folder_atomically(folder: Path, save: Callable[[Path], object]) -> Path:
    """Have `save` fill a folder next to `folder`, then give it that name in one step.

    Args:
        folder: must not exist, or be empty.
        save: writes the files; a call that is interrupted leaves none of them in `folder`.

    Raises:
        StorageError: the folder has something in it, or cannot be written.
    """
    refuse_existing(folder)
    target = folder.resolve()
    with writing(folder):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        try:
            save(temporary)
            temporary.chmod(0o777 & ~_umask())
            _move_folder(temporary, target)
        except CimentoError as error:
            error.where = error.where.replace(str(temporary), str(folder))
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def refuse_existing(path: Path) -> None:
    """See that a path can be written without writing over anything.

    Raises:
        StorageError: it is a file, or a folder with something in it.
    """
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise StorageError(
            where=str(path), seen="exists already", todo="Choose another name, or remove it."
        )


def _move_folder(made: Path, target: Path) -> None:
    """Give a folder the name of another, which is empty or not there."""
    with contextlib.suppress(OSError):  # it is not there, or cannot be removed: a mount, say
        if target != Path.cwd():
            target.rmdir()
    if not target.exists():
        made.rename(target)
        _to_disk(target.parent)
        return
    for file in made.iterdir():
        file.rename(target / file.name)


def remove_stale(folder: Path) -> None:
    """Remove files that `atomically` was writing when it was killed.

    Those of the last hour may be another process's, which is at work.

    Args:
        folder: where, and below.
    """
    for path in folder.rglob(".*"):
        with contextlib.suppress(OSError):
            old = time.time() - path.lstat().st_mtime > _STALE_S
            if old and _TEMPORARY.fullmatch(path.name) and path.is_file():
                path.unlink()


def write_bytes(data: bytes, path: Path, *, sealed: bool = False) -> Path:
    """Write a file, whole or not at all.

    Args:
        data: what it holds.
        path: of the file.
        sealed: as for `atomically`.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return atomically(path, lambda temporary: temporary.write_bytes(data), sealed=sealed)


def write_text(text: str, path: Path) -> Path:
    """Write a text file (UTF-8, lines as they are), whole or not at all.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return write_bytes(text.encode("utf-8"), path)


def refuse_filled_in(path: Path, *, holds: str, fresh: str | None = None) -> None:
    """See that a file that people write in is not overwritten.

    Args:
        path: the file.
        holds: what people may have written in it, for the message.
        fresh: what it holds before anybody has; None where that is not known.

    Raises:
        UsageError: it is there, and is not what it was made as.
    """
    if path.exists() and (fresh is None or read_bytes(path) != fresh.encode("utf-8")):
        raise UsageError(
            where=str(path),
            seen=f"is there already, and may hold {holds}",
            todo="Name another file, or remove it.",
        )


def inert(cell: str) -> str:
    """A cell that no spreadsheet program takes for a formula; numbers stay what they are.

    Cells that begin with ``=``, ``+``, ``-``, ``@``, a tabulator or a carriage return get an
    apostrophe before them (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    if not cell.startswith(_FORMULA_SIGNS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def live(cell: str) -> str:
    """The cell that `inert` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_SIGNS) else cell


def make_inert(path: Path) -> Path:
    """Write a CSV file again with cells that no spreadsheet program takes for formulas.

    Raises:
        InputError: it cannot be read.
        StorageError: it cannot be written.
    """
    import csv

    text = read_bytes(path).decode("utf-8")
    ending = "\r\n" if "\r\n" in text else "\n"
    sheet = io.StringIO()
    rows = csv.reader(io.StringIO(text, newline=""))
    writer = csv.writer(sheet, lineterminator=ending)
    writer.writerows([inert(cell) for cell in row] for row in rows)
    return write_text(sheet.getvalue(), path)


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: there is no such file, it is a folder, a device or a pipe, or it may not be
            read.
    """
    try:
        with open_plain(path) as file:
            return file.read()
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
            todo="Check that it is a file, its permissions and the disk.",
        ) from error


def file_digest(path: Path) -> str:
    """The sha256 of a file, hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with open_plain(path) as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check the path.",
        ) from error


def open_plain(path: Path) -> io.BufferedReader:
    """A file, opened to be read: one that ends, and does not wait for anybody.

    A file or link in a stranger's folder may be or lead to a device or a named pipe. Those that
    the user names below ``/dev`` and ``/proc`` are read: ``/dev/stdin``, or ``<(command)`` of a
    shell.

    Raises:
        OSError: it cannot be opened, or is a device, a pipe or a socket.
    """
    mode = path.stat().st_mode
    named = path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",))
    piped = named and stat.S_ISFIFO(mode)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or piped or _is_terminal(path, mode)):
        raise OSError(errno.EINVAL, "is a device, a pipe or a socket, and no file", str(path))
    return path.open("rb")


def _is_terminal(path: Path, mode: int) -> bool:
    """Whether what is typed is read, as from ``/dev/stdin``."""
    if not stat.S_ISCHR(mode):
        return False
    with path.open("rb") as file:
        return file.isatty()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

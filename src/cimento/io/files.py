"""Files written completely or not at all, and read with clear messages where that fails."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import io
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from cimento.errors import CimentoError, InputError, StorageError, UsageError
from cimento.io.unfinished import unfinished

DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors of a damaged SQLite file; a message that quotes its bytes may not be UTF-8."""

_PART = 1 << 20
BOM = "\ufeff"
"""The byte order mark, without which Excel takes a CSV file for one of an 8-bit alphabet."""

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def matches_of(name: str) -> list[str]:
    """The paths that a pattern stands for, sorted; the name itself if nothing fits it.

    Shells on Windows leave patterns to the programs, as others do with those in quotation marks.
    """
    if not set(name) & set("*?[") or os.path.lexists(name):
        return [name]
    return sorted(glob.glob(os.path.expanduser(name))) or [name]  # noqa: PTH111, PTH207  # strings


def expanded(path: str | Path) -> Path:
    """A path with ``~`` and ``~name`` replaced by the home folder.

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


def default_cache_folder() -> Path:
    """The folder of the cache: ``CIMENTO_CACHE_DIR``, or ``cimento`` in the user's cache folder.

    Raises:
        StorageError: the home folder is not an absolute path.
    """
    named = os.environ.get("CIMENTO_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "cimento"
    if not folder.is_absolute():
        # A relative path would make a separate cache in every working directory.
        raise StorageError(
            where="HOME",
            seen=f"the home folder is {str(Path.home())!r}, which is not an absolute path",
            todo="Set HOME or CIMENTO_CACHE_DIR, or run with --no-cache.",
        )
    return folder


def atomically(path: Path, save: Callable[[Path], object], *, sealed: bool = False) -> Path:
    """Have `save` write to a file next to `path`, then move it there in one step.

    Args:
        path: the path of the file.
        save: writes the file to the path that it is called with.
        sealed: whether a digest, in the file or elsewhere, reveals damage. Any other file is
            flushed to the disk before it gets its name, so that after a loss of power it is
            complete or absent.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(path) as temporary:
            save(temporary)
            if not sealed:
                _to_disk(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
            if not sealed:
                _to_disk(path.parent)
    return path


@contextlib.contextmanager
def writing(
    path: Path, *, todo: str = "Choose another folder, or free some space."
) -> Iterator[None]:
    """A context of writing to a path, in which an error of the system becomes a `StorageError`.

    Args:
        path: the file or folder.
        todo: the advice of the error.
    """
    try:
        yield
    except OSError as error:
        seen = f"cannot be written ({error.strerror or error})"
        raise StorageError(where=str(path), seen=seen, todo=todo) from error


@contextlib.contextmanager
def reading(
    path: Path, *, todo: str = "Check the path.", kind: type[CimentoError] = InputError
) -> Iterator[None]:
    """A context of reading from a path, in which an error of the system becomes one of cimento.

    Args:
        path: the file or folder.
        todo: the advice of the error.
        kind: the class of the error.
    """
    try:
        yield
    except OSError as error:
        seen = f"cannot be read ({error.strerror or error})"
        raise kind(where=str(path), seen=seen, todo=todo) from error


def _to_disk(path: Path) -> None:
    """Wait until a file, or a folder's names, are on the disk; Windows needs no wait for names."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems do not support fsync; a full or failing disk is still reported.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(handle)


def folder_atomically(folder: Path, save: Callable[[Path], object]) -> Path:
    """Have `save` fill a folder next to `folder`, then give it that name in one step.

    Args:
        folder: the folder, which must not exist or must be empty.
        save: writes the files; if it is interrupted, none of them is left in `folder`.

    Raises:
        StorageError: the folder is not empty, or cannot be written.
    """
    refuse_existing(folder)
    target = folder.resolve()
    with writing(folder):
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target, is_folder=True) as temporary:
            try:
                save(temporary)
            except CimentoError as error:
                error.where = error.where.replace(str(temporary), str(folder))
                raise
            temporary.chmod(0o777 & ~_umask())
            _move_folder(temporary, target)
    return folder


def folders_atomically(saves: Mapping[Path, Callable[[Path], object]], *, todo: str) -> None:
    """Have several folders filled, and give them their names when all of them are complete.

    One that is there already, with the same files, is left: an earlier call was killed after it.

    Args:
        saves: what writes the files of each folder.
        todo: advice where another folder is in the way.

    Raises:
        StorageError: a folder with other files is in the way, or one cannot be written.
    """
    with contextlib.ExitStack() as stack:
        made: dict[Path, Path] = {}
        for folder, save in saves.items():
            with writing(folder):
                target = folder.resolve()
                target.parent.mkdir(parents=True, exist_ok=True)
                made[folder] = stack.enter_context(unfinished(target, is_folder=True))
                save(made[folder])
        left = [folder for folder, temporary in made.items() if not _is_alike(folder, temporary)]
        for folder in left:
            refuse_existing(folder, todo=todo)
        for folder in left:
            with writing(folder):
                made[folder].chmod(0o777 & ~_umask())
                _move_folder(made[folder], folder.resolve())


def _is_alike(folder: Path, other: Path) -> bool:
    """Whether two folders hold the same files, none of them hidden."""
    names, others = (
        sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
        for one in (folder, other)
    )
    return names == others and all(
        read_bytes(folder / name) == read_bytes(other / name) for name in names
    )


def refuse_existing(path: Path, *, todo: str = "Choose another name, or remove it.") -> None:
    """Refuse a path at which writing would replace something.

    Args:
        path: the path.
        todo: advice of the message.

    Raises:
        StorageError: the path is a file, or a folder that is not empty.
    """
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise StorageError(where=str(path), seen="exists already", todo=todo)


def _move_folder(made: Path, target: Path) -> None:
    """Rename a folder to the name of another, which is empty or does not exist."""
    with contextlib.suppress(OSError):  # it does not exist, or is a mount, for example
        if target != Path.cwd():
            target.rmdir()
    if not target.exists():
        made.rename(target)
        _to_disk(target.parent)
        return
    for file in made.iterdir():
        file.rename(target / file.name)


def write_bytes(data: bytes, path: Path, *, sealed: bool = False) -> Path:
    """Write a file, completely or not at all.

    Args:
        data: the content.
        path: the path of the file.
        sealed: as for `atomically`.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return atomically(path, lambda temporary: temporary.write_bytes(data), sealed=sealed)


def write_text(text: str, path: Path) -> Path:
    """Write a text file (UTF-8, line ends unchanged), completely or not at all.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    return write_bytes(text.encode("utf-8"), path)


def write_lines(lines: Iterable[str], path: Path) -> Path:
    """Write a text file line by line, completely or not at all; see `write_text`.

    Args:
        lines: the lines with their ends, made while they are written.
        path: the path of the file.

    Raises:
        StorageError: the folder or the file cannot be written.
    """

    def save(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)

    return atomically(path, save)


def need_writable(path: Path, *, is_folder: bool = False) -> None:
    """Check that something can be written at a path, before it is computed.

    Nothing is made. A disk may still fill up in the meantime.

    Args:
        path: of a file, or of a folder for files.
        is_folder: which of the two.

    Raises:
        StorageError: there is a folder in the place of a file, or a file in the place of a folder,
            or nothing may be written.
    """
    if path.is_dir() and not is_folder:
        raise StorageError(
            where=str(path),
            seen="this is a folder, and a file is to be written here",
            todo=f"Give the path of a file, such as {path / 'FILE'}",
        )
    whole = path.absolute()
    folders = [whole, *whole.parents] if is_folder else [*whole.parents]
    there = next(folder for folder in folders if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be written ({there}: {error.strerror or error})",
            todo="Give another place.",
        ) from error


def refuse_filled_in(path: Path, *, holds: str, fresh: str | None = None) -> None:
    """Refuse to overwrite a file that people have written in.

    Args:
        path: the file.
        holds: what people may have written in it, for the message.
        fresh: the content of the unused file; None where that is not known.

    Raises:
        UsageError: the file exists and is not in its unused state.
    """
    if path.exists() and (fresh is None or read_bytes(path) != fresh.encode("utf-8")):
        raise UsageError(
            where=str(path),
            seen=f"is there already, and may hold {holds}",
            todo="Name another file, or remove it.",
        )


def refuse_overwriting(output: Path, inputs: Iterable[Path]) -> None:
    """Refuse an output file that is also an input, by whatever name.

    Raises:
        UsageError: it is.
    """
    if any(path.resolve() == output.resolve() for path in inputs):
        raise UsageError(
            where=str(output), seen="is also what is read", todo="Name another file to write."
        )


def inert(cell: str) -> str:
    """A cell in a form that no spreadsheet program takes for a formula; numbers are unchanged.

    A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an
    apostrophe before it (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    if not cell.startswith(_FORMULA_SIGNS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def live(cell: str) -> str:
    """The original of a cell that `inert` returned."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_SIGNS) else cell


def inert_csv(text: str) -> str:
    """The text of a CSV file for spreadsheet programs: no formulas, and a byte order mark."""
    import csv

    ending = "\r\n" if "\r\n" in text else "\n"
    sheet = io.StringIO()
    rows = csv.reader(io.StringIO(text.removeprefix(BOM), newline=""))
    writer = csv.writer(sheet, lineterminator=ending)
    writer.writerows([inert(cell) for cell in row] for row in rows)
    return BOM + sheet.getvalue()


def make_inert(path: Path) -> Path:
    """Rewrite a CSV file for spreadsheet programs, see `inert_csv`.

    Raises:
        InputError: the file cannot be read.
        StorageError: the file cannot be written.
    """
    return write_text(inert_csv(read_bytes(path).decode("utf-8")), path)


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: the file does not exist, is a folder, a device or a pipe, or may not be read.
    """
    seen, todo = "there is no such file", "Check the path."
    try:
        with open_plain(path) as file:
            return file.read()
    except OSError as error:
        if isinstance(error, IsADirectoryError):
            seen, todo = "is a folder where a file is needed", "Name a file in it."
        elif not isinstance(error, FileNotFoundError):
            seen = f"cannot be read ({error.strerror or error})"
            todo = "Check that it is a file, its permissions and the disk."
        raise InputError(where=str(path), seen=seen, todo=todo) from error


def read_utf8(path: Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: the file cannot be read, or is not UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(where=str(path), seen="is not UTF-8", todo="Save it as UTF-8.") from error


def file_digest(*paths: Path) -> str:
    """The sha256 of the contents of files, one after the other, in hexadecimal.

    Raises:
        InputError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        with reading(path), open_plain(path) as file:
            while part := file.read(_PART):
                digest.update(part)
    return digest.hexdigest()


def open_plain(path: Path) -> io.BufferedReader:
    """A file opened for reading, refused if it might not end or might block.

    A file or link in an untrusted folder may be a device or a named pipe, or lead to one. Paths
    below ``/dev`` and ``/proc`` are read when the user names them: ``/dev/stdin``, or
    ``<(command)`` of a shell.

    Raises:
        OSError: the file cannot be opened, or is a device, a pipe or a socket.
    """
    mode = path.stat().st_mode
    named = path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",))
    piped = named and stat.S_ISFIFO(mode)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or piped or _is_terminal(path, mode)):
        raise OSError(errno.EINVAL, "is a device, a pipe or a socket, and no file", str(path))
    return path.open("rb")


def _is_terminal(path: Path, mode: int) -> bool:
    """Whether an open file is a terminal, as ``/dev/stdin`` can be."""
    if not stat.S_ISCHR(mode):
        return False
    with path.open("rb") as file:
        return file.isatty()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

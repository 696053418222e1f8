"""Zip archives of suites, unpacked with care because they may be untrusted."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from cimento.errors import CimentoError, Fault, InputError, SuiteError
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES
from cimento.suites.suite_workbook import (
    advice_in_workbook,
    is_suite_workbook,
    place_in_workbook,
    unfold,
)

ARCHIVE_SUFFIX = ".zip"
TOML = "suite.toml"
MAX_FILES = 10_000
MAX_FILE_BYTES = 100_000_000
"""Largest size of a file in an archive; a suite of this size has some hundred thousand items."""
MAX_TOTAL_BYTES = 500_000_000
MAX_RATIO = 200
"""Largest ratio of compression; text shrinks five- to twentyfold, hostile files far more."""

_CHUNK = 1 << 20
_DAMAGES = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError)
_JUDGED_BY_RATIO = 1_000_000


def is_archive(path: Path) -> bool:
    """Whether a path names a zip archive."""
    return path.suffix.lower() == ARCHIVE_SUFFIX and path.is_file()


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A context with the files of a zip archive in a temporary folder.

    Hidden files and those that macOS adds (``__MACOSX``) are left out.

    Raises:
        InputError: the file is damaged or not a zip archive, a path leads out of the archive, or
            its files are too many or too large.
    """
    with TemporaryDirectory(prefix="cimento-") as name:
        folder = Path(name) / path.stem
        folder.mkdir()
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, folder, path)
        except (*_DAMAGES, NotImplementedError, RuntimeError) as error:
            # zipfile raises RuntimeError for encrypted files.
            raise _refused(path, f"cannot be unpacked ({error})", "Make the archive again.") from (
                error
            )
        except OSError as error:
            seen = f"cannot be read ({error.strerror or error})"
            raise _refused(path, seen, "Check its permissions and the disk.") from error
        yield folder


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """A context with the folder of a path's files, which is temporary for an archive.

    Raises:
        InputError: as for `unpacked`.
    """
    if not is_archive(path):
        yield path
        return
    with unpacked(path) as folder:
        try:
            yield _innermost(folder)
        except CimentoError as error:
            # Messages name the archive, since people do not know the temporary folder.
            error.where = error.where.replace(str(folder), str(path))
            raise


@contextmanager
def unfolded(path: Path) -> Iterator[Path]:
    """A context with the temporary folder of a suite's workbook; any other path is unchanged.

    Errors raised in the context name the workbook and its sheets.
    """
    small = path.is_file() and path.stat().st_size <= MAX_FILE_BYTES
    if not (small and is_suite_workbook(path)):
        yield path
        return
    with TemporaryDirectory(prefix="cimento-") as name:
        folder = Path(name) / path.stem
        folder.mkdir()
        try:
            unfold(path, folder)
            yield folder
        except SuiteError as error:
            faults = in_workbook(path, error.faults)
            raise SuiteError(where=str(path), faults=faults) from error
        except CimentoError as error:
            error.where = place_in_workbook(error.where.replace(str(folder), str(path)), path)
            raise


def in_workbook(path: Path, faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Faults in terms of the sheets of a suite workbook; faults of other suites are unchanged.

    Args:
        path: path of the suite.
        faults: faults found in its files.
    """
    if not is_suite_workbook(path):
        return tuple(faults)
    return tuple(
        replace(fault, where=place_in_workbook(fault.where, path), todo=advice_in_workbook(fault))
        for fault in faults
    )


def _innermost(folder: Path) -> Path:
    """The single folder that holds everything in an archive, if there is one; else the folder."""
    children = list(folder.iterdir())
    alone = len(children) == 1 and children[0].is_dir() and not (children[0] / TOML).is_file()
    return _innermost(children[0]) if alone else folder


def _unpack(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    members = [each for each in archive.infolist() if _is_wanted(each)]
    if len(members) > MAX_FILES:
        raise _refused(path, f"holds {len(members):,} files", f"At most {MAX_FILES:,} are read.")
    left = min(MAX_TOTAL_BYTES, max(SMALL_BYTES, MAX_GROWTH * path.stat().st_size))
    for member in members:
        target = _place(member, folder, path)
        _check_size(member, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        left -= _copy(archive, member, target, path, at_most=min(left, MAX_FILE_BYTES))


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    parts = _pure(member).parts
    if not parts:
        return False  # an empty name, on which zipfile fails
    hidden = any(part.startswith(".") and part != ".." for part in parts)
    return not (member.is_dir() or hidden or "__MACOSX" in parts)


def _place(member: zipfile.ZipInfo, folder: Path, path: Path) -> Path:
    """The path to which a file is unpacked; links and paths outside the folder are refused."""
    pure = _pure(member)
    climbs = pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0]
    if climbs or stat.S_ISLNK(member.external_attr >> 16):
        raise _refused(
            path,
            f"the path {member.filename!r} in it leads out of it",
            "Do not trust this archive; ask where it comes from.",
        )
    return folder / pure


def _pure(member: zipfile.ZipInfo) -> PurePosixPath:
    """The path in the archive, which some programs write with backslashes."""
    return PurePosixPath(member.filename.replace("\\", "/"))


def _check_size(member: zipfile.ZipInfo, path: Path) -> None:
    if member.file_size > MAX_FILE_BYTES:
        raise _too_large(path, member)
    shrunk = member.file_size > MAX_RATIO * max(member.compress_size, 1)
    if shrunk and member.file_size > _JUDGED_BY_RATIO:
        raise _refused(
            path,
            f"{member.filename!r} grows from {member.compress_size:,} to"
            f" {member.file_size:,} bytes",
            f"No text shrinks more than {MAX_RATIO} times: do not trust this archive.",
        )


def _copy(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, path: Path, *, at_most: int
) -> int:
    """Unpack one file and return its size, without trusting the size in its header."""
    written = 0
    with archive.open(member) as source, target.open("wb") as sink:
        while chunk := source.read(_CHUNK):
            written += len(chunk)
            if written > at_most:
                raise _too_large(path, member)
            sink.write(chunk)
    return written


def _too_large(path: Path, member: zipfile.ZipInfo) -> InputError:
    return _refused(
        path,
        f"{member.filename!r} is too large, or all its files together are",
        f"At most {MAX_FILE_BYTES:,} bytes a file, {MAX_TOTAL_BYTES:,} in all and {MAX_GROWTH}"
        " times the archive's size are read; unpack it yourself where you trust it.",
    )


def _refused(path: Path, seen: str, todo: str) -> InputError:
    return InputError(where=str(path), seen=seen, todo=todo)

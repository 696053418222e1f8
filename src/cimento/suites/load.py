"""Loading of suites from a path: detection of the format, reading and checking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cimento.errors import Fault, InputError, SuiteError
from cimento.suites.archives import MAX_FILE_BYTES, is_archive
from cimento.suites.checks import check_suite
from cimento.suites.faults import errors, warnings
from cimento.suites.formats.native import TABLES
from cimento.suites.formats.registry import (
    FORMATS,
    SUITE_SUFFIXES,
    TOML,
    detect_format,
    find_reader,
    plugged_suffixes,
)
from cimento.suites.model import Suite
from cimento.suites.reading import no_collection

SMALL_STIMULI = 80_000
STIMULUS_BYTES = 10
"""Limits on the sentences in an archive: number for any archive, or bytes per sentence."""


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite with the facts on its source.

    Attributes:
        suite: the suite, without errors.
        warnings: other faults that reading and checking found.
        sha256: hash of the bytes read, in hexadecimal.
        path: the file or folder.
        format: name of the format, a key of `readers.FORMATS`; a suffix if a plug-in read it.
    """

    suite: Suite
    warnings: tuple[Fault, ...]
    sha256: str
    path: Path
    format: str


def open_suite(path: Path, *, format_: str = "") -> SuiteFile:
    """Read and check one suite.

    Args:
        path: a suite folder, or a file in one of the formats of `readers.FORMATS` or of a plug-in.
        format_: name of the format, for files that do not reveal it.

    Raises:
        InputError: the path does not exist, may not be read or is in no known format.
        SuiteError: the suite has faults; the error carries all of them.
        UsageError: there is no such format.
    """
    loaded, faults = read_suite(path, format_=format_)
    if loaded is None or errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return loaded


@no_collection()
def open_copy(folder: Path) -> Suite:
    """The copy of a suite in the folder of a run, which was checked before the run.

    Args:
        folder: the folder of the copy.

    Raises:
        InputError: the copy may not be read.
        SuiteError: the copy is damaged.
    """
    return find_reader(detect_format(folder))(folder).suite


def inspect_suite(path: Path) -> tuple[Suite | None, tuple[Fault, ...]]:
    """The suite as far as it can be read, and every fault found, without an exception for them.

    Raises:
        InputError: the path does not exist, may not be read or is in no known format.
    """
    loaded, faults = read_suite(path)
    return (loaded.suite if loaded is not None else None), faults


class StimulusCount:
    """A count of the sentences in an archive, which refuses too many for its size.

    Args:
        path: path of the archive; for other files nothing is counted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        archive = is_archive(path)
        self._most = max(SMALL_STIMULI, path.stat().st_size // STIMULUS_BYTES) if archive else None
        self._count = 0

    def add(self, suite: object) -> None:
        """Count the sentences of one suite.

        Raises:
            InputError: there are too many sentences.
        """
        if self._most is None or not isinstance(suite, Suite):
            return
        self._count += len(suite.columns.names)
        if self._count > self._most:
            raise InputError(
                where=str(self._path),
                seen=f"its suites have more than {self._most:,} sentences, too many for its size",
                todo="Unpack it yourself, and give the folder.",
            )


def refuse_faulty(path: Path, faulty: Sequence[SuiteError]) -> None:
    """Raise the faults of several suites together.

    Args:
        path: the path of all suites.
        faulty: the errors of the suites with faults.

    Raises:
        SuiteError: a suite has faults; the error carries the faults of all suites.
    """
    if len(faulty) == 1:
        raise faulty[0]
    if faulty:
        named = [_named(fault, error.where) for error in faulty for fault in error.faults]
        raise SuiteError(where=str(path), faults=named)


def suite_paths(path: Path) -> list[Path]:
    """The paths of the suites at a path, sorted by name.

    A folder without suite.toml may hold suite folders and files with a suffix of a suite's
    format; hidden files and files with another suffix (a README) are ignored.

    Raises:
        InputError: the folder holds no suite, or may not be read.
    """
    path = _folder_of(path)
    if not path.is_dir() or (path / TOML).exists():
        return [path]
    try:
        children = sorted(path.iterdir())
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check its permissions.",
        ) from error
    shown = [child for child in children if not child.name.startswith((".", "~$"))]
    others = {child.suffix for child in shown} - set(SUITE_SUFFIXES)
    known = plugged_suffixes(others) | set(SUITE_SUFFIXES)
    found = [child for child in shown if child.suffix.lower() in known or (child / TOML).is_file()]
    if not found:
        titles = "; ".join(each.title for each in FORMATS.values())
        raise InputError(
            where=str(path),
            seen=f"is a folder without {TOML} and without suites in it",
            todo=f"Suites are: {titles}.",
        )
    return found


def _named(fault: Fault, path: str) -> Fault:
    """A fault with the name of its suite before the place, unless the place has it already."""
    name = Path(path).name
    where = fault.where if fault.where.startswith(name) else f"{name}: {fault.where}"
    return replace(fault, where=where)


def _folder_of(path: Path) -> Path:
    """The suite folder of a path that names a file in it; else the path."""
    inside = path.name == TOML or (path.name in TABLES and (path.parent / TOML).is_file())
    return path.parent if inside and path.is_file() else path


def suite_files(path: Path) -> tuple[Path, ...]:
    """The files of a suite that alone determine its content; none if other files may matter."""
    path = _folder_of(path)
    if path.is_dir():
        return tuple(file for name in (TOML, *TABLES) if (file := path / name).is_file())
    alone = path.suffix.lower() in SUITE_SUFFIXES and path.is_file()
    return (path,) if alone else ()


def _refuse_large(path: Path) -> None:
    """Refuse a file that is too large to be a suite, before it is read.

    Raises:
        InputError: the file is too large.
    """
    size = path.stat().st_size if path.is_file() else 0
    if size > MAX_FILE_BYTES:
        raise InputError(
            where=str(path),
            seen=f"has {size:,} bytes, and a suite may have {MAX_FILE_BYTES:,}",
            todo="Split it into several files.",
        )


@no_collection()
def read_suite(path: Path, *, format_: str = "") -> tuple[SuiteFile | None, tuple[Fault, ...]]:
    """The suite as far as it can be read, and every fault; arguments are as for `open_suite`.

    Raises:
        InputError: the path does not exist, may not be read or is in no known format.
    """
    path = _folder_of(path)
    _refuse_large(path)
    try:
        format_ = format_ or detect_format(path)
        reading = find_reader(format_)(path)
    except SuiteError as error:
        return None, error.faults
    suite = reading.suite
    faults = (*reading.faults, *check_suite(suite, places=reading.places))
    return SuiteFile(suite, warnings(faults), reading.sha256, path, format_), faults

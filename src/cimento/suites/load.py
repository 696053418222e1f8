"""Loading of suites from a path: unpacking, detection of the format, reading and checking.

Archives are unpacked with care, because they may be untrusted.
"""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from cimento.errors import CimentoError, Fault, InputError, SuiteError
from cimento.faults import EXAMPLE, NO_PREDICTIONS, Faults, errors
from cimento.intake.reading import TableReading
from cimento.io.files import reading
from cimento.io.parsing import MAX_GROWTH, SMALL_BYTES, no_collection
from cimento.suites import Suite
from cimento.suites.checks import check_reading
from cimento.suites.formats import (
    SUITE_SUFFIXES,
    detect_format,
    find_reader,
    form_reading,
    formats_named,
    plugged_suffixes,
)
from cimento.suites.formats.lm_eval import with_tasks
from cimento.suites.formats.native import TABLES
from cimento.suites.reading import TOML
from cimento.suites.sources import SOURCE, fetched_files, is_as_pinned, recorded_format
from cimento.suites.suite_workbook import (
    advice_in_workbook,
    place_in_workbook,
    suite_sheets,
    unfold,
)

ARCHIVE_SUFFIX = ".zip"
MAX_FILES = 10_000
MAX_FILE_BYTES = 100_000_000
"""Largest size of a file in an archive; a suite of this size has some hundred thousand items."""
MAX_TOTAL_BYTES = 500_000_000
MAX_RATIO = 200
"""Largest ratio of compression; text shrinks five- to twentyfold, hostile files far more."""

CHUNK_BYTES = 1 << 20
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
        folder = Path(name) / path.absolute().parent.name / path.stem  # suites are named after both
        folder.mkdir(parents=True)
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
            name_archive(error, folder, path)
            raise


def name_archive(error: CimentoError, folder: Path, path: Path) -> None:
    """Let an error name an archive and not the temporary folder, which people do not know.

    Args:
        error: of one of its files.
        folder: the temporary folder; the path itself where nothing was unpacked.
        path: the archive.
    """
    error.where = error.where.replace(str(folder), str(path))
    for inner in [*folder.iterdir()][:1] if folder != path else ():  # commands read one as it is
        error.todo = error.todo.replace(f" {inner.name} ", f" {path.name} ")


@contextmanager
def unfolded(path: Path) -> Iterator[Path]:
    """A context with the temporary folder of a suite's workbook; any other path is unchanged.

    Errors raised in the context name the workbook and its sheets.
    """
    small = path.is_file() and path.stat().st_size <= MAX_FILE_BYTES
    called = suite_sheets(path) if small else {}
    if not called:
        yield path
        return
    with TemporaryDirectory(prefix="cimento-") as name:
        folder = Path(name) / path.stem
        folder.mkdir()
        try:
            unfold(path, folder)
            yield folder
        except SuiteError as error:
            faults = in_terms_of(path, error.faults)
            raise SuiteError(where=str(path), faults=faults) from error
        except CimentoError as error:
            error.where = place_in_workbook(
                error.where.replace(str(folder), str(path)), path, called
            )
            raise


def in_terms_of(path: Path, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Faults in terms of a suite workbook's sheets or a JSON suite's fields; others are unchanged.

    Args:
        path: path of the suite.
        faults: faults found in its files.
    """
    if path.suffix == ".json":
        return tuple(replace(fault, todo=_advice_in_json(fault)) for fault in faults)
    called = suite_sheets(path) if faults else {}
    if not called:
        return tuple(faults)
    return tuple(
        replace(
            fault,
            where=place_in_workbook(fault.where, path, called),
            todo=advice_in_workbook(fault, called),
        )
        for fault in faults
    )


def _advice_in_json(fault: Fault) -> str:
    """What to do about a fault of a JSON suite, which has neither bars nor settings."""
    if fault.code == "CIM-S013":
        return "Write one region for each number in region_meta."
    if fault.code == NO_PREDICTIONS:
        _, mark, example = fault.todo.partition(f" {EXAMPLE}")
        return f'To have the items judged, add a formula to the list "predictions".{mark}{example}'
    return fault.todo


def _innermost(folder: Path) -> Path:
    """The single folder that holds everything in an archive, if there is one; else the folder."""
    children = list(folder.iterdir())
    alone = len(children) == 1 and children[0].is_dir() and not (children[0] / TOML).is_file()
    return _innermost(children[0]) if alone else folder


def _unpack(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    members = [member for member in archive.infolist() if _is_wanted(member)]
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
        while chunk := source.read(CHUNK_BYTES):
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
    """The error of a file or folder that is not read."""
    return InputError(where=str(path), seen=seen, todo=todo)


SMALL_STIMULI, STIMULUS_BYTES = 80_000, 10
"""Limits on the sentences in an archive: number for any archive, or bytes per sentence."""


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite with the facts on its source.

    Attributes:
        suite: the suite, without errors.
        faults: the faults found; see `Faults`.
        sha256: hash of the bytes read, in hexadecimal.
        path: the file or folder.
        format: name of the format, a key of `readers.FORMATS`; a suffix if a plug-in read it.
        table: what the file was read as.
    """

    suite: Suite
    faults: Sequence[Fault]
    sha256: str
    path: Path
    format: str
    table: TableReading


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
    return (loaded.suite if loaded is not None else None), tuple(faults)


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

    def add(self, suite: Suite | None) -> None:
        """Count the sentences of one suite, if it has any.

        Raises:
            InputError: there are too many sentences.
        """
        if self._most is None or suite is None:
            return
        self._count += len(suite.columns.names)
        if self._count > self._most:
            seen = f"its suites have more than {self._most:,} sentences, too many for its size"
            raise _refused(self._path, seen, "Unpack it yourself, and give the folder.")


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
        named = [named_fault(fault, error.where) for error in faulty for fault in error.faults]
        raise SuiteError(where=str(path), faults=named)


def suite_paths(path: Path) -> list[Path]:
    """The paths of the suites at a path, sorted by name.

    A folder without suite.toml may hold suite folders and files with a suffix of a suite's
    format; hidden files, files with another suffix (a README) and the record of a download are
    ignored. A task of lm-evaluation-harness stands for the table of its data. If the folder holds
    only other folders, their suites are taken; of a registered set, those of all its folders.

    Raises:
        InputError: the folder holds no suite or is that of a run, or may not be read.
    """
    path = _folder_of(path)
    if not path.is_dir() or (path / TOML).exists():
        return [path]
    if _is_run(path):
        raise _not_of_runs(path, "a run")
    if fetched := fetched_files(path, SUITE_SUFFIXES):
        return fetched
    with reading(path, todo="Check its permissions."):
        children = sorted(path.iterdir())
    shown = [
        child
        for child in children
        if not child.name.startswith((".", "~$")) and child.name != SOURCE
    ]
    others = {child.suffix for child in shown} - set(SUITE_SUFFIXES)
    known = plugged_suffixes(others) | set(SUITE_SUFFIXES)
    paths = [child for child in shown if child.suffix.lower() in known or (child / TOML).is_file()]
    paths = with_tasks(paths, shown)
    for folder in () if paths else filter(Path.is_dir, shown):
        with suppress(InputError):  # there is none in it
            paths += suite_paths(folder)
    if not paths and any(_is_run(file.parent) for file in path.rglob(_RUN[0])):
        raise _not_of_runs(path, "runs")
    if not paths:
        seen = f"is a folder without {TOML} and without suites in it"
        raise _refused(path, seen, formats_named())
    return paths


_RUN = ("manifest.json", "estimates.parquet")
"""Files that, together, only the folder of a run has."""


def _is_run(path: Path) -> bool:
    return all((path / name).is_file() for name in _RUN)


def _not_of_runs(path: Path, what: str) -> InputError:
    """The error of a folder that holds results where a suite is needed."""
    todo = "Give the suite: its built-in name, or the path of its folder or file."
    return _refused(path, f"is a folder of {what}, not a suite", todo)


def named_fault(fault: Fault, path: str) -> Fault:
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
        seen = f"has {size:,} bytes, and a suite may have {MAX_FILE_BYTES:,}"
        raise _refused(path, seen, "Split it into several files.")


@no_collection()
def read_suite(path: Path, *, format_: str = "") -> tuple[SuiteFile | None, Sequence[Fault]]:
    """The suite as far as it can be read, and every fault; arguments are as for `open_suite`.

    Most warnings are looked for when the faults are read; see `Faults`.

    Raises:
        InputError: the path does not exist, may not be read or is in no known format.
    """
    path = _folder_of(path)
    _refuse_large(path)
    try:
        format_ = format_ or recorded_format(path) or detect_format(path)
        reading = find_reader(format_)(path)
    except SuiteError as error:
        return None, error.faults
    faults = check_reading(reading)
    if is_as_pinned(path, reading.sha256):
        faults = Faults(_unmended(faults.early), partial(_all_unmended, faults))
    table = reading.table or form_reading(reading.suite, format_)
    return SuiteFile(reading.suite, faults, reading.sha256, path, format_, table), faults


_LOST_LETTER = "CIM-S042"


def _unmended(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """The faults of a file as its authors released it: nobody may retype a letter lost there."""
    return tuple(
        replace(fault, severity="warning") if fault.code == _LOST_LETTER else fault
        for fault in faults
    )


def _all_unmended(faults: Faults) -> Sequence[Fault]:
    return _unmended(faults.all)

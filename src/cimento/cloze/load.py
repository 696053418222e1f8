"""From a path to a cloze suite that can be used: read, check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cimento.cloze.checks import check_cloze
from cimento.cloze.readers.native import TOML, ClozeReading, read_folder, read_item_table
from cimento.cloze.records import ClozeSuite
from cimento.errors import Fault, SuiteError
from cimento.suites.faults import errors, warnings


@dataclass(frozen=True, slots=True)
class LoadedCloze:
    """A cloze suite with what is known about where it came from.

    Attributes:
        suite: without faults that would keep it from being used.
        warnings: other faults, as reading and checking found them.
        sha256: of the bytes read, hexadecimal.
        path: file or folder.
    """

    suite: ClozeSuite
    warnings: tuple[Fault, ...]
    sha256: str
    path: Path


def load_cloze(path: Path) -> LoadedCloze:
    """Read and check one suite of kind ``cloze`` or ``templates``.

    Args:
        path: a suite folder, its suite.toml, or a table of items that stands alone.

    Raises:
        InputError: the path does not exist or may not be read.
        SuiteError: the suite has faults; the error carries all of them.
    """
    reading = _read(path)
    found = (*reading.faults, *check_cloze(reading.suite))
    if errors(found):
        raise SuiteError(where=str(path), faults=found)
    return LoadedCloze(reading.suite, warnings(found), reading.sha256, path)


def find_cloze_faults(path: Path) -> tuple[Fault, ...]:
    """Every fault of a suite, instead of an exception.

    Raises:
        InputError: the path does not exist or may not be read.
    """
    try:
        reading = _read(path)
    except SuiteError as error:
        return error.faults
    return (*reading.faults, *check_cloze(reading.suite))


def _read(path: Path) -> ClozeReading:
    if path.name == TOML:
        path = path.parent
    return read_folder(path) if path.is_dir() else read_item_table(path)

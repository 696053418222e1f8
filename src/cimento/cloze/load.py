"""From a path to a cloze suite that can be used: read, check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from cimento.cloze.checks import check_cloze
from cimento.cloze.readers.native import TOML, read_folder, read_item_table
from cimento.cloze.readers.portuguese import is_released, read_released
from cimento.cloze.records import ClozeSuite
from cimento.errors import Fault, SuiteError
from cimento.paradigms.base import SuiteReading
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
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
        SuiteError: the suite has faults; the error carries all of them.
    """
    reading = read_cloze(path)
    found = reading.faults
    if reading.suite is None or errors(found):
        raise SuiteError(where=str(path), faults=found)
    return LoadedCloze(reading.suite, warnings(found), reading.sha256, path)


def read_cloze(path: Path) -> SuiteReading[ClozeSuite]:
    """Read one suite of kind ``cloze`` or ``templates``, and say what is wrong with it.

    Args:
        path: a suite folder, its suite.toml, a table of items that stands alone, or a file of the
            Brazilian study.

    Raises:
        InputError: the path does not exist or may not be read.
    """
    try:
        reading = _read(path)
    except SuiteError as error:
        return SuiteReading(suite=None, faults=error.faults, sha256="", path=path)
    faults = () if reading.suite is None else check_cloze(reading.suite)
    return replace(reading, faults=(*reading.faults, *faults), path=path)


def _read(path: Path) -> SuiteReading[ClozeSuite]:
    if path.name == TOML:
        path = path.parent
    if is_released(path):
        return read_released(path)
    return read_folder(path) if path.is_dir() else read_item_table(path)

"""Copies of suites as they are asked, so that whoever puts runs together has them at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from cimento.errors import InputError, StorageError
from cimento.files import write_bytes
from cimento.parsing import parse_json
from cimento.suites.load import LoadedSuite
from cimento.suites.model import Suite
from cimento.suites.readers.native import read_native
from cimento.suites.reading import sha256_of
from cimento.suites.writers.native import native_files


def pack_copy(suite: Suite) -> tuple[str, bytes]:
    """The files of a suite's folder, in one: its digest and its content."""
    files = native_files(suite)
    digest = sha256_of(*(text.encode() for text in files.values()))
    return digest, json.dumps(files).encode()


def write_copy(content: bytes, folder: Path) -> None:
    """Write a copy where every worker can read it; files that are there, and whole, stay.

    Args:
        content: as `pack_copy` gives it.
        folder: named by its digest.

    Raises:
        StorageError: the folder cannot be written.
    """
    for name, text in parse_json(content).items():
        path, data = folder / name, text.encode()
        if not _holds(path, data):
            write_bytes(data, path)


def read_copy(head: LoadedSuite, folder: Path) -> LoadedSuite:
    """A suite with its items.

    Args:
        head: the suite without them.
        folder: of its copy, named by its digest.

    Raises:
        StorageError: the copy is not there, or damaged.
    """
    try:
        reading = read_native(folder)
    except InputError as error:
        raise _damaged(folder) from error
    if reading.sha256 != folder.name:
        raise _damaged(folder)
    return replace(head, suite=reading.suite)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _damaged(folder: Path) -> StorageError:
    return StorageError(
        where=str(folder),
        seen="a suite of the run cannot be read, or is damaged",
        todo="Run again: it is written anew.",
    )

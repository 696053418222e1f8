"""Copies of suites as they are asked, so that whoever puts runs together has them at hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from cimento.errors import InputError, StorageError
from cimento.files import write_pieces
from cimento.parsing import parse_json
from cimento.suites.load import LoadedSuite
from cimento.suites.model import Suite
from cimento.suites.readers.native import TOML, read_native
from cimento.suites.writers.native import TABLE, native_pieces

_BLOCK = 1 << 16
"""Bytes that are read together."""


def digest_of_copy(suite: Suite) -> str:
    """What a copy of a suite is known by: the sha256 of its files, hexadecimal."""
    digest = hashlib.sha256()
    for _, pieces in native_pieces(suite):
        for piece in pieces:
            digest.update(piece.encode())
    return digest.hexdigest()


def copy_pieces(suite: Suite) -> Iterator[bytes]:
    """The files of a suite's folder, in pieces that can be kept one by one."""
    for name, pieces in native_pieces(suite):
        for piece in pieces:
            yield json.dumps([name, piece]).encode()


def write_copy(pieces: Iterable[bytes], folder: Path) -> None:
    """Write a copy where every worker can read it; one that is there, and whole, stays.

    Args:
        pieces: as `copy_pieces` gives them.
        folder: named by its digest.

    Raises:
        StorageError: the folder cannot be written.
    """
    if _is_whole(folder):
        return
    files: Iterator[tuple[str, str]] = map(tuple, map(parse_json, pieces))
    for name, parts in groupby(files, key=itemgetter(0)):
        write_pieces((text for _, text in parts), folder / name)


def read_copy(head: LoadedSuite, folder: Path) -> LoadedSuite:
    """A suite with its items, which stay on disk where they are many.

    Args:
        head: the suite without them.
        folder: of its copy, named by its digest.

    Raises:
        StorageError: the copy is not there, or damaged.
    """
    try:
        reading = read_native(folder, stored=True)
    except InputError as error:
        raise _damaged(folder) from error
    if reading.sha256 != folder.name:
        raise _damaged(folder)
    return replace(head, suite=reading.suite)


def _is_whole(folder: Path) -> bool:
    digest = hashlib.sha256()
    try:
        for name in (TOML, TABLE):
            with (folder / name).open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
    except OSError:
        return False
    return digest.hexdigest() == folder.name


def _damaged(folder: Path) -> StorageError:
    return StorageError(
        where=str(folder),
        seen="a suite of the run cannot be read, or is damaged",
        todo="Run again: it is written anew.",
    )

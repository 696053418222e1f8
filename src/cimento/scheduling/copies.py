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
from cimento.scheduling.spool import Spool
from cimento.suites.load import LoadedSuite
from cimento.suites.model import Suite
from cimento.suites.readers.native import TOML, read_native
from cimento.suites.stored import settled
from cimento.suites.writers.native import TABLE, native_pieces

_UNNAMED = "copy"
"""Of a content that is not whole yet."""
_BLOCK = 1 << 16
"""Bytes that are read together."""


def keep_copy(suite: Suite, spool: Spool) -> str:
    """Keep the files of a suite's folder, in pieces, under the digest of what they hold.

    Returns:
        The digest: the sha256 of the files, hexadecimal.
    """
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        for name, parts in native_pieces(suite):
            for part in parts:
                digest.update(part.encode())
                yield json.dumps([name, part]).encode()

    spool.keep(_UNNAMED, pieces())
    spool.rename(_UNNAMED, digest.hexdigest())
    return digest.hexdigest()


def write_copy(pieces: Iterable[bytes], folder: Path) -> None:
    """Write a copy where every worker can read it; one that is there, and whole, stays.

    Args:
        pieces: as `keep_copy` keeps them.
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
    suite = replace(reading.suite, items=settled(reading.suite.items))
    return replace(head, suite=suite, copy=folder)


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

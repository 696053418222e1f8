"""What units add to the cache: kept apart while they are done, and put there together.

The work of one unit must not depend on whether another was done before it. Then the same texts
always go through the model together, whichever workers do the units and in whichever order. So a
run reads the cache as it was when it began.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path

from cimento.engine.cache import AnswerCache, union
from cimento.engine.units import read_sealed, write_sealed
from cimento.errors import StorageError, TableError

_LENGTH = struct.calcsize("<q")
KEPT_TOGETHER = 64
"""Number of units whose entries go to the cache together; one at a time takes twice as long."""


class Overlay:
    """A cache that keeps the entries added by a unit apart from those known before the run.

    Args:
        known: the cache from before the run, which is only read.
    """

    def __init__(self, known: AnswerCache) -> None:
        self._known = known
        self.added: dict[bytes, bytes] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values stored under these keys before the run or added by this unit."""
        added = {key: self.added[key] for key in keys if key in self.added}
        return {**self._known.get([key for key in keys if key not in added]), **added}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Add these entries to those of the unit."""
        self.added.update(entries)


def write_added(added: Mapping[bytes, bytes], path: Path) -> None:
    """Write the entries that a unit adds to the cache, to be put there later.

    The file holds the number of entries, the lengths of the key and the value of each, and then the
    keys and values in turn.

    Raises:
        StorageError: the file cannot be written.
    """
    parts = [part for entry in added.items() for part in entry]
    lengths = struct.pack(f"<{1 + len(parts)}q", len(added), *map(len, parts))
    write_sealed(lengths + b"".join(parts), path)


def _read_added(path: Path) -> dict[bytes, bytes]:
    """The entries that a unit adds to the cache.

    Raises:
        StorageError: the file cannot be read.
        TableError: the file is damaged.
    """
    content = read_sealed(path)
    try:
        (count,) = struct.unpack_from("<q", content)
        lengths = struct.unpack_from(f"<{2 * count}q", content, _LENGTH)
        ends = list(accumulate(lengths, initial=(1 + len(lengths)) * _LENGTH))
        parts = [content[begin:end] for begin, end in pairwise(ends)]
        return dict(zip(parts[::2], parts[1::2], strict=True))
    except (struct.error, ValueError) as error:
        raise TableError(where=str(path), seen="is damaged") from error


def put_added(paths: Iterable[Path], cache: AnswerCache) -> None:
    """Put what units added into the cache, and remove the files; a damaged one is only removed."""
    there = [path for path in paths if path.is_file()]
    for start in range(0, len(there), KEPT_TOGETHER):
        some = there[start : start + KEPT_TOGETHER]
        entries: dict[bytes, bytes] = {}
        for path in some:
            try:
                added = _read_added(path)
            except (StorageError, TableError):
                continue
            for key, data in added.items():
                entries[key] = union(key, entries[key], data) if key in entries else data
        if entries:
            known = cache.get(list(entries))
            cache.put({k: union(k, known[k], d) if k in known else d for k, d in entries.items()})
        for path in some:
            path.unlink(missing_ok=True)


class Keeper:
    """A thread that puts what units added into a cache, so that nothing is left to do at the end.

    Args:
        cache: the cache, which is not the one that the run reads; see `FileCache.unchanged`.
    """

    def __init__(self, cache: AnswerCache) -> None:
        self._cache = cache
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cimento-keep")
        self._paths: list[Path] = []
        self._put: list[Future[None]] = []

    def take(self, path: Path) -> None:
        """Take the file of a unit that is done; its entries go to the cache with those of others.

        Raises:
            StorageError: earlier entries could not be put there.
        """
        self._paths.append(path)
        if len(self._paths) < KEPT_TOGETHER:
            return
        paths, self._paths = self._paths, []
        for future in [future for future in self._put if future.done()]:
            self._put.remove(future)
            future.result()
        self._put.append(self._thread.submit(put_added, paths, self._cache))

    def close(self) -> None:
        """Wait for the thread; files that it has not put stay where they are."""
        self._thread.shutdown(cancel_futures=True)

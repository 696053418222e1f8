"""A unit of work: one model and one shard. Its result is a file, so that whoever did it is done."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.answers import SCHEMA_VERSION, TOKENS, validate
from cimento.engine.cache import AnswerCache, union
from cimento.engine.scores import SCORING_VERSION
from cimento.engine.sealed import read_sealed, write_sealed
from cimento.errors import StorageError, TableError
from cimento.models.base import ModelCard
from cimento.parsing import parse_json
from cimento.sources import Asking, Source

if TYPE_CHECKING:
    import polars as pl

FOLDER = ".units"

_LENGTH = struct.calcsize("<q")


@dataclass(frozen=True, slots=True)
class UnitStore:
    """Where the units of runs are, below the folder of runs.

    Attributes:
        path: the folder of units.
    """

    path: Path

    @classmethod
    def below(cls, output: Path) -> UnitStore:
        """The units of the runs in a folder."""
        return cls(output / FOLDER)

    def shard(self, digest: str) -> Path:
        """The file that says what is asked."""
        return self.path / "shards" / f"{digest}.shard"

    def suite(self, digest: str) -> Path:
        """The folder with a copy of a suite, as it is asked."""
        return self.path / "suites" / digest

    def directions(self, digest: str) -> Path:
        """The file that says where the answers to a suite are."""
        return self.path / "suites" / f"{digest}.places"

    def result(self, model: str, shard: str) -> Path:
        """The file with what a model answered to a shard, both by their digests."""
        return self.path / model / f"{shard}.unit"

    def added(self, model: str, shard: str) -> Path:
        """The file with what a unit adds to the cache when the run is over."""
        return self.path / model / f"{shard}.added"


@dataclass(frozen=True, slots=True)
class Result:
    """What a unit came to.

    Attributes:
        card: of the model.
        tokens: the tokens table of the shard.
        remarks: what the model had to say of the texts.
        seconds: how long it took, loading apart; None where answers were known.
    """

    card: ModelCard
    tokens: pl.DataFrame
    remarks: tuple[str, ...] = ()
    seconds: float | None = None


def model_digest(source: Source, asking: Asking) -> str:
    """All that answers depend on besides the texts: the folder of a model's units."""
    parts = [
        SCHEMA_VERSION,
        SCORING_VERSION,
        source.label,
        source.inputs,
        dataclasses.asdict(asking.policy),
        list(asking.columns),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def write_result(result: Result, path: Path) -> Path:
    """Write a unit's result, whole or not at all.

    The file holds a line of JSON, which says whose answers these are, then the table as Parquet.

    Raises:
        StorageError: it cannot be written.
    """
    validate(result.tokens, TOKENS, where=str(path))
    told = {
        "card": dataclasses.asdict(result.card),
        "remarks": list(result.remarks),
        "seconds": result.seconds,
        "requests": result.tokens["request"].n_unique(),
    }
    return write_sealed(json.dumps(told).encode() + b"\n" + _packed(result.tokens), path)


def read_result(path: Path) -> Result:
    """A unit's result.

    Raises:
        StorageError: it cannot be read.
        TableError: it is not there, or damaged.
    """
    told, rest = _read(path)
    table = _unpacked(rest, path)
    validate(table, TOKENS, where=str(path))
    return Result(told.card, table, told.remarks, told.seconds)


def is_whole(path: Path) -> bool:
    """Whether a unit is done: its file is there, and every byte of it is as it was written."""
    try:
        read_told(path)
    except (StorageError, TableError):
        return False
    return True


def seconds_of(path: Path) -> tuple[float, int] | None:
    """How long a unit took and how many requests it had; None where that is not known."""
    try:
        told = read_told(path)
    except (StorageError, TableError):
        return None
    return None if told.seconds is None else (told.seconds, told.requests)


class Told(NamedTuple):
    """What stands before the tokens in a unit's file; see `Result`."""

    card: ModelCard
    remarks: tuple[str, ...]
    seconds: float | None
    requests: int


def read_told(path: Path) -> Told:
    """What a unit's file says before its tokens.

    Raises:
        StorageError: it cannot be read.
        TableError: it is not there, or damaged.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Told, bytes]:
    first, _, rest = read_sealed(path).partition(b"\n")
    try:
        told = parse_json(first)
        card = ModelCard(**told["card"])
        return Told(card, tuple(told["remarks"]), told["seconds"], told["requests"]), rest
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def _packed(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    # Small, many, and not for long: what packs them fast matters more than how small they are.
    table.write_parquet(file, compression="lz4", statistics=False)
    return file.getvalue()


def _unpacked(content: bytes, path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(content))
    # Where a file is damaged inside, the library may panic, which is no Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> TableError:
    return TableError(where=str(path), seen="is damaged")


class Apart:
    """A cache in which what a unit adds is kept apart until the run is over.

    What one unit computes must not depend on whether another was done before it: then the same
    texts always go through the model together, whoever does the units and in what order.

    Args:
        known: what was kept before the run; only read.
    """

    def __init__(self, known: AnswerCache) -> None:
        self._known = known
        self.added: dict[bytes, bytes] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What was kept under these keys, or was added by this unit."""
        added = {key: self.added[key] for key in keys if key in self.added}
        return {**self._known.get([key for key in keys if key not in added]), **added}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these entries."""
        self.added.update(entries)


def write_added(added: Mapping[bytes, bytes], path: Path) -> None:
    """Write what a unit adds to the cache, to be put there when the run is over.

    The file holds how many sequences these are, the lengths of the address and the scores of each,
    and then both, one after the other.

    Raises:
        StorageError: it cannot be written.
    """
    parts = [part for key, data in added.items() for part in (key, data)]
    lengths = struct.pack(f"<{1 + len(parts)}q", len(added), *map(len, parts))
    write_sealed(lengths + b"".join(parts), path)


def _read_added(path: Path) -> dict[bytes, bytes]:
    """What a unit adds to the cache.

    Raises:
        StorageError: the file cannot be read.
        TableError: it is damaged.
    """
    content = read_sealed(path)
    try:
        (count,) = struct.unpack_from("<q", content)
        lengths = struct.unpack_from(f"<{2 * count}q", content, _LENGTH)
        ends = list(accumulate(lengths, initial=(1 + len(lengths)) * _LENGTH))
        parts = [content[begin:end] for begin, end in pairwise(ends)]
        return dict(zip(parts[::2], parts[1::2], strict=True))
    except (struct.error, ValueError) as error:
        raise _damaged(path) from error


def put_added(paths: Sequence[Path], cache: AnswerCache) -> None:
    """Put what units added into the cache, at once, and remove the files.

    A damaged file is only removed.
    """
    entries: dict[bytes, bytes] = {}
    for path in paths:
        try:
            added = _read_added(path)
        except (StorageError, TableError):
            continue
        for key, data in added.items():
            entries[key] = union(key, entries[key], data) if key in entries else data
    if entries:
        known = cache.get(list(entries))
        cache.put({k: union(k, known[k], d) if k in known else d for k, d in entries.items()})
    for path in paths:
        path.unlink(missing_ok=True)

"""A unit of work: one model and one shard. Its result is a file, so that whoever did it is done."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.answers import SCHEMA_VERSION, TOKENS, validate
from cimento.cache import AnswerCache, Scores
from cimento.engine import SCORING_VERSION
from cimento.errors import StorageError, TableError
from cimento.files import atomically
from cimento.models.base import ModelCard
from cimento.parsing import parse_json
from cimento.sources import Asking, Source

if TYPE_CHECKING:
    import polars as pl

FOLDER = ".units"
_RESULT = "cimento_unit"


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

    @property
    def shards(self) -> Path:
        """The folder of what is asked."""
        return self.path / "shards"

    def result(self, model: str, shard: str) -> Path:
        """The file with what a model answered to a shard, both by their digests."""
        return self.path / model / f"{shard}.parquet"

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
        SCORING_VERSION,
        source.label,
        source.inputs,
        dataclasses.asdict(asking.policy),
        list(asking.columns),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def write_result(result: Result, path: Path) -> Path:
    """Write a unit's result, whole or not at all.

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
    metadata = {_RESULT: json.dumps(told), "cimento_schema_version": str(SCHEMA_VERSION)}
    return atomically(path, lambda file: result.tokens.write_parquet(file, metadata=metadata))


def read_result(path: Path) -> Result:
    """A unit's result.

    Raises:
        StorageError: it cannot be read.
        TableError: it is damaged.
    """
    import polars as pl

    told = _told(path)
    try:
        table = pl.read_parquet(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(path) from error
    validate(table, TOKENS, where=str(path))
    return Result(told.card, table, told.remarks, told.seconds)


def is_whole(path: Path) -> bool:
    """Whether a unit is done: its file is there, with its end, where Parquet says what it is."""
    try:
        _told(path)
    except (StorageError, TableError):
        return False
    return True


def seconds_of(path: Path) -> tuple[float, int] | None:
    """How long a unit took and how many requests it had; None where that is not known."""
    try:
        told = _told(path)
    except (StorageError, TableError):
        return None
    return None if told.seconds is None else (told.seconds, told.requests)


class _Told(NamedTuple):
    """What stands beside the tokens in a unit's file."""

    card: ModelCard
    remarks: tuple[str, ...]
    seconds: float | None
    requests: int


def _told(path: Path) -> _Told:
    import polars as pl

    try:
        told = parse_json(pl.read_parquet_metadata(path)[_RESULT])
        card = ModelCard(**told["card"])
        return _Told(card, tuple(told["remarks"]), told["seconds"], told["requests"])
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise _damaged(path) from error
    except pl.exceptions.PanicException as error:  # which is no Exception
        raise _damaged(path) from error


def _unreadable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        where=str(path),
        seen=f"cannot be read ({error.strerror or error})",
        todo="Check its permissions and the disk.",
    )


def _damaged(path: Path) -> TableError:
    return TableError(where=str(path), seen="the result of a unit is damaged")


class Apart:
    """A cache in which what a unit adds is kept apart until the run is over.

    What one unit computes must not depend on whether another was done before it: then the same
    texts always go through the model together, whoever does the units and in what order.

    Args:
        known: what was kept before the run; only read.
    """

    def __init__(self, known: AnswerCache) -> None:
        self._known = known
        self.added: dict[bytes, Scores] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Scores]:
        """What is known of these sequences, or was added by this unit."""
        added = {key: self.added[key] for key in keys if key in self.added}
        return {**self._known.get([key for key in keys if key not in added]), **added}

    def put(self, entries: Mapping[bytes, Scores]) -> None:
        """Keep the scores of these sequences."""
        self.added.update(entries)


def write_added(added: Mapping[bytes, Scores], path: Path) -> None:
    """Write what a unit adds to the cache, to be put there when the run is over."""
    import polars as pl

    keys, indices, values = [], [], []
    for key, scores in added.items():
        for index, value in scores.items():
            keys.append(key)
            indices.append(index)
            values.append(value)
    schema = {"key": pl.Binary, "index": pl.Int32, "value": pl.Float64}
    table = pl.DataFrame({"key": keys, "index": indices, "value": values}, schema=schema)
    atomically(path, table.write_parquet)


def put_added(path: Path, cache: AnswerCache) -> None:
    """Put what a unit added into the cache, and remove the file; a damaged one is only removed."""
    import polars as pl

    entries: dict[bytes, Scores] = {}
    try:
        for key, index, value in pl.read_parquet(path).iter_rows():
            entries.setdefault(key, {})[index] = value
    except (OSError, pl.exceptions.PolarsError):
        entries = {}
    if entries:
        known = cache.get(list(entries))
        cache.put({key: {**known.get(key, {}), **scores} for key, scores in entries.items()})
    path.unlink(missing_ok=True)

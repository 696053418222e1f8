"""Units of work: one model and a stretch of requests, whose result is a file.

What is in a unit depends on the requests and their order alone: never on the model, on what is
known already, or on who does the work. So every engine gives a model the same texts together, and
the numbers that come back are the same to the last bit. A unit whose file is there is done,
whoever did it; the file begins with the sha256 of what follows, and so tells whether it is whole.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cimento.engine.cache import AnswerCache, union
from cimento.engine.requests import Answers, Choose, Fill, Reply, Request, Score
from cimento.engine.scores import SCORING_VERSION
from cimento.errors import StorageError, TableError
from cimento.io.files import open_plain, write_bytes
from cimento.io.parsing import parse_json
from cimento.io.tables import CHOICES, FILLS, REPLIES, SCHEMA_VERSION, TOKENS, Column, validate
from cimento.models.base import ModelCard
from cimento.runs.usage import Tokens

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.handle import ModelHandle


_SEAL = 2 * hashlib.sha256().digest_size + 1


def write_sealed(body: bytes, path: Path) -> Path:
    """Write a file, whole or not at all.

    Raises:
        StorageError: it cannot be written.
    """
    return write_bytes(_seal(body) + body, path, sealed=True)


def read_sealed(path: Path) -> bytes:
    """What such a file holds.

    Raises:
        StorageError: it cannot be read.
        TableError: it is not there, was cut short, or a byte of it has changed.
    """
    try:
        with open_plain(path) as file:
            content = file.read()
    except FileNotFoundError as error:
        raise TableError(where=str(path), seen="there is no such file") from error
    except OSError as error:
        raise StorageError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check its permissions and the disk.",
        ) from error
    body = content[_SEAL:]
    if content[:_SEAL] != _seal(body):
        raise TableError(where=str(path), seen="is damaged")
    return body


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n"


FOLDER = ".units"

SIZES: Mapping[type[Request], int] = {Score: 256, Fill: 128, Choose: 64, Reply: 64}
"""Requests in one unit; those of prompts are long, and each takes its time."""

_SCHEMAS = {schema.name: schema for schema in (TOKENS, FILLS, CHOICES, REPLIES)}
_LENGTH = struct.calcsize("<q")
_KEPT_TOGETHER = 64
"""Units whose answers go to the cache in one transaction: each of its own costs twice the time."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Requests that are answered together.

    Attributes:
        digest: of all that is asked, hexadecimal.
        requests: numbered by their positions.
    """

    digest: str
    requests: tuple[Request, ...]

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Unit:
        """A unit of some requests."""
        # A frozen record's repr says all that is in it, in the same words every time.
        asked = hashlib.sha256("\n".join(map(repr, requests)).encode())
        return cls(asked.hexdigest()[:32], tuple(requests))


class Place(NamedTuple):
    """Where a request is answered.

    Attributes:
        unit: number of the unit.
        number: of the request in it.
    """

    unit: int
    number: int


class Division:
    """The requests to one model cut into units, each request in one of them only.

    Args:
        add: told of every new unit; gives its number.
        whole: everything that is asked at a time makes one unit, and none is shared: what a model
            has to say of texts is then said of all of them.
        known: what was asked before, and by others.
    """

    def __init__(
        self, add: Callable[[Unit], int], *, whole: bool = False, known: Division | None = None
    ) -> None:
        self._add = add
        self._whole = whole
        self._known: Mapping[Request, Place] = {} if known is None else known.places
        self.places: dict[Request, Place] = {}

    def divide(self, requests: Sequence[Request]) -> list[Place]:
        """Where each of some requests is answered; those that are new make new units."""
        fresh: dict[type[Request], list[Request]] = {}
        for request in dict.fromkeys(requests):
            if self._whole or (request not in self.places and request not in self._known):
                fresh.setdefault(type(request), []).append(request)
        for kind, some in fresh.items():
            size = len(some) if self._whole else SIZES[kind]
            for start in range(0, len(some), size):
                unit = Unit.of(some[start : start + size])
                number = self._add(unit)
                self.places.update((r, Place(number, n)) for n, r in enumerate(unit.requests))
        return [self.places.get(request) or self._known[request] for request in requests]


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

    def prepare(self, model: str) -> None:
        """See that there is a folder for the units of a model, before anything is computed.

        Raises:
            StorageError: it cannot be made.
        """
        folder = self.path / model
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                where=str(folder),
                seen=f"cannot be written ({error.strerror or error})",
                todo="Choose another folder with --output.",
            ) from error

    def result(self, model: str, unit: str) -> Path:
        """The file with what a model answered to a unit, both by their digests."""
        return self.path / model / f"{unit}.unit"

    def added(self, model: str, unit: str) -> Path:
        """The file with what a unit adds to the cache when its model has answered all."""
        return self.path / model / f"{unit}.added"


def model_digest(model: ModelHandle, columns: Sequence[Column]) -> str:
    """All that answers depend on besides the requests: the folder of a model's units."""
    parts = [
        SCHEMA_VERSION,
        SCORING_VERSION,
        model.label,
        model.inputs,
        model.scoring.policy.plain(),
        list(columns),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit came to.

    Attributes:
        answers: with the model that gave them.
        seconds: how long it took, loading apart; None where answers were known.
    """

    answers: Answers
    seconds: float | None = None


class UnitFacts(NamedTuple):
    """What stands before the tables in a unit's file; see `UnitResult`.

    Attributes:
        model: who answered.
        warnings: what it had to say of the requests.
        seconds: see `UnitResult`.
        n: number of requests.
        tables: name and bytes of each table, in order.
        usage: what requests came to at a server, by their numbers.
    """

    model: ModelCard
    warnings: tuple[str, ...]
    seconds: float | None
    n: int
    tables: tuple[tuple[str, int], ...]
    usage: Mapping[int, Tokens]


def write_result(result: UnitResult, path: Path) -> Path:
    """Write a unit's result, whole or not at all.

    The file holds a line of JSON, which says whose answers these are, then each table as Parquet.

    Raises:
        StorageError: it cannot be written.
    """
    answers = result.answers
    for name, table in answers.tables.items():
        validate(table, _SCHEMAS[name], where=str(path))
    packed = {name: _packed(table) for name, table in answers.tables.items()}
    facts = {
        "model": None if answers.model is None else dataclasses.asdict(answers.model),
        "warnings": list(answers.warnings),
        "seconds": result.seconds,
        "n": answers.n,
        "tables": [[name, len(content)] for name, content in packed.items()],
    }
    if answers.usage:
        facts["usage"] = [[n, *dataclasses.astuple(each)] for n, each in answers.usage.items()]
    return write_sealed(json.dumps(facts).encode() + b"\n" + b"".join(packed.values()), path)


def read_result(path: Path) -> UnitResult:
    """A unit's result.

    Raises:
        StorageError: it cannot be read.
        TableError: it is not there, or damaged.
    """
    facts, rest = _read(path)
    tables: dict[str, pl.DataFrame] = {}
    start = 0
    for name, size in facts.tables:
        tables[name] = _unpacked(rest[start : start + size], path)
        validate(tables[name], _SCHEMAS[name], where=str(path))
        start += size
    answers = Answers(
        tables=tables,
        n=facts.n,
        warnings=facts.warnings,
        model=facts.model,
        usage=facts.usage,
    )
    return UnitResult(answers, facts.seconds)


def is_whole(path: Path) -> bool:
    """Whether a unit is done: its file is there, and every byte of it is as it was written."""
    return facts_of(path) is not None


def facts_of(path: Path) -> UnitFacts | None:
    """What a unit's file says before its tables; None where there is no whole file."""
    try:
        return _read(path)[0]
    except (StorageError, TableError):
        return None


def _read(path: Path) -> tuple[UnitFacts, bytes]:
    first, _, rest = read_sealed(path).partition(b"\n")
    try:
        facts = parse_json(first)
        tables = tuple((str(name), int(size)) for name, size in facts["tables"])
        if any(name not in _SCHEMAS for name, _ in tables):
            raise _damaged(path)
        card = ModelCard(**facts["model"])
        usage = {int(n): Tokens(*each) for n, *each in facts.get("usage", [])}
        warnings = tuple(facts["warnings"])
        return UnitFacts(card, warnings, facts["seconds"], facts["n"], tables, usage), rest
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
        table = pl.read_parquet(io.BytesIO(content))
    # Where a file is damaged inside, the library may panic, which is no Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(path) from error
    # A column of texts that was read has sixteen bytes a row even where all of them are null; one
    # that is made here has none.
    return table.with_columns(
        pl.repeat(None, len(table), dtype=pl.String, eager=True).alias(column.name)
        for column in table
        if column.dtype == pl.String and column.null_count() == len(table)
    )


def _damaged(path: Path) -> TableError:
    return TableError(where=str(path), seen="is damaged")


class Overlay:
    """A cache in which what a unit adds is kept apart until its model has answered all.

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
    """Write what a unit adds to the cache, to be put there later.

    The file holds how many entries these are, the lengths of the key and the value of each, and
    then both, one after the other.

    Raises:
        StorageError: it cannot be written.
    """
    parts = [part for entry in added.items() for part in entry]
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


def put_added(paths: Iterable[Path], cache: AnswerCache) -> None:
    """Put what units added into the cache, and remove the files; a damaged one is only removed."""
    there = [path for path in paths if path.is_file()]
    for start in range(0, len(there), _KEPT_TOGETHER):
        some = there[start : start + _KEPT_TOGETHER]
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

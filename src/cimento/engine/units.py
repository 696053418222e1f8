"""Units of work: a group of requests to one model, with a file as result.

The requests in a unit depend only on the requests of the jobs and their order, never on the model,
the cache, or the worker. So every engine gives a model the same texts together, and the numbers
that come back are the same to the last bit. A unit whose file exists is done, whichever worker
wrote it; the file begins with the sha256 of its remaining bytes, which shows whether it is whole.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cimento.engine.requests import (
    Answers,
    Attribute,
    Choose,
    Fill,
    Patch,
    Reply,
    Request,
    Score,
)
from cimento.engine.scores import SCORING_VERSION
from cimento.errors import StorageError, TableError
from cimento.io.explained import GRADIENTS, PATCHES
from cimento.io.files import open_plain, reading, write_bytes
from cimento.io.parsing import parse_json
from cimento.io.tables import (
    CHOICES,
    FILLS,
    REPLIES,
    SCHEMA_VERSION,
    TOKENS,
    Column,
    in_memory,
    validate_table,
)
from cimento.models.base import ModelCard
from cimento.records.usage import Tokens

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.handle import ModelHandle


_SEAL = 2 * hashlib.sha256().digest_size + 1


def write_sealed(body: bytes, path: Path) -> Path:
    """Write a file with a hash over its content, completely or not at all.

    Raises:
        StorageError: the file cannot be written.
    """
    return write_bytes(_seal(body) + body, path, sealed=True)


def read_sealed(path: Path) -> bytes:
    """The content of a file that `write_sealed` wrote.

    Raises:
        StorageError: the file cannot be read.
        TableError: the file does not exist, was cut short, or a byte of it has changed.
    """
    with reading(path, todo="Check its permissions and the disk.", kind=StorageError):
        try:
            with open_plain(path) as file:
                content = file.read()
        except FileNotFoundError as error:
            raise TableError(where=str(path), seen="there is no such file") from error
    body = content[_SEAL:]
    if content[:_SEAL] != _seal(body):
        raise TableError(where=str(path), seen="is damaged")
    return body


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n"


FOLDER = ".units"

SIZES: Mapping[type[Request], int] = {
    Score: 256, Fill: 128, Choose: 64, Reply: 64, Patch: 32, Attribute: 32,
}  # fmt: skip
"""Number of requests in one unit; the slower they are, the fewer make a unit.

Prompts are long, an interchange is a pass for every layer, and integrated gradients many passes.
"""

_SCHEMAS = {schema.name: schema for schema in (TOKENS, FILLS, CHOICES, REPLIES, PATCHES, GRADIENTS)}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: requests that are answered together.

    Attributes:
        digest: hash over the requests, in hexadecimal.
        requests: the requests, numbered by their positions.
    """

    digest: str
    requests: tuple[Request, ...]

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Unit:
        """The unit of some requests, in this order."""
        return cls(hashlib.sha256(_plain(requests).encode()).hexdigest()[:32], tuple(requests))


def _plain(requests: Sequence[Request]) -> str:
    """Requests as text with all of their fields, the same every time."""
    scores = [request for request in requests if isinstance(request, Score)]
    if len(scores) < len(requests):
        return "\n".join(map(repr, requests))
    # Scores mostly differ in their texts alone: their other fields are written once for all, which
    # takes a fifth of the time.
    texts = [score.text for score in scores]
    others: dict[tuple[object, ...], int] = {}
    numbers = [others.setdefault(score[1:], len(others)) for score in scores]
    return repr((Score.__name__, texts, numbers, [*others]))


Place: TypeAlias = "tuple[int, int]"
"""The place of a request: the number of a unit, and a number in the unit."""


class Division:
    """A division of the requests to one model into units, each request in one unit only.

    Args:
        add: called with every new unit; returns its number.
        whole: whether all requests of a round and kind form one unit, which no other round shares,
            so that a model's remarks count over all texts of the round.
        known: the division of earlier requests, also those of other jobs.
    """

    def __init__(
        self, add: Callable[[Unit], int], *, whole: bool = False, known: Division | None = None
    ) -> None:
        self._add = add
        self._whole = whole
        self._known: Mapping[Request, Place] = {} if known is None else known.places
        self.places: dict[Request, Place] = {}

    def divide(self, requests: Sequence[Request]) -> list[Place]:
        """The place of each request; requests that are new make new units."""
        fresh: dict[type[Request], list[Request]] = {}
        places, known = self.places, self._known
        new = requests if self._whole else (r for r in requests if r not in places)
        for request in dict.fromkeys(new):
            if self._whole or request not in known:
                fresh.setdefault(type(request), []).append(request)
        for kind, some in fresh.items():
            size = len(some) if self._whole else SIZES[kind]
            for start in range(0, len(some), size):
                unit = Unit.of(some[start : start + size])
                number = self._add(unit)
                places.update(zip(unit.requests, zip(repeat(number), count()), strict=False))
        return [places.get(request) or known[request] for request in requests]


@dataclass(frozen=True, slots=True)
class UnitStore:
    """The store of the units of runs, below the folder of runs.

    Attributes:
        path: the folder of units.
    """

    path: Path

    @classmethod
    def below(cls, output: Path) -> UnitStore:
        """The store of the units of the runs in a folder."""
        return cls(output / FOLDER)

    def prepare(self, model: str) -> None:
        """Make the folder for the units of a model, before anything is computed.

        Raises:
            StorageError: the folder cannot be made.
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
        """The file with a model's answers to a unit, both given by their digests."""
        return self.path / model / f"{unit}.unit"

    def added(self, model: str, unit: str) -> Path:
        """The file with the entries that a unit adds to the cache at the end of a run."""
        return self.path / model / f"{unit}.added"


def model_digest(model: ModelHandle, columns: Sequence[Column]) -> str:
    """A hash over everything that answers depend on besides the requests, as a folder's name."""
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
    """The result of a unit.

    Attributes:
        answers: the answers, with the card of the model that gave them.
        seconds: time taken, without loading; None where all answers were known.
    """

    answers: Answers
    seconds: float | None = None


class UnitFacts(NamedTuple):
    """The facts before the tables in a unit's file; see `UnitResult`.

    Attributes:
        model: the card of the model that answered.
        warnings: its remarks on the requests.
        seconds: see `UnitResult`.
        n: number of requests.
        tables: name and length in bytes of each table, in order.
        usage: tokens used at a server, by the number of the request.
    """

    model: ModelCard
    warnings: tuple[str, ...]
    seconds: float | None
    n: int
    tables: tuple[tuple[str, int], ...]
    usage: Mapping[int, Tokens]


def write_result(result: UnitResult, path: Path) -> Path:
    """Write a unit's result, completely or not at all.

    The file holds a line of JSON, with the fields of `UnitFacts`, then each table as Parquet.

    Raises:
        StorageError: the file cannot be written.
    """
    answers, contents = result.answers, {}
    for name, rows in answers.tables.items():
        table = in_memory(rows)
        validate_table(table, _SCHEMAS[name], where=str(path))
        contents[name] = _parquet(table)
    facts = {
        "model": None if answers.model is None else dataclasses.asdict(answers.model),
        "warnings": list(answers.warnings),
        "seconds": result.seconds,
        "n": answers.n,
        "tables": [[name, len(content)] for name, content in contents.items()],
    }
    if answers.usage:
        facts["usage"] = [[n, *dataclasses.astuple(tokens)] for n, tokens in answers.usage.items()]
    return write_sealed(json.dumps(facts).encode() + b"\n" + b"".join(contents.values()), path)


def read_result(path: Path) -> UnitResult:
    """The result of a unit.

    Raises:
        StorageError: the file cannot be read.
        TableError: the file does not exist, or is damaged.
    """
    facts, rest = _read(path)
    tables: dict[str, pl.LazyFrame] = {}
    start = 0
    for name, size in facts.tables:
        table = _unpacked(rest[start : start + size], path)
        validate_table(table, _SCHEMAS[name], where=str(path))
        tables[name] = table.lazy()
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
    """Whether a unit is done: its file exists, and every byte of it is as it was written."""
    return facts_of(path) is not None


def facts_of(path: Path) -> UnitFacts | None:
    """The facts in a unit's file; None where there is no undamaged file."""
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
        usage = {int(n): Tokens(*counts) for n, *counts in facts.get("usage", [])}
        warnings = tuple(facts["warnings"])
        return UnitFacts(card, warnings, facts["seconds"], facts["n"], tables, usage), rest
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def _parquet(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    # These files are small, many and short-lived, so fast compression matters more than size.
    table.write_parquet(file, compression="lz4", statistics=False)
    return file.getvalue()


def _unpacked(content: bytes, path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(content))
    # Damaged content can make polars panic, and its panic does not derive from Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> TableError:
    return TableError(where=str(path), seen="is damaged")

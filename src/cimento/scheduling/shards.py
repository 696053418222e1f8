"""The requests of a run cut into shards, so that each text is in one of them only.

What is in a shard depends on the suites and their order alone: never on the model, on what is
known already, or on who does the work. So every engine gives a model the same texts together, and
the numbers that come back are the same to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from cimento.engine.sealed import read_sealed
from cimento.errors import StorageError, TableError
from cimento.parsing import parse_json
from cimento.requests import Place, Plan, ScoreRequest, Span

SHARD = 256
"""Requests that are answered together."""


class Origin(NamedTuple):
    """Where the answer to a request is found.

    Attributes:
        shard: digest of the shard.
        number: id of the request in it.
        whole: whether the shard asks for exactly the tokens that are wanted here.
    """

    shard: str
    number: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Shard:
    """Requests that are answered together.

    Attributes:
        digest: of all that is asked, hexadecimal.
        plan: the requests, numbered from 0, each with one place for messages.
    """

    digest: str
    plan: Plan


class Owner(NamedTuple):
    """Who asks a text.

    Attributes:
        wanted: stretches whose tokens are asked for; None for all tokens.
        shard: digest of the shard.
        number: id of the request in it.
    """

    wanted: frozenset[Span] | None
    shard: str
    number: int


class Owners(Protocol):
    """Texts that are asked already, by their addresses."""

    def of(self, address: bytes) -> Sequence[Owner]:
        """Who asks the text at an address, in order."""

    def add(self, address: bytes, owner: Owner) -> None:
        """One more who asks it."""


class OwnersInMemory:
    """Those of a few suites."""

    def __init__(self) -> None:
        self._all: dict[bytes, list[Owner]] = {}

    def of(self, address: bytes) -> Sequence[Owner]:
        """Who asks the text at an address, in order."""
        return self._all.get(address, ())

    def add(self, address: bytes, owner: Owner) -> None:
        """One more who asks it."""
        self._all.setdefault(address, []).append(owner)


class Divided:
    """Where the answers to a suite are.

    Attributes:
        shards: digests of the shards, in the order in which they are first needed.
        places: for each request, in order, number of its answer among those of these shards.
        partial: numbers of the requests for which a shard holds more tokens than are wanted.
    """

    def __init__(self) -> None:
        self.shards: list[str] = []
        self.places = array("i")
        self.partial = array("i")
        self._known: dict[str, int] = {}
        self._filling = 0

    def found(self, request: ScoreRequest, origin: Origin) -> None:
        """A request that an earlier suite makes."""
        if origin.shard not in self._known:
            self._known[origin.shard] = len(self.shards)
            self.shards.append(origin.shard)
        self.places.append(SHARD * self._known[origin.shard] + origin.number)
        if not origin.whole:
            self.partial.append(request.id)

    def is_next(self, number: int) -> None:
        """A request of the shard that is being filled, with its number in it."""
        if number == 0:
            self._filling = len(self.shards)
            self.shards.append("")
        self.places.append(SHARD * self._filling + number)

    def filled(self, digest: str) -> None:
        """That shard is full."""
        self.shards[self._filling] = digest


class Division:
    """The shards of the suites of one run, suite after suite.

    A request that an earlier suite makes, with these tokens or more, is not made again.

    Args:
        owners: where it is kept who asks what; None for memory.
    """

    def __init__(self, owners: Owners | None = None) -> None:
        self._owners = OwnersInMemory() if owners is None else owners

    def divide(
        self,
        suite: str,
        requests: Iterable[tuple[ScoreRequest, Place]],
        *,
        added: Callable[[Shard], object],
    ) -> Divided:
        """Find the shards in which the answers to a suite are.

        Args:
            suite: its name.
            requests: what it asks, each text once, with a place that stands for it in messages.
            added: told of each shard that the suite adds, when that is full.
        """
        divided = Divided()
        fresh: list[tuple[ScoreRequest, Place]] = []
        for request, place in requests:
            origin = self.find(request)
            if origin is not None:
                divided.found(request, origin)
                continue
            fresh.append((request, place))
            divided.is_next(len(fresh) - 1)
            if len(fresh) == SHARD:
                added(self._added(suite, fresh, divided))
                fresh = []
        if fresh:
            added(self._added(suite, fresh, divided))
        return divided

    def _added(
        self, suite: str, fresh: Sequence[tuple[ScoreRequest, Place]], divided: Divided
    ) -> Shard:
        shard = _shard(suite, fresh)
        self.add(shard)
        divided.filled(shard.digest)
        return shard

    def add(self, shard: Shard) -> None:
        """Have the requests of a shard found in it."""
        for request in shard.plan.requests:
            self._owners.add(_address(request), Owner(_wanted(request), shard.digest, request.id))

    def find(self, request: ScoreRequest) -> Origin | None:
        """Where the answer to a request is found; None where nobody asks it."""
        wanted = _wanted(request)
        for asked, shard, number in self._owners.of(_address(request)):
            if asked == wanted:
                return Origin(shard, number, whole=True)
            if asked is None or (wanted is not None and wanted <= asked):
                return Origin(shard, number, whole=False)
        return None


def _wanted(request: ScoreRequest) -> frozenset[Span] | None:
    return None if request.wanted is None else _set_of(request.wanted)


@lru_cache(maxsize=4096)
def _set_of(spans: tuple[Span, ...]) -> frozenset[Span]:
    """One set for all requests that want the same stretches, which are many in a suite of pairs."""
    return frozenset(spans)


def _address(request: ScoreRequest) -> bytes:
    said = repr((request.text, request.context, request.regions))
    if request.blank is not None:
        said += repr(request.blank)
    return hashlib.sha256(said.encode()).digest()[:16]


def _shard(suite: str, requests: Sequence[tuple[ScoreRequest, Place]]) -> Shard:
    rows = [
        _row(request, item=place.item, condition=place.condition) for request, place in requests
    ]
    asked = json.dumps(
        [row[:4] if row.blank is None else (*row[:4], row.blank) for row in rows],
        ensure_ascii=False,
    )
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    return Shard(digest, _plan(suite, rows))


class _Row(NamedTuple):
    """A request as it is written down."""

    text: str
    context: str
    wanted: list[Span] | None
    regions: list[Span]
    item: str
    condition: str
    blank: bool | None = None


def _row(request: ScoreRequest, *, item: str, condition: str) -> _Row:
    return _Row(
        request.text,
        request.context,
        None if request.wanted is None else list(request.wanted),
        list(request.regions),
        item,
        condition,
        request.blank,
    )


def _plan(suite: str, rows: Sequence[_Row]) -> Plan:
    requests = tuple(
        ScoreRequest(
            id=number,
            text=row.text,
            context=row.context,
            wanted=None if row.wanted is None else _spans(row.wanted),
            regions=_spans(row.regions),
            blank=row.blank,
        )
        for number, row in enumerate(rows)
    )
    places = tuple(
        Place(number, row.item, row.condition, 1, 0, len(row.text), needed=True)
        for number, row in enumerate(rows)
    )
    return Plan(suite=suite, requests=requests, places=places)


def _spans(pairs: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in pairs)


def shard_content(plan: Plan) -> bytes:
    """What a shard asks, as it is written down."""
    lines = [json.dumps(plan.suite, ensure_ascii=False), *_lines(plan)]
    return ("\n".join(lines) + "\n").encode()


def _lines(plan: Plan) -> Iterator[str]:
    for request, place in zip(plan.requests, plan.places, strict=True):
        row = _row(request, item=place.item, condition=place.condition)
        yield json.dumps(row, ensure_ascii=False)


def shard_plan(content: bytes) -> Plan:
    """What a shard asks, of what was written down.

    Raises:
        ValueError: it was not.
        TypeError: as well.
    """
    # Not splitlines(): texts may hold other marks that it takes for ends of lines.
    name, *lines = content.decode().rstrip("\n").split("\n")
    rows = [_Row(*parse_json(line)) for line in lines]
    return _plan(parse_json(name), rows)


def read_shard(path: Path) -> Plan:
    """What a shard asks.

    Raises:
        StorageError: it is not there or damaged.
    """
    try:
        return shard_plan(read_sealed(path))
    except (TableError, ValueError, TypeError) as error:
        raise StorageError(
            where=str(path),
            seen=f"a shard of the run cannot be read ({error})",
            todo="Run again: it is written anew.",
        ) from error

"""The requests of a run cut into shards, so that each text is in one of them only.

What is in a shard depends on the suites and their order alone: never on the model, on what is
known already, or on who does the work. So every engine gives a model the same texts together, and
the numbers that come back are the same to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cimento.errors import StorageError
from cimento.files import write_text
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


@dataclass(slots=True)
class Division:
    """The shards of the suites of one run, suite after suite.

    A request that an earlier suite makes, with these tokens or more, is not made again.
    """

    _owners: dict[bytes, list[tuple[frozenset[Span] | None, str, int]]] = field(
        default_factory=dict
    )

    def divide(self, plan: Plan) -> tuple[list[Shard], list[Origin]]:
        """The shards that a suite adds, and where each of its answers is found."""
        fresh = [each for each in plan.requests if self._find(each) is None]
        shards = [
            _shard(plan, fresh[start : start + SHARD]) for start in range(0, len(fresh), SHARD)
        ]
        for shard in shards:
            for request in shard.plan.requests:
                owner = (_wanted(request), shard.digest, request.id)
                self._owners.setdefault(_address(request), []).append(owner)
        found = [self._find(request) for request in plan.requests]
        return shards, [each for each in found if each is not None]

    def _find(self, request: ScoreRequest) -> Origin | None:
        wanted = _wanted(request)
        for asked, shard, number in self._owners.get(_address(request), ()):
            if asked == wanted:
                return Origin(shard, number, whole=True)
            if asked is None or (wanted is not None and wanted <= asked):
                return Origin(shard, number, whole=False)
        return None


def _wanted(request: ScoreRequest) -> frozenset[Span] | None:
    return None if request.wanted is None else frozenset(request.wanted)


def _address(request: ScoreRequest) -> bytes:
    said = repr((request.text, request.context, request.regions))
    return hashlib.sha256(said.encode()).digest()[:16]


def _shard(plan: Plan, requests: Sequence[ScoreRequest]) -> Shard:
    first: dict[int, Place] = {}
    for place in plan.places:
        first.setdefault(place.request, place)
    rows = [
        _Row(
            each.text,
            each.context,
            None if each.wanted is None else list(each.wanted),
            list(each.regions),
            first[each.id].item if each.id in first else "",
            first[each.id].condition if each.id in first else "",
        )
        for each in requests
    ]
    asked = json.dumps([row[:4] for row in rows], ensure_ascii=False)
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    return Shard(digest, _plan(plan.suite, rows))


class _Row(NamedTuple):
    """A request as it is written down."""

    text: str
    context: str
    wanted: list[Span] | None
    regions: list[Span]
    item: str
    condition: str


def _plan(suite: str, rows: Sequence[_Row]) -> Plan:
    requests = tuple(
        ScoreRequest(
            id=number,
            text=row.text,
            context=row.context,
            wanted=None if row.wanted is None else _spans(row.wanted),
            regions=_spans(row.regions),
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


def write_shard(shard: Shard, folder: Path) -> Path:
    """Write a shard where every worker can read it; one that is there is left as it is.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = folder / f"{shard.digest}.json"
    if path.is_file():
        return path
    lines = [json.dumps(shard.plan.suite, ensure_ascii=False), *_lines(shard.plan)]
    return write_text("\n".join(lines) + "\n", path)


def _lines(plan: Plan) -> Iterator[str]:
    for request, place in zip(plan.requests, plan.places, strict=True):
        row = _Row(
            request.text,
            request.context,
            None if request.wanted is None else list(request.wanted),
            list(request.regions),
            place.item,
            place.condition,
        )
        yield json.dumps(row, ensure_ascii=False)


def read_shard(path: Path) -> Plan:
    """What a shard asks.

    Raises:
        StorageError: it is not there or damaged.
    """
    try:
        # Not splitlines(): texts may hold other marks that it takes for ends of lines.
        name, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        rows = [_Row(*parse_json(line)) for line in lines]
        return _plan(parse_json(name), rows)
    except (OSError, ValueError, TypeError) as error:
        raise StorageError(
            where=str(path),
            seen=f"a shard of the run cannot be read ({error})",
            todo="Delete it and run again: it is written anew.",
        ) from error

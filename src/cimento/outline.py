"""What a suite asks of a model, told anew each time: only numbers are held, whatever its length.

The same as a `Plan`, for suites whose items are on disk.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from cimento.requests import (
    NO_CONTEXT,
    AskedPlace,
    AskedStimulus,
    Context,
    Place,
    RequestKey,
    ScoreRequest,
    Span,
    asked_stimuli,
    asks_all,
)
from cimento.scratch import needing_room, scratch_database
from cimento.suites.model import Suite


@dataclass(frozen=True, slots=True)
class Numbering:
    """Which request each stimulus of a suite is.

    Attributes:
        requests: number of the request of each stimulus, in order: a request that was not there
            before has the next number, from 0 on.
        several: numbers of the requests of which not every stimulus wants the same.
    """

    requests: array[int]
    several: array[int]


class Outline:
    """The requests and places of a plan, in the same order, made when they are gone through.

    Args:
        suite: a valid suite.
        all_tokens: as for `cimento.requests.plan_suite`.
        context: what stands before the texts.
        numbering: of the same suite, where it is known; None finds it out.

    Attributes:
        numbering: which request each stimulus is.

    Raises:
        UsageError: the suite lacks the column that should hold the contexts.
        StorageError: there is no room for temporary files.
    """

    def __init__(
        self,
        suite: Suite,
        *,
        all_tokens: bool = False,
        context: Context = NO_CONTEXT,
        numbering: Numbering | None = None,
    ) -> None:
        context.check(suite)
        self._suite = suite
        self._context = context
        self._ask_all = asks_all(suite, all_tokens=all_tokens)
        self.numbering = _numbering(self._stimuli()) if numbering is None else numbering
        self._count = max(self.numbering.requests, default=-1) + 1

    @property
    def suite(self) -> str:
        """Name of the suite."""
        return self._suite.name

    def __len__(self) -> int:
        """How many distinct requests there are."""
        return self._count

    def asked_places(self) -> Iterator[AskedPlace]:
        """The places with what is asked there, in the order of the suite."""
        for request, stimulus in self._numbered_stimuli():
            for place in stimulus.places(request):
                yield AskedPlace(place, stimulus.key.text, stimulus.key.context)

    def requests(self) -> Iterator[tuple[ScoreRequest, Place]]:
        """The distinct requests in order, each with its first place, which stands for it."""
        told = 0
        for request, stimulus in self._numbered_stimuli():
            if request == told:
                told += 1
                yield self._request(request, stimulus), _first_place(request, stimulus)

    def _stimuli(self) -> Iterator[AskedStimulus]:
        return asked_stimuli(self._suite, context=self._context)

    def _numbered_stimuli(self) -> Iterator[tuple[int, AskedStimulus]]:
        return zip(self.numbering.requests, self._stimuli(), strict=True)

    def _request(self, number: int, stimulus: AskedStimulus) -> ScoreRequest:
        own = _wanted(stimulus.wanted)
        wanted = None if self._ask_all else self._shared.get(number, own)
        text, context, regions = stimulus.key
        return ScoreRequest(number, text, context, wanted, regions, blank=self._suite.leading_blank)

    @cached_property
    def _shared(self) -> dict[int, tuple[Span, ...]]:
        """What is wanted of texts of which not every stimulus wants the same."""
        several = () if self._ask_all else self.numbering.several
        spans: dict[int, list[Span]] = {request: [] for request in several}
        for request, stimulus in self._numbered_stimuli() if several else ():
            if request in spans:
                spans[request] += stimulus.wanted
        return {request: _wanted(each) for request, each in spans.items()}


def _numbering(stimuli: Iterable[AskedStimulus]) -> Numbering:
    requests, several = array("i"), set[int]()
    with closing(_Texts()) as texts:
        for stimulus in stimuli:
            number, is_same = texts.number(stimulus.key, _wanted(stimulus.wanted))
            requests.append(number)
            if not is_same:
                several.add(number)
    return Numbering(requests, array("i", sorted(several)))


def _wanted(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans)))


def _first_place(request: int, stimulus: AskedStimulus) -> Place:
    whole = Place(request, stimulus.item, stimulus.condition, 1, 0, 0, needed=True)
    return next(stimulus.places(request), whole)


class _Texts:
    """What is asked, numbered in order of first appearance; on disk, for it may be much.

    Raises:
        StorageError: there is no room for temporary files.
    """

    def __init__(self) -> None:
        self._database = scratch_database(
            "CREATE TABLE texts (key BLOB PRIMARY KEY, number INTEGER, wanted BLOB) WITHOUT ROWID"
        )
        self._count = 0

    def number(self, key: RequestKey, wanted: tuple[Span, ...]) -> tuple[int, bool]:
        """The number of what is asked, and whether the same of it is wanted as the first time."""
        address, of_wanted = _digest(key), _digest(wanted)
        with needing_room():
            row = (address, self._count, of_wanted)
            added = self._database.execute("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", row)
            if added.rowcount:
                self._count += 1
                return self._count - 1, True
            [(number, first)] = self._database.execute(
                "SELECT number, wanted FROM texts WHERE key = ?", (address,)
            )
        return number, first == of_wanted

    def close(self) -> None:
        """Forget all of it."""
        self._database.close()


def _digest(said: RequestKey | tuple[Span, ...]) -> bytes:
    return hashlib.blake2b(repr(tuple(said)).encode(), digest_size=16).digest()

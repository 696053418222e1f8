"""What a suite asks of a model, told anew each time: only numbers are held, whatever its length.

The same as a `Plan`, for suites whose items are on disk.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing

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


class Outline:
    """The requests and places of a plan, in the same order, made when they are gone through.

    Args:
        suite: a valid suite.
        all_tokens: as for `cimento.requests.plan_suite`.
        context: what stands before the texts.

    Raises:
        UsageError: the suite lacks the column that should hold the contexts.
        StorageError: there is no room for temporary files.
    """

    def __init__(
        self, suite: Suite, *, all_tokens: bool = False, context: Context = NO_CONTEXT
    ) -> None:
        context.check(suite)
        self._suite = suite
        self._context = context
        self._ask_all = asks_all(suite, all_tokens=all_tokens)
        self._numbers = array("i")
        several: set[int] = set()
        with closing(_Texts()) as texts:
            for stimulus in self._stimuli():
                number, is_same = texts.number(stimulus.key, _wanted(stimulus.wanted))
                self._numbers.append(number)
                if not is_same:
                    several.add(number)
            self._count = len(texts)
        self._shared = {} if self._ask_all else self._united(several)

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
        return zip(self._numbers, self._stimuli(), strict=True)

    def _request(self, number: int, stimulus: AskedStimulus) -> ScoreRequest:
        own = _wanted(stimulus.wanted)
        wanted = None if self._ask_all else self._shared.get(number, own)
        text, context, regions = stimulus.key
        return ScoreRequest(number, text, context, wanted, regions)

    def _united(self, requests: Collection[int]) -> dict[int, tuple[Span, ...]]:
        """What is wanted of texts of which not every stimulus wants the same."""
        spans: dict[int, list[Span]] = {request: [] for request in requests}
        for request, stimulus in self._numbered_stimuli() if requests else ():
            if request in spans:
                spans[request] += stimulus.wanted
        return {request: _wanted(each) for request, each in spans.items()}


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

    def __len__(self) -> int:
        return self._count

    def number(self, key: RequestKey, wanted: tuple[Span, ...]) -> tuple[int, bool]:
        """The number of what is asked, and whether the same of it is wanted as the first time."""
        address, of_wanted = _digest(key), _digest(wanted)
        with needing_room():
            found = self._database.execute(
                "SELECT number, wanted FROM texts WHERE key = ?", (address,)
            ).fetchone()
            if found is not None:
                return found[0], found[1] == of_wanted
            row = (address, self._count, of_wanted)
            self._database.execute("INSERT INTO texts VALUES (?, ?, ?)", row)
        self._count += 1
        return self._count - 1, True

    def close(self) -> None:
        """Forget all of it."""
        self._database.close()


def _digest(said: RequestKey | tuple[Span, ...]) -> bytes:
    return hashlib.blake2b(repr(tuple(said)).encode(), digest_size=16).digest()

"""What a suite asks of a model, told anew each time: only numbers are held, whatever its length.

The same as a `Plan`, for suites whose items are on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

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
from cimento.suites.model import Suite

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGEST = 16


class Outline:
    """The requests and places of a plan, in the same order, made when they are gone through.

    Args:
        suite: a valid suite.
        all_tokens: as for `cimento.requests.plan_suite`.
        context: what stands before the texts.

    Raises:
        UsageError: the suite lacks the column that should hold the contexts.
    """

    def __init__(
        self, suite: Suite, *, all_tokens: bool = False, context: Context = NO_CONTEXT
    ) -> None:
        context.check(suite)
        self._suite = suite
        self._context = context
        self._ask_all = asks_all(suite, all_tokens=all_tokens)
        keys, wanted = _digests(self._stimuli())
        self._numbers, firsts = _numbered(keys)
        self._count = len(firsts)
        several = _differing(self._numbers, firsts, wanted)
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
        return zip(map(int, self._numbers), self._stimuli(), strict=True)

    def _request(self, number: int, stimulus: AskedStimulus) -> ScoreRequest:
        own = _wanted(stimulus.wanted)
        wanted = None if self._ask_all else self._shared.get(number, own)
        text, context, regions = stimulus.key
        return ScoreRequest(number, text, context, wanted, regions)

    def _united(self, requests: frozenset[int]) -> dict[int, tuple[Span, ...]]:
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


def _digests(stimuli: Iterable[AskedStimulus]) -> tuple[bytearray, bytearray]:
    """For each stimulus, digests of what is asked and of which stretches of it are wanted."""
    keys, wanted = bytearray(), bytearray()
    for stimulus in stimuli:
        keys += _digest(stimulus.key)
        wanted += _digest(_wanted(stimulus.wanted))
    return keys, wanted


def _digest(said: RequestKey | tuple[Span, ...]) -> bytes:
    data = repr(tuple(said)).encode()
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def _numbered(digests: bytearray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Numbers for digests, in order of first appearance; and where each number appears first."""
    import numpy as np

    if not digests:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    halves = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
    # Stable: equal digests stay in order, so that the first of them is the first to appear.
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    sorted_ = halves[order]
    fresh = np.concatenate(([True], (sorted_[1:] != sorted_[:-1]).any(axis=1)))
    firsts = order[fresh]
    numbers_of_groups = np.empty(len(firsts), np.int32)
    numbers_of_groups[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    numbers = np.empty(len(order), np.int32)
    numbers[order] = numbers_of_groups[np.cumsum(fresh) - 1]
    return numbers, np.sort(firsts).astype(np.int32)


def _differing(
    numbers: NDArray[np.int32], firsts: NDArray[np.int32], digests: bytearray
) -> frozenset[int]:
    """The numbers under which there is more than one digest."""
    import numpy as np

    halves = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
    differs = (halves != halves[firsts[numbers]]).any(axis=1)
    return frozenset(int(number) for number in numbers[differs])

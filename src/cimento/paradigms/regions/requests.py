"""What a region suite asks of a model: each sentence once, and which characters of it matter."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import TYPE_CHECKING

from cimento.engine.requests import Requests
from cimento.io.arrays import stretches
from cimento.io.tables import REQUESTS
from cimento.models.base import Score
from cimento.suites.design import regions_measured
from cimento.suites.formula import regions_used
from cimento.suites.reading import no_collection
from cimento.suites.stimuli import NO_CONTEXT, Context, Span, join_regions

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import polars as pl

    from cimento.suites.model import Suite

_NONE: frozenset[int | str] = frozenset()


@no_collection()
def region_requests(
    suite: Suite,
    *,
    all_tokens: bool = False,
    by_region: bool = False,
    context: Context = NO_CONTEXT,
    merged: bool = True,
) -> Requests:
    """What must be asked so that every prediction of the suite can be judged.

    Args:
        suite: a valid suite.
        all_tokens: ask for every token, not only those of regions that predictions or licensing
            windows name. A suite without predictions asks for all.
        by_region: whether a token's score depends on the region it is in, so that one sentence
            cut into regions in two ways is asked twice.
        context: what stands before the texts.
        merged: whether stimuli that ask the same are one request. Where they are not, each
            region of each stimulus is marked as needed.

    Raises:
        UsageError: the suite lacks the column that should hold the contexts.
    """
    context.check(suite)
    needed = regions_used(prediction.formula for prediction in suite.predictions)
    measured = regions_measured(suite)
    # A suite without predictions does not say which tokens matter.
    ask_all = all_tokens or not suite.predictions
    distinct, places = _Distinct(merged=merged), _Places()
    for item, condition in suite.stimuli():
        text, spans = join_regions(condition.regions, rule=suite.join)
        named, also = needed.get(condition.name, _NONE), measured.get(condition.name, ())
        numbers = range(1, len(spans) + 1)
        flags = [not merged or "*" in named or number in named for number in numbers]
        marked = [flag or number in also for number, flag in zip(numbers, flags, strict=True)]
        request = distinct.number(
            Score(
                text,
                context.of(condition),
                None if ask_all else _filled(compress(spans, marked)),
                _filled(spans) if by_region else (),
                suite.leading_blank,
            )
        )
        places.add(request, item.id, condition.name, spans, flags)
    return Requests(asked=distinct.asked, places=places.table(suite.name, distinct.asked))


def _filled(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple([span for span in spans if span[0] < span[1]])


@dataclass(slots=True)
class _Distinct:
    """Requests, each once, with all that any stimulus wants of it.

    Attributes:
        merged: whether stimuli that ask the same are one request.
        asked: the requests, by number.
    """

    merged: bool
    asked: list[Score] = field(default_factory=list)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _shared: dict[tuple[Span, ...] | None, tuple[Span, ...] | None] = field(default_factory=dict)

    def number(self, request: Score) -> int:
        """The number of a request, which is new or wants more of one that is not."""
        text, context, wanted, regions, _ = request
        key = (text, context, regions) if context or regions else text
        number = self._numbers.setdefault(key, len(self.asked)) if self.merged else len(self.asked)
        if number < len(self.asked):
            known = self.asked[number].wanted
            if wanted is None or known is None or wanted == known:
                return number
            wanted = tuple(sorted({*wanted, *known}))
        # Sentences of one length want the same stretches: one tuple serves all of them.
        wanted = self._shared.setdefault(wanted, wanted)
        self.asked[number : number + 1] = [request._replace(wanted=wanted)]
        return number


@dataclass(slots=True)
class _Places:
    """What requests are for: the stimuli one after the other, and the regions of all of them.

    Attributes:
        requests: number of each stimulus's request.
        items: id of its item.
        conditions: name of its condition.
        sizes: number of its regions.
        spans: start and end of each region, in turns.
        needed: whether each region is needed.
    """

    requests: array[int] = field(default_factory=lambda: array("i"))
    items: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    sizes: array[int] = field(default_factory=lambda: array("i"))
    spans: array[int] = field(default_factory=lambda: array("i"))
    needed: bytearray = field(default_factory=bytearray)

    def add(
        self,
        request: int,
        item: str,
        condition: str,
        spans: Sequence[Span],
        needed: Sequence[bool],
    ) -> None:
        """Add a stimulus and its regions."""
        self.requests.append(request)
        self.items.append(item)
        self.conditions.append(condition)
        self.sizes.append(len(spans))
        self.spans.extend(chain.from_iterable(spans))
        self.needed.extend(needed)

    def table(self, suite: str, asked: Sequence[Score]) -> pl.DataFrame:
        """A row for each region of each stimulus; see ``REQUESTS`` in `cimento.io.tables`."""
        import numpy as np
        import polars as pl

        sizes = np.array(self.sizes, dtype=np.int64)
        stimulus = np.repeat(np.arange(len(sizes)), sizes)
        request = np.array(self.requests, dtype=np.int32)[stimulus]
        spans = np.array(self.spans, dtype=np.int32).reshape(-1, 2)
        columns: dict[str, object] = {
            "request": request,
            "suite": pl.repeat(suite, len(request), dtype=pl.String, eager=True),
            "item": pl.Series(self.items, dtype=pl.String).gather(stimulus),
            "condition": pl.Series(self.conditions, dtype=pl.String).gather(stimulus),
            "region": stretches(np.ones_like(sizes), sizes),
            "text": pl.Series([each.text for each in asked], dtype=pl.String).gather(request),
            "context": pl.Series([each.context for each in asked], dtype=pl.String).gather(request),
            "start": spans[:, 0],
            "end": spans[:, 1],
            "needed": np.frombuffer(self.needed, dtype=np.bool_),
        }
        schema = REQUESTS.polars()
        return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)

"""What a region suite asks of a model: each sentence once, and which characters of it matter."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import chain
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
    from collections.abc import Hashable, Sequence

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
    places = _Places()
    numbers: dict[Hashable, int] = {}
    asked: list[Score] = []
    # Sentences of one length want the same stretches: one tuple serves all of them.
    shared: dict[tuple[Span, ...], tuple[Span, ...]] = {}
    for item, condition in suite.stimuli():
        text, spans = join_regions(condition.regions, rule=suite.join)
        before = context.of(condition)
        filled = tuple([span for span in spans if span[0] < span[1]]) if by_region else ()
        named, also = needed.get(condition.name, _NONE), measured.get(condition.name, ())
        flags = [not merged or "*" in named or number in named for number in _from_1(spans)]
        wanted: tuple[Span, ...] | None = None
        if not ask_all:
            marked = zip(_from_1(spans), spans, flags, strict=True)
            wanted = tuple([s for n, s, flag in marked if s[0] < s[1] and (flag or n in also)])
            wanted = shared.setdefault(wanted, wanted)
        key = (text, before, filled) if before or filled else text
        request = numbers.setdefault(key, len(asked)) if merged else len(asked)
        if request == len(asked):
            asked.append(Score(text, before, wanted, filled, suite.leading_blank))
        elif wanted is not None and wanted != asked[request].wanted:
            both = tuple(sorted({*wanted, *(asked[request].wanted or ())}))
            asked[request] = asked[request]._replace(wanted=both)
        places.requests.append(request)
        places.items.append(item.id)
        places.conditions.append(condition.name)
        places.sizes.append(len(spans))
        places.spans.extend(chain.from_iterable(spans))
        places.needed.extend(flags)
    return Requests(asked=asked, places=places.table(suite.name, asked))


def _from_1(spans: Sequence[Span]) -> range:
    return range(1, len(spans) + 1)


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

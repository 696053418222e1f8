"""The requests of a region suite: each sentence once, with the characters that matter in it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import TYPE_CHECKING, TypeAlias

from cimento.engine.requests import Requests
from cimento.io.parsing import no_collection
from cimento.io.tables import REQUESTS
from cimento.io.values import stretches
from cimento.models.base import Score
from cimento.suites.formula import regions_used
from cimento.suites.licensing import regions_measured
from cimento.suites.stimuli import NO_CONTEXT, Context, Span, joined

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import polars as pl

    from cimento.suites import Suite

_NONE: frozenset[int | str] = frozenset()
_Spans: TypeAlias = "tuple[Span, ...]"


@no_collection()
def region_requests(
    suite: Suite,
    *,
    all_tokens: bool = False,
    by_region: bool = False,
    context: Context = NO_CONTEXT,
    merged: bool = True,
) -> Requests:
    """The requests that must be made so that every prediction of the suite can be judged.

    Args:
        suite: a valid suite.
        all_tokens: whether every token is scored, not only those in regions that predictions or
            licensing windows name. A suite without predictions needs every token.
        by_region: whether a token's score depends on its region, so that a sentence divided into
            regions in two ways needs two requests.
        context: text before the sentences.
        merged: whether stimuli with identical requests share one. If not, each region of each
            stimulus is marked as needed.

    Raises:
        UsageError: the suite lacks the column with the contexts.
    """
    context.check(suite)
    needed = regions_used(prediction.formula for prediction in suite.predictions)
    measured = regions_measured(suite)
    # A suite without predictions does not determine which tokens matter.
    ask_all = all_tokens or not suite.predictions
    stimuli, distinct = suite.columns, _Distinct(merged=merged)
    names, contexts = stimuli.names, context.of_stimuli(stimuli)
    texts, spans = joined(stimuli, rule=suite.join)
    # What is wanted of sentences of one shape is worked out once, and is one object in memory.
    shapes: dict[tuple[str, tuple[Span, ...]], tuple[list[bool], _Spans | None, _Spans]] = {}
    requests, flags = array("i"), bytearray()
    for text, before, bounds, name in zip(texts, contexts, spans, names, strict=True):
        shape = shapes.get((name, bounds))
        if shape is None:
            named, also = needed.get(name, _NONE), measured.get(name, ())
            numbers = range(1, len(bounds) + 1)
            is_needed = [not merged or "*" in named or number in named for number in numbers]
            is_marked = [flag or n in also for n, flag in zip(numbers, is_needed, strict=True)]
            wanted = None if ask_all else filled_spans(compress(bounds, is_marked))
            regions = filled_spans(bounds) if by_region else ()
            shape = shapes[name, bounds] = is_needed, wanted, regions
        flags.extend(shape[0])
        requests.append(distinct.number(Score(text, before, *shape[1:], suite.leading_blank)))
    places = _places(suite, requests, spans, flags, distinct.asked)
    return Requests(asked=distinct.asked, places=places)


def filled_spans(spans: Iterable[Span]) -> _Spans:
    """The spans that are not empty."""
    return tuple([span for span in spans if span[0] < span[1]])


@dataclass(slots=True)
class _Distinct:
    """Distinct requests, each with the parts of the text that any stimulus needs.

    Attributes:
        merged: whether stimuli with identical requests share one.
        asked: requests, by number.
    """

    merged: bool
    asked: list[Score] = field(default_factory=list)
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def number(self, request: Score) -> int:
        """The number of a request: new, or that of an existing one, extended if necessary."""
        text, context, wanted, regions, _ = request
        key = (text, context, regions) if context or regions else text
        count = len(self.asked)
        number = self._numbers.setdefault(key, count) if self.merged else count
        if number == count:
            self.asked.append(request)
            return number
        known = self.asked[number].wanted
        if wanted is not None and known is not None and wanted != known:
            both = tuple(sorted({*wanted, *known}))
            self.asked[number] = request._replace(wanted=both)
        return number


def _places(
    suite: Suite,
    requests: array[int],
    spans: Sequence[Sequence[Span]],
    needed: bytearray,
    asked: Sequence[Score],
) -> pl.DataFrame:
    """A table with a row for each region of each stimulus; see ``REQUESTS`` in `cimento.io.tables`.

    Args:
        suite: the suite.
        requests: number of each stimulus's request.
        spans: spans of each stimulus's regions.
        needed: whether each region is needed.
        asked: the requests.
    """
    import numpy as np
    import polars as pl

    stimuli = suite.columns
    sizes = np.fromiter(map(len, spans), dtype=np.int64, count=len(spans))
    stimulus = np.repeat(np.arange(len(sizes)), sizes)
    item = np.repeat(np.arange(len(stimuli)), [len(shape) for shape in stimuli.shapes])[stimulus]
    request = np.array(requests, dtype=np.int32)[stimulus]
    flat = chain.from_iterable(chain.from_iterable(spans))
    bounds = np.fromiter(flat, dtype=np.int32, count=2 * len(stimulus)).reshape(-1, 2)
    columns: dict[str, object] = {
        "request": request,
        "suite": pl.repeat(suite.name, len(request), dtype=pl.String, eager=True),
        "item": pl.Series(stimuli.ids, dtype=pl.String).gather(item),
        "condition": pl.Series(stimuli.names, dtype=pl.String).gather(stimulus),
        "region": stretches(np.ones_like(sizes), sizes),
        "text": pl.Series([score.text for score in asked], dtype=pl.String).gather(request),
        "context": pl.Series([score.context for score in asked], dtype=pl.String).gather(request),
        "start": bounds[:, 0],
        "end": bounds[:, 1],
        "needed": np.frombuffer(needed, dtype=np.bool_),
    }
    schema = REQUESTS.polars()
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema)

"""What a causal model has read up to the end of each region: all that values depend on.

Where two sentences are the same up to the end of a region, token by token, the scores of a model
that reads from left to right are the same there by construction, whatever the rounding of a batch
makes of them. This is decided by the text. A small difference is no such thing: the errors of many
items average out, and a mean may be far surer than any of its items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.tables import REQUESTS
from cimento.paradigms.regions.judging import tokens_of

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.suites.design import Square

Readings: TypeAlias = Mapping[tuple[str, str], Sequence[Hashable]]
"""By item and condition what was read up to the end of each region; equal if that is the same."""

LEFT_TO_RIGHT = ("causal", "seq2seq")


def readings_of(run: Run) -> Readings:
    """What a model that reads from left to right has read; empty for all other models.

    Args:
        run: run of a region suite.

    Raises:
        TableError: a table cannot be read.
    """
    if run.model_kind not in LEFT_TO_RIGHT:
        return {}
    tokens: dict[int, list[tuple[int, str]]] = {}
    rows = tokens_of(run).select("request", "position", "start", "token").collect()
    for request, _, start, token in rows.sort("request", "position").iter_rows():
        tokens.setdefault(request, []).append((start, token))
    asked = run.rows(REQUESTS.name).select(
        "item", "condition", "region", "request", "context", "text", "start", "end"
    )
    read: dict[tuple[str, str], list[Hashable]] = {}
    for item, condition, _, request, context, text, start, end in (
        asked.collect().sort("region", maintain_order=True).iter_rows()
    ):
        begun = tuple(token for token in tokens.get(request, ()) if token[0] < end)
        read.setdefault((item, condition), []).append((context, text[:end], start, begun))
    return read


def same_dd(read: Readings, square: Square, item: str, regions: Iterable[int]) -> bool:
    """Whether the DD of some regions of an item is zero by construction.

    It is where its two positive scores and its two negative ones are the same scores.

    Args:
        read: what was read.
        square: the design.
        item: id of the item.
        regions: numbers of the regions, from 1.
    """
    keys: list[Hashable] = []
    for condition in square.conditions:
        known = read.get((item, condition or ""))
        if known is None:
            return False
        keys.append(tuple(known[number - 1] for number in regions if number <= len(known)))
    plain, first, second, both = keys
    return Counter([first, second]) == Counter([plain, both])

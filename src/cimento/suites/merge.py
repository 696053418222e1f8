"""Several suites with one design as one suite, a phenomenon each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from cimento.errors import UsageError
from cimento.suites.model import Condition, Item, Suite

PHENOMENON = "phenomenon"


def merge_suites(parts: Mapping[str, Suite], *, name: str) -> Suite:
    """One suite out of several, so that normalisation pools over all of them.

    Items keep their order and are called after their part: ``adjunct-7``. The column
    ``phenomenon`` says which part they come from.

    Args:
        parts: name of the part to its suite; all with the same regions, predictions and factors.
        name: of the whole.

    Raises:
        UsageError: there are no parts, or they do not have the same design.
    """
    if not parts:
        raise UsageError(where=f"suite {name!r}", seen="there is nothing to merge")
    first_name, first = next(iter(parts.items()))
    for part, suite in parts.items():
        for what in ("region_names", "predictions", "factors", "metric", "join", "cluster"):
            if getattr(suite, what) != getattr(first, what):
                raise UsageError(
                    where=f"suites {first_name!r} and {part!r}",
                    seen=f"they have different {what.replace('_', ' ')}",
                    todo="Only suites of one design can be one suite.",
                )
    items = tuple(_named(item, part) for part, suite in parts.items() for item in suite.items)
    meta = dataclasses.replace(first.meta, name=name, phenomenon="", extra={})
    return dataclasses.replace(first, meta=meta, items=items)


def _named(item: Item, part: str) -> Item:
    conditions = tuple(_with_phenomenon(each, part) for each in item.conditions)
    return dataclasses.replace(item, id=f"{part}-{item.id}", conditions=conditions)


def _with_phenomenon(condition: Condition, part: str) -> Condition:
    return dataclasses.replace(condition, columns={**condition.columns, PHENOMENON: part})

"""Suites made in Python: minimal pairs from rows, and several suites merged into one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cimento.errors import UsageError
from cimento.suites.model import (
    BAD,
    GOOD,
    PAIR_PREDICTION,
    Condition,
    Item,
    Meta,
    Suite,
    pair_conditions,
)

_ALSO_NAMED = (("sentence_good", "sentence_bad"), ("grammatical", "ungrammatical"))
"""Names of the columns of good and bad sentences in published datasets."""

Pairs: TypeAlias = "Iterable[Sequence[str]] | Iterable[Mapping[str, Any]] | Any"
"""Pairs as tuples (good, bad), dictionaries, or a data frame of polars or pandas."""


def pairs(
    rows: Pairs,
    *,
    name: str = "pairs",
    language: str = "",
    good: str = GOOD,
    bad: str = BAD,
    cluster: str = "",
) -> Suite:
    """A suite of minimal pairs, in which the good sentence should be more probable.

    Args:
        rows: tuples of a good and a bad sentence; or dictionaries, or a data frame, with a column
            for each (``good`` and ``bad``, or ``sentence_good`` and ``sentence_bad`` as in BLiMP).
            Other columns are kept; ``phenomenon`` breaks the results down, and a column
            ``id`` names the pairs.
        name: name of the suite.
        language: ISO 639-1 code.
        good: name of the column of good sentences.
        bad: name of the column of bad sentences.
        cluster: name of the column whose value says which pairs belong together.

    Raises:
        UsageError: there are no pairs, or a row is not a pair.

    Example:
        >>> suite = pairs([("The keys are here.", "The keys is here."), ("We go.", "We goes.")])
        >>> len(suite.items)
        2
    """
    records = [_record(row, number, good, bad) for number, row in enumerate(_rows(rows), start=1)]
    if not records:
        raise UsageError(where="pairs", seen="there are none", todo="Give (good, bad) tuples.")
    if cluster and not any(cluster in record for record in records):
        raise UsageError(
            where=f"cluster={cluster!r}",
            seen="no pair has this column",
            todo="Give the name of a column, or leave it out.",
        )
    return Suite(
        meta=Meta(name=name, language=language),
        region_names=("sentence",),
        predictions=(PAIR_PREDICTION,),
        items=tuple(_item(record, good, bad) for record in records),
        cluster=cluster,
    )


def _rows(rows: Pairs) -> Iterable[object]:
    """The rows of any of the accepted forms, one by one."""
    if hasattr(rows, "iter_rows"):
        return list(rows.iter_rows(named=True))
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return list(rows.to_dict("records"))
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise UsageError(
            where="pairs",
            seen=f"got {type(rows).__name__}",
            todo="Give (good, bad) tuples, dictionaries or a data frame.",
        )
    return rows


def _record(row: object, number: int, good: str, bad: str) -> dict[str, str]:
    """A row as texts by column, always with ``id``."""
    if isinstance(row, Mapping):
        values = {str(key): value for key, value in row.items()}
    elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 2:  # noqa: PLR2004
        values = dict(zip((good, bad), row, strict=True))
    else:
        raise UsageError(
            where=f"pair {number}", seen=f"got {row!r}", todo="Give a good and a bad sentence."
        )
    if (good, bad) == (GOOD, BAD) and not values.keys() & {GOOD, BAD}:
        named = next((names for names in _ALSO_NAMED if values.keys() >= set(names)), (GOOD, BAD))
        values = {
            dict(zip(named, (GOOD, BAD), strict=True)).get(key, key): values[key] for key in values
        }
    for column in (good, bad):
        value = values.get(column)
        if not isinstance(value, str) or not value.strip():
            found = f": {value!r}" if column in values else ""
            raise UsageError(
                where=f"pair {number}",
                seen=f"there is no sentence under {column!r}{found}",
                todo=f"Its columns are: {', '.join(values)}. Name two of them with good= and bad=.",
            )
    # Data frames of pandas have NaN for empty cells; only NaN is not equal to itself.
    cells = {
        key: str(value)
        for key, value in values.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    }
    return {"id": str(number), **cells}


def _item(record: Mapping[str, str], good: str, bad: str) -> Item:
    columns = {key: value for key, value in record.items() if key not in {"id", good, bad}}
    return Item(record["id"], pair_conditions(record[good].strip(), record[bad].strip(), columns))


PHENOMENON = "phenomenon"


def merge_suites(parts: Mapping[str, Suite], *, name: str) -> Suite:
    """One suite merged from several, so that normalization pools over all of them.

    Items keep their order and get the name of their part as a prefix: ``adjunct-7``. The column
    ``phenomenon`` holds the name of the part.

    Args:
        parts: suites by the names of the parts, all with the same regions, predictions and factors.
        name: name of the merged suite.

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
    conditions = tuple(_with_phenomenon(condition, part) for condition in item.conditions)
    return dataclasses.replace(item, id=f"{part}-{item.id}", conditions=conditions)


def _with_phenomenon(condition: Condition, part: str) -> Condition:
    return dataclasses.replace(condition, columns={**condition.columns, PHENOMENON: part})

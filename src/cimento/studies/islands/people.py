"""Ratings of people as the results of a design, to stand beside those of models."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from cimento.errors import InputError
from cimento.measures.normalising import Scope
from cimento.studies.islands.human import by_phenomenon, read_judgments, unit_means
from cimento.studies.islands.records import need, number, read_rows
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_FACTORS
from cimento.suites.model import Condition, Item, Meta, Region, Suite
from cimento.verdicts.factorial import Factorial, factorial

VALUES = ("value", "z", "mean_z", "rating", "judgment")
"""Columns that may hold the rating; the first that is there is taken."""

Means = dict[str, dict[str, dict[str, float]]]
"""Phenomenon, item and condition to the mean rating."""


def people_result(path: Path, *, scope: Scope = "suite") -> Factorial:
    """The mean rating of each item and condition, as a model's scores would be.

    The file is a CSV with ``phenomenon``, ``item``, ``condition`` and a rating, single or mean; or
    the released English ratings of Sprouse et al. 2016, whose z is computed within participants.
    Conditions are those of island studies.

    Args:
        path: of the file.
        scope: what is pooled for scales.

    Raises:
        InputError: the file cannot be used.
    """
    rows = read_rows(path)
    released = {"participant", "judgment", "zscore_published"} <= rows[0].keys()
    means = _released(path) if released else _plain(path, rows)
    suite = _suite(means)
    scores = {
        f"{phenomenon}-{item}": conditions
        for phenomenon, items in means.items()
        for item, conditions in items.items()
    }
    return Factorial(
        suite=path.stem,
        model="people",
        measure="rating",
        unit="z" if released else "",
        phenomena=factorial(suite, scores, scope=scope),
    )


def _released(path: Path) -> Means:
    groups = by_phenomenon(read_judgments(path))
    return {name: unit_means(group, "item") for name, group in groups.items() if name[:3] == "wh_"}


def _plain(path: Path, rows: list[dict[str, str]]) -> Means:
    need(path, rows, ("phenomenon", "item", "condition"))
    column = next((name for name in VALUES if name in rows[0]), None)
    if column is None:
        raise InputError(
            where=str(path),
            seen=f"there is no rating; the columns are {', '.join(rows[0])}",
            todo=f"Name the column of ratings {VALUES[0]}.",
        )
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for place, row in enumerate(rows, start=2):
        if row["condition"] not in ISLAND_CONDITIONS:
            raise InputError(
                where=f"{path} row {place}",
                seen=f"the condition is {row['condition']!r}",
                todo=f"Conditions are {', '.join(ISLAND_CONDITIONS)}.",
            )
        value = number(row[column])
        if value is not None:
            items = found.setdefault(row["phenomenon"], {})
            items.setdefault(row["item"], {}).setdefault(row["condition"], []).append(value)
    return {
        phenomenon: {
            item: {name: math.fsum(each) / len(each) for name, each in conditions.items()}
            for item, conditions in items.items()
        }
        for phenomenon, items in found.items()
    }


def _suite(means: Means) -> Suite:
    """A suite without sentences: only its design is used."""
    return Suite(
        meta=Meta("people"),
        region_names=("sentence",),
        predictions=(),
        items=tuple(
            Item(f"{phenomenon}-{item}", tuple(_conditions(phenomenon)))
            for phenomenon, items in means.items()
            for item in items
        ),
        factors=dict(ISLAND_FACTORS),
    )


def _conditions(phenomenon: str) -> Iterable[Condition]:
    for name in ISLAND_CONDITIONS:
        levels = dict(zip(ISLAND_FACTORS, name.split("_"), strict=True))
        yield Condition(name, (Region(name),), {"phenomenon": phenomenon, **levels})

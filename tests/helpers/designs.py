"""Factorial suites and scores for tests, made of nothing but names and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento import Condition, Item, Meta, Region, Suite
from cimento.io.values import NoValue, Value
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_FACTORS


def island_suite(
    items: Mapping[str, Sequence[str]],
    *,
    name: str = "prova",
    clusters: Mapping[str, str] | None = None,
) -> Suite:
    """A suite of 2 x 2 items: phenomenon to the ids of its items, and item to its cluster."""
    made = tuple(
        Item(
            item,
            tuple(
                Condition(
                    condition,
                    (Region(f"Frase {item} {condition.replace('_', '')}."),),
                    {
                        "phenomenon": phenomenon,
                        **({"verb": clusters[item]} if clusters else {}),
                        **dict(zip(ISLAND_FACTORS, condition.split("_"), strict=True)),
                    },
                )
                for condition in ISLAND_CONDITIONS
            ),
        )
        for phenomenon, ids in items.items()
        for item in ids
    )
    return Suite(
        meta=Meta(name, language="it"),
        region_names=("sentence",),
        predictions=(),
        items=made,
        factors=dict(ISLAND_FACTORS),
        cluster="verb" if clusters else "",
    )


def scores(rows: Mapping[str, Sequence[float | None]]) -> dict[str, dict[str, Value]]:
    """Item and condition to a score: four numbers an item, None for one that is missing."""
    return {
        item: {
            condition: NoValue("not asked") if value is None else value
            for condition, value in zip(ISLAND_CONDITIONS, values, strict=True)
        }
        for item, values in rows.items()
    }

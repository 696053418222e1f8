"""Wh-licensing: the effect of a filler on the surprisal of a gap, and whether an island cancels it.

For one item, with S the summed surprisal of the chosen regions in bits::

    filler effect     S(wh) - S(control), once in sentences with a gap, once without
    interaction       [S(wh, no gap) - S(control, no gap)] - [S(wh, gap) - S(control, gap)]
    island term       interaction outside the island - interaction inside it

A model that expects a gap after a wh-word has a positive interaction (a filled gap surprises it, a
gap does not); a model that knows islands expects no gap in one (Wilcox, Levy, Morita and Futrell
2018, doi:10.18653/v1/W18-5423; Wilcox, Futrell and Levy 2023, doi:10.1162/ling_a_00491).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from cimento.measures.regions import RegionValues
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total
from cimento.paradigms.regions.two_by_two import without_noise
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of
from cimento.statistics.multiple import holm
from cimento.suites.design import Licensing, licensing_of
from cimento.suites.model import Suite

NOT_MEASURED = "the suite has no such sentence"

LicensingCell: TypeAlias = tuple[str, ...]
"""A level of each factor: filler, gap and, if the design has one, island."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LicensingEffect:
    """One effect, over items.

    Attributes:
        window: name of the regions that were summed.
        name: name of the effect.
        island: level of the island factor; empty where it does not apply.
        items: value of each item in bits; None if one of its sentences has no value.
        mean: mean over the items with a value, in bits, with its interval and test against zero.
        se_bits: sd / sqrt(n) of the values; None with fewer than two.
        p_holm: p-value with Holm's correction over all effects of the suite tested together.
        reason: reason why there is no mean, or no interval.
    """

    window: str
    name: str
    island: str
    items: Mapping[str, float | None]
    mean: Mean
    se_bits: float | None
    p_holm: float | None = None
    reason: str | None = None


def licensing_effects(
    suite: Suite, values: RegionValues, *, seed: int
) -> tuple[LicensingEffect, ...]:
    """All licensing effects of a suite, for each of its windows.

    Args:
        suite: any suite; without a licensing design, the result is empty.
        values: values of the regions of its stimuli.
        seed: seed of the resampling for intervals and tests.

    Raises:
        InputError: the declaration cannot be used.
    """
    design = licensing_of(suite)
    if design is None:
        return ()
    conditions = {
        tuple(condition.columns.get(factor, "") for factor in design.factors): condition.name
        for _, condition in suite.stimuli()
    }
    clusters = suite.clusters() if suite.cluster else None
    found: list[LicensingEffect] = []
    for window, regions in design.windows.items():
        surprisals = {
            item.id: _surprisals(item.id, design, conditions, regions, values)
            for item in suite.items
        }
        found += effects_of_items(design, surprisals, window=window, clusters=clusters, seed=seed)
    corrected = holm([effect.mean.p for effect in found])
    return tuple(replace(effect, p_holm=p) for effect, p in zip(found, corrected, strict=True))


def _surprisals(
    item: str,
    design: Licensing,
    conditions: Mapping[LicensingCell, str],
    regions: Mapping[str, Sequence[int]],
    values: RegionValues,
) -> dict[LicensingCell, Value]:
    """The summed surprisal of the window in each cell, for one item."""
    factor = BITS_PER_NAT if values.unit == "nats" else 1.0
    found: dict[LicensingCell, Value] = {}
    for cell in product(*(design.levels[name] for name in design.factors)):
        name = conditions.get(cell)
        known = values.values.get(item, {}).get(name or "")
        if known is None:
            found[cell] = Missing(NOT_MEASURED)
            continue
        parts = [known[number - 1] for number in regions[cell[1]] if number <= len(known)]
        missing = next((part for part in parts if isinstance(part, Missing)), None)
        numbers = [part for part in parts if not isinstance(part, Missing)]
        found[cell] = missing or factor * total(numbers)
    return found


def effects_of_items(
    design: Licensing,
    surprisals: Mapping[str, Mapping[LicensingCell, Value]],
    *,
    seed: int,
    window: str = "",
    clusters: Mapping[str, Hashable] | None = None,
) -> list[LicensingEffect]:
    """The filler effects, interactions and island term, from the surprisal of each cell in bits.

    Args:
        design: factors of the design and their levels.
        surprisals: surprisal of each cell, by item.
        seed: seed of the resampling for intervals and tests.
        window: name of the regions that were summed.
        clusters: cluster of each item; None if every item is independent.
    """

    def effect(values: Mapping[str, Value], name: str, island: str) -> LicensingEffect:
        return _effect(
            values, window=window, name=name, island=island, clusters=clusters, seed=seed
        )

    found = []
    wh, control = design.levels[design.filler][:2]
    gap, filled = design.levels[design.gap][:2]
    by_island: list[dict[str, Value]] = []
    for island in design.islands:
        rest = (island,) if design.island else ()
        fillers = {
            level: {
                item: minus(cells[wh, level, *rest], cells[control, level, *rest])
                for item, cells in surprisals.items()
            }
            for level in (gap, filled)
        }
        found += [
            effect(values, f"filler effect, {level}", island) for level, values in fillers.items()
        ]
        interaction = {
            item: minus(fillers[filled][item], fillers[gap][item]) for item in surprisals
        }
        by_island.append(interaction)
        found.append(effect(interaction, "wh-licensing", island))
    for island, inside in zip(design.islands[1:], by_island[1:], strict=True):
        term = {item: minus(by_island[0][item], inside[item]) for item in surprisals}
        found.append(effect(term, "reduction by the island", island))
    return found


def _effect(
    values: Mapping[str, Value],
    *,
    window: str,
    name: str,
    island: str,
    clusters: Mapping[str, Hashable] | None,
    seed: int,
) -> LicensingEffect:
    """The mean of one effect over items, with its interval and test."""
    known = {item: value for item, value in values.items() if not isinstance(value, Missing)}
    reasons = [value.reason for value in values.values() if isinstance(value, Missing)]
    scale = max(map(abs, known.values()), default=0.0)
    numbers = without_noise(list(known.values()), scale=scale)
    mean = mean_of(numbers, Design.of(known, clusters), seed=seed)
    n = mean.n
    se = None
    if mean.value is not None and n > 1:
        middle = mean.value
        se = math.sqrt(math.fsum((value - middle) ** 2 for value in numbers) / (n - 1) / n)
    return LicensingEffect(
        window=window,
        name=name,
        island=island,
        items={item: known.get(item) for item in values},
        mean=mean,
        se_bits=se,
        reason=mean.reason if n else next(iter(reasons), "there are no items"),
    )


def minus(first: Value, second: Value) -> Value:
    """The difference of two values; missing if one of them is."""
    if isinstance(first, Missing):
        return first
    return second if isinstance(second, Missing) else first - second

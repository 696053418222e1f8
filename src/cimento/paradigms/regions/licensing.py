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
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from cimento.io.values import NoValue, Value
from cimento.measures.regions import RegionValues
from cimento.paradigms.regions.two_by_two import mean_over_items, summed
from cimento.records.outcomes import Estimate, mean_estimate
from cimento.statistics.means import Mean
from cimento.statistics.multiple import holm
from cimento.suites import Suite
from cimento.suites.licensing import Licensing, licensing_of

NOT_MEASURED = "the suite has no such sentence"

LicensingCell: TypeAlias = tuple[str, ...]
"""A level of each factor: filler, gap and, if the design has one, island."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LicensingEffect:
    """One effect, over items.

    Attributes:
        name: name of the effect.
        island: level of the island factor; empty where it does not apply.
        items: value of each item in bits; missing if one of its sentences has no value.
        mean: mean over the items with a value, in bits, with its interval and test against zero.
    """

    name: str
    island: str
    items: Mapping[str, Value]
    mean: Mean

    @property
    def reason(self) -> str:
        """The reason why there is no mean, or no interval; empty where there are both."""
        reasons = (value.reason for value in self.items.values() if isinstance(value, NoValue))
        return (self.mean.reason or "") if self.mean.n else next(reasons, "there are no items")

    @property
    def se_bits(self) -> float | None:
        """Sd / sqrt(n) of the values; None with fewer than two."""
        known = [value for value in self.items.values() if not isinstance(value, NoValue)]
        return statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else None


def licensing_effects(
    suite: Suite, values: RegionValues, *, model: str, seed: int
) -> list[Estimate]:
    """All licensing effects of a suite in bits, for each of its windows, tested together.

    Args:
        suite: any suite; without a licensing design, there are none.
        values: values of the regions of its stimuli.
        model: label of the model.
        seed: seed of the resampling for intervals and tests.

    Raises:
        InputError: the declaration cannot be used.
    """
    design = licensing_of(suite)
    if design is None:
        return []
    conditions = {
        tuple(condition.columns.get(factor, "") for factor in design.factors): condition.name
        for _, condition in suite.stimuli()
    }
    clusters = suite.clusters() if suite.cluster else None
    windowed: list[tuple[str, LicensingEffect]] = []
    for window, regions in design.windows.items():
        surprisals = {
            item.id: _surprisals(item.id, design, conditions, regions, values)
            for item in suite.items
        }
        effects = effects_of_items(design, surprisals, clusters=clusters, seed=seed)
        windowed += ((window, effect) for effect in effects)
    corrected = holm([effect.mean.p for _, effect in windowed])
    return [
        mean_estimate(
            effect.mean,
            Estimate(
                suite=suite.name,
                model=model,
                question=f"{window}: {effect.name}",
                group="island" if effect.island else "",
                level=effect.island,
                statistic="licensing effect",
                unit="bits",
                role="detail",
                reason=effect.reason,
                p_corrected=p,
                p_method=f"{effect.mean.method}; Holm over all effects of the suite",
            ),
        )
        for (window, effect), p in zip(windowed, corrected, strict=True)
    ]


def _surprisals(
    item: str,
    design: Licensing,
    conditions: Mapping[LicensingCell, str],
    regions: Mapping[str, Sequence[int]],
    values: RegionValues,
) -> dict[LicensingCell, Value]:
    """The summed surprisal of the window in each cell, for one item."""
    known = values.values.get(item, {})
    return {
        cell: summed(known[name], regions[cell[1]], unit=values.unit)
        if (name := conditions.get(cell, "")) in known
        else NoValue(NOT_MEASURED)
        for cell in product(*(design.levels[name] for name in design.factors))
    }


def effects_of_items(
    design: Licensing,
    surprisals: Mapping[str, Mapping[LicensingCell, Value]],
    *,
    seed: int,
    clusters: Mapping[str, Hashable] | None = None,
) -> list[LicensingEffect]:
    """The filler effects, interactions and island term, from the surprisal of each cell in bits.

    Args:
        design: factors of the design and their levels.
        surprisals: surprisal of each cell, by item.
        seed: seed of the resampling for intervals and tests.
        clusters: cluster of each item; None if every item is independent.
    """

    def effect(values: Mapping[str, Value], name: str, island: str) -> LicensingEffect:
        known = {item: value for item, value in values.items() if not isinstance(value, NoValue)}
        mean = mean_over_items(known, clusters, sizes=map(abs, known.values()), seed=seed)
        return LicensingEffect(name=name, island=island, items=values, mean=mean)

    effects = []
    wh, control = design.levels[design.filler][:2]
    gap, filled = design.levels[design.gap][:2]
    by_island: list[dict[str, Value]] = []
    for island in design.islands:
        rest = (island,) if design.island else ()
        fillers = {
            level: {
                item: _value_difference(cells[wh, level, *rest], cells[control, level, *rest])
                for item, cells in surprisals.items()
            }
            for level in (gap, filled)
        }
        effects += [
            effect(values, f"filler effect, {level}", island) for level, values in fillers.items()
        ]
        interaction = {
            item: _value_difference(fillers[filled][item], fillers[gap][item])
            for item in surprisals
        }
        by_island.append(interaction)
        effects.append(effect(interaction, "wh-licensing", island))
    for island, inside in zip(design.islands[1:], by_island[1:], strict=True):
        term = {item: _value_difference(by_island[0][item], inside[item]) for item in surprisals}
        effects.append(effect(term, "reduction by the island", island))
    return effects


def _value_difference(first: Value, second: Value) -> Value:
    """The difference of two values; missing if one of them is."""
    if isinstance(first, NoValue):
        return first
    return second if isinstance(second, NoValue) else first - second

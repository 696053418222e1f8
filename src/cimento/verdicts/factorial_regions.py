"""DD by region: in which part of the sentence the difference of differences arises.

Surprisal in bits adds up over the regions of a sentence, and so does DD: what is found in the
matrix clause, before an island begins, is no island effect. Other measures do not add up, so that
regions are compared by surprisal whatever the run is judged on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from cimento.measures.regions import RegionValues
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of
from cimento.suites.design import squares, windows_of
from cimento.suites.model import Suite
from cimento.verdicts.effects import (
    NO_ITEMS,
    ItemEffect,
    Scores,
    item_effect,
    items_by_phenomenon,
    without_noise,
)

WHOLE = "sentence"
"""The stretch that holds all regions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionDD:
    """DD of one stretch of the sentences of one phenomenon.

    Attributes:
        suite: its name.
        model: label of the model.
        phenomenon: its name.
        window: name of the stretch.
        regions: its regions, counted from 1.
        n_items: items with a DD.
        dd: the mean DD in bits, surprisal turned so that more is better, with its interval.
        reason: why there is no DD.
    """

    suite: str
    model: str
    phenomenon: str
    window: str
    regions: tuple[int, ...]
    n_items: int
    dd: Mean
    reason: str | None = None


def region_dds(
    suite: Suite, values: RegionValues, *, model: str, seed: int = 0, error_bits: float = 0.0
) -> tuple[RegionDD, ...]:
    """DD of the whole sentence and of each of its stretches, for every phenomenon.

    Args:
        suite: of others than factorial ones, and of those with a single region, there is nothing.
        values: surprisals of the regions of its stimuli.
        model: its label.
        seed: of the draws.
        error_bits: of the number format: where no item's DD is larger, they are all 0.

    Raises:
        InputError: the declaration of factors or of stretches cannot be used.
    """
    windows = windows_of(suite)
    designs = squares(suite)
    if not windows or not designs:
        return ()
    windows = {WHOLE: tuple(range(1, len(suite.region_names) + 1)), **windows}
    scores = {name: _scores(values, regions) for name, regions in windows.items()}
    clusters = suite.clusters() if suite.cluster else None
    return tuple(
        RegionDD(
            suite=suite.name,
            model=model,
            phenomenon=f"{name} {square.name}" if len(designs) > 1 else name,
            window=window,
            regions=regions,
            n_items=sum(each.dd is not None for each in effects),
            dd=_mean(effects, clusters, seed, error_bits),
            reason=next((each.reason for each in effects if each.reason), NO_ITEMS)
            if all(each.dd is None for each in effects)
            else None,
        )
        for name, items in items_by_phenomenon(suite).items()
        for square in designs
        for window, regions in windows.items()
        for effects in [[item_effect(square, scores[window], item) for item in items]]
    )


def _mean(
    effects: Sequence[ItemEffect],
    clusters: Mapping[str, Hashable] | None,
    seed: int,
    error_bits: float,
) -> Mean:
    known = {each.item: each.dd for each in effects if each.dd is not None}
    sizes = (abs(score) for each in effects for score in each.scores if score is not None)
    values = without_noise(list(known.values()), scale=max(sizes, default=0.0))
    if max(map(abs, values), default=0.0) <= error_bits:
        values = [0.0] * len(values)
    return mean_of(values, Design.of(known, clusters), seed=seed)


def _scores(values: RegionValues, regions: Sequence[int]) -> Scores:
    """Item and condition to the surprisal of a stretch in bits, negated: more is better."""
    factor = BITS_PER_NAT if values.unit == "nats" else 1.0
    return {
        item: {name: _sum(own, regions, factor) for name, own in conditions.items()}
        for item, conditions in values.values.items()
    }


def _sum(own: Sequence[Value], regions: Sequence[int], factor: float) -> Value:
    parts = [own[number - 1] for number in regions if number <= len(own)]
    missing = next((part for part in parts if isinstance(part, Missing)), None)
    return missing or 0.0 - factor * total([p for p in parts if not isinstance(p, Missing)])

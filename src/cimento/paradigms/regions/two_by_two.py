"""The two by two design on one scale: condition means, effects, differences of differences.

Scores are turned so that more is better. With a the plain condition, b the one where the first
factor is changed, c the second, d both::

    length effect     a - b         structure effect   a - c        total effect   a - d
    DD = (b - d) - (a - c) = total - (length + structure)

DD above 0 is super-additivity: both changes together cost more than each alone explains (Sprouse,
Wagers and Phillips 2012, doi:10.1353/lan.2012.0004). "Length" and "structure" are the terms of
island studies for the first and the second factor of any design.

DD by region says in which part of the sentence it arises. Surprisal in bits adds up over regions,
and so does DD: what is found in the matrix clause, before an island begins, is no island effect.
Other measures do not add up, so that regions are compared by surprisal whatever a run is judged on.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cimento.measures.normalising import Normalisation, Scope
from cimento.measures.regions import RegionValues
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total
from cimento.statistics.design import Design
from cimento.statistics.means import Mean, mean_of
from cimento.suites.design import Cell, Square, squares, windows_of
from cimento.suites.model import Suite

Scores: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Item and condition to a score of which more is better."""

NOT_IN_DESIGN = "the design has no condition here"
NOT_SCORED = "the sentence was not scored"
NO_ITEMS = "no item is scored in all conditions that are compared"
ROUNDING = 1e-12
"""Differences below this share of the scores are those of float arithmetic."""

ONE_ITEM = "fewer than two items are scored here"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMean:
    """One condition over items.

    Attributes:
        cell: of the design.
        n: items with a score.
        mean: of their scores; None without one.
        sd: of the sample (ddof 1); None with fewer than two.
        se: sd / sqrt(n), in the same units as the mean.
        reason: why one of them is None.
    """

    cell: Cell
    n: int
    mean: float | None
    sd: float | None
    se: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEffect:
    """DD of one item.

    Attributes:
        item: its id.
        scores: of the four conditions, in the order of the design; None where one is missing.
        dd: None where a score is missing.
        reason: why it is None.
    """

    item: str
    scores: tuple[float | None, ...]
    dd: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of one design, on one scale.

    Attributes:
        normalisation: the scale.
        scope: what was pooled for it.
        cells: the four conditions, in the order of the design.
        length_effect: of the first factor, from the means.
        structure_effect: of the second factor.
        total_effect: of both.
        dd: of the means.
        items: DD of each item.
        reason: why the effects are None.
    """

    normalisation: Normalisation
    scope: Scope
    cells: tuple[CellMean, ...]
    length_effect: float | None
    structure_effect: float | None
    total_effect: float | None
    dd: float | None
    items: tuple[ItemEffect, ...]
    reason: str | None = None

    @property
    def item_dds(self) -> tuple[float, ...]:
        """DD of those items that have one."""
        return tuple(item.dd for item in self.items if item.dd is not None)


def effects_of(
    square: Square,
    scores: Scores,
    items: Sequence[str],
    *,
    normalisation: Normalisation = "raw",
    scope: Scope = "suite",
) -> Effects:
    """Condition means over items and the effects that they make, with DD of every item.

    Args:
        square: the design.
        scores: on the scale that is named.
        items: ids of those that count.
        normalisation: the scale.
        scope: what was pooled for it.
    """
    means = [
        cell_mean(cell, [score_of(scores, item, cell.condition) for item in items])
        for cell in square.cells
    ]
    length, structure, total, dd = effects_of_means([mean.mean for mean in means])
    absent = [(mean.cell.name, mean.reason or "") for mean in means if mean.mean is None]
    return Effects(
        normalisation=normalisation,
        scope=scope,
        cells=tuple(means),
        length_effect=length,
        structure_effect=structure,
        total_effect=total,
        dd=dd,
        items=tuple(item_effect(square, scores, item) for item in items),
        reason=_together(absent, square),
    )


def effects_of_means(
    means: Sequence[float | None],
) -> tuple[float | None, float | None, float | None, float | None]:
    """Length, structure and total effect and DD of four means; None where one is missing."""
    a, b, c, d = means
    return (
        None if a is None or b is None else a - b,
        None if a is None or c is None else a - c,
        None if a is None or d is None else a - d,
        None if a is None or b is None or c is None or d is None else (b - d) - (a - c),
    )


def mean_if_all(values: Sequence[float | None]) -> float | None:
    """The mean; None where there is nothing, or one of them is None."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def score_of(scores: Scores, item: str, condition: str | None) -> Value:
    """One score, or why there is none."""
    if condition is None:
        return Missing(NOT_IN_DESIGN)
    return scores.get(item, {}).get(condition, Missing(NOT_SCORED))


def cell_mean(cell: Cell, values: Sequence[Value]) -> CellMean:
    """The mean of one condition's scores, with what goes with it.

    Args:
        cell: of the design.
        values: one for each item, or each judgment.
    """
    known = [value for value in values if not isinstance(value, Missing)]
    n = len(known)
    if n == 0:
        reasons = (value.reason for value in values if isinstance(value, Missing))
        reason = NOT_IN_DESIGN if cell.condition is None else next(reasons, NO_ITEMS)
        return CellMean(cell=cell, n=0, mean=None, sd=None, se=None, reason=reason)
    mean = math.fsum(known) / n
    if n == 1:
        return CellMean(cell=cell, n=1, mean=mean, sd=None, se=None, reason=ONE_ITEM)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1))
    return CellMean(cell=cell, n=n, mean=mean, sd=sd, se=sd / math.sqrt(n))


def _together(reasons: Sequence[tuple[str, str]], square: Square) -> str | None:
    """The reasons with the cells that each holds for; one that holds for all cells stands alone."""
    cells: dict[str, list[str]] = {}
    for cell, reason in reasons:
        cells.setdefault(reason, []).append(cell)
    return (
        "; ".join(
            reason if len(names) == len(square.cells) else f"{', '.join(names)}: {reason}"
            for reason, names in cells.items()
        )
        or None
    )


def item_effect(square: Square, scores: Scores, item: str) -> ItemEffect:
    """DD of one item, or what is missing for it."""
    values = [score_of(scores, item, name) for name in square.conditions]
    known = tuple(None if isinstance(value, Missing) else value for value in values)
    missing = [
        (cell.name, value.reason)
        for cell, value in zip(square.cells, values, strict=True)
        if isinstance(value, Missing)
    ]
    dd = effects_of_means(known)[3]
    return ItemEffect(item=item, scores=known, dd=dd, reason=_together(missing, square))


def items_by_phenomenon(suite: Suite) -> dict[str, list[str]]:
    """Phenomenon to the ids of its items, both in order of first appearance.

    Without a column ``phenomenon`` all items are under the suite's own phenomenon, or its name.
    """
    groups: dict[str, list[str]] = {}
    for item in suite.items:
        name = item.column("phenomenon") or suite.meta.phenomenon or suite.name
        groups.setdefault(name, []).append(item.id)
    return groups


def without_noise(differences: Sequence[float], *, scale: float) -> list[float]:
    """Differences of scores, those that only rounding sets apart made equal, or 0.

    A test of differences that are all the same but for the last bit of a float would give a p as
    small as one likes.

    Args:
        differences: of scores.
        scale: the largest absolute score.
    """
    if not differences:
        return []
    noise = ROUNDING * scale
    settled = [0.0 if abs(difference) <= noise else difference for difference in differences]
    if max(settled) - min(settled) <= noise:
        return [settled[0]] * len(settled)
    return settled


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
            n_items=sum(effect.dd is not None for effect in effects),
            dd=_mean(effects, clusters, seed, error_bits),
            reason=next((effect.reason for effect in effects if effect.reason), NO_ITEMS)
            if all(effect.dd is None for effect in effects)
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
    known = {effect.item: effect.dd for effect in effects if effect.dd is not None}
    sizes = (abs(score) for effect in effects for score in effect.scores if score is not None)
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

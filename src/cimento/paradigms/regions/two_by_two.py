"""The two-by-two design on one scale: condition means, effects, differences of differences.

Scores are signed so that more is better. Let a be the plain condition, b the one with the first
factor changed, c the one with the second factor changed, and d the one with both::

    length effect     a - b         structure effect   a - c        total effect   a - d
    DD = (b - d) - (a - c) = total - (length + structure)

DD above 0 is super-additivity: both changes together cost more than the sum of what each costs
alone (Sprouse, Wagers and Phillips 2012, doi:10.1353/lan.2012.0004). "Length" and "structure" are
the terms of island studies for the first and the second factor of any design.

DD by region shows in which part of the sentence it arises. Surprisal in bits adds up over regions,
and so does DD: a DD in the matrix clause, before an island begins, is not an island effect. Other
measures do not add up, so regions are compared by surprisal whatever measure a run is judged on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.values import BITS_PER_NAT, NoValue, Unit, Value, total
from cimento.measures.normalizing import Normalization, Scope
from cimento.measures.regions import RegionValues
from cimento.records.outcomes import Estimate, mean_estimate
from cimento.records.wrong_side import DD
from cimento.statistics.design import Design
from cimento.suites import Suite
from cimento.suites.derived import PHENOMENON
from cimento.suites.design import DesignCell, Square, squares, windows_of

if TYPE_CHECKING:
    from cimento.paradigms.regions.chance import NearTies
    from cimento.statistics.means import Mean


Scores: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Scores by item and condition, signed so that more is better."""

NOT_IN_DESIGN = "the design has no condition here"
NOT_SCORED = "the sentence was not scored"
NO_ITEMS = "no item is scored in all conditions that are compared"

ONE_ITEM = "fewer than two items are scored here"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMean:
    """The scores of one condition, over items.

    Attributes:
        cell: cell of the design.
        n: number of items with a score.
        mean: mean of their scores; None without a score.
        sd: standard deviation of the sample (ddof 1); None with fewer than two scores.
        se: sd / sqrt(n), in the same units as the mean.
        reason: reason why one of them is None.
    """

    cell: DesignCell
    n: int
    mean: float | None
    sd: float | None
    se: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEffect:
    """DD of one item.

    Attributes:
        item: id of the item.
        scores: scores of the four conditions, in the order of the design; None where missing.
        dd: difference of differences; None if a score is missing.
        reason: reason why it is None.
    """

    item: str
    scores: tuple[float | None, ...]
    dd: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of one design, on one scale.

    Attributes:
        normalization: the scale.
        scope: set of scores pooled for the scale.
        cells: the four conditions, in the order of the design.
        length_effect: effect of the first factor, from the means.
        structure_effect: effect of the second factor, from the means.
        total_effect: effect of both factors together, from the means.
        dd: difference of differences of the means.
        items: DD of each item.
        reason: reason why the effects are None.
    """

    normalization: Normalization
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
        """The DD of the items that have one."""
        return tuple(item.dd for item in self.items if item.dd is not None)


def effects_of(
    square: Square,
    scores: Scores,
    items: Sequence[str],
    *,
    normalization: Normalization = "raw",
    scope: Scope = "suite",
) -> Effects:
    """The effects of a design: condition means over items, their effects, and the DD of every item.

    Args:
        square: the design.
        scores: scores on the given scale.
        items: ids of the items to include.
        normalization: the scale.
        scope: set of scores pooled for the scale.
    """
    means = [
        cell_mean(cell, [score_of(scores, item, cell.condition) for item in items])
        for cell in square.cells
    ]
    length, structure, total, dd = effects_of_means([mean.mean for mean in means])
    absent = [(mean.cell.name, mean.reason or "") for mean in means if mean.mean is None]
    return Effects(
        normalization=normalization,
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
    """The length, structure and total effect and the DD of four means; None if one is missing."""
    a, b, c, d = means
    return (
        None if a is None or b is None else a - b,
        None if a is None or c is None else a - c,
        None if a is None or d is None else a - d,
        None if a is None or b is None or c is None or d is None else (b - d) - (a - c),
    )


def score_of(scores: Scores, item: str, condition: str | None) -> Value:
    """One score, or the reason why it is missing."""
    if condition is None:
        return NoValue(NOT_IN_DESIGN)
    return scores.get(item, {}).get(condition, NoValue(NOT_SCORED))


def cell_mean(cell: DesignCell, values: Sequence[Value]) -> CellMean:
    """The mean of one condition's scores, with standard deviation and standard error.

    Args:
        cell: cell of the design.
        values: one value for each item, or for each judgment.
    """
    known = [value for value in values if not isinstance(value, NoValue)]
    n = len(known)
    if n == 0:
        reasons = (value.reason for value in values if isinstance(value, NoValue))
        reason = NOT_IN_DESIGN if cell.condition is None else next(reasons, NO_ITEMS)
        return CellMean(cell=cell, n=0, mean=None, sd=None, se=None, reason=reason)
    mean = math.fsum(known) / n
    if n == 1:
        return CellMean(cell=cell, n=1, mean=mean, sd=None, se=None, reason=ONE_ITEM)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1))
    return CellMean(cell=cell, n=n, mean=mean, sd=sd, se=sd / math.sqrt(n))


def _together(reasons: Sequence[tuple[str, str]], square: Square) -> str | None:
    """The reasons, each with the cells that it applies to, unless it applies to all."""
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
    """The DD of one item, or the reason why it is missing."""
    values = [score_of(scores, item, name) for name in square.conditions]
    known = tuple(None if isinstance(value, NoValue) else value for value in values)
    missing = [
        (cell.name, value.reason)
        for cell, value in zip(square.cells, values, strict=True)
        if isinstance(value, NoValue)
    ]
    dd = effects_of_means(known)[3]
    return ItemEffect(item=item, scores=known, dd=dd, reason=_together(missing, square))


def items_by_phenomenon(suite: Suite) -> dict[str, list[str]]:
    """The ids of the items of each phenomenon, both in order of first appearance.

    Without a column ``phenomenon``, all items belong to the suite's own phenomenon, or else its
    name.
    """
    groups: dict[str, list[str]] = {}
    for item in suite.items:
        name = item.column(PHENOMENON) or suite.meta.phenomenon or suite.name
        groups.setdefault(name, []).append(item.id)
    return groups


SAME_READING = "equal by construction: the sentences that are compared are the same up to here"
WHOLE = "sentence"
"""Name of the window with all regions."""


def region_dds(
    suite: Suite,
    values: RegionValues,
    *,
    model: str,
    seed: int = 0,
    near: NearTies | None = None,
    same: Callable[[Square, str, Sequence[int]], bool] | None = None,
) -> tuple[Estimate, ...]:
    """The DD in bits of the whole sentence and of each of its parts, for every phenomenon.

    Args:
        suite: any suite; not factorial or with a single region, it has no such DD.
        values: surprisals of the regions of its stimuli.
        model: label of the model.
        seed: seed of the resampling.
        near: error of the number format; items whose DD does not exceed it are counted.
        same: whether DD is zero by construction: of a design, an item and some regions.

    Raises:
        InputError: the declaration of factors or of stretches cannot be used.
    """
    windows, designs = windows_of(suite), squares(suite)
    if not windows or not designs:
        return ()
    windows = {WHOLE: tuple(range(1, len(suite.region_names) + 1)), **windows}
    scores = {name: _scores(values, regions) for name, regions in windows.items()}
    like = Estimate(
        suite=suite.name, model=model, question=DD, group=PHENOMENON, statistic=DD, unit="bits",
        role="detail",
    )  # fmt: skip
    clusters, estimates = suite.clusters() if suite.cluster else None, []
    parts = product(items_by_phenomenon(suite).items(), designs, windows)
    for (name, items), square, window in parts:
        effects = [item_effect(square, scores[window], item) for item in items]
        known = {effect.item: effect.dd for effect in effects if effect.dd is not None}
        zero = [item for item in known if same and same(square, item, windows[window])]
        known |= dict.fromkeys(zero, 0.0)
        sizes = [abs(score) for effect in effects for score in effect.scores if score is not None]
        part = replace(
            like,
            question=f"{DD}: {window}",
            level=f"{name} {square.name}" if len(designs) > 1 else name,
            reason="" if known else next((e.reason for e in effects if e.reason), NO_ITEMS),
        )
        if known and len(zero) == len(known):
            part = replace(part, reason=SAME_READING)
        mean = mean_over_items(known, clusters, sizes=sizes, seed=seed)
        estimates.append(_with_near_ties(replace(mean_estimate(mean, part), p=None), known, near))
    return tuple(estimates)


def _with_near_ties(
    estimate: Estimate, effects: Mapping[str, float], near: NearTies | None
) -> Estimate:
    """An estimate with the number of items whose effect the number format could have made."""
    if near is None:
        return estimate
    within = sum(abs(effect) <= near.bits for effect in effects.values())
    return replace(estimate, near_tied=within, near_tie_bits=near.bits, near_tie_method=near.reason)


def mean_over_items(
    effects: Mapping[str, float],
    clusters: Mapping[str, Hashable] | None,
    *,
    sizes: Iterable[float],
    seed: int,
) -> Mean:
    """The mean of an effect over items, free of rounding noise.

    Args:
        effects: effect by item.
        clusters: cluster of each item; None if every item is independent.
        sizes: absolute values of the scores that the effects are differences of.
        seed: seed of the resampling.
    """
    from cimento.statistics.means import mean_of, without_noise

    values = without_noise(list(effects.values()), scale=max(sizes, default=0.0))
    return mean_of(values, Design.of(effects, clusters), seed=seed)


def summed(values: Sequence[Value], regions: Sequence[int], *, unit: Unit = "bits") -> Value:
    """The sum in bits over some regions of a sentence; missing if one of them is.

    Args:
        values: values of its regions.
        regions: numbers of the regions, from 1; those that the sentence lacks are left out.
        unit: unit of the values.
    """
    parts = [values[number - 1] for number in regions if number <= len(values)]
    missing = next((part for part in parts if isinstance(part, NoValue)), None)
    factor = BITS_PER_NAT if unit == "nats" else 1.0
    return missing or factor * total([part for part in parts if not isinstance(part, NoValue)])


def _scores(values: RegionValues, regions: Sequence[int]) -> Scores:
    """The surprisals of a part in bits, by item and condition, negated so that more is better."""
    scores: dict[str, dict[str, Value]] = {}
    for item, conditions in values.values.items():
        for name, costs in conditions.items():
            cost = summed(costs, regions, unit=values.unit)
            score = cost if isinstance(cost, NoValue) else 0.0 - cost
            scores.setdefault(item, {})[name] = score
    return scores

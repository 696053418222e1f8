"""The mean probability ratio: how much of two forms' probability the grammatical one has.

The measure of Táboas García and Wanner (SyntacticAgreement)::

    ratio = p(target) / (p(target) + p(alternative)) = 1 / (1 + b^(S_target - S_alternative))

S is the summed surprisal of the target region, b the base that it is taken in: 2 for bits, e for
nats. The score of an item is the mean over its alternatives, each compared with the target alone;
that of a suite is the unweighted mean over its items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.measures.sentence import BITS_PER_NAT, Missing, Value, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cimento.measures.regions import RegionValues
    from cimento.measures.sentence import Unit
    from cimento.verdicts.contrast import Contrast


@dataclass(frozen=True, slots=True)
class ItemRatio:
    """The probability ratios of one item.

    Attributes:
        item: its id.
        ratios: one for each alternative, in the order of the contrast; None where undefined.
        margins_bits: surprisal of each alternative minus that of the target.
        mean: over all alternatives; None where one of them is undefined.
        reason: why.
    """

    item: str
    ratios: tuple[float | None, ...]
    margins_bits: tuple[float | None, ...]
    mean: float | None
    reason: str | None = None


def probability_ratios(values: RegionValues, contrast: Contrast) -> list[ItemRatio]:
    """The ratios of every item.

    Args:
        values: of all regions, with the metric ``sum``: no other makes a probability.
        contrast: what is compared.

    Raises:
        UsageError: the metric is another one.
    """
    if values.metric != "sum":
        raise UsageError(
            where=f"metric {values.metric}",
            seen="only a sum of surprisals is that of a probability",
            todo="Say --metric sum.",
        )
    return [
        _item_ratio(item, conditions, contrast, unit=values.unit)
        for item, conditions in values.values.items()
    ]


def _item_ratio(
    item: str,
    conditions: Mapping[str, Sequence[Value]],
    contrast: Contrast,
    *,
    unit: Unit,
) -> ItemRatio:
    target = _summed(conditions, contrast.target, contrast.regions)
    others = [_summed(conditions, name, contrast.regions) for name in contrast.alternatives]
    missing = [each.reason for each in (target, *others) if isinstance(each, Missing)]
    gaps = [
        None if isinstance(target, Missing) or isinstance(other, Missing) else other - target
        for other in others
    ]
    ratios = tuple(None if gap is None else _share(gap, unit=unit) for gap in gaps)
    known = [each for each in ratios if each is not None]
    bits = 1.0 if unit == "bits" else BITS_PER_NAT
    return ItemRatio(
        item=item,
        ratios=ratios,
        margins_bits=tuple(None if gap is None else gap * bits for gap in gaps),
        mean=None if missing else total(known) / len(known),
        reason=missing[0] if missing else None,
    )


def _share(gap: float, *, unit: Unit) -> float:
    """The logistic function of a difference of surprisals; it never overflows."""
    gap_nats = gap * math.log(2) if unit == "bits" else gap
    if gap_nats >= 0:
        return 1 / (1 + math.exp(-gap_nats))
    raised = math.exp(gap_nats)
    return raised / (1 + raised)


def _summed(conditions: Mapping[str, Sequence[Value]], name: str, regions: Sequence[int]) -> Value:
    if name not in conditions:
        return Missing(f"the item has no condition {name!r}")
    values = [conditions[name][number - 1] for number in regions]
    known = [each for each in values if not isinstance(each, Missing)]
    if len(known) < len(values):
        return next(each for each in values if isinstance(each, Missing))
    return total(known)

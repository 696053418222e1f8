"""How far apart two distributions over the same labels are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from cimento.errors import UsageError
from cimento.statistics.values import Estimate


def jensen_shannon(first: Mapping[Hashable, float], second: Mapping[Hashable, float]) -> Estimate:
    """The Jensen-Shannon divergence in bits: 0 for equal distributions, 1 for disjoint ones.

    ``(KL(P || M) + KL(Q || M)) / 2`` with ``M = (P + Q) / 2`` and logarithms to base 2 (Lin 1991,
    doi:10.1109/18.61115). Its square root is a distance.

    Args:
        first: weight of each label, such as counts of choices or probabilities; brought to sum 1.
        second: the same; a label that only one side has weighs nothing on the other.

    Raises:
        UsageError: a weight that is negative, NaN or infinite.
    """
    p, q = _shares(first), _shares(second)
    if p is None or q is None:
        return Estimate(None, "one side has no weight at all")
    total = math.fsum(_part(p.get(label, 0.0), q.get(label, 0.0)) for label in p.keys() | q.keys())
    return Estimate(min(1.0, max(0.0, total / 2)))


def _shares(weights: Mapping[Hashable, float]) -> dict[Hashable, float] | None:
    for label, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(
                where=f"label {label!r}",
                seen=f"a weight of {weight}",
                todo="Give counts or probabilities, 0 or more.",
            )
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()} if total else None


def _part(p: float, q: float) -> float:
    middle = (p + q) / 2
    return sum(each * math.log2(each / middle) for each in (p, q) if each > 0)

"""Random parts of item sets that keep the proportions of their strata.

Within a suite, items are drawn systematically from a list in which each stratum is together, in
random order (Madow 1949, doi:10.1214/aoms/1177729988; Särndal, Swensson and Wretman 1992, Model
Assisted Survey Sampling, section 3.4): with a step of N / n and a random start, every item has the
same chance n / N, so that the proportion of correct items has the expectation of the whole suite's,
and each stratum has its proportion of the sample up to one item. Among paradigms, each gets equally
many items or all that it has, since means over paradigms give each the same weight.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from cimento.errors import UsageError
from cimento.io.values import grouped


def equal_parts(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a number of items among sets: equally many from each, or all that it has.

    Args:
        sizes: items of each set.
        total: items to divide.

    Returns:
        Items of each set: at least one of each that has any, so that more than `total` may be given
        where that is less than the number of sets.

    Example:
        >>> equal_parts([10, 100, 1000], 150)
        [10, 70, 70]
    """
    parts = [0] * len(sizes)
    left, rest = total, sorted(range(len(sizes)), key=lambda place: sizes[place])
    while rest:
        place = rest.pop(0)
        parts[place] = min(sizes[place], max(1, left // (len(rest) + 1)))
        left -= parts[place]
    return parts


def systematic_sample(
    strata: Sequence[Hashable], n: int, *, seed: int | Sequence[int]
) -> list[int]:
    """Draw items with equal chances, each stratum in its proportion.

    Args:
        strata: the stratum of each item.
        n: items to draw.
        seed: of the order within strata and of the start.

    Returns:
        The places of the drawn items in ascending order; all if n is not less than there are.

    Raises:
        UsageError: n is negative.

    Example:
        >>> drawn = systematic_sample(["a"] * 40 + ["b"] * 20, 6, seed=0)
        >>> [sum(place < 40 for place in drawn), sum(place >= 40 for place in drawn)]
        [4, 2]
    """
    if n < 0:
        raise UsageError(where="n", seen=f"got {n}", todo="Give 0 or more.")
    if n >= len(strata):
        return list(range(len(strata)))
    random = np.random.default_rng(seed)
    order: list[int] = []
    for places in grouped((stratum, place) for place, stratum in enumerate(strata)).values():
        order += random.permutation(places).tolist()
    return sorted(order[place] for place in _places(len(order), n, start=random.random()))


def _places(size: int, n: int, *, start: float) -> list[int]:
    """The places that a step of ``size / n`` meets, from a start in [0, 1) of a step."""
    return [min(size - 1, math.floor((k + start) * size / n)) for k in range(n)]

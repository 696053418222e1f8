"""The mean of Cohen's kappa over pairs of raters, and its interval for other people like these."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Booleans, Design, Floats, Integers, codes, floats
from cimento.statistics.draws import Weighted
from cimento.statistics.intervals import Interval
from cimento.statistics.raters import FOR_OTHERS, PeoplesRatings

FEWEST_SHARED = 10
"""Items that two people must both have rated, to be compared with each other."""


@dataclass(frozen=True, slots=True)
class MeanKappa:
    """The mean of a kappa over pairs of raters.

    Attributes:
        value: the mean; None where no two people have one.
        pairs: number of pairs in it.
        others: the interval for other items and other people like these.
        reason: why there is no value.
    """

    value: float | None
    pairs: int
    others: Interval
    reason: str | None = None


def mean_kappa(
    ratings: Sequence[Sequence[float]],
    people: Sequence[Sequence[Hashable | None]],
    *,
    design: Design,
    shared: int = FEWEST_SHARED,
    level: float = 0.95,
) -> MeanKappa:
    """Compute the mean of Cohen's kappa with quadratic weights over pairs of raters.

    Each kappa is ``1 - Σ (a - b)² / Σ_e (a - b)²`` of the steps a and b of two people on the scale
    of all values that occur, over the items that both rated; Σ_e takes the rating of one with those
    of all items of the other (Cohen 1968, doi:10.1037/h0026256). Pairs share people, so that the
    interval is over items and over people, as that of `alpha_for_others`.

    Args:
        ratings: ratings of each item, in any order.
        people: who gave each rating, in the same form; None for somebody unknown, whose ratings are
            left out. Of several ratings of an item by one person the first counts.
        design: which of the items belong together.
        shared: items that two people must both have rated.
        level: confidence level.

    Returns:
        The mean with its interval, or the reasons why there are none.

    Example:
        >>> ratings = [[1, 2, 1, 2, 1], [3, 3, 2, 4, 2], [2, 3, 4, 3, 5], [5, 4, 5, 4, 3],
        ...            [1, 1, 2, 3, 2], [4, 5, 4, 3, 5]]
        >>> people, items = [list("uvwxy")] * 6, Design.independent(6)
        >>> one = mean_kappa(ratings, people, design=items, shared=6)
        >>> round(one.value, 2), one.pairs, round(one.others.low, 2), round(one.others.high, 2)
        (0.55, 10, -0.16, 0.89)
    """
    each = PeoplesRatings.of(list(map(_first_of_each, ratings, people)), people, design)
    person, n_people = codes(each.people)
    there, steps = np.zeros((2, len(ratings), n_people))
    there[each.item, person] = 1
    scale = np.unique(floats(each.values, name="ratings"), return_inverse=True)[1]
    steps[each.item, person] = scale
    sums = _sums(there, steps)
    compared = np.triu(sums[0] >= shared, k=1)
    known = _kappas(sums, compared)
    if not known.size:
        reason = f"no two people rated {shared} items in common"
        return MeanKappa(None, 0, Interval(None, None, FOR_OTHERS, reason), reason)
    mean = float(known.mean())
    statistic = _without(there, steps, compared, each.item, person)
    return MeanKappa(mean, known.size, each.interval(statistic, mean, level=level))


def _first_of_each(given: Sequence[float], names: Sequence[Hashable | None]) -> list[float | None]:
    """The ratings of an item, without those of unknown people and further ones of one person."""
    firsts = {name: place for place, name in reversed([*enumerate(names)]) if name is not None}
    return [
        value if name is not None and firsts[name] == place else None
        for place, (value, name) in enumerate(zip(given, names, strict=True))
    ]


def _sums(there: Floats, steps: Floats) -> Floats:
    """Over the items that two people rated: n, Σ a, Σ b, Σ a², Σ b², Σ ab, people by people.

    All are whole numbers, so that sums and differences of them are exact.

    Args:
        there: items by people: 1 where there is a rating, otherwise 0.
        steps: likewise: its step on the scale, otherwise 0.
    """
    a, squares = steps.T @ there, (steps**2).T @ there
    return np.stack([there.T @ there, a, a.T, squares, squares.T, steps.T @ steps])


def _kappas(sums: Floats, compared: Booleans) -> Floats:
    """The kappas of the pairs that are compared, without undefined ones."""
    n, a, b, squares_a, squares_b, products = sums[:, compared]
    expected = n * (squares_a + squares_b) - 2 * a * b
    defined = expected > 0
    observed = n * (squares_a + squares_b - 2 * products)
    kappas: Floats = 1 - observed[defined] / expected[defined]
    return kappas


def _without(
    there: Floats, steps: Floats, compared: Booleans, item: Integers, person: Integers
) -> Weighted:
    """The mean kappa as a function of which ratings are there; NaN where it is undefined.

    Only the rows of items with a rating that is left out are summed again.
    """
    whole = _sums(there, steps)

    def of_one(weights: Floats) -> float:
        gone = weights == 0
        rows, row = np.unique(item[gone], return_inverse=True)
        left = there[rows]
        left[row, person[gone]] = 0
        sums = whole - _sums(there[rows], steps[rows]) + _sums(left, left * steps[rows])
        kappas = _kappas(sums, compared)
        return float(kappas.mean()) if kappas.size else np.nan

    return lambda weights: np.array([of_one(one) for one in weights])

"""Many tests at once: corrected p-values, and the places that several models could hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import UsageError

P_VALUES = Sequence[float | None]


def holm(p_values: P_VALUES) -> list[float | None]:
    """Adjust p-values by Holm's step-down method, which controls the family-wise error rate.

    The i-th smallest of m is ``max over j <= i of min(1, (m - j + 1) p_j)`` (Holm 1979,
    Scandinavian Journal of Statistics 6, 65-70).

    Args:
        p_values: one per test; None where a test is undefined, which counts as no test.

    Returns:
        Adjusted values in the order given, None where None was given.

    Raises:
        UsageError: a value is not between 0 and 1.

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: P_VALUES) -> list[float | None]:
    """Adjust p-values by Benjamini and Hochberg's step-up method.

    It controls the false discovery rate of independent or positively dependent tests. The i-th
    smallest of m is ``min over j >= i of min(1, m p_j / j)`` (Benjamini and Hochberg 1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x).

    Args:
        p_values: one per test; None where a test is undefined, which counts as no test.

    Returns:
        Adjusted values in the order given, None where None was given.

    Raises:
        UsageError: a value is not between 0 and 1.

    Example:
        >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
        [0.03, 0.04, 0.04]
    """
    order = _ascending(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) / rank * p)
        adjusted[place] = smallest
    return adjusted


def _ascending(p_values: P_VALUES) -> list[tuple[float, int]]:
    for p in p_values:
        if p is not None and not 0 <= p <= 1:
            raise UsageError(
                where="p-values", seen=f"{p} is not between 0 and 1", todo="Give p, not its log."
            )
    return sorted((p, place) for place, p in enumerate(p_values) if p is not None)


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of one model among several, 1 being the best.

    Attributes:
        name: of the model.
        mean: of its scores.
        place: by the mean; models with equal means share the best place.
        best: the best place it could hold: 1 and one more for each model surely above it.
        worst: the worst place it could hold.
    """

    name: str
    mean: float
    place: int
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class RankedPair:
    """The difference of two models' means on the same items.

    Attributes:
        first: name of the one.
        second: name of the other.
        difference: first minus second.
        p: of their difference; None where there is no test.
        p_holm: the same after Holm's adjustment for all pairs.
    """

    first: str
    second: str
    difference: float
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class ModelRanks:
    """Models in order of their means, and every pair of them.

    Attributes:
        ranks: the best mean first; of equal means in the order given.
        pairs: pairs of all models, in the order given.
    """

    ranks: tuple[Rank, ...]
    pairs: tuple[RankedPair, ...]


def rank_by_pairs(
    means: Mapping[str, float],
    tested: Sequence[tuple[str, str, float | None]],
    *,
    alpha: float = 0.05,
    corrected: bool = False,
) -> ModelRanks:
    """Rank models by their means on the same items, with the places each could hold.

    A model is surely above another where the test of their difference, after Holm's adjustment
    over all pairs, is alpha or less. The places that remain are a confidence set for all ranks at
    once (Mogstad, Romano, Shaikh and Wilhelm 2024, doi:10.1093/restud/rdad006; a bootstrap of ranks
    is not one). Any model that differs surely from no other could be the best.

    Args:
        means: mean of each model by name, more being better.
        tested: every pair once: the two names, and p of no difference (`share_test`, `mean_of`).
        alpha: level for all pairs together.
        corrected: whether the p-values are corrected already, for these pairs or more.

    Returns:
        The models, the best mean first, each with its place and the best and worst it could hold;
        and every pair with its adjusted p.

    Raises:
        UsageError: a p-value is not between 0 and 1.

    Example:
        >>> tested = [("a", "b", 0.001), ("a", "c", 0.004), ("b", "c", 0.4)]
        >>> ranks = rank_by_pairs({"a": 0.6, "b": 0.9, "c": 0.85}, tested).ranks
        >>> [(rank.name, rank.best, rank.worst) for rank in ranks]
        [('b', 1, 2), ('c', 1, 2), ('a', 3, 3)]
    """
    plain = [p for _, _, p in tested]
    adjusted = plain if corrected else holm(plain)
    pairs = tuple(
        RankedPair(one, other, means[one] - means[other], p, p_holm)
        for (one, other, p), p_holm in zip(tested, adjusted, strict=True)
    )
    return ModelRanks(_ranks(means, pairs, alpha), pairs)


def _ranks(
    means: Mapping[str, float], pairs: Sequence[RankedPair], alpha: float
) -> tuple[Rank, ...]:
    """The places that the pairs leave to each model."""
    above = dict.fromkeys(means, 0)
    below = dict.fromkeys(means, 0)
    for pair in pairs:
        if pair.p_holm is not None and pair.p_holm <= alpha:
            better, worse = (pair.first, pair.second)[:: 1 if pair.difference > 0 else -1]
            above[worse] += 1
            below[better] += 1
    ranks = (
        Rank(
            name,
            mean,
            place=1 + sum(other > mean for other in means.values()),
            best=1 + above[name],
            worst=len(means) - below[name],
        )
        for name, mean in means.items()
    )
    return tuple(sorted(ranks, key=lambda rank: rank.place))

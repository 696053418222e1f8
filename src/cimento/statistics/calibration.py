"""Probabilities against the truth: Brier scores, calibration, temperature; divergence."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import (
    NO_OBSERVATIONS,
    ArrayLike,
    Booleans,
    Floats,
    Integers,
    Statistic,
    codes,
    floats,
    kept_together,
    same_length,
    sum_in_order,
)

_ROUNDING = 1e-6


def brier(probabilities: ArrayLike, truth: Sequence[int]) -> Statistic:
    """Compute Brier's score: squared errors summed over classes, averaged over observations.

    ``mean of Σ_c (p_c - [c is right])²``, from 0 (best) to 2 (Brier 1950,
    doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2); for two classes it is twice the form
    that looks at one class only.

    Args:
        probabilities: one row per observation, one column per class; rows sum to 1.
        truth: the right column of each row.

    Returns:
        The score, from 0 to 2; a reason in its place where there are no observations.

    Raises:
        UsageError: rows that are not distributions, or columns that do not exist.

    Example:
        >>> round(brier([[0.8, 0.2], [0.4, 0.6]], [0, 1]).value, 3)
        0.2
    """
    p = _distributions(probabilities, truth)
    if not len(p):
        return Statistic(None, NO_OBSERVATIONS)
    right = np.zeros_like(p)
    right[np.arange(len(p)), list(truth)] = 1
    return Statistic(float(((p - right) ** 2).sum(axis=1).mean()))


def nll(probabilities: ArrayLike, truth: Sequence[int]) -> Statistic:
    """Compute the mean negative natural logarithm of the probability of what is right.

    ``-mean of ln p_c`` for the right class c, in nats (the logarithmic score: Good 1952,
    doi:10.1111/j.2517-6161.1952.tb00104.x).

    Args:
        probabilities: one row per observation, one column per class; rows sum to 1.
        truth: the right column of each row.

    Returns:
        The mean in nats, 0 or more; a reason in its place where something right has probability
        zero, or without observations.

    Raises:
        UsageError: rows that are not distributions, or columns that do not exist.

    Example:
        >>> round(nll([[0.5, 0.5], [0.75, 0.25]], [0, 1]).value, 3)
        1.04
    """
    p = _distributions(probabilities, truth)
    if not len(p):
        return Statistic(None, NO_OBSERVATIONS)
    right = p[np.arange(len(p)), list(truth)]
    if (right == 0).any():
        return Statistic(None, "something right has probability zero")
    return Statistic(float(-np.log(right).mean()))


def _distributions(probabilities: ArrayLike, truth: Sequence[int]) -> Floats:
    p = floats(probabilities, name="probabilities")
    same_length(probabilities=p, truth=truth)
    if not p.size:
        return np.zeros((0, 1))
    if p.ndim != 2 or (p < 0).any() or (abs(p.sum(axis=1) - 1) > _ROUNDING).any():  # noqa: PLR2004  # rows and columns
        raise UsageError(
            where="probabilities",
            seen="not every row holds probabilities that sum to 1",
            todo="Give one row an observation and one column per class.",
        )
    if min(truth) < 0 or max(truth) >= p.shape[1]:
        raise UsageError(
            where="truth",
            seen=f"a class outside 0 to {p.shape[1] - 1}",
            todo="Number classes as the columns of the probabilities.",
        )
    return p


@dataclass(frozen=True, slots=True)
class Reliability:
    """One bin of a reliability diagram.

    Attributes:
        low: lower end of the bin, outside it.
        high: upper end of the bin, inside it.
        n: number of observations in the bin.
        confidence: mean confidence of the observations; None in an empty bin.
        accuracy: the proportion of them that is right; None in an empty bin.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The expected calibration error with the bins it was made from.

    Attributes:
        ece: weighted mean of the absolute gap between confidence and accuracy; None without data.
        bins: bins from the lowest confidence to the highest.
        reason: why there is none.
    """

    ece: float | None
    bins: tuple[Reliability, ...]
    reason: str | None = None


def expected_calibration_error(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int = 10
) -> Calibration:
    """Compute the expected calibration error over bins of equal width.

    ``Σ_b n_b / n |accuracy_b - confidence_b|`` over bins that are open below and closed above
    (Naeini, Cooper and Hauskrecht 2015, doi:10.1609/aaai.v29i1.9602; bins as in Guo et al. 2017,
    arXiv:1706.04599). A confidence of exactly 0 is in the first bin.

    Args:
        confidence: the probability given to each answer, between 0 and 1.
        correct: whether each answer is right; or the proportion of people who say so, from 0 to 1.
        bins: number of bins.

    Returns:
        The error, from 0 to 1, and every bin; a reason in place of the error without observations.

    Raises:
        UsageError: a confidence or share outside 0 to 1, columns of different lengths, or no bin.

    Example:
        >>> round(expected_calibration_error([0.95, 0.95, 0.65, 0.65], [1, 1, 1, 0]).ece, 3)
        0.1
    """
    values, right, place = _binned(confidence, correct, bins)
    edges = np.linspace(0, 1, bins + 1)
    rows = []
    for number in range(bins):
        inside = place == number
        n = int(inside.sum())
        means = (float(values[inside].mean()), float(right[inside].mean())) if n else (None, None)
        rows.append(Reliability(float(edges[number]), float(edges[number + 1]), n, *means))
    if not values.size:
        return Calibration(None, tuple(rows), NO_OBSERVATIONS)
    gaps = [
        row.n * abs(row.accuracy - row.confidence)
        for row in rows
        if row.accuracy is not None and row.confidence is not None
    ]
    return Calibration(sum_in_order(gaps) / values.size, tuple(rows))


def _binned(
    confidence: ArrayLike, correct: ArrayLike, bins: int
) -> tuple[Floats, Floats, Integers]:
    """Confidences, what is right, and the bin of each, open below and closed above."""
    values, right = floats(confidence, name="confidence"), floats(correct, name="correct")
    same_length(confidence=values, correct=right)
    both = np.concatenate([values, right])
    if bins < 1 or (both < 0).any() or (both > 1).any():
        raise UsageError(
            where="calibration",
            seen="a confidence outside 0 to 1" if bins >= 1 else f"{bins} bins",
            todo="Confidences are probabilities; bins are 1 or more.",
        )
    edges = np.linspace(0, 1, bins + 1)
    return values, right, np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)


@dataclass(frozen=True, slots=True)
class BrierParts:
    """The mean squared distance of probabilities from what is so, and its parts.

    Attributes:
        score: ``mean (p - o)²``, from 0 (best) to 1; None without data.
        reliability: the part that calibration would remove: 0 is best.
        resolution: the part that the bins explain: the more the better.
        uncertainty: the variance of what is so, which no probability changes.
        within: the rest, from probabilities that differ within a bin.
        reason: why there is none.
    """

    score: float | None
    reliability: float | None = None
    resolution: float | None = None
    uncertainty: float | None = None
    within: float | None = None
    reason: str | None = None


def brier_parts(probability: ArrayLike, outcome: ArrayLike, *, bins: int = 10) -> BrierParts:
    """Divide Brier's score of one class into reliability, resolution, uncertainty and the rest.

    ``reliability - resolution + uncertainty`` is
    ``Σ n_b/n (p_b - o_b)² - Σ n_b/n (o_b - o)² + mean (o_i - o)²`` over bins b with mean
    probability p_b and mean outcome o_b (Murphy 1973,
    doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2). The rest is nothing where all
    probabilities of a bin are equal (Stephenson, Coelho and Jolliffe 2008,
    doi:10.1175/2007WAF2006116.1). It is half of `brier` of two classes.

    Args:
        probability: probability of each observation, between 0 and 1.
        outcome: 0 or 1, or the proportion of people who say 1.
        bins: number of bins of equal width, open below and closed above.

    Returns:
        The score of one class, from 0 to 1, and its parts; a reason in their place without
        observations.

    Raises:
        UsageError: a number outside 0 to 1, columns of different lengths, or no bin.

    Example:
        >>> parts = brier_parts([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0])
        >>> round(parts.score, 3), round(parts.uncertainty, 3)
        (0.19, 0.188)
    """
    p, o, place = _binned(probability, outcome, bins)
    if not p.size:
        return BrierParts(None, reason=NO_OBSERVATIONS)
    sizes = np.bincount(place, minlength=bins)
    used = sizes > 0
    share = sizes[used] / p.size
    p_mean = np.bincount(place, weights=p, minlength=bins)[used] / sizes[used]
    o_mean = np.bincount(place, weights=o, minlength=bins)[used] / sizes[used]
    score = float(((p - o) ** 2).mean())
    reliability = float((share * (p_mean - o_mean) ** 2).sum())
    resolution = float((share * (o_mean - o.mean()) ** 2).sum())
    uncertainty = float(((o - o.mean()) ** 2).mean())
    within = score - (reliability - resolution + uncertainty)
    return BrierParts(score, reliability, resolution, uncertainty, within)


LOWEST, HIGHEST = 1e-2, 1e4
"""The temperatures that are tried."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Calibration before and after the scores are divided by a temperature.

    Attributes:
        temperature: the best for all observations; above 1: the answers were too sure.
        nll: mean negative log-likelihood before, in nats.
        nll_scaled: negative log-likelihood with the temperature that is best on the other folds.
        ece: expected calibration error before, ten bins.
        ece_scaled: expected calibration error with that temperature, as for `nll_scaled`.
        at_bound: the best temperature is the highest or lowest that was tried: the scores say
            nothing of what is right, or everything.
        reason: why there is none.
    """

    temperature: float | None
    nll: float | None
    nll_scaled: float | None
    ece: float | None
    ece_scaled: float | None
    at_bound: bool = False
    reason: str | None = None


def temperature_scaling(
    scores: ArrayLike,
    truth: Sequence[int],
    *,
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    folds: int = 10,
) -> Scaling:
    """Divide scores by the temperature with the lowest negative log-likelihood on other folds.

    The softmax of ``scores / T`` (Guo et al. 2017, arXiv:1706.04599, section 4.2); the choice of
    the best option never changes. Each fold is scaled by the temperature of the others.

    Args:
        scores: one row per observation, one column per class: log-probabilities or other scores.
        truth: the right column of each row.
        seed: of the division into folds.
        clusters: what must stay together in one fold; of crossed clusters the first factor.
        folds: number of parts; fewer if there are fewer clusters.

    Raises:
        UsageError: scores that are not finite, columns that do not exist or of different
            lengths, or fewer than two folds.
    """
    values, right = _checked(scores, truth, folds)
    if not values.size:
        return Scaling(None, None, None, None, None, reason=NO_OBSERVATIONS)
    groups, m = codes(kept_together(clusters if clusters is not None else range(len(values))))
    same_length(scores=values, clusters=groups)
    if m < 2:  # noqa: PLR2004  # one part to fit on, one to scale
        return Scaling(None, None, None, None, None, reason="one cluster only")
    parts = np.random.default_rng(seed).permutation(m)[groups] % min(folds, m)
    scaled = np.empty_like(values)
    for part in range(min(folds, m)):
        held = parts == part
        scaled[held] = values[held] / best_temperature(values[~held], right[~held])
    best = best_temperature(values, right)
    return Scaling(
        temperature=best,
        nll=_nll(values, right),
        nll_scaled=_nll(scaled, right),
        ece=_ece(values, right),
        ece_scaled=_ece(scaled, right),
        at_bound=not LOWEST * 1.01 < best < HIGHEST / 1.01,
    )


def _checked(scores: ArrayLike, truth: Sequence[int], folds: int) -> tuple[Floats, Integers]:
    values, right = floats(scores, name="scores"), np.asarray(truth, dtype=np.int64)
    same_length(scores=values, truth=right)
    if folds < 2:  # noqa: PLR2004  # as above
        raise UsageError(where="folds", seen=f"{folds}", todo="Give two or more.")
    if values.size and (values.ndim != 2 or right.min() < 0 or right.max() >= values.shape[1]):  # noqa: PLR2004  # rows and columns
        raise UsageError(
            where="truth",
            seen="a class that is not a column of the scores",
            todo="Number classes as the columns.",
        )
    return values, right


def best_temperature(scores: Floats, truth: Integers) -> float:
    """The temperature with the lowest mean negative log-likelihood.

    Args:
        scores: one row per observation, one column per class.
        truth: the right column of each row.
    """
    from scipy import optimize

    # Convex in the inverse of the temperature; looked for on the scale of its logarithm.
    minimum = optimize.minimize_scalar(
        lambda log: _nll(scores * math.exp(-log), truth),
        bounds=(math.log(LOWEST), math.log(HIGHEST)),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(minimum.x))


def _nll(scores: Floats, truth: Integers) -> float:
    # Asked hundreds of times for one temperature: scipy's logsumexp, for any array, takes longer.
    highest = scores.max(axis=1)
    sums = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest
    return float((sums - scores[np.arange(len(scores)), truth]).mean())


def _ece(scores: Floats, truth: Integers) -> float | None:
    from scipy import special

    p = special.softmax(scores, axis=1)
    correct: Booleans = p.argmax(axis=1) == truth
    return expected_calibration_error(p.max(axis=1).clip(0, 1), correct.tolist()).ece


def jensen_shannon(first: Mapping[Hashable, float], second: Mapping[Hashable, float]) -> Statistic:
    """Compute the Jensen-Shannon divergence of two distributions, in bits.

    ``(KL(P || M) + KL(Q || M)) / 2`` with ``M = (P + Q) / 2`` and logarithms to base 2 (Lin 1991,
    doi:10.1109/18.61115). Its square root is a distance.

    Args:
        first: weight of each label, such as counts of choices or probabilities; normalized to sum
            to 1.
        second: label to its probability on the other side; a label that only one side has weighs
            nothing on the other.

    Returns:
        The divergence in bits: 0 for equal distributions, 1 for disjoint ones; a reason in its
        place where one side has no weight.

    Raises:
        UsageError: a weight that is negative, NaN or infinite.

    Example:
        >>> round(jensen_shannon({"a": 1, "b": 1}, {"a": 1}).value, 3)
        0.311
    """
    p, q = _shares(first), _shares(second)
    if p is None or q is None:
        return Statistic(None, "one side has no weight at all")
    total = math.fsum(_part(p.get(label, 0.0), q.get(label, 0.0)) for label in p.keys() | q.keys())
    return Statistic(min(1.0, max(0.0, total / 2)))


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
    return sum(share * math.log2(share / middle) for share in (p, q) if share > 0)

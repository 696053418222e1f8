"""Proportions known through a judge that errs, with its measured errors taken into account."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cimento.statistics.intervals import z_quantile


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """A proportion and what it rests on.

    Attributes:
        share: from 0 to 1.
        n: number of verdicts, effective where they come in clusters
            (`cimento.statistics.intervals.effective_number`).
    """

    share: float
    n: float


def corrected_share(apparent: float, sensitivity: float, specificity: float) -> float | None:
    """Correct a proportion for a judge's errors.

    ``(a + Sp - 1) / (Se + Sp - 1)``, cut off at 0 and 1 (Rogan and Gladen 1978, American Journal of
    Epidemiology 107, 71-76).

    Args:
        apparent: proportion of passes by the judge.
        sensitivity: proportion of true passes that the judge passes.
        specificity: proportion of true failures that the judge fails.

    Returns:
        The proportion of true passes; None where the judge tells nothing, Se + Sp being at most 1.
    """
    telling = sensitivity + specificity - 1
    if telling <= 0:
        return None
    return min(1.0, max(0.0, (apparent + specificity - 1) / telling))


def corrected_interval(
    apparent: MeasuredShare,
    sensitivity: MeasuredShare,
    specificity: MeasuredShare,
    *,
    level: float = 0.95,
) -> tuple[float, float] | None:
    """The interval of `corrected_share` for the very things that were judged, not for others.

    What is uncertain is how the judge errs, and how often: of n things of which π pass, the
    variance of the judge's proportion is ``(π Se (1 - Se) + (1 - π) Sp (1 - Sp)) / n``, and those
    of Se and Sp are added as by Lang and Reiczigel 2014 (Preventive Veterinary Medicine 113,
    13-22): with one of two verdicts added to each, and the middle shifted by what their errors do
    to it.

    Args:
        apparent: proportion of passes by the judge.
        sensitivity: of true passes.
        specificity: of true failures.
        level: confidence level.

    Returns:
        Both ends, from 0 to 1; None where the judge tells nothing.
    """
    z = z_quantile(level)
    right, wrong = _with_two(sensitivity), _with_two(specificity)
    telling = right.share + wrong.share - 1
    if telling <= 0:
        return None
    true = min(1.0, max(0.0, (apparent.share + wrong.share - 1) / telling))
    by_right, by_wrong = true * _variance(right), (1 - true) * _variance(wrong)
    erring = (
        true * right.n * _variance(right) + (1 - true) * wrong.n * _variance(wrong)
    ) / apparent.n
    spread = erring + true * by_right + (1 - true) * by_wrong
    reach = z * math.sqrt(spread) / telling
    middle = true + 2 * z * z * (by_right - by_wrong)
    return max(0.0, min(1.0, middle - reach)), min(1.0, max(0.0, middle + reach))


def _with_two(measured: MeasuredShare) -> MeasuredShare:
    """A proportion with one pass and one failure added."""
    return MeasuredShare((measured.share * measured.n + 1) / (measured.n + 2), measured.n + 2)


def _variance(measured: MeasuredShare) -> float:
    return measured.share * (1 - measured.share) / measured.n


@dataclass(frozen=True, slots=True)
class WeightedPart:
    """One of the parts that a proportion is made of.

    Attributes:
        weight: the part of the whole.
        share: the proportion in it.
        low: lower end of its interval.
        high: upper end of it.
    """

    weight: float
    share: float
    low: float
    high: float


def joined_parts(parts: Sequence[WeightedPart]) -> WeightedPart:
    """The proportion of the whole, from parts that were estimated apart.

    The interval is by recovering variances from those of the parts (Zou and Donner 2008, Statistics
    in Medicine 27, 1693-1702): ``θ - sqrt(Σ w²(θ_i - l_i)²)`` to ``θ + sqrt(Σ w²(u_i - θ_i)²)``.

    Args:
        parts: with weights that add up to one.
    """
    share = math.fsum(part.weight * part.share for part in parts)
    below = math.fsum((part.weight * (part.share - part.low)) ** 2 for part in parts)
    above = math.fsum((part.weight * (part.high - part.share)) ** 2 for part in parts)
    low, high = max(0.0, share - math.sqrt(below)), min(1.0, share + math.sqrt(above))
    return WeightedPart(1.0, share, low, high)

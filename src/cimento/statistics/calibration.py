"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.values import NO_OBSERVATIONS, Estimate, floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.values import Floats

_ROUNDING = 1e-6


def brier(probabilities: ArrayLike, truth: Sequence[int]) -> Estimate:
    """Brier's score, the sum over classes of squared errors, averaged over observations.

    ``mean of Σ_c (p_c - [c is right])²``, from 0 (best) to 2 (Brier 1950,
    doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2); for two classes it is twice the form
    that looks at one class only.

    Args:
        probabilities: one row an observation, one column a class; rows sum to 1.
        truth: the right column of each row.

    Raises:
        UsageError: rows that are no distributions, or columns that do not exist.
    """
    import numpy as np

    p = _distributions(probabilities, truth)
    if not len(p):
        return Estimate(None, NO_OBSERVATIONS)
    right = np.zeros_like(p)
    right[np.arange(len(p)), list(truth)] = 1
    return Estimate(float(((p - right) ** 2).sum(axis=1).mean()))


def nll(probabilities: ArrayLike, truth: Sequence[int]) -> Estimate:
    """The mean negative natural logarithm of the probability of what is right, in nats.

    Args:
        probabilities: one row an observation, one column a class; rows sum to 1.
        truth: the right column of each row.

    Returns:
        The mean, or a reason where something right has probability zero.

    Raises:
        UsageError: rows that are no distributions, or columns that do not exist.
    """
    import numpy as np

    p = _distributions(probabilities, truth)
    if not len(p):
        return Estimate(None, NO_OBSERVATIONS)
    right = p[np.arange(len(p)), list(truth)]
    if (right == 0).any():
        return Estimate(None, "something right has probability zero")
    return Estimate(float(-np.log(right).mean()))


def _distributions(probabilities: ArrayLike, truth: Sequence[int]) -> Floats:
    import numpy as np

    p = floats(probabilities, name="probabilities")
    same_length(probabilities=p, truth=truth)
    if not p.size:
        return np.zeros((0, 1))
    if p.ndim != 2 or (p < 0).any() or (abs(p.sum(axis=1) - 1) > _ROUNDING).any():  # noqa: PLR2004  # rows and columns
        raise UsageError(
            where="probabilities",
            seen="not every row holds probabilities that sum to 1",
            todo="Give one row an observation and one column a class.",
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
        high: upper end, inside it.
        n: observations in the bin.
        confidence: their mean confidence; None in an empty bin.
        accuracy: the share of them that is right; None in an empty bin.
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
        bins: from the lowest confidence to the highest.
        reason: why there is none.
    """

    ece: float | None
    bins: tuple[Reliability, ...]
    reason: str | None = None


def expected_calibration_error(
    confidence: ArrayLike, correct: Sequence[bool], *, bins: int = 10
) -> Calibration:
    """The expected calibration error over bins of equal width, open below and closed above.

    ``Σ_b n_b / n |accuracy_b - confidence_b|`` (Naeini, Cooper and Hauskrecht 2015,
    doi:10.1609/aaai.v29i1.9602; bins as in Guo et al. 2017, arXiv:1706.04599). A confidence of
    exactly 0 is in the first bin.

    Args:
        confidence: the probability given to each answer, between 0 and 1.
        correct: whether each answer is right.
        bins: how many.

    Raises:
        UsageError: a confidence outside 0 to 1, columns of different lengths, or no bin.
    """
    import numpy as np

    values, right = floats(confidence, name="confidence"), np.asarray(correct, dtype=bool)
    same_length(confidence=values, correct=right)
    if bins < 1 or (values < 0).any() or (values > 1).any():
        raise UsageError(
            where="calibration",
            seen="a confidence outside 0 to 1" if bins >= 1 else f"{bins} bins",
            todo="Confidences are probabilities; bins are 1 or more.",
        )
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
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
    return Calibration(sum(gaps) / values.size, tuple(rows))

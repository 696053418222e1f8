"""Temperature scaling: how calibrated answers would be if only their sharpness were changed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.calibration import expected_calibration_error
from cimento.statistics.values import NO_OBSERVATIONS, codes, floats, same_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from cimento.statistics.values import Floats, Integers

LOWEST, HIGHEST = 1e-2, 1e4
"""The temperatures that are tried."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Calibration before and after the scores are divided by a temperature.

    Attributes:
        temperature: the best for all observations; above 1: the answers were too sure.
        nll: mean negative log-likelihood before, in nats.
        nll_scaled: the same with the temperature that is best on the other folds.
        ece: expected calibration error before, ten bins.
        ece_scaled: the same after, as for `nll_scaled`.
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
        scores: one row an observation, one column a class: log-probabilities or other scores.
        truth: the right column of each row.
        seed: of the division into folds.
        clusters: what must stay together in one fold.
        folds: how many parts; fewer where there are fewer clusters.

    Raises:
        UsageError: scores that are not finite, columns that do not exist or of different
            lengths, or fewer than two folds.
    """
    import numpy as np

    values, right = _checked(scores, truth, folds)
    if not values.size:
        return Scaling(None, None, None, None, None, reason=NO_OBSERVATIONS)
    groups, m = codes(clusters if clusters is not None else range(len(values)))
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
    import numpy as np

    values, right = floats(scores, name="scores"), np.asarray(truth, dtype=np.int64)
    same_length(scores=values, truth=right)
    if folds < 2:  # noqa: PLR2004  # as above
        raise UsageError(where="folds", seen=f"{folds}", todo="Give two or more.")
    if values.size and (values.ndim != 2 or right.min() < 0 or right.max() >= values.shape[1]):  # noqa: PLR2004  # rows and columns
        raise UsageError(
            where="truth",
            seen="a class that is no column of the scores",
            todo="Number classes as the columns.",
        )
    return values, right


def best_temperature(scores: Floats, truth: Integers) -> float:
    """The temperature with the lowest mean negative log-likelihood.

    Args:
        scores: one row an observation, one column a class.
        truth: the right column of each row.
    """
    from scipy import optimize

    # Convex in the inverse of the temperature; looked for on the scale of its logarithm.
    found = optimize.minimize_scalar(
        lambda log: _nll(scores * math.exp(-log), truth),
        bounds=(math.log(LOWEST), math.log(HIGHEST)),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(float(found.x))


def _nll(scores: Floats, truth: Integers) -> float:
    from scipy import special

    chosen = scores[range(len(scores)), truth]
    return float((special.logsumexp(scores, axis=1) - chosen).mean())


def _ece(scores: Floats, truth: Integers) -> float | None:
    from scipy import special

    p = special.softmax(scores, axis=1)
    correct: NDArray[np.bool_] = p.argmax(axis=1) == truth
    return expected_calibration_error(p.max(axis=1).clip(0, 1), correct.tolist()).ece

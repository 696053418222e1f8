"""Intervals of how well a score or an answer tells two classes apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.statistics.classification import ONE_CLASS_ONLY
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval
from cimento.statistics.jackknife import jackknife
from cimento.statistics.values import floats, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cimento.statistics.correlation_draws import Weighted
    from cimento.statistics.values import Floats


def auc_interval(
    scores: ArrayLike, truth: Sequence[bool], design: Design, *, level: float = 0.95
) -> Interval:
    """The interval of the area under the ROC curve (`classification.auc`).

    ``2 AUC - 1`` (Somers's d) lies between -1 and 1 and has the interval of such coefficients,
    the jackknife's on Fisher's z (`jackknife`), which is brought back to the scale of AUC.

    Args:
        scores: one an observation; higher for the true class.
        truth: whether each is of the true class.
        design: of the observations.
        level: confidence level.

    Raises:
        UsageError: columns of different lengths.
    """
    import numpy as np

    values, true = floats(scores, name="scores"), np.array(truth, dtype=bool)
    same_length(scores=values, truth=true, units=design.units)
    ahead = np.sign(values[true][:, None] - values[~true][None, :])

    def statistic(weights: Floats) -> Floats:
        one, other = weights[:, true], weights[:, ~true]
        pairs = one.sum(axis=1) * other.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = np.einsum("ij,ij->i", one @ ahead, other) / pairs
        return found

    return _between_0_and_1(statistic, design, level=level)


def balanced_interval(
    answers: Sequence[bool], truth: Sequence[bool], design: Design, *, level: float = 0.95
) -> Interval:
    """The interval of balanced accuracy B, made from that of ``2 B - 1`` as `auc_interval` is.

    Args:
        answers: whether each observation was called true.
        truth: whether it is.
        design: of the observations.
        level: confidence level.

    Raises:
        UsageError: columns of different lengths.
    """
    import numpy as np

    same_length(answers=answers, truth=truth, units=design.units)
    true = np.array(truth, dtype=bool)
    right = true == np.array(answers, dtype=bool)

    def statistic(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = [
                (weights * (of & right)).sum(axis=1) / (weights * of).sum(axis=1)
                for of in (true, ~true)
            ]
        found: Floats = rates[0] + rates[1] - 1
        return found

    return _between_0_and_1(statistic, design, level=level)


def _between_0_and_1(statistic: Weighted, design: Design, *, level: float) -> Interval:
    """The interval of (x + 1) / 2, for a statistic x between -1 and 1."""
    import numpy as np

    if design.shortage:
        return Interval(None, None, None, design.shortage)
    estimate = float(statistic(np.ones((1, design.n)))[0])
    if math.isnan(estimate):
        return Interval(None, None, None, ONE_CLASS_ONLY)
    found = jackknife(statistic, estimate, design, level=level)
    if found.low is None or found.high is None:
        return found
    return Interval((found.low + 1) / 2, (found.high + 1) / 2, found.method)

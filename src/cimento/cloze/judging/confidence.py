"""How probable the model holds what fits, and what does not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.cloze.judging.candidates import Candidate
from cimento.statistics.values import Value

if TYPE_CHECKING:
    from cimento.statistics.calibration import Calibration

NO_PROBABILITY = "no candidate of this kind with a probability"


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probabilities of candidates that were judged.

    Attributes:
        fitting: mean probability of those that fit.
        unfitting: mean probability of those that do not.
        auc: how often one that fits is more probable than one that does not, ties as half.
        wrong_first: items whose first candidate does not fit.
        wrong_above: candidates that do not fit and are more probable than `threshold`.
        threshold: that probability.
        without_probability: judged candidates that a recording gave no probability for.
    """

    fitting: Value
    unfitting: Value
    auc: Value
    wrong_first: int
    wrong_above: int
    threshold: float
    without_probability: int


def confidence(candidates: Iterable[Candidate], *, threshold: float = 0.5) -> Confidence:
    """The probabilities of candidates that fit beside those of candidates that do not.

    Args:
        candidates: those that nobody has judged count for nothing.
        threshold: probability above which candidates that do not fit are counted.
    """
    from cimento.statistics.classification import auc

    judged = [each for each in candidates if each.fits is not None]
    scored = [(each.probability, each.fits) for each in judged if each.probability is not None]
    probabilities = [probability for probability, _ in scored]
    truth = [bool(fits) for _, fits in scored]
    wrong = [each for each in judged if not each.fits]
    return Confidence(
        fitting=_mean([probability for probability, fits in scored if fits]),
        unfitting=_mean([probability for probability, fits in scored if not fits]),
        auc=auc(probabilities, truth),
        wrong_first=sum(each.rank == 1 for each in wrong),
        wrong_above=sum((each.probability or 0.0) > threshold for each in wrong),
        threshold=threshold,
        without_probability=len(judged) - len(scored),
    )


def calibration(candidates: Iterable[Candidate], *, bins: int = 10) -> Calibration:
    """How the share of candidates that fit goes with their probability.

    Several candidates may fit in one blank, so that a well calibrated model need not have equal
    shares and probabilities; the curve should rise all the same.

    Args:
        candidates: those that were not judged, or have no probability, count for nothing.
        bins: of equal width.
    """
    from cimento.statistics.calibration import expected_calibration_error

    used = [
        (each.probability, each.fits)
        for each in candidates
        if each.probability is not None and each.fits is not None
    ]
    return expected_calibration_error(
        [probability for probability, _ in used], [fits for _, fits in used], bins=bins
    )


def _mean(values: Sequence[float]) -> Value:
    if not values:
        return Value(None, NO_PROBABILITY)
    return Value(math.fsum(values) / len(values))

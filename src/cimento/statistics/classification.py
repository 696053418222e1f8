"""Classification: yes-or-no answers and scores against the truth, with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass
from statistics import NormalDist

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import (
    ArrayLike,
    Booleans,
    Design,
    Floats,
    Integers,
    Statistic,
    codes,
    floats,
    kept_together,
    same_length,
)
from cimento.statistics.draws import Weighted, jackknife
from cimento.statistics.intervals import Interval

NO_POSITIVE = "nothing is positive"
NO_NEGATIVE = "nothing is negative"
ONE_CLASS_ONLY = "answers or truths are all of one class"
LOG_LINEAR = "log-linear correction"


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion table: true and false positives and negatives.

    Attributes:
        tp: number of true positives: positive, and called so.
        fp: number of false positives.
        fn: number of false negatives: positive, and not called so.
        tn: number of true negatives.
    """

    tp: int
    fp: int
    fn: int
    tn: int


def confusion(truth: Sequence[bool], answers: Sequence[bool]) -> Confusion:
    """Compute the counts of answers by truth that `mcc`, `balanced_accuracy` and `d_prime` take.

    The two-by-two table of Fawcett 2006, section 2 (doi:10.1016/j.patrec.2005.10.010).

    Args:
        truth: shape (n,), whether each is positive.
        answers: shape (n,), whether each was called positive.

    Returns:
        The numbers of true and of false positives and negatives.

    Raises:
        UsageError: the two are not equally long.

    Example:
        >>> confusion([True, True, True, False], [True, True, False, False])
        Confusion(tp=2, fp=0, fn=1, tn=1)
    """
    same_length(truth=truth, answers=answers)
    counts = Counter(zip(map(bool, truth), map(bool, answers), strict=True))
    return Confusion(
        tp=counts[True, True],
        fp=counts[False, True],
        fn=counts[True, False],
        tn=counts[False, False],
    )


def _confusion(counts: Confusion) -> Confusion:
    """The counts, if they are a confusion table; a bare one does not say what its rows are.

    Raises:
        UsageError: they are something else.
    """
    if isinstance(counts, Confusion):
        return counts
    raise UsageError(
        where="counts",
        seen=f"a {type(counts).__name__}, and a Confusion is needed",
        todo="Write confusion(truth, answers), or Confusion(tp=4, fp=2, fn=3, tn=1).",
    )


def tpr(counts: Confusion) -> Statistic:
    """The true positive rate, or sensitivity: ``tp / (tp + fn)``."""
    return _share(counts.tp, counts.tp + counts.fn, NO_POSITIVE)


def tnr(counts: Confusion) -> Statistic:
    """The true negative rate, or specificity: ``tn / (tn + fp)``."""
    return _share(counts.tn, counts.tn + counts.fp, NO_NEGATIVE)


def _share(part: int, whole: int, reason: str) -> Statistic:
    return Statistic(part / whole) if whole else Statistic(None, reason)


def balanced_accuracy(counts: Confusion) -> Statistic:
    """Compute balanced accuracy, the mean of the true positive and the true negative rate.

    ``(tp / (tp + fn) + tn / (tn + fp)) / 2`` (Brodersen et al. 2010, doi:10.1109/ICPR.2010.764),
    which is 0.5 for every constant answer.

    Args:
        counts: answers by truth, from `confusion`.

    Returns:
        A proportion from 0 to 1; a reason in its place where nothing is positive or nothing is
        negative.

    Raises:
        UsageError: the counts are not a `Confusion`.

    Example:
        >>> from cimento.statistics import confusion
        >>> counts = confusion([True, True, True, False], [True, True, False, False])
        >>> round(balanced_accuracy(counts).value, 3)
        0.833
    """
    positive, negative = tpr(_confusion(counts)), tnr(counts)
    if positive.value is None or negative.value is None:
        return Statistic(None, positive.reason or negative.reason)
    return Statistic((positive.value + negative.value) / 2)


def mcc(counts: Confusion) -> Statistic:
    """Compute Matthews's correlation coefficient of answers and truth.

    ``(tp tn - fp fn) / sqrt((tp + fp)(tp + fn)(tn + fp)(tn + fn))`` (Matthews 1975,
    doi:10.1016/0005-2795(75)90109-9).

    Args:
        counts: answers by truth, from `confusion`.

    Returns:
        A coefficient from -1 to 1; undefined, not zero, with a reason, where a factor below is
        zero.

    Raises:
        UsageError: the counts are not a `Confusion`.

    Example:
        >>> from cimento.statistics import confusion
        >>> counts = confusion([True, True, True, False], [True, True, False, False])
        >>> round(mcc(counts).value, 3)
        0.577
    """
    tp, fp, fn, tn = astuple(_confusion(counts))
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if below == 0:
        return Statistic(None, ONE_CLASS_ONLY)
    return Statistic((tp * tn - fp * fn) / math.sqrt(below))


def f1(counts: Confusion) -> Statistic:
    """The harmonic mean of precision and recall of the positive class."""
    return _share(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn, NO_POSITIVE)


@dataclass(frozen=True, slots=True)
class Detection:
    """Signal detection: sensitivity to two classes, and the inclination to one answer.

    Attributes:
        d_prime: ``z(hits) - z(false alarms)``; None where a class is empty.
        criterion: ``-(z(hits) + z(false alarms)) / 2``; above 0: inclined to answer no.
        method: the correction of the two rates.
        reason: why there is none.
    """

    d_prime: float | None
    criterion: float | None
    method: str = LOG_LINEAR
    reason: str | None = None


def d_prime(counts: Confusion) -> Detection:
    """Compute sensitivity d' and criterion c, with the log-linear correction.

    ``d' = z(H) - z(F)`` and ``c = -(z(H) + z(F)) / 2`` of the rates of hits and of false alarms
    (Green and Swets 1966). Rates are ``(count + 0.5) / (n + 1)`` (Hautus 1995,
    doi:10.3758/BF03203619), so that none is 0 or 1, in every table and not only where it is needed.

    Args:
        counts: answers by truth, from `confusion`.

    Returns:
        Both, in units of the standard deviation of the noise; a reason in their place where nothing
        is positive or nothing is negative.

    Raises:
        UsageError: the counts are not a `Confusion`.

    Example:
        >>> from cimento.statistics import confusion
        >>> counts = confusion([True, True, True, False], [True, True, False, False])
        >>> round(d_prime(counts).d_prime, 3)
        0.993
    """
    positive, negative = _confusion(counts).tp + counts.fn, counts.fp + counts.tn
    if not positive or not negative:
        return Detection(None, None, reason=NO_NEGATIVE if positive else NO_POSITIVE)
    z = NormalDist().inv_cdf
    hits = z((counts.tp + 0.5) / (positive + 1))
    alarms = z((counts.fp + 0.5) / (negative + 1))
    return Detection(hits - alarms, -(hits + alarms) / 2)


def auc(scores: ArrayLike, truth: Sequence[bool]) -> Statistic:
    """Compute the area under the ROC curve: how often a positive scores above a negative.

    The Mann-Whitney form from mid-ranks, in which a tie counts half (Hanley and McNeil 1982,
    doi:10.1148/radiology.143.1.7063747).

    Args:
        scores: shape (n,), higher for positives.
        truth: shape (n,), whether each is positive.

    Returns:
        A proportion from 0 to 1; a reason in its place where nothing is positive or nothing is
        negative.

    Raises:
        UsageError: the two are not equally long.

    Example:
        >>> auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]).value
        0.75
    """
    values = floats(scores, name="scores")
    same_length(scores=values, truth=truth)
    positive = np.asarray(truth, dtype=bool)
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return Statistic(None, NO_NEGATIVE if n else NO_POSITIVE)
    ranks = mid_ranks(values)
    return Statistic(float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m)))


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[inverse]
    return ranks


@dataclass(frozen=True, slots=True)
class Threshold:
    """The quality of a threshold on a score, chosen by cross-validation.

    Attributes:
        mcc: Matthews's correlation coefficient of the answers to what was held out, all folds
            together; None where undefined.
        mcc_in_sample: coefficient of the best threshold for all, which flatters.
        thresholds: the best threshold of each fold's training part; a score at or above is a yes.
        reason: why there is no `mcc`.
    """

    mcc: float | None
    mcc_in_sample: float | None
    thresholds: tuple[float, ...]
    reason: str | None = None


def threshold_mcc(
    scores: ArrayLike,
    truth: Sequence[bool],
    *,
    seed: int,
    folds: int = 10,
    clusters: Sequence[Hashable] | None = None,
) -> Threshold:
    """Compute the MCC of a score against yes-or-no judgments, by cross-validation.

    The threshold that is best on the other folds answers for each fold (as CoLA's unsupervised
    baselines do with a held-out set: Warstadt et al. 2019, doi:10.1162/tacl_a_00290). Thresholds
    lie halfway between neighboring scores; of equally good ones the lowest is taken.

    Args:
        scores: scores of the observations, higher for yes.
        truth: whether each is a yes.
        seed: seed of the division into folds.
        folds: number of parts, alike in their proportion of yes; fewer if there are fewer clusters.
        clusters: what must stay together in one fold; of crossed ones the first factor.

    Returns:
        Both MCCs, from -1 to 1, and the threshold of each fold; a reason for an undefined MCC.

    Raises:
        UsageError: columns of different lengths, or fewer than two folds.

    Example:
        >>> scores, truth = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [False] * 4 + [True] * 4
        >>> threshold_mcc(scores, truth, seed=1).mcc
        1.0
    """
    values, positive = floats(scores, name="scores"), np.asarray(truth, dtype=bool)
    same_length(scores=values, truth=positive)
    groups, m = codes(kept_together(clusters if clusters is not None else range(values.size)))
    same_length(scores=values, clusters=groups)
    if folds < 2:  # noqa: PLR2004  # one part to choose on, one to answer for
        raise UsageError(where="folds", seen=f"{folds}", todo="Give two or more.")
    if not positive.any() or positive.all() or (values == values[0]).all() or m == 1:
        return Threshold(None, None, (), ONE_CLASS_ONLY if m > 1 else "one cluster only")
    parts = balanced_folds(groups, positive, folds=min(folds, m), seed=seed)
    answers, chosen = np.zeros(values.size, dtype=bool), []
    for part in range(min(folds, m)):
        held = parts == part
        chosen.append(best_threshold(values[~held], positive[~held]))
        answers[held] = values[held] >= chosen[-1]
    held_out = mcc(confusion(positive.tolist(), answers.tolist()))
    whole = values >= best_threshold(values, positive)
    flattering = mcc(confusion(positive.tolist(), whole.tolist())).value
    return Threshold(held_out.value, flattering, tuple(chosen), held_out.reason)


def balanced_folds(groups: Integers, positive: Booleans, *, folds: int, seed: int) -> Integers:
    """The fold of each row: clusters dealt out by their proportion of yes, equal ones at random.

    Folds that differ in their proportions of yes would bias the held-out MCC downwards.

    Args:
        groups: number of each row's cluster, from 0.
        positive: whether each row is a yes.
        folds: number of folds; at most the number of clusters.
        seed: of the order of equal clusters.
    """
    shares = np.bincount(groups, weights=positive) / np.bincount(groups)
    order = np.lexsort((np.random.default_rng(seed).random(shares.size), shares))
    fold = np.empty(shares.size, dtype=np.int64)
    fold[order] = np.arange(shares.size) % folds
    return fold[groups]


def best_threshold(values: Floats, positive: Booleans) -> float:
    """The threshold with the largest MCC; the lowest of several, minus infinity where none is.

    Args:
        values: one score an observation.
        positive: whether each is a yes.
    """
    order = np.argsort(values, kind="stable")
    ordered, is_positive = values[order], positive[order]
    n, p = values.size, int(positive.sum())
    # Cutting before each new value: what lies below is answered no.
    cuts = np.flatnonzero(np.diff(ordered) > 0) + 1
    if not cuts.size or p in (0, n):
        return -math.inf
    missed = np.cumsum(is_positive)[cuts - 1].astype(np.float64)
    tn = cuts - missed
    tp = p - missed
    fp = (n - p) - tn
    quality = (tp * tn - fp * missed) / np.sqrt(p * float(n - p) * cuts * (n - cuts))
    best = int(cuts[int(np.argmax(quality))])
    return float((ordered[best - 1] + ordered[best]) / 2)


def auc_interval(
    scores: ArrayLike, truth: Sequence[bool], design: Design, *, level: float = 0.95
) -> Interval:
    """Compute the interval of the area under the ROC curve (`auc`).

    ``2 AUC - 1`` (Somers's d: Somers 1962, doi:10.2307/2090408) lies between -1 and 1 and has the
    interval of such coefficients, the jackknife's on Fisher's z (Efron and
    Tibshirani 1993, chapter 11), which is brought back to the scale of AUC.

    Args:
        scores: one an observation; higher for the true class.
        truth: whether each is of the true class.
        design: which of the observations belong together.
        level: confidence level.

    Returns:
        Two ends between 0 and 1; a reason in their place where there are fewer than five items or
        clusters, one class only, or one class scores wholly above the other.

    Raises:
        UsageError: columns of different lengths.

    Example:
        >>> truth, items = [0, 0, 1, 0, 1, 0, 1, 1], Design.independent(8)
        >>> interval = auc_interval([1, 2, 3, 4, 5, 6, 7, 8], truth, items)
        >>> round(interval.low, 3), round(interval.high, 3)
        (0.135, 0.992)
    """
    values, true = floats(scores, name="scores"), np.array(truth, dtype=bool)
    same_length(scores=values, truth=true, units=design.units)
    ahead = np.sign(values[true][:, None] - values[~true][None, :])

    def statistic(weights: Floats) -> Floats:
        one, other = weights[:, true], weights[:, ~true]
        pairs = one.sum(axis=1) * other.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            somers_d: Floats = np.einsum("ij,ij->i", one @ ahead, other) / pairs
        return somers_d

    return _between_0_and_1(statistic, design, level=level)


def balanced_interval(
    answers: Sequence[bool], truth: Sequence[bool], design: Design, *, level: float = 0.95
) -> Interval:
    """Compute the interval of balanced accuracy (`balanced_accuracy`).

    Of balanced accuracy B, the interval is made from that of ``2 B - 1`` as `auc_interval` is
    (Efron and Tibshirani 1993, chapter 11).

    Args:
        answers: whether each observation was called true.
        truth: whether each observation is positive.
        design: which of the observations belong together.
        level: confidence level.

    Returns:
        Two ends between 0 and 1; a reason in their place where there are fewer than five items or
        clusters, one class only, or every answer is right.

    Raises:
        UsageError: columns of different lengths.

    Example:
        >>> answers, truth = [1, 1, 0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0, 0]
        >>> interval = balanced_interval(answers, truth, Design.independent(8))
        >>> round(interval.low, 3), round(interval.high, 3)
        (0.146, 0.981)
    """
    same_length(answers=answers, truth=truth, units=design.units)
    true = np.array(truth, dtype=bool)
    right = true == np.array(answers, dtype=bool)

    def statistic(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = [
                (weights * (of & right)).sum(axis=1) / (weights * of).sum(axis=1)
                for of in (true, ~true)
            ]
        scaled: Floats = rates[0] + rates[1] - 1
        return scaled

    return _between_0_and_1(statistic, design, level=level)


def _between_0_and_1(statistic: Weighted, design: Design, *, level: float) -> Interval:
    """The interval of (x + 1) / 2, for a statistic x between -1 and 1."""
    if design.shortage:
        return Interval(None, None, None, design.shortage)
    estimate = float(statistic(np.ones((1, design.n)))[0])
    if math.isnan(estimate):
        return Interval(None, None, None, ONE_CLASS_ONLY)
    interval = jackknife(statistic, estimate, design, level=level).interval
    if interval.low is None or interval.high is None:
        return interval
    return Interval((interval.low + 1) / 2, (interval.high + 1) / 2, interval.method)

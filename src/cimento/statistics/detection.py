"""Signal detection: sensitivity apart from bias, for yes/no and two-alternative forced choice.

Somebody who answers yes to everything finds every good sentence; somebody who always takes the
first of two is right half of the time. d' says how well two kinds of sentences are told apart
whatever the tendency to one answer, and the criterion c says how strong that tendency is (Green and
Swets 1966; Macmillan and Creelman 2005, Detection Theory: A User's Guide, 2nd ed.).

Yes/no (chapters 1 and 2): ``d' = z(H) - z(F)`` and ``c = -(z(H) + z(F)) / 2``, with H the rate of
yes about signals and F that about noise. Forced choice between two (chapter 7), of which *first*
counts as yes, and signals are the trials whose correct answer is the first:
``d' = (z(H) - z(F)) / sqrt(2)``, which without bias is ``sqrt(2) z(p)`` of the share p of correct
answers, and c is the bias to the first place.

Rates are log-linear, ``(yes + 1/2) / (answers + 1)``, so that 0 and 1 have a z (Hautus 1995,
doi:10.3758/BF03203619). Intervals draw Dirichlet weights of the items or clusters, and half of one
at 0 and at 1 for each rate, as `means.bounded_mean` does; their ends are quantiles of what the
weighted rates give. Of independent answers they are those of two rates with Jeffreys's prior.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.statistics.design import (
    ArrayLike,
    Design,
    Floats,
    draws_at_once,
    floats,
    same_length,
)

DetectionTask: TypeAlias = Literal["yes-no", "2afc"]
"""Judgments of single stimuli, or choices between two."""

DRAWN = "Bayesian bootstrap, half an item at each bound"
DRAWN_CLUSTERED = "Bayesian bootstrap over clusters, half a cluster at each bound"
NO_SIGNAL = "nothing acceptable was asked about"
NO_NOISE = "nothing unacceptable was asked about"
DRAWS = 9_999
_ADDED = 0.5
"""Successes, and failures, that are added to what was observed."""
_CHUNK = 1000
_COLUMNS = 4
_ROOT: Mapping[str, float] = MappingProxyType({"yes-no": 1.0, "2afc": math.sqrt(2)})


@dataclass(frozen=True, slots=True)
class DetectionValue:
    """One number of signal detection with its interval.

    Attributes:
        value: the number; None where it is undefined.
        low: lower end of the interval; None where there is none.
        high: upper end.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityAndBias:
    """Sensitivity and bias.

    Attributes:
        hits: proportion of yes among answers about signals, as observed; None without any.
        false_alarms: proportion of yes among answers about noise, as observed.
        sensitivity: d', 0 where the two are not told apart.
        criterion: c, 0 without bias; below 0 for a tendency to say yes.
        signals: number of answers about signals.
        noises: number of answers about noise.
        method: method of the intervals.
        reason: why a number or its interval is missing.
    """

    hits: float | None
    false_alarms: float | None
    sensitivity: DetectionValue
    criterion: DetectionValue
    signals: float
    noises: float
    method: str
    reason: str | None = None


def sensitivity_and_bias(
    counts: ArrayLike,
    design: Design,
    *,
    task: DetectionTask = "yes-no",
    seed: int,
    level: float = 0.95,
    draws: int = DRAWS,
) -> SensitivityAndBias:
    """Compute sensitivity and bias from counts of answers, with intervals over items or clusters.

    Args:
        counts: shape (items, 4): yes and answers about signals, then about noise; halves may count.
        design: which of the items belong together.
        task: ``yes-no`` or ``2afc``.
        seed: seed of the draws.
        level: confidence level.
        draws: number of draws.

    Returns:
        Rates, d' and c (formulas: see the module; Hautus 1995, doi:10.3758/BF03203619). A reason in
        place of numbers if either kind is missing, of ends if there are fewer than five clusters.

    Raises:
        UsageError: more yes than answers, no such task, or not one row per item.

    Example:
        >>> answers = [[9, 10, 2, 10]] * 6
        >>> round(sensitivity_and_bias(answers, Design.independent(6), seed=1).sensitivity.value, 3)
        2.069
    """
    need_known(task, _ROOT, where="signal detection", seen=f"no task is called {task!r}")
    table = _checked(counts, design)
    yes_s, signals, yes_n, noises = (float(total) for total in table.sum(axis=0))
    method = DRAWN_CLUSTERED if design.clustered else DRAWN
    hits, false_alarms = yes_s / signals if signals else None, yes_n / noises if noises else None
    nothing = SensitivityAndBias(
        hits=hits, false_alarms=false_alarms, signals=signals, noises=noises, method=method,
        sensitivity=DetectionValue(), criterion=DetectionValue(),
    )  # fmt: skip
    if not signals or not noises:
        return replace(nothing, reason=NO_NOISE if signals else NO_SIGNAL)
    rates = [log_linear(yes_s, signals), log_linear(yes_n, noises)]
    d, c = (float(x[0]) for x in _numbers(np.array([rates]), task))
    plain = replace(nothing, sensitivity=DetectionValue(d), criterion=DetectionValue(c))
    if design.shortage:
        return replace(plain, reason=design.shortage)
    d_drawn, c_drawn = _numbers(_drawn_rates(table, design, draws=draws, seed=seed), task)
    sensitivity, criterion = _with_ends(d, d_drawn, level), _with_ends(c, c_drawn, level)
    return replace(plain, sensitivity=sensitivity, criterion=criterion)


def log_linear(yes: float, answers: float) -> float:
    """The log-linear rate ``(yes + 1/2) / (answers + 1)`` (Hautus 1995, doi:10.3758/BF03203619)."""
    return (yes + _ADDED) / (answers + 1)


def forced_choice_sensitivity(
    right: ArrayLike, design: Design, *, seed: int, level: float = 0.95, draws: int = DRAWS
) -> DetectionValue:
    """Sensitivity in a forced choice without places: ``d' = sqrt(2) z(p)``, p log-linear.

    Such is the comparison of two probabilities (Macmillan and Creelman 2005, chapter 7); interval
    as in `detection`.

    Args:
        right: whether each choice is right, as 0 and 1.
        design: of the choices.
        seed: of the draws.
        level: confidence level.
        draws: number of draws.

    Returns:
        Nothing without a choice, and no ends where there are fewer than five items or clusters.

    Raises:
        UsageError: not one value a choice.
    """
    values = floats(right, name="right")
    same_length(right=values, units=design.units)
    if not values.size:
        return DetectionValue()
    root = _ROOT["2afc"]
    d = root * NormalDist().inv_cdf(log_linear(float(values.sum()), values.size))
    if design.shortage:
        return DetectionValue(d)
    table = np.stack([values, np.ones_like(values)], axis=1)
    drawn = root * _z(_drawn_rates(table, design, draws=draws, seed=seed)[:, 0])
    return _with_ends(d, drawn, level)


def _checked(counts: ArrayLike, design: Design) -> Floats:
    table = floats(counts, name="counts").reshape(-1, _COLUMNS)
    same_length(counts=table, units=design.units)
    if (table < 0).any() or (table[:, [0, 2]] > table[:, [1, 3]]).any():
        raise UsageError(
            where="signal detection",
            seen="a count is below 0, or there are more yes than answers",
            todo="Give yes and answers about signals, then yes and answers about noise.",
        )
    return table


def _with_ends(value: float, drawn: Floats, level: float) -> DetectionValue:
    """A number with the quantiles of its draws; the interval always holds it."""
    low, high = map(float, np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return DetectionValue(value, min(value, low), max(value, high))


def _numbers(rates: Floats, task: DetectionTask) -> tuple[Floats, Floats]:
    """Sensitivity and criterion of rows of hits and false alarms."""
    z = _z(rates)
    return (z[:, 0] - z[:, 1]) / _ROOT[task], -(z[:, 0] + z[:, 1]) / 2


def _z(rates: Floats) -> Floats:
    from scipy import special

    quantiles: Floats = special.ndtri(rates)
    return quantiles


def _drawn_rates(table: Floats, design: Design, *, draws: int, seed: int) -> Floats:
    """Rates under random weights of the clusters, one a column, from pairs of counts.

    In a crossed design the weight of a cell is the product of those of its clusters.
    """
    groups, m = design.parts()[-1][1].codes()
    sums = np.stack([np.bincount(groups, weights=column, minlength=m) for column in table.T])
    first = np.unique(groups, return_index=True)[1]
    factors = [factor.codes() for factor in design.factors()]
    generator = np.random.default_rng(seed)
    parts = []
    step = draws_at_once(m, most=_CHUNK)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        weights = np.ones((size, m))
        for labels, n_labels in factors:
            weights *= generator.standard_gamma(1.0, (size, n_labels))[:, labels[first]]
        pairs = zip(sums[::2], sums[1::2], strict=True)
        rates = [_rate(weights, yes, answers, generator) for yes, answers in pairs]
        parts.append(np.stack(rates, axis=1))
    return np.concatenate(parts)


def _rate(weights: Floats, yes: Floats, answers: Floats, generator: np.random.Generator) -> Floats:
    """A weighted rate, with half of the cluster of a usual answer at 1 and at 0."""
    usual = (answers**2).sum() / answers.sum()
    bounds = usual * generator.standard_gamma(_ADDED, (len(weights), 2))
    rates: Floats = (weights @ yes + bounds[:, 1]) / (weights @ answers + bounds.sum(axis=1))
    # A gamma variable may be as good as nothing; a rate of exactly 0 or 1 has no z.
    return rates.clip(_LEAST, 1 - _LEAST)


_LEAST = 1e-12

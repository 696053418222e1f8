"""The number of items that a suite needs, from a pilot: exact for single items, else by drawing.

What a pilot tells is how often two models differ, or how far items differ, and how much items of
one cluster are alike. Clusters are drawn whole, with replacement, from those of the pilot, and
moved to the difference that is to be found; the test is the one that commands show. Of crossed
clusters the parts of the variance are estimated instead (`crossed_planning`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.correlation import coefficient
from cimento.statistics.crossed_planning import CrossedPlan, CrossedVariances, power_of_t
from cimento.statistics.design import Design, Floats
from cimento.statistics.differences import MCNEMAR, share_test, shares_method
from cimento.statistics.intervals import (
    WILSON,
    WILSON_CLUSTERED,
    WILSON_CROSSED,
    Effective,
    share_interval,
)
from cimento.statistics.means import CLUSTERED_T, CROSSED_T, STUDENT, t_test
from cimento.statistics.power import correlation_power, mcnemar_power, simulated_power

OutcomeKind: TypeAlias = Literal["difference", "rate", "mean", "correlation"]
SPEARMAN = "Spearman's correlation, Fisher's z (Bonett and Wright)"
TRIALS = 1000
_LEVELS = {"difference": (-1.0, 0.0, 1.0), "rate": (0.0, 1.0)}
_MULTIPLES = (0.5, 1, 2, 4)
_FEWEST = 5
_MOST_EXACT = 100_000
_MOST_FACTORS = 3
_MOST_DRAWN = 5_000
_NEARLY = 0.02
_AROUND = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """The results of a pilot run, item by item.

    Attributes:
        kind: ``difference`` of two models, ``rate`` of one, ``mean`` of a number, or Spearman's
            ``correlation`` with a reference.
        values: value of each item: 1, 0 or -1 for what the second model gets right less what the
            first does; 1 or 0 for right and wrong; or a number.
        design: which of the items belong together.
        null: what the values' mean is without an effect: chance for rates, else 0.
        references: for each item, what values are correlated with; empty for other kinds.
    """

    kind: OutcomeKind
    values: tuple[float, ...]
    design: Design
    null: float = 0.0
    references: tuple[float, ...] = ()

    @property
    def effect(self) -> float:
        """The mean of the pilot, less `null`, or its correlation; nan where that is undefined."""
        if self.kind == "correlation":
            r = coefficient(self.values, self.references).r
            return math.nan if r is None else r
        return math.fsum(self.values) / len(self.values) - self.null

    @property
    def varying(self) -> float:
        """The proportion of items that are not 0: discordant ones, of a difference."""
        return sum(map(bool, self.values)) / len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPower:
    """The power of a suite of some size.

    Attributes:
        clusters: independent units: clusters, or items that stand alone.
        items: number of items; of drawn clusters the number to expect.
        power: the chance that the test finds the difference.
        low: lower end of the 95% interval that drawing leaves; None where the power is exact.
        high: upper end.
    """

    clusters: int
    items: int
    power: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePlan:
    """The power of suites of several sizes.

    Attributes:
        difference: difference that is to be found.
        power: power that is asked for.
        alpha: level of the two-sided test.
        test: name of the test.
        trials: drawn data sets for each size; 0 where the power is exact.
        sizes: sizes in ascending order.
        needed: the smallest size that has the power; None where none that was tried has.
        most: the most items that were tried.
    """

    difference: float
    power: float
    alpha: float
    test: str
    trials: int
    sizes: tuple[SizedPower, ...]
    needed: SizedPower | None
    most: int


def plan_size(
    pilot: Pilot,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    seed: int = 0,
    trials: int = TRIALS,
) -> SizePlan:
    """Estimate the power of suites of several sizes, and the size that has the power asked for.

    Exact for single items; of two or three crossed factors from the parts of the variance
    that each factor has; else by drawing clusters of the pilot, moved to the difference (Efron and
    Tibshirani 1993, chapter 8).

    Args:
        pilot: what is known from a pilot.
        difference: to be found, in the unit of the values; None for that of the pilot.
        power: the chance to find it.
        alpha: level of the two-sided test.
        seed: seed of the draws.
        trials: drawn data sets for each size.

    Returns:
        The power, from 0 to 1, of each size, and the smallest size that has it.

    Raises:
        UsageError: fewer than five independent items or clusters, equal values, or a wrong number.

    Example:
        >>> from cimento.statistics.planning import Pilot
        >>> gaps, items = (1.0,) * 12 + (-1.0,) * 4 + (0.0,) * 24, Design.independent(40)
        >>> plan_size(Pilot(kind="difference", values=gaps, design=items)).needed.items
        84
    """
    wanted, exact = pilot.effect if difference is None else difference, _is_exact(pilot)
    _check(pilot, wanted, power, alpha, trials)
    at = _power_at(pilot, wanted, alpha, seed=seed, trials=0 if exact else trials)
    most = _most(pilot, exact=exact)
    needed = _needed(at, power, most=most, exact=exact)
    return SizePlan(
        difference=wanted,
        power=power,
        alpha=alpha,
        test=_test_name(pilot),
        trials=0 if exact else trials,
        sizes=tuple(at(clusters) for clusters in _shown(pilot, needed, most)),
        needed=needed,
        most=at(most).items,
    )


def _most(pilot: Pilot, *, exact: bool) -> int:
    """The largest size that is tried, in clusters."""
    each = pilot.design.n / pilot.design.m  # items of a cluster
    if _is_crossed(pilot):
        times = (_MOST_EXACT / pilot.design.n) ** (1 / len(pilot.design.factors()))
        return int(pilot.design.m * times)
    return _MOST_EXACT if exact else int(_MOST_DRAWN / each)


def _power_at(
    pilot: Pilot, wanted: float, alpha: float, *, seed: int, trials: int
) -> Callable[[int], SizedPower]:
    """The power of a number of clusters: exact without trials, else drawn."""
    if trials:
        return functools.cache(
            lambda clusters: _drawn(pilot, clusters, wanted, alpha, seed=seed, trials=trials)
        )
    if _is_crossed(pilot):
        plan = CrossedPlan(pilot.design, CrossedVariances.of(pilot.values, pilot.design))
        return functools.cache(lambda levels: _crossed(pilot, plan, levels, wanted, alpha))
    return functools.cache(lambda clusters: _exact(pilot, clusters, wanted, alpha))


def _shown(pilot: Pilot, needed: SizedPower | None, most: int) -> list[int]:
    """The sizes of a plan, in clusters: multiples of the pilot's, and the one that is needed."""
    of_pilot = pilot.design.n if pilot.kind == "correlation" else pilot.design.m
    sizes = {max(_FEWEST, round(of_pilot * times)) for times in _MULTIPLES}
    sizes |= {needed.clusters} if needed else {most}
    return [clusters for clusters in sorted(sizes) if clusters <= most]


def _is_exact(pilot: Pilot) -> bool:
    """Whether power is computed: of single items, and of correlations.

    No data are drawn with a given rank correlation: clusters of the pilot count as items.
    """
    design = pilot.design
    single = not design.clustered and pilot.kind != "mean"
    return pilot.kind == "correlation" or single or design.crossed


def _is_crossed(pilot: Pilot) -> bool:
    """Whether power follows from the variance between the levels of crossed factors."""
    return pilot.design.crossed and pilot.kind != "correlation"


def _check(pilot: Pilot, wanted: float, power: float, alpha: float, trials: int) -> None:
    """Refuse a plan that cannot be made."""
    seen, todo = "", ""
    if pilot.design.shortage:
        few = pilot.design.shortage.partition(":")[0]
        seen, todo = f"the pilot has {few}", "Give a pilot of five independent items or clusters."
    elif len(pilot.design.factors()) > _MOST_FACTORS:
        seen = f"the clusters of the pilot have {len(pilot.design.factors())} crossed factors"
        todo = (
            "Plans take three: choose those between whose levels items differ most (--cluster"
            " template,verb,noun)."
        )
    elif wanted == 0 or not math.isfinite(wanted):
        seen = f"a difference of {wanted:g} cannot be planned for"
        todo = "Give the smallest difference that matters (--difference)."
    elif pilot.kind == "difference" and abs(wanted) > 1:
        seen = f"a difference of {wanted:g}"
        todo = "Shares differ by at most 1: 0.05 is five points."
    elif pilot.kind == "rate" and not (0 < pilot.null < 1 and 0 <= pilot.null + wanted <= 1):
        seen = f"a difference of {wanted:g} from {pilot.null:.3f}"
        todo = "Give a share, such as 0.05 for five points; both together are at most 1."
    elif pilot.kind == "correlation" and abs(wanted) >= 1:
        seen, todo = f"a correlation of {wanted:g}", "It lies strictly between -1 and 1."
    elif pilot.kind == "mean" and len(set(pilot.values)) == 1:
        seen, todo = "all values of the pilot are equal", "Give a pilot whose items differ."
    elif not 0 < alpha < power < 1 or trials < 1:
        seen = f"power {power:g}, alpha {alpha:g}, {trials} trials"
        todo = "Power lies between alpha and 1; 0.8 and 0.05 are usual."
    if seen:
        raise UsageError(where="power", seen=seen, todo=todo)


def _test_name(pilot: Pilot) -> str:
    clustered = pilot.design.clustered
    if pilot.kind == "correlation":
        return SPEARMAN
    if pilot.kind == "rate":
        method = WILSON_CLUSTERED if clustered else WILSON
        method = WILSON_CROSSED if pilot.design.crossed else method
        return f"the interval ({method}) excludes {pilot.null:.3f}"
    if pilot.kind == "difference":
        return shares_method(pilot.design) if clustered else MCNEMAR["exact"]
    if pilot.design.crossed:
        return CROSSED_T
    return CLUSTERED_T if clustered else STUDENT


def _needed(
    at: Callable[[int], SizedPower], power: float, *, most: int, exact: bool
) -> SizedPower | None:
    """The smallest size from which on the power is reached."""
    high = _FEWEST
    while at(high).power < power:
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2 if high > _FEWEST else high
    while high - low > (1 if exact else max(1, int(_NEARLY * high))):
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle).power < power else (low, middle)
    if exact and high > _FEWEST:
        # The power of exact tests falls a little here and there as items are added.
        beyond = [n for n in range(high, int(_AROUND * high) + 2) if at(n).power < power]
        high = beyond[-1] + 1 if beyond else high
    return at(high)


def _exact(pilot: Pilot, n: int, wanted: float, alpha: float) -> SizedPower:
    if pilot.kind == "difference":
        # Models that differ by so much differ on as many items at least.
        varying, size = max(pilot.varying, abs(wanted)), abs(wanted)
        first = (varying + size) / 2
        chance = mcnemar_power(n, only_first=first, only_second=varying - first, alpha=alpha)
    elif pilot.kind == "correlation":
        chance = correlation_power(n, wanted, alpha=alpha)
    else:
        chance = _rate_power(n, pilot.null, wanted, alpha)
    return SizedPower(clusters=n, items=n, power=chance)


def _crossed(
    pilot: Pilot, plan: CrossedPlan, levels: int, wanted: float, alpha: float
) -> SizedPower:
    """The power with some levels of the smallest factor, from the parts of the variance."""
    variance, times = plan.variances.total, 1.0
    if pilot.kind == "difference":
        variance = max(pilot.varying, abs(wanted)) - wanted**2
    elif pilot.kind == "rate":
        variance = (pilot.null + wanted) * (1 - pilot.null - wanted)
        times = math.sqrt(pilot.null * (1 - pilot.null) / variance) if variance > 0 else math.inf
    n = plan.items(levels)
    if variance <= 0:
        return SizedPower(clusters=levels, items=n, power=1.0)
    told = plan.told(levels, variance)
    if pilot.kind == "mean":
        told = Effective(told.number, 1.0, told.freedom)
    distance = wanted / math.sqrt(variance / told.number)
    chance = power_of_t(distance, told, alpha=alpha, times=times)
    return SizedPower(clusters=levels, items=n, power=chance)


def _rate_power(n: int, null: float, wanted: float, alpha: float) -> float:
    """The chance that Wilson's interval leaves a share out.

    It does where ``|k/n - c| > z sqrt(c (1 - c) / n)``, as it is the inverse of that test.
    """
    from scipy import stats

    reach = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(n * null * (1 - null))
    above, below = math.floor(n * null + reach), math.ceil(n * null - reach) - 1
    rate = null + wanted
    return float(stats.binom.sf(above, n, rate) + stats.binom.cdf(below, n, rate))


def _drawn(
    pilot: Pilot, clusters: int, wanted: float, alpha: float, *, seed: int, trials: int
) -> SizedPower:
    """Power from clusters of the pilot, drawn whole and moved to the difference."""
    urn = _Urn.of(pilot, wanted)
    test = functools.partial(_p, pilot, alpha)
    draw = functools.partial(urn.draw, clusters=clusters)
    found = simulated_power(draw, test, seed=seed, trials=trials, alpha=alpha)
    items = round(clusters * pilot.design.n / pilot.design.m)
    return SizedPower(
        clusters=clusters, items=items, power=found.power, low=found.low, high=found.high
    )


def _p(pilot: Pilot, alpha: float, drawn: tuple[Floats, Design]) -> float | None:
    """The p of drawn values; of rates 0 where the interval leaves chance out, else 1."""
    values, design = drawn
    if pilot.kind == "mean":
        return t_test(values, design).p
    if pilot.kind == "difference":
        return share_test((values > 0).tolist(), (values < 0).tolist(), design).p
    interval = share_interval((values > 0).tolist(), design, level=1 - alpha)
    if interval.low is None or interval.high is None:
        return None
    return 1.0 if interval.low <= pilot.null <= interval.high else 0.0


@dataclass(frozen=True, slots=True)
class _Urn:
    """The clusters of a pilot.

    Attributes:
        clusters: their values.
        moves: levels, the proportion of clusters in which values of this level move, and where to.
    """

    clusters: tuple[Floats, ...]
    moves: tuple[tuple[float, float, float], ...]

    @classmethod
    def of(cls, pilot: Pilot, wanted: float) -> _Urn:
        values = np.array(pilot.values)
        moves: tuple[tuple[float, float, float], ...] = ()
        if pilot.kind == "mean":
            # Drawn clusters vary less than those they stand for, by (m - 1) / m (Davison and
            # Hinkley 1997, Bootstrap Methods and their Application, section 2.3).
            m = pilot.design.m
            center = values.mean()
            values = pilot.null + wanted + (values - center) * math.sqrt(m / (m - 1))
        else:
            moves = _moves(pilot, wanted)
        groups, m = pilot.design.codes()
        return cls(tuple(values[groups == number] for number in range(m)), moves)

    def draw(self, generator: np.random.Generator, clusters: int) -> tuple[Floats, Design]:
        """Values of as many clusters, and their design."""
        picked = [self.clusters[k] for k in generator.integers(0, len(self.clusters), clusters)]
        labels = np.repeat(np.arange(clusters), [part.size for part in picked])
        values = np.concatenate(picked)
        chance = generator.random(clusters)[labels]
        moved = values.copy()
        for level, share, to in self.moves:
            moved[(values == level) & (chance < share)] = to
        return moved, Design(tuple(range(values.size)), tuple(labels.tolist()))


def _moves(pilot: Pilot, wanted: float) -> tuple[tuple[float, float, float], ...]:
    """The values to change, and in what part of the clusters, for the mean to be that wanted.

    The values farthest from the end change first, to the end: of two models, items that only the
    worse one gets right, and only then those on which they agree. All items of a cluster change
    together, so that they stay as alike as they are.
    """
    levels = _LEVELS[pilot.kind]
    missing = wanted - pilot.effect
    if missing < 0:
        levels = levels[::-1]
    moves = []
    for level in levels[:-1]:
        share = pilot.values.count(level) / len(pilot.values)
        room = share * abs(levels[-1] - level)
        part = min(1.0, abs(missing) / room) if room else 0.0
        moves.append((level, part, levels[-1]))
        missing -= math.copysign(part * room, missing)
    return tuple(moves)

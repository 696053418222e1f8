"""Equivalence tests, power, and the smallest effects that a suite can show."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from cimento.errors import UsageError
from cimento.statistics.design import ArrayLike, Design, Floats, Integers, floats
from cimento.statistics.differences import adjusted_difference, mcnemar, share_difference
from cimento.statistics.intervals import wilson, z_quantile
from cimento.statistics.means import mean_of

Data = TypeVar("Data")

TOST_T = "two one-sided t tests"
TOST_CLUSTERED_T = "two one-sided t tests over clusters (CR2, Satterthwaite)"
TOST_SHARES = "two one-sided tests, Bonett-Price"
TOST_SHARES_CLUSTERED = "two one-sided tests, Bonett-Price at the effective number of items"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of an equivalence test: whether a difference is too small to matter.

    Attributes:
        estimate: the difference; None where it is undefined.
        p: the larger of the two one-sided p-values; below alpha, the difference is between the
            margins.
        low: lower end of the interval of level 1 - 2 alpha.
        high: upper end of the interval; p is below alpha exactly where the interval is within the
            margins.
        equivalent: p is below alpha; None where undefined.
        method: name of the test.
        reason: why there is none.
    """

    estimate: float | None
    p: float | None
    low: float | None
    high: float | None
    equivalent: bool | None
    method: str
    reason: str | None = None


def tost(
    differences: ArrayLike, design: Design, *, margin: float, alpha: float = 0.05
) -> Equivalence:
    """Test whether a mean difference is between -margin and margin, by two one-sided t tests.

    Schuirmann (1987, doi:10.1007/BF01068419): ``t = (m ± margin) / se``, with the standard error
    and the degrees of freedom of Student's t; where items come in clusters, CR2's and
    Satterthwaite's.

    Args:
        differences: differences of paired values, one per item.
        design: which of the items belong together.
        margin: the smallest difference that would matter, in the unit of the differences.
        alpha: significance level.

    Returns:
        The mean, its interval at level 1 - 2 alpha, and p; without p where there are fewer than
        five independent items or clusters, or their means are equal.

    Raises:
        UsageError: a margin that is not above 0, an invalid alpha, or not one value an item.

    Example:
        >>> gaps = [0.1, -0.2, 0.0, 0.1, 0.2, -0.1]
        >>> round(tost(gaps, Design.independent(6), margin=0.2).p, 4)
        0.0142
    """
    from scipy import special

    _check(margin, alpha)
    values = floats(differences, name="differences")
    mean = math.fsum(values)
    nearer = math.copysign(margin, mean)
    test = mean_of(values, design, seed=0, null=nearer, level=1 - 2 * alpha, draws=0)
    method = TOST_CLUSTERED_T if design.clustered else TOST_T
    if test.statistic is None:
        return Equivalence(test.value, None, None, None, None, method, test.reason)
    # The larger p belongs to the margin that is nearer.
    p = float(special.stdtr(design.freedom(), math.copysign(1, mean) * test.statistic))
    return Equivalence(test.value, p, test.low, test.high, p < alpha, method)


def tost_shares(
    first: Sequence[bool],
    second: Sequence[bool],
    design: Design,
    *,
    margin: float,
    alpha: float = 0.05,
) -> Equivalence:
    """Test whether two proportions of the same items differ by less than a margin.

    Two one-sided normal tests with the adjusted shares and standard error of Bonett and Price
    (2012, doi:10.3102/1076998611411915), so that the test agrees with
    `share_difference` at the level 1 - 2 alpha. Where items come in clusters, both
    count the effective number of items and take its quantile.

    Args:
        first: whether each item is right.
        second: verdicts of the second model on the same items.
        design: which of the items belong together.
        margin: the smallest difference of shares that would matter.
        alpha: significance level.

    Returns:
        The difference, its interval at level 1 - 2 alpha, and p; without p where there are fewer
        than five independent items or clusters.

    Raises:
        UsageError: a margin that is not above 0, an invalid alpha, or columns of different
            lengths.

    Example:
        >>> first, second = [True] * 45 + [False] * 5, [True] * 44 + [False] * 6
        >>> round(tost_shares(first, second, Design.independent(50), margin=0.1).p, 4)
        0.0075
    """
    _check(margin, alpha)
    level = 1 - 2 * alpha
    method = TOST_SHARES_CLUSTERED if design.clustered else TOST_SHARES
    difference = share_difference(first, second, design, level=level)
    if difference.low is None or difference.estimate is None:
        reason = difference.reason
        return Equivalence(difference.estimate, None, None, None, None, method, reason)
    found = adjusted_difference(first, second, design)
    nearer = (abs(found.center) - margin) / found.error
    p = found.effective.p(nearer) / 2 if nearer < 0 else 1 - found.effective.p(nearer) / 2
    half = found.effective.quantile(level) * found.error
    ends = found.center - half, found.center + half
    return Equivalence(difference.estimate, p, *ends, p < alpha, method)


def _check(margin: float, alpha: float) -> None:
    if not margin > 0 or not 0 < alpha < 0.5:  # noqa: PLR2004  # both tails together are under 1
        raise UsageError(
            where="equivalence test",
            seen=f"margin {margin}, alpha {alpha}",
            todo="The margin is above 0, alpha mostly 0.05.",
        )


def detectable_difference(
    n: float, *, discordant: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Find the smallest difference of two proportions that McNemar's test finds.

    The difference at which the exact test has the power asked for (`mcnemar_power`; Duffy 1984,
    Biometrics 40, 1005-1015), given the proportion of discordant items; the power grows with the
    difference.

    Args:
        n: items; of clustered ones their effective number, of which the whole part counts.
        discordant: the proportion of items on which the two models are expected to differ.
        power: the chance to find the difference.
        alpha: level of the two-sided test.

    Returns:
        The difference, from 0 to 1; None where even the largest possible one, `discordant`, is not
        found.

    Raises:
        UsageError: numbers out of their ranges.

    Example:
        >>> round(detectable_difference(100, discordant=0.3), 3)
        0.159
    """
    _check_power(n, power, alpha)
    if not 0 < discordant <= 1:
        raise UsageError(
            where="smallest difference",
            seen=f"a proportion of discordant items of {discordant}",
            todo="Give a share above 0 and up to 1.",
        )

    return _detectable(int(n), discordant, power, alpha)


@functools.lru_cache(maxsize=4096)
def _detectable(n: int, discordant: float, power: float, alpha: float) -> float | None:
    """As `detectable_difference`; the pairs of many models have few numbers of discordant items."""

    def missing(d: float) -> float:
        first, second = (discordant + d) / 2, (discordant - d) / 2
        return power - mcnemar_power(n, only_first=first, only_second=second, alpha=alpha)

    # A difference cannot exceed the proportion of discordant items.
    return _root(missing, discordant) if missing(discordant) <= 0 else None


def detectable_mean(n: int, *, sd: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Find the smallest mean difference that the paired t test would find.

    From the noncentral t with n - 1 degrees of freedom and noncentrality ``d sqrt(n)`` (Cohen 1988,
    Statistical Power Analysis, 2nd ed., chapter 2).

    Args:
        n: number of items.
        sd: standard deviation of the differences.
        power: the chance to find the difference.
        alpha: level of the two-sided test.

    Returns:
        The difference, above 0, in the unit of `sd`.

    Raises:
        UsageError: numbers out of their ranges.

    Example:
        >>> round(detectable_mean(25, sd=1.0), 3)
        0.584
    """
    from scipy import stats

    _check_power(n, power, alpha)
    if not sd > 0 or n < 2:  # noqa: PLR2004  # a t test needs two values
        raise UsageError(where="smallest difference", seen=f"sd {sd}, {n} items")
    limit = float(stats.t.ppf(1 - alpha / 2, n - 1))

    def missing(d: float) -> float:
        # The other tail adds to the power what no one would call a finding; it is next to nothing.
        return power - float(stats.nct.sf(limit, n - 1, d * math.sqrt(n)))

    high = 1.0
    while missing(high) > 0:
        high *= 2
    return _root(missing, high) * sd


def _check_power(n: float, power: float, alpha: float) -> None:
    if n < 1 or not 0 < alpha < 1 or not alpha < power < 1:
        raise UsageError(
            where="power",
            seen=f"{n} items, power {power}, alpha {alpha}",
            todo="Power lies between alpha and 1; 0.8 is usual.",
        )


def _root(missing: Callable[[float], float], high: float) -> float:
    """The zero of a falling function between 0 and `high`."""
    from scipy import optimize

    return float(optimize.brentq(missing, 0.0, high, xtol=_PRECISION * high))


def mcnemar_power(
    n: int, *, only_first: float, only_second: float, alpha: float = 0.05, variant: str = "exact"
) -> float:
    """Compute the power of McNemar's test, by adding up all outcomes.

    Over every number of discordant items, its chance times that of a split which the test rejects
    (Duffy 1984, Biometrics 40, 1005-1015).

    Args:
        n: number of items.
        only_first: the chance that only the first model gets an item right.
        only_second: the chance that only the second does.
        alpha: significance level.
        variant: variant of the test, as in `mcnemar`.

    Returns:
        The power, from 0 to 1.

    Raises:
        UsageError: invalid chances.

    Example:
        >>> round(mcnemar_power(100, only_first=0.2, only_second=0.05), 3)
        0.837
    """
    from scipy import stats

    # The chances of one search, which add up to the same, may differ in the last digit.
    share = round(only_first + only_second, _SHARE_DIGITS)
    if min(only_first, only_second) < 0 or not 0 < share <= 1:
        raise UsageError(
            where="power of McNemar's test",
            seen=f"chances {only_first} and {only_second}",
            todo="Give two chances whose sum is above 0 and up to 1.",
        )
    counts, chances, rejected = _rejections(n, share, alpha, variant)
    part = only_first / (only_first + only_second)
    tails = stats.binom.cdf(rejected, counts, part)
    tails += stats.binom.sf(counts - rejected - 1, counts, part)
    return float(chances @ tails)


@functools.lru_cache(maxsize=256)
def _rejections(
    n: int, share: float, alpha: float, variant: str
) -> tuple[Integers, Floats, Integers]:
    """The likely numbers of discordant items, their chances, and where the test rejects."""
    from scipy import stats

    counts = np.arange(n + 1)
    chances = stats.binom.pmf(counts, n, share)
    counts, chances = counts[chances > _NEGLIGIBLE], chances[chances > _NEGLIGIBLE]
    # The test rejects from some smaller count downwards, on either side.
    return counts, chances, np.array([_rejected(int(k), alpha, variant) for k in counts])


_NEGLIGIBLE = 1e-12
_PRECISION = 1e-9
_SHARE_DIGITS = 14


@functools.cache
def spearman_interval(n: int, r: float, *, level: float = 0.95) -> tuple[float, float]:
    """The interval to expect around Spearman's correlation of independent items.

    Bonett and Wright (2000, doi:10.1007/BF02294183): on Fisher's z, with the variance
    ``(1 + r^2 / 2) / (n - 3)``.

    Args:
        n: items; more than three.
        r: the correlation, between -1 and 1.
        level: of the interval.
    """
    reach = z_quantile(level) * math.sqrt((1 + r * r / 2) / (n - 3))
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def correlation_power(n: int, r: float, *, alpha: float = 0.05) -> float:
    """Compute the chance that a two-sided test finds Spearman's correlation of independent items.

    On Fisher's z, with the variance ``(1 + r^2 / 2) / (n - 3)`` of Bonett and Wright (2000,
    doi:10.1007/BF02294183), which is ``1 / (n - 3)`` where there is no correlation.

    Args:
        n: items; more than three.
        r: the true correlation, between -1 and 1.
        alpha: level of the test.

    Returns:
        The power, from 0 to 1.

    Example:
        >>> round(correlation_power(100, 0.3), 3)
        0.857
    """
    normal = NormalDist()
    size = abs(math.atanh(r)) * math.sqrt(n - 3)
    limit, spread = normal.inv_cdf(1 - alpha / 2), math.sqrt(1 + r * r / 2)
    return normal.cdf((size - limit) / spread) + normal.cdf((-size - limit) / spread)


@functools.lru_cache(maxsize=65536)
def _rejected(discordant: int, alpha: float, variant: str) -> int:
    """The largest smaller count at which McNemar's test rejects; -1 where it never does."""
    low, high = -1, discordant // 2
    while low < high:
        middle = (low + high + 1) // 2
        p = mcnemar(middle, discordant - middle, variant=variant).p
        low, high = (middle, high) if p is not None and p <= alpha else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True)
class Power:
    """The proportion of simulated data sets in which a test was significant.

    Attributes:
        power: proportion of significant trials; under the null hypothesis, the test's true level.
        low: lower end of its 95% Wilson interval.
        high: upper end of the interval.
        trials: simulated data sets.
        undefined: number of trials that gave no p, which count as not significant.
    """

    power: float
    low: float
    high: float
    trials: int
    undefined: int


def simulated_power(
    draw: Callable[[np.random.Generator], Data],
    test: Callable[[Data], float | None],
    *,
    seed: int,
    trials: int = 1000,
    alpha: float = 0.05,
) -> Power:
    """Estimate the power of a test on simulated data.

    The proportion of drawn data sets with a p of alpha or less, with its Wilson interval (Wilson
    1927, doi:10.1080/01621459.1927.10502953).

    Args:
        draw: makes one data set from a generator of random numbers.
        test: gives p of a data set, or None.
        seed: seed of the generator.
        trials: number of data sets.
        alpha: significance level.

    Returns:
        The power, from 0 to 1, its 95% interval, and how many data sets gave no p.

    Raises:
        UsageError: no trials.

    Example:
        >>> def draw(generator):
        ...     return generator.random()
        >>> power = simulated_power(draw, lambda p: p, seed=1, trials=2000)
        >>> power.low < 0.05 < power.high
        True
    """
    if trials < 1:
        raise UsageError(where="simulated power", seen=f"{trials} trials", todo="Ask for 1,000.")
    generator = np.random.default_rng(seed)
    p_values = [test(draw(generator)) for _ in range(trials)]
    share = sum(p is not None and p <= alpha for p in p_values) / trials
    return Power(share, *wilson(share, trials), trials, sum(p is None for p in p_values))

"""Confidence intervals of proportions, never of zero width."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, repeat
from statistics import NormalDist
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.statistics.design import (
    WORKING_CORRELATION,
    Design,
    crossed_variance,
    mean_freedom,
    same_length,
    shortage,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

WILSON = "Wilson"
WILSON_CLUSTERED = "Wilson at the effective number of verdicts"
WILSON_CROSSED = "Wilson at the effective number of verdicts, crossed clusters"
CLOPPER_PEARSON = "Clopper-Pearson"
NOTHING_SCORED = "nothing was scored"
_TELLING_CLUSTERS, _TELLING_IF_CROSSED = 3, 4
_ROUNDING = 1e-9
_FAR_BELOW = 3
"""Degrees of freedom are few if they are fewer than this part of those of equal clusters."""
_LEAST_RATIO = 0.1
"""The least ratio of variances by which values that offset each other tell more."""
_LEAST_P, _HALVINGS = 1e-300, 60


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a share, a difference or a coefficient.

    Attributes:
        low: lower end of the interval; None where nothing was observed.
        high: upper end of the interval.
        method: how it was made.
        reason: why there is none.
    """

    low: float | None
    high: float | None
    method: str | None
    reason: str | None = None


def wilson(share: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """Compute the Wilson score interval of a proportion.

    ``(p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)``, z the normal quantile (Wilson 1927,
    doi:10.1080/01621459.1927.10502953).

    Args:
        share: observed, between 0 and 1.
        n: number of observations, which need not be whole; above 0.
        level: confidence level.

    Returns:
        The two ends, between 0 and 1.

    Raises:
        UsageError: the level is not between 0 and 1.

    Example:
        >>> low, high = wilson(0.9, 10)
        >>> round(low, 3), round(high, 3)
        (0.596, 0.982)
    """
    z = z_quantile(level)
    weight = 1 + z * z / n
    center = (share + z * z / (2 * n)) / weight
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    # Rounding must not push an end past 0 or 1, nor past the share itself where that is 0 or 1.
    return max(0.0, min(share, center - half)), min(1.0, max(share, center + half))


def items_for_width(half_width: float, *, share: float = 0.5, level: float = 0.95) -> int:
    """The smallest number of independent items whose Wilson interval is as narrow as wanted.

    Args:
        half_width: half of the interval's width, a share: 0.05 for 5 points to each side.
        share: the share that is expected; the interval is widest at 0.5.
        level: the level of the interval.

    Raises:
        UsageError: the width is not between 0 and 0.5, or the share is none.
    """
    if not (0 < half_width < 1 / 2 and 0 <= share <= 1):
        raise UsageError(
            where="items for an interval",
            seen=f"got a half width of {half_width} at a proportion of {share}",
            todo="Give shares: 0.05 at 0.8, say.",
        )

    def is_enough(n: int) -> bool:
        low, high = wilson(share, n, level=level)
        return (high - low) / 2 <= half_width

    most = 1
    while not is_enough(most):
        most *= 2
    return bisect_left(range(most + 1), x=True, key=lambda n: n > 0 and is_enough(n))


def clopper_pearson(passed: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Compute the exact interval of a proportion by Clopper and Pearson.

    The proportions that an exact binomial test of half the error in each tail does not reject
    (Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404); its coverage is at least its level, and
    usually higher, so it is wider than Wilson's.

    Args:
        passed: verdicts that pass.
        n: verdicts; 1 or more.
        level: confidence level.

    Returns:
        The two ends, between 0 and 1.

    Raises:
        UsageError: the level is not between 0 and 1, or the counts are invalid.

    Example:
        >>> low, high = clopper_pearson(9, 10)
        >>> round(low, 3), round(high, 3)
        (0.555, 0.997)
    """
    from scipy import special

    z_quantile(level)  # refuses an invalid level
    if not 0 <= passed <= n or n < 1:
        raise UsageError(where=CLOPPER_PEARSON, seen=f"{passed} of {n} verdicts passed")
    tail = (1 - level) / 2
    low = float(special.betaincinv(passed, n - passed + 1, tail)) if passed else 0.0
    high = float(special.betaincinv(passed + 1, n - passed, 1 - tail)) if passed < n else 1.0
    return low, high


def share_interval(passed: Sequence[bool], design: Design, *, level: float = 0.95) -> Interval:
    """Compute the interval of the proportion of verdicts that pass, clustered or not.

    Wilson's, where each verdict stands alone (Wilson 1927, doi:10.1080/01621459.1927.10502953);
    else Wilson's at the effective number of verdicts. Franco et al. (2019,
    PMC6690503) recommend this form for clustered data; the weight of t against z and the rules for
    few, unequal or unanimous clusters are cimento's own (statistics page, *Proportions*).

    Args:
        passed: whether each verdict is a pass.
        design: which of the verdicts belong together.
        level: confidence level.

    Returns:
        Two ends between 0 and 1; a reason in their place where there are fewer than five
        independent verdicts or clusters.

    Raises:
        UsageError: not one verdict a unit, or a level that is not between 0 and 1.

    Example:
        >>> interval = share_interval([True] * 9 + [False], Design.independent(10))
        >>> round(interval.low, 3), round(interval.high, 3)
        (0.596, 0.982)
    """
    same_length(passed=passed, units=design.units)
    if design.crossed and passed:
        return _crossed_interval(passed, design, level=level)
    sizes = Counter(design.clusters)
    held = Counter(label for label, passes in zip(design.clusters, passed, strict=True) if passes)
    return counted_interval(Counter((held[name], n) for name, n in sizes.items()), level=level)


def _crossed_interval(passed: Sequence[bool], design: Design, *, level: float) -> Interval:
    if few := design.shortage:
        return Interval(None, None, WILSON_CROSSED, few)
    number = effective_number([float(passes) for passes in passed], design, level=level)
    share = sum(map(bool, passed)) / len(passed)
    return Interval(*wilson(share, number, level=level), WILSON_CROSSED)


def counted_interval(clusters: Mapping[tuple[int, int], int], *, level: float = 0.95) -> Interval:
    """The interval of `share_interval`, from the number of clusters of each kind.

    Args:
        clusters: passes and verdicts of a cluster, of which it has one or more, to the number of
            clusters that have as many.
        level: confidence level.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    n = sum(size * count for (_, size), count in clusters.items())
    if n == 0:
        return Interval(None, None, None, NOTHING_SCORED)
    passed = sum(held * count for (held, _), count in clusters.items())
    share = passed / n
    m = sum(clusters.values())
    method = WILSON if m == n else WILSON_CLUSTERED
    few = shortage(m, clustered=m < n)
    if few:
        return Interval(None, None, method, few)
    if m == n:
        return Interval(*wilson(share, n, level=level), method)
    sizes: Counter[int] = Counter()
    for (_, size), count in clusters.items():
        sizes[size] += count
    kish = n**2 / sum(size**2 * count for size, count in sizes.items())
    usual, told = n / kish, Effective(kish)
    if 0 < passed < n:
        spread = _Spread(
            n=n,
            m=m,
            kish=kish,
            freedom=mean_freedom(sizes),
            variance=_sum_of(
                ((k - share * size) ** 2 / (1 - size / n), count)
                for (k, size), count in clusters.items()
            )
            / n**2,
            within=_sum_of((((1 - share) ** 2, passed), (share**2, n - passed))),
            telling=min(
                _sum_of((min(1, size / usual), k) for (held, size), k in clusters.items() if held),
                _sum_of(
                    (min(1, size / usual), k) for (held, size), k in clusters.items() if held < size
                ),
            ),
        )
        told = _effective(spread)
    return Interval(*wilson(share, told.at(level), level=level), method)


def _sum_of(numbers: Iterable[tuple[float, int]]) -> float:
    """The sum of numbers with their multiplicities, rounded once."""
    return math.fsum(chain.from_iterable(repeat(value, times) for value, times in numbers))


def effective_number(values: Sequence[float], design: Design, *, level: float = 0.95) -> float:
    """The effective number of verdicts: as many independent ones would tell as much.

    ``n / deff * (z / q)²`` for n verdicts. The design effect deff, at least 1, is the CR2 variance
    of the share (`means.mean_of`) over that of n independent verdicts, ``p(1-p)/(n-1)``; z and q
    are the quantiles of the normal distribution and of the effective verdicts (`Effective`):
    variances estimated from few clusters need wider intervals (Korn and Graubard 1998, Survey
    Methodology 24, 193-201). The same holds for differences of two verdicts, with their variance in
    the place of p(1-p). docs/statistics.md shows what our own rules in it repair.

    Args:
        values: whether each verdict is a pass, or differences of verdicts; one or more.
        design: of the verdicts.
        level: confidence level, for the quantiles.
    """
    return effective(values, design).at(level)


@dataclass(frozen=True, slots=True)
class Effective:
    """How much verdicts tell that may come in clusters.

    Attributes:
        number: as many independent verdicts would have the variance that these have.
        estimated: the part of that variance that is estimated from clusters, from 0 to 1.
        freedom: degrees of freedom of that part.
    """

    number: float
    estimated: float = 0.0
    freedom: float = math.inf

    def quantile(self, level: float) -> float:
        """The reach of an interval in standard errors: between the quantiles of z and of t.

        ``1 / sqrt(w / t² + (1 - w) / z²)``, w the part that is estimated.
        """
        z = z_quantile(level)
        if not self.estimated:
            return z
        t = t_quantile(self.freedom, level=level)
        return 1 / math.sqrt(self.estimated / t**2 + (1 - self.estimated) / z**2)

    def at(self, level: float) -> float:
        """The number whose normal interval is as wide as the interval by `quantile`; 1 or more."""
        return max(1.0, self.number * (z_quantile(level) / self.quantile(level)) ** 2)

    def p(self, statistic: float) -> float:
        """The two-sided p of a distance in standard errors: 1 - level where `quantile` is that."""
        if not self.estimated:
            return math.erfc(abs(statistic) / math.sqrt(2))
        if not statistic:
            return 1.0
        if self.estimated == 1:
            return t_two_sided(statistic, self.freedom)
        return self._between(abs(statistic))

    def _between(self, distance: float) -> float:
        from scipy import special

        def reach(p: float) -> float:
            t = float(special.stdtrit(self.freedom, p / 2))
            z = float(special.ndtri(p / 2))
            return 1 / math.sqrt(self.estimated / t**2 + (1 - self.estimated) / z**2)

        # p lies between those of z and of t; halving on a logarithmic scale keeps small ones.
        low = math.log(max(math.erfc(distance / math.sqrt(2)), _LEAST_P))
        high = math.log(max(t_two_sided(distance, self.freedom), _LEAST_P))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if reach(math.exp(middle)) > distance else (low, middle)
        return math.exp(high)


def effective(
    values: Sequence[float], design: Design, *, of_differences: bool = False
) -> Effective:
    """How much verdicts tell that may come in clusters, or differences of two verdicts.

    Three rules are our own. Where all values are equal, or the clusters that hold another value
    than a given one weigh less than three (of crossed ones four), the variance rests on too little:
    no cluster counts more than once, by Kish's n² / Σ n_g² of unequal ones (1965, Survey Sampling,
    section 8.2), and each weighs at most one, in proportion to its items. Only 1 - 1/deff of the
    variance is estimated from clusters; but where the degrees of freedom are fewer than a third of
    those of as many equal clusters, at least as much as under the working correlation.

    Args:
        values: one or more.
        design: of the values.
        of_differences: whether they are tested against 0. Values that offset each other within
            clusters may then tell more than independent ones: the number is that of t over
            clusters, where this is the narrower at 95%. Where no cluster counts more than once, the
            quantile is t's, as p would be too small for so few.
    """
    n = len(values)
    if not design.clustered:
        return Effective(float(n))
    # Levels of crossed factors count as equal ones: weighed, they made intervals too wide.
    kish = float(design.m) if design.crossed else _kish(Counter(design.clusters).values())
    if design.m == 1 or len(set(values)) == 1:
        return _each_cluster_once(kish, by_t=of_differences)
    mean = math.fsum(values) / n
    spread = _Spread(
        n=n,
        m=design.m,
        kish=kish,
        freedom=design.freedom(),
        variance=crossed_variance(
            [(sign, _variance(values, part.clusters, mean)) for sign, part in design.parts()]
        ),
        within=math.fsum((value - mean) ** 2 for value in values),
        telling=min(
            _telling(values, factor.clusters, weighed=not design.crossed)
            for factor in design.factors()
        ),
        fewest_telling=_TELLING_IF_CROSSED if design.crossed else _TELLING_CLUSTERS,
    )
    return _effective(spread, of_differences=of_differences)


def _each_cluster_once(kish: float, *, by_t: bool) -> Effective:
    return Effective(kish, 1.0, max(1.0, kish - 1)) if by_t else Effective(kish)


def _kish(sizes: Iterable[int]) -> float:
    """The number of equal clusters that unequal ones are worth."""
    counts = list(sizes)
    return sum(counts) ** 2 / sum(size * size for size in counts)


def _variance(values: Sequence[float], clusters: Sequence[Hashable], mean: float) -> float:
    """The CR2 variance of the mean of values that come in clusters."""
    n, sizes = len(values), Counter(clusters)
    sums: dict[Hashable, float] = dict.fromkeys(sizes, 0.0)
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] += value
    squares = ((sums[name] - mean * size) ** 2 / (1 - size / n) for name, size in sizes.items())
    return math.fsum(squares) / n**2


def _telling(values: Sequence[float], clusters: Sequence[Hashable], *, weighed: bool) -> float:
    """The fewest clusters that hold another value than a given one, by their weights."""
    held: dict[Hashable, set[float]] = {}
    for cluster, value in zip(clusters, values, strict=True):
        held.setdefault(cluster, set()).add(value)
    sizes = Counter(clusters)
    usual = len(values) / _kish(sizes.values())
    weights = {name: min(1.0, size / usual) if weighed else 1.0 for name, size in sizes.items()}
    return min(
        math.fsum(weights[name] for name, kinds in held.items() if kinds != {kind})
        for kind in set(values)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """The spread of verdicts that come in clusters.

    Attributes:
        n: verdicts.
        m: clusters; of crossed ones, those of the smaller factor.
        kish: the number of equal clusters that these are worth.
        freedom: degrees of freedom of the variance.
        variance: of the share, by CR2.
        within: Σ (x_i - p)² over verdicts.
        telling: the fewest clusters that hold another verdict than a given one, by their weights.
        fewest_telling: with fewer of these, no cluster counts as more than one verdict.
    """

    n: int
    m: int
    kish: float
    freedom: float
    variance: float
    within: float
    telling: float
    fewest_telling: int = _TELLING_CLUSTERS


def _effective(spread: _Spread, *, of_differences: bool = False) -> Effective:
    """How much verdicts tell that differ."""
    n = spread.n
    ratio = spread.variance / (spread.within / n / (n - 1))
    if spread.telling < spread.fewest_telling - _ROUNDING and n / max(1.0, ratio) > spread.kish:
        return _each_cluster_once(spread.kish, by_t=of_differences)
    t, z = t_quantile(spread.freedom), z_quantile(0.95)
    if of_differences and ratio * t**2 < z**2:
        return Effective(n / max(ratio, _LEAST_RATIO), 1.0, spread.freedom)
    estimated = 1 - 1 / max(1.0, ratio)
    if spread.kish < spread.m and spread.freedom < (spread.m - 1) / _FAR_BELOW:
        assumed = 1 + WORKING_CORRELATION * (n / spread.kish - 1)
        estimated = max(estimated, 1 - 1 / assumed)
    return Effective(n / max(1.0, ratio), estimated, spread.freedom)


@functools.cache
def t_quantile(freedom: float, *, level: float = 0.95) -> float:
    """The number that the absolute value of a Student t variable exceeds in 1 - `level` of cases.

    Args:
        freedom: degrees of freedom, above 0, not always whole.
        level: two-sided.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    from scipy import special

    z_quantile(level)  # refuses an invalid level
    return float(special.stdtrit(freedom, (1 + level) / 2))


def t_two_sided(t: float, freedom: float) -> float:
    """The probability that Student's t is at least as far from zero as this one."""
    from scipy import special

    return float(2 * special.stdtr(freedom, -abs(t)))


def z_quantile(level: float) -> float:
    """The number that the absolute value of a normal variable exceeds in 1 - `level` of cases.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise UsageError(
            where="confidence level",
            seen=f"{level} is not between 0 and 1",
            todo="The usual level is 0.95.",
        )
    return NormalDist().inv_cdf((1 + level) / 2)

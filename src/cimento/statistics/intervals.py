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


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a share.

    Attributes:
        low: lower end; None where nothing was observed.
        high: upper end.
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
    else Wilson's at the effective number of verdicts (`effective_number`), the form that Franco et
    al. (2019, PMC6690503) recommend for clustered data.

    Args:
        passed: whether each verdict is a pass.
        design: of the verdicts.
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
    effective = effective_number([float(passes) for passes in passed], design, level=level)
    share = sum(map(bool, passed)) / len(passed)
    return Interval(*wilson(share, effective, level=level), WILSON_CROSSED)


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
    effective = float(m)
    if 0 < passed < n:
        sizes: Counter[int] = Counter()
        for (_, size), count in clusters.items():
            sizes[size] += count
        spread = _Spread(
            n=n,
            m=m,
            freedom=mean_freedom(sizes),
            variance=_sum_of(
                ((k - share * size) ** 2 / (1 - size / n), count)
                for (k, size), count in clusters.items()
            )
            / n**2,
            within=_sum_of((((1 - share) ** 2, passed), (share**2, n - passed))),
            telling=min(
                sum(count for (held, _), count in clusters.items() if held),
                sum(count for (held, size), count in clusters.items() if held < size),
            ),
        )
        effective = _effective(spread, level=level)
    return Interval(*wilson(share, effective, level=level), method)


def _sum_of(numbers: Iterable[tuple[float, int]]) -> float:
    """The sum of numbers with their multiplicities, rounded once."""
    return math.fsum(chain.from_iterable(repeat(value, times) for value, times in numbers))


def effective_number(values: Sequence[float], design: Design, *, level: float = 0.95) -> float:
    """The effective number of verdicts: as many independent ones would tell as much.

    ``n / deff * (w (z / t)² + 1 - w)`` for n verdicts. The design effect deff, at least 1, is the
    CR2 variance of the share (`means.mean_of`) over that of n independent verdicts,
    ``p(1-p)/(n-1)``. z and t are the quantiles of the normal and of Student's distribution with
    Satterthwaite's degrees of freedom (`design.mean_freedom`): variances estimated from few
    clusters need wider intervals (Korn and Graubard 1998, Survey Methodology 24, 193-201), but
    only ``w = 1 - 1/deff`` of this variance is estimated from clusters (our rule, as the next
    two). Where all verdicts are equal, each cluster counts as one verdict; where fewer than three
    clusters hold a failure, or fewer than three a pass, deff rests on too little, and no cluster
    counts as more than one. docs/statistics.md shows what these rules repair. The same holds for
    differences of two verdicts, with their variance in the place of p(1-p).

    Args:
        values: whether each verdict is a pass, or differences of verdicts; one or more.
        design: of the verdicts.
        level: confidence level, for the quantiles.
    """
    n, m = len(values), design.m
    if m == n:
        return float(n)
    if m == 1 or len(set(values)) == 1:
        return float(m)
    mean = math.fsum(values) / n
    spread = _Spread(
        n=n,
        m=m,
        freedom=design.freedom(),
        variance=crossed_variance(
            [(sign, _variance(values, part.clusters, mean)) for sign, part in design.parts()]
        ),
        within=math.fsum((value - mean) ** 2 for value in values),
        telling=min(_telling(values, factor.clusters) for factor in design.factors()),
        fewest_telling=_TELLING_IF_CROSSED if design.crossed else _TELLING_CLUSTERS,
    )
    return _effective(spread, level=level)


def _variance(values: Sequence[float], clusters: Sequence[Hashable], mean: float) -> float:
    """The CR2 variance of the mean of values that come in clusters."""
    n, sizes = len(values), Counter(clusters)
    sums: dict[Hashable, float] = dict.fromkeys(sizes, 0.0)
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] += value
    squares = ((sums[name] - mean * size) ** 2 / (1 - size / n) for name, size in sizes.items())
    return math.fsum(squares) / n**2


def _telling(values: Sequence[float], clusters: Sequence[Hashable]) -> int:
    """The fewest clusters that hold another value than a given one."""
    held: dict[Hashable, set[float]] = {}
    for cluster, value in zip(clusters, values, strict=True):
        held.setdefault(cluster, set()).add(value)
    return min(sum(kinds != {kind} for kinds in held.values()) for kind in set(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """The spread of verdicts that come in clusters.

    Attributes:
        n: verdicts.
        m: clusters; of crossed ones, those of the smaller factor.
        freedom: degrees of freedom of the variance.
        variance: of the share, by CR2.
        within: Σ (x_i - p)² over verdicts.
        telling: the fewest clusters that hold another verdict than a given one.
        fewest_telling: with fewer of these, no cluster counts as more than one verdict.
    """

    n: int
    m: int
    freedom: float
    variance: float
    within: float
    telling: int
    fewest_telling: int = _TELLING_CLUSTERS


def _effective(spread: _Spread, *, level: float) -> float:
    """The effective number of verdicts that differ."""
    n = spread.n
    effect = max(1.0, spread.variance / (spread.within / n / (n - 1)))
    few = (z_quantile(level) / t_quantile(spread.freedom, level=level)) ** 2
    estimated = 1 - 1 / effect
    effective = max(1.0, n / effect * (estimated * few + 1 - estimated))
    return min(effective, float(spread.m)) if spread.telling < spread.fewest_telling else effective


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

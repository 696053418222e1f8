"""Confidence intervals of shares and of means, never of zero width."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain, repeat
from statistics import NormalDist
from typing import TYPE_CHECKING

from cimento.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

WILSON = "Wilson"
WILSON_CLUSTERED = "Wilson at the effective number of verdicts"
CLOPPER_PEARSON = "Clopper-Pearson"
STUDENT = "Student's t"
STUDENT_CLUSTERED = "Student's t over clusters"
NOTHING_SCORED = "nothing was scored"


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a share or a mean.

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
    """The Wilson score interval (Wilson 1927, doi:10.1080/01621459.1927.10502953).

    ``(p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)``, z the normal quantile.

    Args:
        share: observed, between 0 and 1.
        n: number of observations, which need not be whole; above 0.
        level: confidence level.

    Returns:
        The two ends, between 0 and 1.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    z = z_quantile(level)
    weight = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / weight
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    # Rounding must not push an end past 0 or 1, nor past the share itself where that is 0 or 1.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def clopper_pearson(passed: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934, doi:10.1093/biomet/26.4.404).

    The shares that an exact binomial test of half the error in each tail does not reject; it
    covers at least as often as its level says, mostly more often: wider than Wilson's.

    Args:
        passed: verdicts that pass.
        n: verdicts; 1 or more.
        level: confidence level.

    Returns:
        The two ends, between 0 and 1.

    Raises:
        UsageError: the level is not between 0 and 1, or the counts are none.
    """
    from scipy import special

    z_quantile(level)  # refuses a level that is none
    if not 0 <= passed <= n or n < 1:
        raise UsageError(where=CLOPPER_PEARSON, seen=f"{passed} of {n} verdicts passed")
    tail = (1 - level) / 2
    low = float(special.betaincinv(passed, n - passed + 1, tail)) if passed else 0.0
    high = float(special.betaincinv(passed + 1, n - passed, 1 - tail)) if passed < n else 1.0
    return low, high


def mean_interval(
    values: Sequence[float], clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """The interval of a mean, of values that may belong together.

    Student's ``m ± t[n-1] sd / sqrt(n)`` where each cluster has one value; else
    ``m ± t[c-1] sqrt(c/(c-1) Σ (s_j - m n_j)² / n²)`` for c clusters of n_j values with sums s_j,
    the linearised variance of a mean of clusters (Cochran 1977, Sampling Techniques, chapter
    9A).

    Args:
        values: one an observation, such as margins or DD scores; for shares use `share_interval`.
        clusters: of each value, what it belongs to.
        level: confidence level.

    Returns:
        Without ends where there are fewer than two clusters or their means are all equal.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    n = len(values)
    sizes = Counter(clusters)
    c = len(sizes)
    method = STUDENT if c == n else STUDENT_CLUSTERED
    if n == 0:
        return Interval(None, None, None, NOTHING_SCORED)
    if c < 2:  # noqa: PLR2004  # a spread needs two
        return Interval(None, None, method, "fewer than two values or clusters")
    sums: dict[Hashable, float] = dict.fromkeys(sizes, 0.0)
    # From the first value on, so that equal values leave exactly nothing.
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] += value - values[0]
    mean = math.fsum(sums.values()) / n
    squares = math.fsum((sums[name] - mean * size) ** 2 for name, size in sizes.items())
    if squares == 0:
        return Interval(None, None, method, "all values or clusters are equal")
    half = t_quantile(c - 1, level=level) * math.sqrt(c / (c - 1) * squares) / n
    return Interval(values[0] + mean - half, values[0] + mean + half, method)


def share_interval(
    passed: Sequence[bool], clusters: Sequence[Hashable], *, level: float = 0.95
) -> Interval:
    """The interval of the share of verdicts that pass, where some may belong together.

    Wilson's, where each cluster has one verdict; else Wilson's at the effective number of
    verdicts, the form that Franco et al. (2019, PMC6690503) recommend for clustered data.

    Args:
        passed: whether each verdict is a pass.
        clusters: of each verdict, what it belongs to.
        level: confidence level.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    sizes = Counter(clusters)
    held = Counter(label for label, passes in zip(clusters, passed, strict=True) if passes)
    return counted_interval(Counter((held[name], n) for name, n in sizes.items()), level=level)


def counted_interval(clusters: Mapping[tuple[int, int], int], *, level: float = 0.95) -> Interval:
    """The same, from how many clusters there are of each kind.

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
    if m == n:
        return Interval(*wilson(share, n, level=level), WILSON)
    effective = float(m)
    if m > 1 and 0 < passed < n:
        spread = _Spread(
            n=n,
            m=m,
            between=_sum_of(
                ((k - share * size) ** 2, count) for (k, size), count in clusters.items()
            ),
            within=_sum_of((((1 - share) ** 2, passed), (share**2, n - passed))),
            telling=min(
                sum(count for (held, _), count in clusters.items() if held),
                sum(count for (held, size), count in clusters.items() if held < size),
            ),
        )
        effective = _effective(spread, level=level)
    return Interval(*wilson(share, effective, level=level), WILSON_CLUSTERED)


def _sum_of(numbers: Iterable[tuple[float, int]]) -> float:
    """The sum of numbers that come several times, rounded once."""
    return math.fsum(chain.from_iterable(repeat(value, times) for value, times in numbers))


def effective_number(
    values: Sequence[float], clusters: Sequence[Hashable], *, level: float = 0.95
) -> float:
    """How many independent verdicts would tell as much as these, which come in clusters.

    ``n / deff * (t[n-1] / t[m-1])²`` for n verdicts in m clusters (Korn and Graubard 1998, Survey
    Methodology 24, 193-201), t the quantiles of Student's distribution; without their ratio,
    intervals from few clusters are too narrow. The design effect is
    ``deff = (m/(m-1) Σ (k_j - p n_j)² / n²) / (p(1-p)/(n-1))``, with k_j passes among the n_j
    verdicts of cluster j: the linearised variance of the share (Cochran 1977, section 11.6 of
    Sampling Techniques), over that of n independent verdicts. It is taken to be at least 1, and
    the result to be at least 1. Where all verdicts are equal or there is one cluster, the design
    effect cannot be estimated, and each cluster counts as one verdict; where fewer than three
    clusters hold a failure, or fewer than three a pass, the estimate rests on too little, and no
    cluster counts as more than one (our rule; docs/statistics.md shows what it repairs). The same
    holds for differences of two verdicts, with their variance in the place of p(1-p).

    Args:
        values: whether each verdict is a pass, or differences of verdicts; one or more.
        clusters: of each verdict, what it belongs to.
        level: confidence level, for the quantiles.
    """
    n = len(values)
    sizes = Counter(clusters)
    m = len(sizes)
    kinds = set(values)
    if m == 1 or len(kinds) == 1:
        return float(m)
    mean = math.fsum(values) / n
    sums: dict[Hashable, float] = dict.fromkeys(sizes, 0.0)
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] += value
    pairs = list(zip(clusters, values, strict=True))
    spread = _Spread(
        n=n,
        m=m,
        between=math.fsum((sums[name] - mean * size) ** 2 for name, size in sizes.items()),
        within=math.fsum((value - mean) ** 2 for value in values),
        telling=min(len({name for name, value in pairs if value != kind}) for kind in kinds),
    )
    return _effective(spread, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """How verdicts differ.

    Attributes:
        n: verdicts.
        m: clusters.
        between: Σ (k_j - p n_j)² over clusters.
        within: Σ (x_i - p)² over verdicts.
        telling: the fewest clusters that hold another verdict than a given one.
    """

    n: int
    m: int
    between: float
    within: float
    telling: int


def _effective(spread: _Spread, *, level: float) -> float:
    """The effective number of verdicts that differ."""
    n, m = spread.n, spread.m
    clustered = m / (m - 1) * spread.between / n**2
    independent = spread.within / n / (n - 1)
    effect = max(1.0, clustered / independent)
    few = (t_quantile(n - 1, level=level) / t_quantile(m - 1, level=level)) ** 2
    effective = max(1.0, n / effect * few)
    return min(effective, float(m)) if spread.telling < _TELLING_CLUSTERS else effective


_TELLING_CLUSTERS = 3


@functools.cache
def t_quantile(freedom: int, *, level: float = 0.95) -> float:
    """The number that the absolute value of a Student t variable exceeds in 1 - `level` of cases.

    The finite series for the distribution function (Abramowitz and Stegun 1964, 26.7.3-4),
    inverted by bisection; above 100 degrees of freedom the expansion 26.7.5.

    Args:
        freedom: degrees of freedom, 1 or more.
        level: two-sided.

    Raises:
        UsageError: the level is not between 0 and 1.
    """
    z = z_quantile(level)
    if freedom > _LARGE:
        return _t_expansion(z, freedom)
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _t_inside(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


_LARGE = 100
_BISECTIONS = 60


def _t_inside(angle: float, freedom: int) -> float:
    """P(|T| <= t) for t = sqrt(freedom) * tan(angle)."""
    odd = freedom % 2
    square = math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    series = 0.0
    for k in range(2 + odd, freedom + 1, 2):
        series += term
        term *= square * (k - 1) / k
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * series)
    return math.sin(angle) * series


def _t_expansion(z: float, freedom: int) -> float:
    """Student's quantile from the normal one, to the order of 1 / freedom**4."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** order for order, term in enumerate(terms, start=1))


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

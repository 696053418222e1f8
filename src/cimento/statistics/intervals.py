"""Confidence intervals for the share of verdicts that pass, never of zero width."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from cimento.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

WILSON = "Wilson"
WILSON_CLUSTERED = "Wilson at the effective number of verdicts"
NOTHING_SCORED = "nothing was scored"


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
    z = _normal_quantile(level)
    weight = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / weight
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    # Rounding must not push an end past 0 or 1, nor past the share itself where that is 0 or 1.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


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
    n = len(passed)
    if n == 0:
        return Interval(None, None, None, NOTHING_SCORED)
    share = sum(passed) / n
    if len(set(clusters)) == n:
        return Interval(*wilson(share, n, level=level), WILSON)
    effective = effective_number(passed, clusters, level=level)
    return Interval(*wilson(share, effective, level=level), WILSON_CLUSTERED)


def effective_number(
    passed: Sequence[bool], clusters: Sequence[Hashable], *, level: float = 0.95
) -> float:
    """How many independent verdicts would tell as much as these, which come in clusters.

    ``n / deff * (t[n-1] / t[m-1])²`` for n verdicts in m clusters (Korn and Graubard 1998, Survey
    Methodology 24, 193-201), t the quantiles of Student's distribution; without their ratio,
    intervals from few clusters are too narrow. The design effect is
    ``deff = (m/(m-1) Σ (k_j - p n_j)² / n²) / (p(1-p)/(n-1))``, with k_j passes among the n_j
    verdicts of cluster j: the linearised variance of the share (Cochran 1977, section 11.6 of
    Sampling Techniques), over that of n independent verdicts. It is taken to be at least 1, and
    the result to be at least 1. Where all verdicts are equal or there is one cluster, the design
    effect cannot be estimated, and each cluster counts as one verdict.

    Args:
        passed: whether each verdict is a pass; one or more.
        clusters: of each verdict, what it belongs to.
        level: confidence level, for the quantiles.
    """
    n = len(passed)
    sizes = Counter(clusters)
    m = len(sizes)
    share = sum(passed) / n
    if m == 1 or share in (0.0, 1.0):
        return float(m)
    passes = Counter(cluster for cluster, each in zip(clusters, passed, strict=True) if each)
    squares = math.fsum((passes[name] - share * size) ** 2 for name, size in sizes.items())
    clustered = m / (m - 1) * squares / n**2
    independent = share * (1 - share) / (n - 1)
    effect = max(1.0, clustered / independent)
    few = (t_quantile(n - 1, level=level) / t_quantile(m - 1, level=level)) ** 2
    return max(1.0, n / effect * few)


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
    z = _normal_quantile(level)
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


def _normal_quantile(level: float) -> float:
    if not 0 < level < 1:
        raise UsageError(
            where="confidence level",
            seen=f"{level} is not between 0 and 1",
            todo="The usual level is 0.95.",
        )
    return NormalDist().inv_cdf((1 + level) / 2)
